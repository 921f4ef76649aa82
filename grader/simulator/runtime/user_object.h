// Objects of the program that graphs keep alive: a count of references and a destructor.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_USER_OBJECT_H_
#define WARPLINGS_SIMULATOR_RUNTIME_USER_OBJECT_H_

#include <cuda_runtime_api.h>

namespace warplings::sim {

cudaUserObject_t create_user_object(void* pointer, cudaHostFn_t destroy, unsigned references);
// False if there is no such object, or if it has fewer references.
bool retain_user_object(cudaUserObject_t object, unsigned count);
bool release_user_object(cudaUserObject_t object, unsigned count);  // calls `destroy` at 0

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_USER_OBJECT_H_

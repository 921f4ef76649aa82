#include "runtime/user_object.h"

#include <set>

#include "core/machine.h"

struct CUuserObject_st {
  void* pointer;
  cudaHostFn_t destroy;
  unsigned references;
};

namespace warplings::sim {
namespace {

std::set<cudaUserObject_t>& objects() {
  struct UserObjects {
    std::set<cudaUserObject_t> all;
  };
  return Machine::get<UserObjects>().all;
}

}  // namespace

cudaUserObject_t create_user_object(void* pointer, cudaHostFn_t destroy, unsigned references) {
  auto* const object = new CUuserObject_st{pointer, destroy, references};
  objects().insert(object);
  return object;
}

bool retain_user_object(cudaUserObject_t object, unsigned count) {
  if (!objects().contains(object)) return false;
  object->references += count;
  return true;
}

bool release_user_object(cudaUserObject_t object, unsigned count) {
  if (!objects().contains(object) || object->references < count) return false;
  object->references -= count;
  if (object->references > 0) return true;
  objects().erase(object);
  object->destroy(object->pointer);
  delete object;
  return true;
}

}  // namespace warplings::sim

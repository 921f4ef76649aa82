// What a library on top of the simulator needs (grader/simulator/libraries): its calls are work of
// a stream, and the checks and counters see what they read and write, as they see kernels.
//
// Plain C. Pointers are those of the program; sizes are bytes. Status values are cudaError_t.
#ifndef WARPLINGS_LIBRARY_H_
#define WARPLINGS_LIBRARY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// WSIM_SPOIL: holds no value after the call.
enum { WSIM_READ = 1, WSIM_WRITE = 2, WSIM_SPOIL = 4 };

// Memory that a call uses: `depth` slices of `height` rows of `width` bytes. Rows are `pitch` bytes
// apart, slices `slice` bytes. Memory that is written but not read need not hold a value before.
typedef struct wsim_operand {
  const char* role;  // "matrix A"
  const void* pointer;
  size_t width, height, pitch, depth, slice;
  unsigned access;  // WSIM_READ, ...
} wsim_operand;

// Where the program made the call: the function of the library and the address it returns to.
typedef struct wsim_call_site {
  const char* name;
  const void* return_address;
} wsim_call_site;

typedef struct wsim_library_work {
  wsim_call_site site;
  int device;    // that the work runs on
  void* stream;  // cudaStream_t; the default stream is the one of `device`
  const wsim_operand* operands;
  size_t operand_count;
  // The modelled time is the longest of these: the operands at the bandwidth of the card, the fp32
  // operations at its rate, `link_bytes` at the rate of a link between devices.
  double operations, link_bytes;
  int wait;  // 1: the call returns when the work is done, as one that returns a result does
  // `run` computes, through wsim_view(). `state` is released when nothing can run it any more.
  void (*run)(void* state);
  void (*release)(void* state);
  void* state;
} wsim_library_work;

// Gives the work to its stream, or to the graph that the stream is captured into. Operands that no
// kernel could use are reported by memcheck; nothing is done then and cudaErrorInvalidValue comes
// back. `state` belongs to the simulator in any case.
int wsim_library_enqueue(const wsim_library_work* work);

// Work that any of these streams is given from now on waits for all that the others were given so
// far: for work that several devices do together.
typedef struct wsim_device_stream {
  int device;
  void* stream;  // cudaStream_t; the default stream is the one of `device`
} wsim_device_stream;
int wsim_library_join(const wsim_device_stream* streams, size_t count);

// For `run` of the work that runs: operands that are known only now, because their addresses lie in
// device memory. Checked, counted and marked as those of the call. cudaErrorInvalidValue, with a
// finding, if one of them cannot be used.
int wsim_library_use(const wsim_operand* operands, size_t operand_count);

// Where the simulator reads and writes the bytes behind a pointer of the program.
void* wsim_view(const void* pointer);
// 1 if the pointer refers to memory of a device that the host cannot touch.
int wsim_is_device_only(const void* pointer);

// A call that has no work for a stream, such as one that makes a descriptor: counts for
// wsim_api_calls(). `name` is a literal.
void wsim_library_count(const char* name);

// 1 if this call has to fail (wsim_fail_call): it returns an error and does nothing. For calls that
// have no work for a stream; wsim_library_enqueue asks by itself.
int wsim_library_must_fail(wsim_call_site site);

// The workspaces of the algorithms of wsim_script_algorithms; their number is returned. Without a
// script there is one, which needs none.
int wsim_library_algorithms(const size_t** workspaces);
void wsim_library_uses_algorithm(int position);
// 1 while wsim_script_turned_lists is on.
int wsim_library_lists_are_turned(void);
// 1 while only the edges of launches run (wsim_run_only_edges): a library that can does the same.
int wsim_library_only_edges(void);

// What the program made with a library (+1) or gave back (-1), and modes that it set on an object:
// for wsim_holding_count(). `what` names it for people: "cuBLAS handle", "stream of a cuBLAS
// handle".
void wsim_library_holds(const char* what, int change);
void wsim_library_mode(const char* what, const void* object, int64_t value);
void wsim_library_gone(const void* object);

// A finding of the check "api" at the call: "cufftPlan1d at fft.cu:12 " + `what`.
void wsim_library_report(wsim_call_site site, const char* kind, const char* what, int is_note);

#ifdef __cplusplus
}
#endif
#endif  // WARPLINGS_LIBRARY_H_

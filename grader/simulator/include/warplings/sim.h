// Public interface between a program that runs in the simulator and the simulator itself.
// A test kit uses it to say what its bytes mean and to read what the checks and counters found. In
// a program that is linked with the real CUDA runtime every function exists as a no-op
// (grader/kit/sim_absent.cpp), so the same test object serves both machines.
//
// Plain C, no dependency. Pointers are device pointers unless stated. Sizes are bytes.
#ifndef WARPLINGS_SIM_H_
#define WARPLINGS_SIM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// 1 in the simulator, 0 on real hardware.
int wsim_active(void);

// ---- what bytes mean -------------------------------------------------------------------------

// The bytes hold no value yet (a poisoned output): reading them in a kernel and copying them to the
// host are initcheck findings.
void wsim_mark_unwritten(const void* ptr, size_t size);
// The bytes are written (undoes wsim_mark_unwritten).
void wsim_mark_written(const void* ptr, size_t size);
// Copies the definedness of `size` bytes: out[i] = 1 if byte i has been written, else 0.
void wsim_query_written(const void* ptr, size_t size, uint8_t* out);
// The bytes belong to an allocation but not to the learner: touching them is out of bounds, in
// kernels and for cudaMemcpy and cudaMemset (clear the red zone before inspecting it).
void wsim_mark_red_zone(const void* ptr, size_t size);
void wsim_clear_red_zone(const void* ptr, size_t size);
// Reads and writes device memory beside the runtime: no call, no work, nothing is checked. `mask`
// has a byte for each byte: whether it is written. Synchronise first.
void wsim_peek(const void* ptr, size_t size, void* bytes, uint8_t* mask);
void wsim_poke(void* ptr, size_t size, const void* bytes, const uint8_t* mask);
// Takes back the faults of all devices, which go on with their memory as it is. Work that waits is
// dropped.
void wsim_forgive_faults(void);
// Names an allocation in reports ("c"). `name` is copied.
void wsim_name_allocation(const void* ptr, const char* name);

// Device memory of any size that holds only what is touched: it does not count as used memory, its
// bytes hold no value before something writes them, and cudaFree releases it. NULL where there are
// no addresses left, and on real hardware.
void* wsim_allocate_sparse(size_t size);
// The same with `period` bytes (a multiple of 4096) again and again in place of no value. What is
// written is kept, and the rest goes on to take no room.
void* wsim_allocate_repeated(size_t size, const void* pattern, size_t period);
// Offset of the first of `size` bytes that holds a value; `size` if none does.
size_t wsim_find_written(const void* ptr, size_t size);

// ---- findings --------------------------------------------------------------------------------

// One defect that a check found. Strings live until the next wsim_clear_findings().
typedef struct wsim_finding {
  const char* check;       // see checks in the README: "memcheck", "streamcheck", "launch", ...
  const char* kind;        // stable slug, for example "out-of-bounds-global-read"
  const char* message;     // one paragraph in learner words, positions included
  const char* file;        // source file of the first position, "" if unknown
  int line;                // 1-based, 0 if unknown
  const char* other_file;  // the other side of a race, "" if none
  int other_line;
  const char* kernel;  // demangled kernel name without parameters, "" for host findings
  int is_note;         // 1: worth knowing, never a failure
  uint64_t count;      // how often the same defect (same check, kind, lines) occurred
} wsim_finding;

int wsim_finding_count(void);
// 0 on success, -1 if index is out of range.
int wsim_get_finding(int index, wsim_finding* out);
void wsim_clear_findings(void);
// Host code that touches device memory ends the process (status 99). The hook runs before that,
// with the finding already recorded; without a hook the message is printed on stderr.
void wsim_set_fatal_hook(void (*hook)(void));

// ---- counters --------------------------------------------------------------------------------

// What there is, and what each means, is said in counters.def.
typedef struct wsim_counters {
#define WSIM_COUNTER(name, meaning) uint64_t name;
#include "warplings/counters.def"
#undef WSIM_COUNTER
} wsim_counters;

void wsim_reset_counters(void);
void wsim_read_counters(wsim_counters* out);

// Counters of one source line, ordered by (file, line).
typedef struct wsim_line_counters {
  const char* file;
  int line;
  const char* kernel;
  wsim_counters counters;
} wsim_line_counters;
int wsim_line_count(void);
int wsim_get_line(int index, wsim_line_counters* out);

// ---- modelled time ---------------------------------------------------------------------------
//
// How long kernels would take on the modelled card (GRADE_SIM_MODEL: h200, h100, rtx3070 or t4),
// without launch latency. Never measured, never a wall clock. Deterministic. Formulas and sources:
// grader/simulator/MODEL.md.

// From now on launches are recorded for the model, which costs time. Test sizes are smaller than
// those of a card, so the card is divided: multiprocessors, L2 and bandwidths by `slice` (1:
// whole).
void wsim_model_start(double slice);
// Launches are no longer recorded; modelled times become coarse.
void wsim_model_stop(void);
// Number of launches that have run so far.
uint64_t wsim_model_mark(void);
// Modelled seconds of the launches that have run since that mark, one after the other. Synchronise
// first: launches run when something waits for them.
double wsim_modelled_seconds(uint64_t mark);
// Bytes that those launches moved through the caches of the model, in sectors of 32. Launches that
// were not recorded count nothing.
typedef struct wsim_traffic {
  uint64_t l1;    // global and local loads
  uint64_t l2;    // loads that L1 does not have, stores, atomics
  uint64_t dram;  // what L2 does not have, and what is written back sooner or later
} wsim_traffic;
void wsim_modelled_traffic(uint64_t mark, wsim_traffic* out);
// Stands for another card from now on ("h200", "h100", "rtx3070", "t4"): device properties,
// occupancy and modelled time follow; "" goes back to the card of GRADE_SIM_MODEL, and "t4/20" is a
// T4 with a twentieth of its multiprocessors, on which few blocks have all the work. Synchronise
// first. 0 on success, -1 if there is no such model.
int wsim_select_model(const char* key);
// From now on this device is another card than the others, with less of everything: attributes,
// occupancy and what launches may have follow, modelled time does not. -1: they are all alike.
void wsim_make_unlike(int device);
// From now on the blocks of a launch run in this order, once: "forward", "reversed" or "turns";
// "" goes back to what GRADE_SIM_ORDER says. Synchronise first. 0 on success, -1 if there is no
// such order.
int wsim_select_order(const char* name);
// From now on (1; 0: no longer) a launch executes only some of its blocks: the first and the last
// along each axis of its grid, and those on both sides of powers of two. Its grid is what was asked
// for, and is refused where it is too large. Blocks that wait for others would wait for ever. Of
// rows of 4 MiB or more that the runtime copies or fills, both ends and what lies around powers of
// two are; likewise of rows that reach over 256 MiB or more together. A device has 80 GiB. 2: the
// same, and blocks that have begun run to their end, where 1 leaves those that take very long.
// Synchronise first.
void wsim_run_only_edges(int on);
// Since the last wsim_reset_counters(): launches of which even these blocks were too long, so that
// some did not begin; those of them that left blocks in the middle of their work; and blocks that
// have ended.
uint64_t wsim_cut_launches(void);
uint64_t wsim_unfinished_launches(void);
uint64_t wsim_edge_blocks(void);
// The most that the slice can do: bytes per second of DRAM as a copy reaches them (read plus
// written) and as a kernel does that only reads, and fp32 operations per second (an FMA is two).
void wsim_model_rates(double* copied, double* read, double* flops);
// "H200"; "" on real hardware.
const char* wsim_model_name(void);

// ---- code --------------------------------------------------------------------------------------

// Kernels whose mangled name `unwanted` accepts are not read when the program's code is loaded, and
// cannot be launched; its constants take no room then, unless what is read uses them. For programs
// that hold many variants and run one. Before the first CUDA call.
void wsim_leave_out_kernels(int (*unwanted)(const char* name));

// ---- launches and host calls ------------------------------------------------------------------

typedef struct wsim_launch {
  const char* kernel;  // demangled, without parameters
  const char* file;    // host line of <<<>>>, "" if unknown
  int line;
  unsigned grid[3], block[3];
  size_t dynamic_shared;
} wsim_launch;
// Launches since the last wsim_reset_counters(); at most 64 are remembered, all are counted.
int wsim_launch_count(void);
// Kernels that were launched by a kernel in a stream in which another one was before them: they
// wait for it.
uint64_t wsim_waiting_children(void);
int wsim_get_launch(int index, wsim_launch* out);

// Calls of one runtime function since the last wsim_reset_counters(), e.g. "cudaMalloc".
uint64_t wsim_api_calls(const char* name);
// Live allocations made with the runtime by the program: number and bytes (0 after a clean run).
size_t wsim_live_allocations(size_t* bytes);

// From now on the k-th call (from 1) of a function whose name begins with one of `names` ("cuda",
// also for launches; "nccl cuda"; "": of any), made in a source file whose name ends with `files`,
// returns an error and does nothing; k = 0: none does. Not counted are releases, questions such as
// cudaGetLastError, calls that end a capture or begin a group (without them there is no way on),
// and the fifth and later ones of a call at one place.
void wsim_fail_call(uint64_t k, const char* names, const char* files);
// What has failed so: "cudaMalloc at copy.cu:12"; "" if there were fewer calls. Lives until the
// next wsim_fail_call().
const char* wsim_failed_call(void);
// The cudaError_t that it returned; 0 if nothing has failed so, and for calls of libraries.
int wsim_failed_call_error(void);
// The last call of this thread that returned an error: "cudaMalloc at copy.cu:12", or "". Lives
// until it is asked for again.
const char* wsim_last_failed_call(void);
// Calls since wsim_fail_call() that were counted for it.
uint64_t wsim_calls_that_could_fail(void);
// What the program holds now: memory, streams, events, graphs, and what libraries made for it. With
// an object, a mode that it has been set to ("math mode of a cuBLAS handle"); one that is not
// listed has not been touched. Strings live until the next wsim_holding_count().
typedef struct wsim_holding {
  const char* what;    // "stream"
  const void* object;  // NULL: `value` is how many
  int64_t value;
} wsim_holding;
int wsim_holding_count(void);
int wsim_get_holding(int index, wsim_holding* out);

// ---- the modelled timeline ---------------------------------------------------------------------
// When calls and work happen on the modelled machine (grader/simulator/TIMELINE.md). The same every
// time. What the program computes itself takes no time on it.

// "modelled (H200)": belongs beside every figure.
const char* wsim_timeline_label(void);
// The clock of the host, in seconds. Two readings behind a synchronisation each give the length of
// what lies between. 0 on a GPU.
double wsim_timeline_now(void);
// The next kernels, in the order in which they run, take so many seconds longer, as if something
// else on the machine disturbed them; those behind the last one do not. 0: nothing is asked for.
void wsim_slow_kernels(const double* seconds, int count);

typedef struct wsim_timeline_item {
  const char* kind;  // "kernel", "copy to device", "copy to host", "copy on device",
                     // "copy between devices", "copy on host", "memset", "host function"
  const char* name;  // the kernel, or the function of the runtime
  const char* file;  // the line of the program, "" if unknown
  int line;
  const char* stream;  // "stream 1", "the default stream"
  int device;
  // Copies and memsets; of a library's call, what each rank sends to other devices.
  uint64_t bytes;
  double issued, start, end;  // seconds: the call, and the work on the device
  // Memory of the device or pinned memory that a copy or memset reads and writes; NULL: neither.
  const void *read, *written;
  // Streams count from 1 in the order in which they are made, default streams among them.
  uint64_t stream_number;
  void* stream_handle;  // cudaStream_t; NULL: a default stream, or one that is gone
} wsim_timeline_item;
// The number of the stream that was made last.
uint64_t wsim_last_stream(void);
// How often the host has waited for work since the last wsim_reset_counters(), in any call that
// waits.
uint64_t wsim_host_waits(void);
typedef struct wsim_host_wait {
  const char* call;  // "cudaStreamSynchronize"; a query that said "done" counts as well
  const char* file;  // the line of the program, "" if unknown
  int line;
} wsim_host_wait;
// 0 on success, -1 if there is none with that index. Strings live until the next call.
int wsim_get_host_wait(uint64_t index, wsim_host_wait* out);

typedef struct wsim_range {
  const void* begin;
  size_t size;
} wsim_range;
// Puts work into the streams that the program has made on the current device, or into the default
// stream if there are none. It counts as writing these bytes and does nothing; it begins when all
// of the streams are there, and none of them goes on without it. Work that uses the bytes without
// an order with it is a finding ("streamcheck", "unordered-with-caller").
void wsim_caller_works(const wsim_range* ranges, int count);
// Work since the last wsim_reset_counters() that something has waited for, in the order of the
// calls. At most 65536 are remembered. Strings live until the next wsim_timeline_count().
int wsim_timeline_count(void);
int wsim_get_timeline_item(int index, wsim_timeline_item* out);

#ifdef __cplusplus
}
#endif
#endif  // WARPLINGS_SIM_H_

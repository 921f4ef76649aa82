// The functions of warplings/sim.h for programs that run on a GPU: nothing is simulated, so nothing
// is marked, found or counted.
#include <warplings/script.h>
#include <warplings/sim.h>

#include <cstring>

extern "C" {

int wsim_active(void) { return 0; }

void wsim_mark_unwritten(const void*, size_t) {}
void wsim_mark_written(const void*, size_t) {}
void wsim_query_written(const void*, size_t size, uint8_t* out) { std::memset(out, 1, size); }
void wsim_mark_red_zone(const void*, size_t) {}
void wsim_clear_red_zone(const void*, size_t) {}
void wsim_peek(const void*, size_t, void*, uint8_t*) {}
void wsim_poke(void*, size_t, const void*, const uint8_t*) {}
void wsim_forgive_faults(void) {}
void wsim_name_allocation(const void*, const char*) {}
void* wsim_allocate_sparse(size_t) { return nullptr; }
void* wsim_allocate_repeated(size_t, const void*, size_t) { return nullptr; }
size_t wsim_find_written(const void*, size_t size) { return size; }

int wsim_finding_count(void) { return 0; }
int wsim_get_finding(int, wsim_finding*) { return -1; }
void wsim_clear_findings(void) {}
void wsim_set_fatal_hook(void (*)(void)) {}

void wsim_reset_counters(void) {}
void wsim_read_counters(wsim_counters* out) { *out = wsim_counters(); }
int wsim_line_count(void) { return 0; }
int wsim_get_line(int, wsim_line_counters*) { return -1; }

void wsim_model_start(double) {}
void wsim_model_stop(void) {}
uint64_t wsim_model_mark(void) { return 0; }
double wsim_modelled_seconds(uint64_t) { return 0; }
void wsim_modelled_traffic(uint64_t, wsim_traffic* out) { *out = wsim_traffic(); }
int wsim_select_model(const char*) { return -1; }
void wsim_make_unlike(int) {}
int wsim_select_order(const char*) { return -1; }
void wsim_run_only_edges(int) {}
uint64_t wsim_cut_launches(void) { return 0; }
uint64_t wsim_unfinished_launches(void) { return 0; }
uint64_t wsim_edge_blocks(void) { return 0; }
void wsim_model_rates(double* copied, double* read, double* flops) { *copied = *read = *flops = 0; }
const char* wsim_model_name(void) { return ""; }

void wsim_leave_out_kernels(int (*)(const char*)) {}

int wsim_launch_count(void) { return 0; }
uint64_t wsim_waiting_children(void) { return 0; }
int wsim_get_launch(int, wsim_launch*) { return -1; }
uint64_t wsim_api_calls(const char*) { return 0; }
void wsim_script_algorithms(const size_t*, int) {}
void wsim_script_turned_lists(int) {}
void wsim_script_unreachable(int, int) {}
int wsim_used_algorithm(void) { return -1; }
void wsim_fail_call(uint64_t, const char*, const char*) {}
uint64_t wsim_calls_that_could_fail(void) { return 0; }
const char* wsim_failed_call(void) { return ""; }
int wsim_failed_call_error(void) { return 0; }
const char* wsim_last_failed_call(void) { return ""; }
size_t wsim_live_allocations(size_t* bytes) {
  if (bytes != nullptr) *bytes = 0;
  return 0;
}

uint64_t wsim_last_stream(void) { return 0; }
uint64_t wsim_host_waits(void) { return 0; }
int wsim_get_host_wait(uint64_t, wsim_host_wait*) { return -1; }
void wsim_caller_works(const wsim_range*, int) {}
int wsim_holding_count(void) { return 0; }
int wsim_get_holding(int, wsim_holding*) { return -1; }

const char* wsim_timeline_label(void) { return ""; }
double wsim_timeline_now(void) { return 0; }
void wsim_slow_kernels(const double*, int) {}
int wsim_timeline_count(void) { return 0; }
int wsim_get_timeline_item(int, wsim_timeline_item*) { return -1; }

}  // extern "C"

#include "kit/largest.h"

#include <sys/mman.h>
#include <warplings/sim.h>

#include <new>
#include <vector>

#include "kit/context.h"

namespace kit {

void at_largest(const std::string& what, const std::function<void()>& body, LongBlocks blocks) {
  if (!simulated() || internal::case_failed()) return;
#ifdef __SANITIZE_THREAD__
  return;  // there the simulator has a quarter of its addresses, and no room for such arrays
#endif
  struct Restore {
    ~Restore() {
      cudaDeviceSynchronize();  // what is queued belongs to this case
      wsim_run_only_edges(0);
      context().only_edges = false;
    }
  } restore;
  cudaDeviceSynchronize();
  wsim_run_only_edges(blocks == LongBlocks::kToTheEnd ? 2 : 1);
  context().only_edges = true;
  context().read_what_did_not_run = false;
  Cases cases;
  cases.run(what, body);
}

void at_largest(int n, const std::function<void(int n)>& body) {
  for (const int size : {n, n / 2 + 1}) {
    at_largest("n = " + internal::grouped(size), [&body, size] { body(size); });
  }
}

namespace internal {

LargeHostMemory::LargeHostMemory(size_t bytes, bool pinned) : bytes_(bytes), pinned_(pinned) {
  if (pinned) {
    if (cudaHostAlloc(&begin_, bytes, cudaHostAllocDefault) != cudaSuccess) throw std::bad_alloc();
    return;
  }
  begin_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
  if (begin_ == MAP_FAILED) throw std::bad_alloc();
}

LargeHostMemory::~LargeHostMemory() {
  if (pinned_) {
    cudaFreeHost(begin_);
  } else {
    munmap(begin_, bytes_);
  }
}

bool first_was_reached() { return wsim_cut_launches() == 0; }

bool last_was_reached(size_t size) {
  if (context().last_run.launches().empty()) return true;  // calls of libraries end at the last
  uint64_t threads = 0;
  for (const Launch& launch : context().last_run.launches()) threads += launch.threads();
  return first_was_reached() && threads >= size - size / 64;  // not many too few
}

bool blocks_are_too_few(size_t written, size_t size) {
  constexpr double kUneven = 8;  // half of those that run stand at an edge, and are partly idle
  const std::vector<Launch>& launches = context().last_run.launches();
  const uint64_t ran = wsim_edge_blocks();
  if (launches.size() != 1 || ran == 0 || wsim_cut_launches() > 0) return false;
  const double each = static_cast<double>(written) / static_cast<double>(ran);
  return kUneven * each * static_cast<double>(launches[0].blocks()) < static_cast<double>(size);
}

bool fail_at_end(AtEnd fault, const std::string& name, size_t index, const std::string& what,
                 Site site) {
  // Nothing is decided where a kernel has read what another left out, and no value of a block that
  // was left in the middle of its sums is final.
  const bool is_value = fault == AtEnd::kWrongValue;
  if (context().read_what_did_not_run || (is_value && wsim_unfinished_launches() > 0)) return false;
  return fail_results("At the largest size: " + name + "[" + grouped(index) + "]" + what +
                          " Only the first and the last blocks run here, and some between. Look "
                          "for an index or a size that does not fit into its type" +
                          (is_value ? "." : ", and for a grid that ends too early."),
                      site);
}

}  // namespace internal
}  // namespace kit

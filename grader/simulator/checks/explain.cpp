// Findings of accesses, values and stops in learner words.
#include <algorithm>
#include <bit>
#include <functional>

#include "checks/watch.h"
#include "checks/words.h"
#include "exec/interpreter.h"
#include "exec/memory_access.h"
#include "exec/reports.h"
#include "memory/device_memory.h"
#include "memory/payload.h"

namespace warplings::sim {
namespace {

std::string lanes_suffix(const Request& request, const std::string& what) {
  const int n = std::popcount(request.mask) - 1;
  return n > 0 ? " " + what : "";
}

std::string allocation_name(const Allocation& allocation) {
  return allocation.name.empty() ? "an allocation" : "`" + allocation.name + "`";
}

// "3 elements past the end of 'c' (1025 elements of 4 bytes)"
std::string relation(uint64_t address, uint32_t size, const Allocation& allocation) {
  const auto [low, high] = payload(allocation);
  const std::string extent = allocation_name(allocation) + ", which has " +
                             number((high - low) / size) + " elements of " + bytes_text(size);
  if (address < low) {
    const uint64_t before = low - address;
    return before % size == 0 ? "element -" + number(before / size) + " of " + extent
                              : bytes_text(before) + " before the start of " + extent;
  }
  const uint64_t offset = address - low;
  if (offset % size == 0) return "element " + number(offset / size) + " of " + extent;
  return "byte " + number(offset) + " of " + extent;
}

const char* access_verb(const Request& request) {
  return request.atomic ? "changes" : request.write ? "writes" : "reads";
}

// "2,147,483,648"
std::string grouped(uint64_t value) {
  std::string digits = number(value);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

// Behind an address where nothing lies: what is 2^32 elements further on, where an index computed
// in 64 bits would have led. "" if nobody's memory is there.
std::string overflowed_index(const Request& request, int lane) {
  const DeviceMemory& memory = DeviceMemory::instance();
  for (uint64_t size = request.bytes; size > 0; size /= 2) {
    const uint64_t meant = request.address[lane] + (size << 32);
    const Allocation* allocation = memory.allocation_at(meant);
    if (allocation == nullptr || allocation->freed || !memory.accessible(meant, request.bytes)) {
      continue;
    }
    const uint64_t element = (meant - payload(*allocation).first) / size;
    if (element <= 0x7fffffff) continue;
    return "Index overflow: the element is number " + grouped(element) + " of " +
           allocation_name(*allocation) +
           ", and an int ends at 2,147,483,647. Compute the index in 64 bits, and convert before "
           "the multiplication: static_cast<size_t>(row) * cols. ";
  }
  return "";
}

std::string describe_outside(const Request& request, int lane, int device, std::string* kind) {
  const uint64_t address = request.address[lane];
  const DeviceMemory& memory = DeviceMemory::instance();
  const std::string direction = request.write ? "write" : "read";
  if (address < 4096) {
    *kind = "null-pointer-" + direction;
    return "a null pointer (address " + number(address) +
           "): was the buffer allocated, and its pointer passed to the kernel?";
  }
  if (!memory.in_arena(address)) {
    *kind = "host-pointer-" + direction;
    return "an address in host memory. A kernel can only use device memory: allocate it with "
           "cudaMalloc, copy the data with cudaMemcpy and pass the device pointer.";
  }
  const Allocation* allocation = memory.allocation_at(address);
  if (allocation != nullptr && allocation->state == AllocationState::kPromised) {
    *kind = "use-before-allocation-" + direction;
    return relation(address, request.bytes, *allocation) +
           " and does not exist yet: the stream that allocates it has not got there. Let this "
           "stream wait for that one (an event after the allocation).";
  }
  if (allocation != nullptr && allocation->freed) {
    *kind = "use-after-free-" + direction;
    const std::string where = allocation->freed_at.empty() ? "" : " at " + allocation->freed_at;
    return relation(address, request.bytes, *allocation) + " and has been freed" + where + ".";
  }
  if (allocation != nullptr && address < allocation->end() &&
      (allocation->access & memory.running_bit()) == 0) {
    *kind = "no-peer-access-" + direction;
    const std::string owner = number(static_cast<uint64_t>(allocation->device));
    return relation(address, request.bytes, *allocation) + ", memory of device " + owner +
           ". The kernel runs on device " + number(static_cast<uint64_t>(device)) +
           ", which has no access to it: call cudaDeviceEnablePeerAccess(" + owner +
           ", 0) while device " + number(static_cast<uint64_t>(device)) + " is current.";
  }
  *kind = "out-of-bounds-global-" + direction;
  if (allocation == nullptr) allocation = memory.nearest(address);
  if (allocation == nullptr) return "an address where nothing is allocated.";
  return relation(address, request.bytes, *allocation) + ".";
}

}  // namespace

std::string thread_name(const Warp& warp, int lane) {
  const LaunchConfig& config = *warp.block->grid->config;
  const Block& block = *warp.block;
  return "thread " +
         dims(lane_value(warp, kTidX, lane), lane_value(warp, kTidY, lane),
              lane_value(warp, kTidZ, lane), config.block) +
         " of block " + dims(block.index.x, block.index.y, block.index.z, config.grid);
}

namespace {

void draw_access(const Warp& warp, const Request& request, int lane, AccessProblem problem,
                 Scene& scene) {
  scene.parties.front().lanes = 1u << lane;
  scene.parties.front().does = access_verb(request);
  scene.has_place = true;
  scene.bytes = request.bytes;
  scene.mask = request.mask;
  uint64_t base = 0;
  if (problem == AccessProblem::kOutsideShared) {
    scene.shared = true;
    scene.array = "shared memory";
    scene.array_bytes = warp.block->shared.size();
  } else if (problem != AccessProblem::kOutsideLocal) {
    const DeviceMemory& memory = DeviceMemory::instance();
    const uint64_t address = request.address[lane];
    if (!memory.in_arena(address)) {
      scene.has_place = false;
      return;
    }
    const Allocation* allocation = memory.allocation_at(address);
    if (allocation == nullptr) allocation = memory.nearest(address);
    if (allocation != nullptr) {
      const auto [low, high] = payload(*allocation);
      base = low;
      scene.array = allocation->name;
      scene.array_bytes = high - low;
    }
  }
  scene.offset = static_cast<int64_t>(request.address[lane] - base);
  for (int i = 0; i < 32; ++i) scene.asked[i] = static_cast<int64_t>(request.address[i] - base);
}

}  // namespace

void report_access(const Warp& warp, const Request& request, int lane, AccessProblem problem) {
  if (repeated(warp, Report::kAccess, static_cast<uint64_t>(problem))) return;
  std::string kind, text;
  const std::string direction = request.write ? "write" : "read";
  const std::string subject =
      "In " + kernel_name(warp) + ", " + thread_name(warp, lane) + " " + access_verb(request) + " ";
  switch (problem) {
    case AccessProblem::kOutside:
      text = overflowed_index(request, lane) + subject +
             describe_outside(request, lane, warp.block->grid->config->device, &kind);
      break;
    case AccessProblem::kRedZone: {
      const Allocation* allocation = DeviceMemory::instance().allocation_at(request.address[lane]);
      kind = "out-of-bounds-global-" + direction;
      text = subject + relation(request.address[lane], request.bytes, *allocation) + ".";
      break;
    }
    case AccessProblem::kConstant: {
      const Allocation* allocation = DeviceMemory::instance().allocation_at(request.address[lane]);
      kind = "constant-write";
      text = subject + relation(request.address[lane], request.bytes, *allocation) +
             " in constant memory. A kernel can only read it: fill it before the launch with "
             "cudaMemcpyToSymbol, or declare the variable __device__.";
      break;
    }
    case AccessProblem::kMisaligned:
      kind = "misaligned-" + direction;
      text = subject + bytes_text(request.bytes) + " at an address that is not a multiple of " +
             number(request.bytes) + ". Accesses of " + bytes_text(request.bytes) +
             " must be aligned to their size.";
      break;
    case AccessProblem::kOutsideShared:
      kind = "out-of-bounds-shared-" + direction;
      text = subject + bytes_text(request.bytes) + " at byte " + number(request.address[lane]) +
             " of shared memory; this block has " + bytes_text(warp.block->shared.size()) + ".";
      break;
    case AccessProblem::kOutsideLocal:
      kind = "out-of-bounds-local-" + direction;
      text = subject + bytes_text(request.bytes) +
             " outside of the local variables of its thread: an index into a local array is "
             "out of range.";
      break;
  }
  Finding finding = make(warp, "memcheck", kind.c_str(), warp.pc);
  draw_access(warp, request, lane, problem, *finding.scene);
  finding.message = text + lanes_suffix(request, "Other threads of its warp may do the same.") +
                    " (" + at(warp, warp.pc) + ")";
  FindingLog::instance().report(std::move(finding));
}

void report_device_free(const Warp& warp, int lane, uint64_t address,
                        DeviceMemory::FreeResult result) {
  const bool twice = result == DeviceMemory::FreeResult::kDoubleFree;
  const bool inside = result == DeviceMemory::FreeResult::kInterior;
  Finding finding = make(warp, "memcheck",
                         twice    ? "double-free"
                         : inside ? "free-of-interior"
                                  : "free-of-other-memory",
                         warp.pc);
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, lane) + " frees ";
  if (twice) {
    finding.message += "memory of the device heap that has been freed before, " +
                       at(warp, warp.pc) +
                       ". Free each allocation once: let one thread do it, and after a barrier if "
                       "others still use it.";
  } else if (inside) {
    const Allocation* allocation = DeviceMemory::instance().allocation_at(address);
    finding.message += "an address " + bytes_text(address - allocation->start) +
                       " into memory of the device heap, " + at(warp, warp.pc) +
                       ". Pass the pointer that malloc() or new returned.";
  } else {
    finding.message += "an address that no malloc() or new of a kernel returned, " +
                       at(warp, warp.pc) +
                       ". What cudaMalloc allocates is freed by cudaFree, on the host.";
  }
  FindingLog::instance().report(std::move(finding));
}

void report_async_size(const Warp& warp, int lane, uint32_t copied, uint32_t asked) {
  Finding finding = make(warp, "memcheck", "async-copy-size", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, lane) +
                    " starts an asynchronous copy of " + bytes_text(copied) + " " +
                    at(warp, warp.pc) + " that is to read " + bytes_text(asked) +
                    ": it can read fewer bytes than it writes (the rest is zeros), never more.";
  FindingLog::instance().report(std::move(finding));
}

namespace {

struct MBarrierWords {
  const char* kind;
  const char* text;
};
MBarrierWords mbarrier_words(MBarrierProblem problem) {
  switch (problem) {
    case MBarrierProblem::kNotShared:
      return {"mbarrier-not-shared",
              "that is not in shared memory. An mbarrier lives in the "
              "shared memory of its block."};
    case MBarrierProblem::kNotInitialised:
      return {"mbarrier-not-initialised",
              "that nothing has initialised (or that has been invalidated). One thread "
              "initialises it, then a __syncthreads() lets the others use it."};
    case MBarrierProblem::kOverwritten:
      return {"mbarrier-overwritten",
              "whose 8 bytes have been written by something that is no barrier operation since it "
              "was initialised. Does an array in shared memory reach into it?"};
    case MBarrierProblem::kCount:
      return {"mbarrier-count",
              "with a count out of range: a phase expects 1 to 1,048,575 arrivals."};
    case MBarrierProblem::kTooManyArrivals:
      return {"mbarrier-overflow",
              "whose phase expects no arrival any more: more threads arrive than the number it was "
              "initialised with, or one arrives twice without waiting in between."};
    case MBarrierProblem::kCompletes:
      return {"mbarrier-completes",
              "with a .noComplete arrival that would complete its phase. Only the last arrival "
              "may, and it must be one without .noComplete."};
    case MBarrierProblem::kTransactionRange:
      return {"mbarrier-transactions",
              "whose phase would then expect more than 1,048,575 bytes, or have received as many "
              "that nobody expects: the count of a phase has no more room."};
    case MBarrierProblem::kOldState:
      return {"mbarrier-old-state",
              "with the state of an arrival that is neither of its present phase nor of the one "
              "before. A state is good for one wait, before the thread arrives again."};
  }
  return {"", ""};
}

}  // namespace

void report_image(const Warp& warp, int lane, ImageProblem problem) {
  const auto words = [problem]() -> MBarrierWords {
    switch (problem) {
      case ImageProblem::kNoTexture:
        return {"not-a-texture",
                "is no texture object, or one that has been destroyed. Create it with "
                "cudaCreateTextureObject and destroy it after the last kernel that uses it."};
      case ImageProblem::kNoSurface:
        return {"not-a-surface",
                "is no surface object, or one that has been destroyed. Create it with "
                "cudaCreateSurfaceObject and destroy it after the last kernel that uses it."};
      case ImageProblem::kFreed:
        return {"use-after-free-image",
                "lies in memory or an array that has been freed: free it after the last kernel "
                "that uses the texture or surface."};
      case ImageProblem::kOutside:
        return {"out-of-bounds-surface",
                "is accessed outside of its extent. The x coordinate of a surface counts bytes: "
                "is it x * sizeof(element)?"};
      case ImageProblem::kMisaligned:
        return {"misaligned-surface",
                "is accessed at an x coordinate that is not a multiple of the size of the access. "
                "The x coordinate of a surface counts bytes."};
    }
    return {"", ""};
  }();
  Finding finding = make(warp, "memcheck", words.kind, warp.pc);
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, lane) +
                    " uses a texture or surface " + at(warp, warp.pc) + " that " + words.text;
  FindingLog::instance().report(std::move(finding));
}

void report_mbarrier(const Warp& warp, int lane, MBarrierProblem problem) {
  const MBarrierWords words = mbarrier_words(problem);
  Finding finding = make(warp, "synccheck", words.kind, warp.pc);
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, lane) +
                    " uses a barrier object " + at(warp, warp.pc) + " " + words.text;
  FindingLog::instance().report(std::move(finding));
}

namespace {

// `use`: ": it decides a branch at x.cu:5".
Finding undefined(const Warp& warp, uint32_t lanes, uint32_t pc, const std::string& use) {
  Finding finding = make(warp, "initcheck", "uninitialised-value", pc);
  const bool shuffled = warp.took_absent;
  const std::string_view text = warp.module->source->text_of_line(warp.module->text_lines[pc]);
  const bool shared = text.find("atom.shared") != text.npos || text.find("red.shared") != text.npos;
  finding.message =
      "In " + kernel_name(warp) + ", " + thread_name(warp, std::countr_zero(lanes)) +
      " uses a value that was read from " + (shared ? "shared " : "") +
      "memory which nothing has written" +
      (shuffled ? ", or taken from a lane that took no part in a shuffle" : "") + use +
      (shared
           ? ". Write it first, in the kernel, with a __syncthreads() behind that"
           : ". Write it first (shared memory in the kernel, with a __syncthreads() behind that; "
             "other memory by a kernel, cudaMemset or cudaMemcpy), or read another element") +
      (shuffled ? "; let every lane that is read from take part in the shuffle." : ".");
  return finding;
}

}  // namespace

void report_undefined(const Warp& warp, uint32_t lanes, const std::string& what) {
  if (repeated(warp, Report::kUndefined, std::hash<std::string>()(what))) return;
  FindingLog::instance().report(
      undefined(warp, lanes, warp.pc, ": it " + what + " " + at(warp, warp.pc)));
}

void report_undefined(Warp& warp, Place place, uint32_t lanes, const std::string& what) {
  report_undefined_from(warp, warp.origin(place), lanes, what);
}

void report_undefined_from(Warp& warp, uint8_t origin, uint32_t lanes, const std::string& what) {
  if (origin == 0) return report_undefined(warp, lanes, what);
  Computed& computed = warp.block->grid->watch->computed[origin - 1u];
  computed.mattered = true;
  if (repeated_at(warp, computed.pc, Report::kUndefined, 0)) return;
  const std::string first = at(warp, computed.pc), second = at(warp, warp.pc);
  Finding finding = undefined(warp, lanes, computed.pc,
                              ": it is used in arithmetic " + first + ", and the result " + what +
                                  (second == first ? "" : " " + second));
  finding.other = warp.module->position_of(warp.pc).user;
  FindingLog::instance().report(std::move(finding));
}

KeyedFinding describe_discarded(const Warp& warp, uint32_t lanes) {
  Finding finding = undefined(warp, lanes, warp.pc,
                              ": it is used in arithmetic " + at(warp, warp.pc) +
                                  ", and the result is thrown away, so this may be meant");
  finding.kind = "discarded-value";
  finding.is_note = true;
  return {std::move(finding), key_at(warp, warp.pc, Report::kDiscarded, 0)};
}

void report_unsupported(const Warp& warp, const std::string& reason) {
  Finding finding = make(warp, "launch", "unsupported", warp.pc);
  const int line = warp.module->text_lines[warp.pc];
  std::string text(warp.module->source->text_of_line(line));
  const size_t begin = text.find_first_not_of(" \t");
  if (begin != std::string::npos) text = text.substr(begin);
  finding.message = "The simulator cannot execute this instruction of " + kernel_name(warp) + " " +
                    at(warp, warp.pc) + ": " + text + " (" + reason +
                    "). This is a limit of the simulator, not an error of the program.";
  FindingLog::instance().report(std::move(finding));
}

void report_assertion(const Warp& warp, int lane, const std::string& condition, Position where) {
  Finding finding = make(warp, "launch", "assertion", warp.pc);
  if (where.known()) finding.where = where;
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, lane) +
                    " fails the assertion `" + condition + "` at " + finding.where.short_name() +
                    ". The launch ends with cudaErrorAssert.";
  FindingLog::instance().report(std::move(finding));
}

void report_trap(const Warp& warp, uint32_t lanes) {
  Finding finding = make(warp, "launch", "trap", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, std::countr_zero(lanes)) +
                    " executes a trap " + at(warp, warp.pc) + " and ends the launch.";
  FindingLog::instance().report(std::move(finding));
}

void report_spent_budget(const Warp& warp) {
  const Grid& grid = *warp.block->grid;
  Finding finding = make(warp, "launch", "endless-loop", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", the launch has executed " +
                    number(grid.max_instructions) +
                    " warp instructions and has not ended; it was stopped " + at(warp, warp.pc) +
                    ", in block " + number(warp.block->linear) + ". ";
  finding.message +=
      grid.is_long ? number(grid.ended_blocks) + " of its " + number(grid.config->grid.count()) +
                         " blocks have ended, so this is no endless loop, but more work than the "
                         "simulator does for one launch: does each thread do its share alone?"
                   : "Does the loop there ever end, for every thread?";
  FindingLog::instance().report(std::move(finding));
}

}  // namespace warplings::sim

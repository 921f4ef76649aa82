#include "runtime/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "checks/padding.h"
#include "exec/edges.h"
#include "exec/launch.h"
#include "memory/bit_range.h"
#include "memory/device_memory.h"
#include "memory/payload.h"
#include "runtime/capture.h"
#include "runtime/device_state.h"
#include "runtime/pointer.h"

namespace warplings::sim {
namespace {

CopyPath path_of(const Copy& copy) {
  const bool to_device = device_holds(memory_kind(copy.to));
  const bool from_device = device_holds(memory_kind(copy.from));
  if (to_device && from_device) {
    return device_of(address_of(copy.to)) == device_of(address_of(copy.from)) ? CopyPath::kOnDevice
                                                                              : CopyPath::kPeer;
  }
  return to_device ? CopyPath::kToDevice : from_device ? CopyPath::kToHost : CopyPath::kOnHost;
}

// Calls visit(offset in `to`, offset in `from`) for every row.
template <class Visit>
void for_each_row(const Copy& copy, Visit visit) {
  for (size_t z = 0; z < copy.box.depth; ++z) {
    for (size_t y = 0; y < copy.box.height; ++y) {
      visit(z * copy.to_layout.slice + y * copy.to_layout.pitch,
            z * copy.from_layout.slice + y * copy.from_layout.pitch);
    }
  }
}

template <class Visit>
void for_each_row(const Fill& fill, Visit visit) {
  for (size_t z = 0; z < fill.box.depth; ++z) {
    for (size_t y = 0; y < fill.box.height; ++y) {
      visit(z * fill.layout.slice + y * fill.layout.pitch);
    }
  }
}

// Where only the edges of launches run (wsim_run_only_edges), only those of a long row are copied
// or filled: both ends, and what lies around powers of two. Gigabytes would take seconds. Of very
// many rows, or of rows far apart, it is those of the whole, twice as wide: a copy of rows reaches
// all that a fill of the same memory, as one row, has reached.
constexpr size_t kLongRow = 4 << 20, kManyRows = 256 << 20;  // bytes
constexpr size_t kAround = 64 << 10;
bool row_is_cut(const Box& box) { return Edges::instance().only && box.width >= kLongRow; }
bool rows_are_cut(const Box& box, const Layout& layout) {
  return Edges::instance().only && box.height * box.depth > 1 && layout.extent(box) >= kManyRows;
}
bool is_cut(const Box& box, const Layout& layout) {
  return row_is_cut(box) || rows_are_cut(box, layout);
}
// Of a copy, the side whose rows lie further apart.
bool target_is_wider(const Copy& copy) {
  return copy.to_layout.extent(copy.box) >= copy.from_layout.extent(copy.box);
}
const Layout& wider_layout(const Copy& copy) {
  return target_is_wider(copy) ? copy.to_layout : copy.from_layout;
}
bool is_cut(const Copy& copy) { return is_cut(copy.box, wider_layout(copy)); }

struct Bytes {
  size_t begin, end;
};

// The edges of so many bytes, at least kLongRow.
std::vector<Bytes> edges_of(size_t size, size_t around) {
  std::vector<Bytes> edges = {{0, around}};
  for (size_t power = kLongRow / 4; power + 2 * around <= size; power *= 2) {
    edges.push_back({power - around, power + around});
  }
  edges.push_back({size - around, size});
  return edges;
}

// The parts of each row that are copied or filled; all of it where nothing is cut.
class Parts {
 public:
  Parts(const Box& box, const Layout& layout) : width_(box.width) {
    if (row_is_cut(box)) of_row_ = edges_of(width_, kAround);
    if (rows_are_cut(box, layout)) of_all_ = edges_of(layout.extent(box), 2 * kAround);
  }

  // Calls visit(offset in the row, size); `row` is where it begins.
  template <class Visit>
  void for_each(size_t row, Visit visit) const {
    if (of_row_.empty() && of_all_.empty()) visit(size_t{0}, width_);
    for (const Bytes& part : of_row_) visit(part.begin, part.end - part.begin);
    for (const Bytes& part : of_all_) {
      const size_t begin = std::max(part.begin, row), end = std::min(part.end, row + width_);
      if (begin < end) visit(begin - row, end - begin);
    }
  }

 private:
  size_t width_;
  std::vector<Bytes> of_row_, of_all_;
};

// A row that is as wide as its pitch makes one long row.
Copy joined_rows(Copy copy) {
  if (copy.box.depth == 1 && copy.to_layout.pitch == copy.box.width &&
      copy.from_layout.pitch == copy.box.width) {
    copy.box.width *= copy.box.height;
    copy.box.height = 1;
    copy.to_layout.pitch = copy.from_layout.pitch = copy.box.width;
  }
  return copy;
}

void find_unwritten(uint64_t address, size_t size, std::vector<ByteRun>* runs) {
  const DeviceMemory& memory = DeviceMemory::instance();
  if (memory.all_defined(address, size)) return;
  const uint64_t first = DeviceMemory::offset_of(address), end = first + size;
  const auto is_undefined = [&](uint64_t bit) {
    return bit < end && ((memory.undefined_bits()[bit >> 6] >> (bit & 63)) & 1) != 0;
  };
  for (uint64_t bit = find_set_bit(memory.undefined_bits(), first, size); bit < end;
       bit = find_set_bit(memory.undefined_bits(), bit, end - bit)) {
    const uint64_t start = bit;
    while (is_undefined(bit)) ++bit;
    // A short gap after a member of one to three bytes is the padding of a structure: nobody writes
    // it.
    const bool padding = start % 4 != 0 && start > first && bit - start < 8;
    if (!padding) runs->push_back({start + DeviceMemory::instance().base(), bit - start});
  }
}

struct UnwrittenBytes {
  uint64_t count = 0;
  uint64_t first = 0;  // address
  void add(const ByteRun& run) {
    if (count == 0) first = run.start;
    count += run.size;
  }
};

enum class Missing { kPadding, kGaps, kPart };

struct Words {
  const char* kind;
  const char* meaning;
};
Words words_of(Missing missing) {
  switch (missing) {
    case Missing::kPadding:
      return {
          "unwritten-padding",
          ". They return at the same place of every element, as the padding of a structure does: "
          "if it is that, nothing is wrong."};
    case Missing::kGaps:
      return {
          "unwritten-gaps",
          ". They lie in several places with written ones between, as what a mask or a triangle "
          "leaves out does. On a GPU they hold whatever was there before: if the program does not "
          "use them, nothing is wrong."};
    case Missing::kPart:
      break;
  }
  return {
      "unwritten-copy",
      ". On a GPU they hold whatever was there before. Does the kernel write every element that is "
      "copied, and was it launched with enough threads?"};
}

void report_unwritten(const Copy& copy, const ApiCall& call, const UnwrittenBytes& bytes,
                      Missing missing) {
  if (bytes.count == 0) return;
  const Allocation* allocation = DeviceMemory::instance().allocation_at(bytes.first);
  Finding finding;
  finding.check = "initcheck";
  const Words words = words_of(missing);
  finding.kind = words.kind;
  finding.is_note = missing != Missing::kPart;
  finding.where = call.where();
  finding.message = call.description() + " copies " + std::to_string(bytes.count) + " of " +
                    std::to_string(copy.box.bytes()) +
                    " bytes to the host that nothing has written, the first at byte " +
                    std::to_string(bytes.first - payload(*allocation).first) + " of " +
                    describe(*allocation) + words.meaning;
  FindingLog::instance().report(std::move(finding));
}

// A copy to the host of bytes that nothing wrote.
//
// What the host does with them cannot be followed. A copy of which nothing was written, or which
// lacks its beginning, its end or one piece, is what a grid that is too small, a wrong guard or a
// forgotten call leaves: an error. Many holes with written bytes between them are what masks,
// triangles and borders leave, and programs copy such arrays as a whole: a note.
void check_written(const Copy& copy, const ApiCall& call) {
  constexpr size_t kFewestHoles = 3;
  if (!engine_options().checks || is_cut(copy)) return;
  std::vector<ByteRun> runs;
  std::vector<uint64_t> places;  // of the runs, counted in bytes that are copied
  uint64_t copied = 0;
  for_each_row(copy, [&](size_t, size_t from) {
    const uint64_t row = address_of(copy.from) + from;
    find_unwritten(row, copy.box.width, &runs);
    for (size_t i = places.size(); i < runs.size(); ++i) {
      places.push_back(copied + runs[i].start - row);
    }
    copied += copy.box.width;
  });
  if (runs.empty()) return;
  const std::vector<bool> like_padding = padding_like(runs);
  UnwrittenBytes unwritten, padding;
  size_t holes = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    (like_padding[i] ? padding : unwritten).add(runs[i]);
    const bool goes_on = i > 0 && places[i] == places[i - 1] + runs[i - 1].size;  // from row to row
    if (!like_padding[i] && !goes_on) ++holes;
  }
  report_unwritten(copy, call, unwritten, holes < kFewestHoles ? Missing::kPart : Missing::kGaps);
  report_unwritten(copy, call, padding, Missing::kPadding);
}

void perform(const Copy& copy) {
  DeviceMemory& memory = DeviceMemory::instance();
  auto* to = static_cast<char*>(usable(copy.to));
  const auto* from = static_cast<const char*>(usable(copy.from));
  const bool to_device = memory.in_arena(address_of(copy.to));
  const bool from_device = memory.in_arena(address_of(copy.from));
  const Parts parts(copy.box, wider_layout(copy));
  const bool by_target = target_is_wider(copy);
  for_each_row(copy, [&](size_t to_row, size_t from_row) {
    parts.for_each(by_target ? to_row : from_row, [&](size_t at, size_t size) {
      const size_t to_offset = to_row + at, from_offset = from_row + at;
      std::memmove(to + to_offset, from + from_offset, size);
      if (to_device && from_device) {
        memory.copy_definedness(address_of(copy.to) + to_offset,
                                address_of(copy.from) + from_offset, size);
      }
    });
    // Also what is left out where a row is cut: who reads it reads no rubbish.
    if (to_device && memory_kind(copy.from) != MemoryKind::kDevice) {
      memory.mark_defined(address_of(copy.to) + to_row, copy.box.width);
    }
  });
}

// Pageable host memory is read during the call: the program may change it as soon as it returns.
Copy with_staged_source(const Copy& copy, std::shared_ptr<std::vector<char>>* staging) {
  *staging = std::make_shared<std::vector<char>>(copy.from_layout.extent(copy.box));
  std::memcpy((*staging)->data(), copy.from, (*staging)->size());
  Copy staged = copy;
  staged.from = (*staging)->data();
  return staged;
}

}  // namespace

cudaError_t check_copy(const ApiCall& call, const Copy& copy) {
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  // As measured on a GPU with unified addresses: the side that the direction calls "device" must be
  // memory that the device can reach; the other side may be anything.
  const bool to_device =
      copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice;
  const bool from_device =
      copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice;
  const cudaError_t error =
      check_range(call, "destination", copy.to, copy.to_layout.extent(copy.box), to_device);
  if (error != cudaSuccess) return error;
  return check_range(call, "source", copy.from, copy.from_layout.extent(copy.box), from_device);
}

Copy linear_copy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  Copy copy;
  copy.to = to;
  copy.from = from;
  copy.box.width = size;
  copy.to_layout = copy.from_layout = {size, size};
  copy.kind = kind;
  return copy;
}

namespace {

std::shared_ptr<Work> describe(const Copy& copy, const ApiCall& call) {
  auto work = std::make_shared<Work>();
  work->kind = WorkKind::kCopy;
  work->name = call.name();
  work->where = call.where();
  const bool from_pageable = memory_kind(copy.from) == MemoryKind::kPageable;
  const bool to_pageable = memory_kind(copy.to) == MemoryKind::kPageable;
  work->bytes = copy.box.bytes();
  work->path = path_of(copy);
  work->pageable = from_pageable || to_pageable;
  for_each_row(copy, [&](size_t to, size_t from) {
    // Pageable memory is read and written during the call.
    if (!from_pageable) {
      work->ranges.push_back({address_of(copy.from) + from, copy.box.width, false});
    }
    if (!to_pageable) work->ranges.push_back({address_of(copy.to) + to, copy.box.width, true});
  });
  return work;
}

}  // namespace

WorkItem work_item(const Copy& request, const ApiCall& call) {
  const Copy copy = joined_rows(request);
  WorkItem item;
  item.about = describe(copy, call);
  item.run = [copy, call] {
    if (!still_there(call, "destination", copy.to, copy.to_layout.extent(copy.box)) ||
        !still_there(call, "source", copy.from, copy.from_layout.extent(copy.box))) {
      return cudaSuccess;
    }
    if (memory_kind(copy.from) == MemoryKind::kDevice && host_can_use(memory_kind(copy.to))) {
      check_written(copy, call);
    }
    perform(copy);
    return cudaSuccess;
  };
  return item;
}

cudaError_t start_copy(const ApiCall& call, const Copy& request, cudaStream_t handle, Wait wait) {
  Streams& streams = Streams::instance();
  std::shared_ptr<StreamState> stream;
  if (const cudaError_t error = find_target(handle, &stream); error != cudaSuccess) return error;
  if (request.box.empty()) return cudaSuccess;
  if (const cudaError_t error = check_copy(call, request); error != cudaSuccess) return error;
  if (stream->capture != nullptr) {
    capture_node(*stream, CopyWork{request, call});
    return cudaSuccess;
  }

  Copy copy = request;
  const MemoryKind to = memory_kind(copy.to), from = memory_kind(copy.from);
  // Between device memory even cudaMemcpy returns before the copy is done.
  const bool must_wait =
      (wait == Wait::kAlways && !(to == MemoryKind::kDevice && from == MemoryKind::kDevice)) ||
      to == MemoryKind::kPageable || (from == MemoryKind::kPageable && is_cut(joined_rows(copy)));
  std::shared_ptr<std::vector<char>> staging;
  if (!must_wait && from == MemoryKind::kPageable) copy = with_staged_source(copy, &staging);
  WorkItem item = work_item(copy, call);
  item.keeps = staging;
  // From pageable memory the call returns when the bytes are staged.
  const bool staged = must_wait && from == MemoryKind::kPageable && device_can_use(to);
  item.about->staged = staged;
  item.about->blocking = must_wait;
  streams.enqueue(stream, std::move(item));
  if (staged) return streams.synchronize_before_last(stream);
  return must_wait ? streams.synchronize_last(stream) : cudaSuccess;
}

cudaError_t check_fill(const ApiCall& call, const Fill& fill) {
  return check_range(call, "target", fill.to, fill.layout.extent(fill.box), true);
}

namespace {

void fill_part(char* part, size_t size, const Fill& fill) {
  if (fill.element_size == 1) {
    std::memset(part, static_cast<int>(fill.value), size);
    return;
  }
  for (size_t at = 0; at < size; at += fill.element_size) {
    std::memcpy(part + at, &fill.value, fill.element_size);
  }
}

}  // namespace

WorkItem work_item(const Fill& fill, const ApiCall& call) {
  WorkItem item;
  item.about = std::make_shared<Work>();
  item.about->kind = WorkKind::kFill;
  item.about->name = call.name();
  item.about->where = call.where();
  for_each_row(fill, [&](size_t offset) {
    item.about->ranges.push_back({address_of(fill.to) + offset, fill.box.width, true});
  });
  item.about->bytes = fill.box.bytes();
  item.run = [fill, call] {
    if (!still_there(call, "target", fill.to, fill.layout.extent(fill.box))) return cudaSuccess;
    auto* to = static_cast<char*>(usable(fill.to));
    const Parts parts(fill.box, fill.layout);
    for_each_row(fill, [&](size_t row) {
      parts.for_each(row, [&](size_t at, size_t size) {
        fill_part(to + row + at, size, fill);
        DeviceMemory::instance().mark_defined(address_of(fill.to) + row + at, size);
      });
    });
    return cudaSuccess;
  };
  return item;
}

cudaError_t start_fill(const ApiCall& call, const Fill& fill, cudaStream_t handle) {
  Streams& streams = Streams::instance();
  std::shared_ptr<StreamState> stream;
  if (const cudaError_t error = find_target(handle, &stream); error != cudaSuccess) return error;
  if (fill.box.empty()) return cudaSuccess;
  if (const cudaError_t error = check_fill(call, fill); error != cudaSuccess) return error;
  if (stream->capture != nullptr) {
    capture_node(*stream, FillWork{fill, call});
    return cudaSuccess;
  }
  WorkItem item = work_item(fill, call);
  // Only memory that the host can see is filled before the call returns.
  const bool must_wait = memory_kind(fill.to) != MemoryKind::kDevice;
  item.about->blocking = must_wait;
  streams.enqueue(stream, std::move(item));
  return must_wait ? streams.synchronize_last(stream) : cudaSuccess;
}

}  // namespace warplings::sim

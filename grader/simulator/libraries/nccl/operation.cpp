#include "nccl/operation.h"

#include <algorithm>
#include <cstring>

#include "common/number.h"

namespace warplings::libraries {
namespace {

using Bytes = std::vector<char>;

// The same places in `parts` arrays of `count` elements that lie one behind the other.
std::vector<Range> in_each(const std::vector<Range>& places, size_t count, int parts) {
  std::vector<Range> all;
  for (size_t part = 0; part < static_cast<size_t>(parts); ++part) {
    for (const Range& place : places) {
      all.push_back({part * count + place.begin, part * count + place.end});
    }
  }
  return all;
}

template <class T>
T reduced(T a, T b, ncclRedOp_t op) {
  switch (op) {
    case ncclProd:
      return static_cast<T>(a * b);
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
    default:
      return static_cast<T>(a + b);
  }
}

// In the order of the ranks; an average is divided at the end.
template <class T>
void reduce_as(const std::vector<Bytes>& inputs, ncclRedOp_t op, Bytes* out) {
  auto* to = reinterpret_cast<T*>(out->data());
  const size_t count = out->size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T value = reinterpret_cast<const T*>(inputs[0].data())[i];
    for (size_t rank = 1; rank < inputs.size(); ++rank) {
      value = reduced(value, reinterpret_cast<const T*>(inputs[rank].data())[i], op);
    }
    to[i] = op == ncclAvg ? static_cast<T>(value / static_cast<T>(inputs.size())) : value;
  }
}

// 16-bit floats: sums in single precision, rounded once.
void reduce_halves(const std::vector<Bytes>& inputs, Number type, ncclRedOp_t op, Bytes* out) {
  const auto count = static_cast<int64_t>(out->size() / 2);
  for (int64_t i = 0; i < count; ++i) {
    auto value = static_cast<float>(load(type, inputs[0].data(), i));
    for (size_t rank = 1; rank < inputs.size(); ++rank) {
      value = reduced(value, static_cast<float>(load(type, inputs[rank].data(), i)), op);
    }
    if (op == ncclAvg) value /= static_cast<float>(inputs.size());
    store(type, out->data(), i, static_cast<double>(value));
  }
}

Bytes reduce(const std::vector<Bytes>& inputs, ncclDataType_t type, ncclRedOp_t op) {
  Bytes out(inputs[0].size());
  switch (type) {
    case ncclInt8:
      reduce_as<int8_t>(inputs, op, &out);
      break;
    case ncclUint8:
      reduce_as<uint8_t>(inputs, op, &out);
      break;
    case ncclInt32:
      reduce_as<int32_t>(inputs, op, &out);
      break;
    case ncclUint32:
      reduce_as<uint32_t>(inputs, op, &out);
      break;
    case ncclInt64:
      reduce_as<int64_t>(inputs, op, &out);
      break;
    case ncclUint64:
      reduce_as<uint64_t>(inputs, op, &out);
      break;
    case ncclFloat32:
      reduce_as<float>(inputs, op, &out);
      break;
    case ncclFloat64:
      reduce_as<double>(inputs, op, &out);
      break;
    case ncclFloat16:
      reduce_halves(inputs, Number::kHalf, op, &out);
      break;
    default:
      reduce_halves(inputs, Number::kBfloat16, op, &out);
      break;
  }
  return out;
}

}  // namespace

size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}

size_t Operation::sent() const {
  return kind == Kind::kReduceScatter ? count * static_cast<size_t>(ranks) : count;
}

size_t Operation::received() const {
  return kind == Kind::kAllGather ? count * static_cast<size_t>(ranks) : count;
}

bool Operation::reads() const {
  return kind != Kind::kReceive && (kind != Kind::kBroadcast || rank == peer);
}

bool Operation::writes() const {
  return kind != Kind::kSend && (kind != Kind::kReduce || rank == peer);
}

double Operation::link_bytes() const {
  const double bytes = static_cast<double>(std::max(sent(), received()) * size_of(type));
  const double n = ranks;
  switch (kind) {
    case Kind::kAllReduce:
      return 2 * (n - 1) / n * bytes;
    case Kind::kAllGather:
    case Kind::kReduceScatter:
      return (n - 1) / n * bytes;
    case Kind::kReduce:
    case Kind::kBroadcast:
      return n > 1 ? bytes : 0;
    case Kind::kSend:
    case Kind::kReceive:
      return peer == rank ? 0 : bytes;
  }
  return bytes;
}

std::string difference(const Operation& a, const Operation& b) {
  if (a.kind != b.kind) return "makes another call";
  if (a.count != b.count) {
    return "has " + std::to_string(b.count) + " elements, not " + std::to_string(a.count);
  }
  if (a.type != b.type) return "has elements of another type";
  const bool reduces =
      a.kind == Kind::kAllReduce || a.kind == Kind::kReduce || a.kind == Kind::kReduceScatter;
  if (reduces && a.reduction != b.reduction) return "asks for another reduction";
  const bool rooted = a.kind == Kind::kReduce || a.kind == Kind::kBroadcast;
  if (rooted && a.peer != b.peer) return "names another root";
  return "";
}

bool overlaps(const Operation& o) {
  if (!o.reads() || !o.writes() || is_point_to_point(o.kind)) return false;
  const size_t size = size_of(o.type);
  const auto start = [](const void* pointer) { return reinterpret_cast<uint64_t>(pointer); };
  const uint64_t send = start(o.send), receive = start(o.receive);
  if (send + o.sent() * size <= receive || receive + o.received() * size <= send) return false;
  const uint64_t part = o.count * size * static_cast<uint64_t>(o.rank);
  switch (o.kind) {
    case Kind::kAllGather:
      return send != receive + part;
    case Kind::kReduceScatter:
      return receive != send + part;
    default:
      return send != receive;
  }
}

std::vector<Range> Operation::looked_at() const {
  constexpr size_t kAround = 8192;  // what two blocks of 1024 threads may write, 16 bytes each
  if (!only_edges || count <= 64 * kAround) return {{0, count}};
  std::vector<Range> wanted = {{0, kAround}, {count - kAround, count}};
  for (size_t power = kAround; power < count; power *= 2) {
    for (const size_t middle : {power, count - power}) {
      wanted.push_back({middle - std::min(middle, kAround), std::min(middle + kAround, count)});
    }
  }
  std::sort(wanted.begin(), wanted.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> apart;
  for (const Range& range : wanted) {
    if (apart.empty() || range.begin > apart.back().end) {
      apart.push_back(range);
    } else {
      apart.back().end = std::max(apart.back().end, range.end);
    }
  }
  return apart;
}

size_t Operation::looked_at_bytes() const {
  size_t elements = 0;
  for (const Range& range : looked_at()) elements += range.end - range.begin;
  return elements * size_of(type);
}

std::vector<Range> sent_ranges(const Operation& o) {
  return in_each(o.looked_at(), o.count, o.kind == Kind::kReduceScatter ? o.ranks : 1);
}

std::vector<Range> received_ranges(const Operation& o) {
  return in_each(o.looked_at(), o.count, o.kind == Kind::kAllGather ? o.ranks : 1);
}

std::vector<char> input_of(const Operation& o) {
  Bytes all;
  if (!o.reads()) return all;
  const size_t size = size_of(o.type);
  const char* bytes = static_cast<const char*>(view(o.send));
  for (const Range& range : sent_ranges(o)) {
    all.insert(all.end(), bytes + range.begin * size, bytes + range.end * size);
  }
  return all;
}

std::vector<char> combined(const Operation& o, const std::vector<Bytes>& inputs) {
  if (o.kind == Kind::kBroadcast) return inputs[static_cast<size_t>(o.peer)];
  if (o.kind != Kind::kAllGather) return reduce(inputs, o.type, o.reduction);
  Bytes all;
  for (const Bytes& input : inputs) all.insert(all.end(), input.begin(), input.end());
  return all;
}

void output_to(const Operation& o, const Bytes& bytes) {
  const size_t size = size_of(o.type);
  const size_t mine = static_cast<size_t>(o.rank) * o.looked_at_bytes();
  const char* from = bytes.data() + (o.kind == Kind::kReduceScatter ? mine : 0);
  char* const to = static_cast<char*>(view(o.receive));
  for (const Range& range : received_ranges(o)) {
    const size_t piece = (range.end - range.begin) * size;
    std::memcpy(to + range.begin * size, from, piece);
    from += piece;
  }
}

void perform_collective(const std::vector<Operation>& of_ranks) {
  std::vector<Bytes> inputs;
  for (const Operation& o : of_ranks) inputs.push_back(input_of(o));
  const Bytes result = combined(of_ranks[0], inputs);
  for (const Operation& o : of_ranks) {
    if (o.writes()) output_to(o, result);
  }
}

void perform_transfers(const std::vector<Operation>& sends,
                       const std::vector<Operation>& receives) {
  std::vector<Bytes> moving;
  for (const Operation& send : sends) moving.push_back(input_of(send));
  for (size_t i = 0; i < receives.size(); ++i) output_to(receives[i], moving[i]);
}

}  // namespace warplings::libraries

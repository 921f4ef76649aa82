#include "nccl/operation.h"

#include <algorithm>
#include <cstring>

#include "common/number.h"

namespace warplings::libraries {
namespace {

using Bytes = std::vector<char>;

Bytes read(const void* from, size_t size) {
  const char* bytes = static_cast<const char*>(view(from));
  return {bytes, bytes + size};
}

void write(void* to, const char* from, size_t size) { std::memcpy(view(to), from, size); }

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

std::vector<char> input_of(const Operation& o) {
  return o.reads() ? read(o.send, o.sent() * size_of(o.type)) : Bytes();
}

std::vector<char> combined(const Operation& o, const std::vector<Bytes>& inputs) {
  if (o.kind == Kind::kBroadcast) return inputs[static_cast<size_t>(o.peer)];
  if (o.kind != Kind::kAllGather) return reduce(inputs, o.type, o.reduction);
  Bytes all;
  for (const Bytes& input : inputs) all.insert(all.end(), input.begin(), input.end());
  return all;
}

void output_to(const Operation& o, const Bytes& bytes) {
  const size_t size = o.received() * size_of(o.type);
  const size_t from = o.kind == Kind::kReduceScatter ? static_cast<size_t>(o.rank) * size : 0;
  write(o.receive, bytes.data() + from, size);
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
  for (const Operation& send : sends)
    moving.push_back(read(send.send, send.count * size_of(send.type)));
  for (size_t i = 0; i < receives.size(); ++i) {
    write(receives[i].receive, moving[i].data(), moving[i].size());
  }
}

}  // namespace warplings::libraries

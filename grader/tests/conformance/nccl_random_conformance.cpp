// NCCL, 30 random collectives of the ranks of one process: kinds, types, operations, lengths, roots
// and places drawn from a seed. As many ranks as there are devices, at most two.
#include <nccl.h>

#include <algorithm>

#include "random_cases.h"

using conformance::Draw;
using conformance::require;
using conformance::status;
using conformance::text;

namespace {

constexpr size_t kRoom = 1200;  // elements per rank and array

struct Rank {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  int* from = nullptr;  // kRoom elements, as large as the widest type
  int* to = nullptr;
  std::vector<double> values;
};

template <class T>
void put(int* there, const std::vector<double>& values) {
  const std::vector<T> all(values.begin(), values.end());
  require(cudaMemcpy(there, all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice));
}
template <class T>
std::vector<double> get(const int* there, size_t count) {
  std::vector<T> all(count);
  require(cudaMemcpy(all.data(), there, count * sizeof(T), cudaMemcpyDeviceToHost));
  return {all.begin(), all.end()};
}
void put(ncclDataType_t type, int* there, const std::vector<double>& values) {
  if (type == ncclInt32) put<int>(there, values);
  if (type == ncclFloat) put<float>(there, values);
  if (type == ncclDouble) put<double>(there, values);
}
std::vector<double> get(ncclDataType_t type, const int* there, size_t count) {
  if (type == ncclInt32) return get<int>(there, count);
  if (type == ncclFloat) return get<float>(there, count);
  return get<double>(there, count);
}

double combine(ncclRedOp_t op, double a, double b) {
  switch (op) {
    case ncclProd:
      return a * b;
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
    default:
      return a + b;  // an average is divided at the end
  }
}

enum Kind { kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kKinds };

struct Case {
  Kind kind;
  ncclDataType_t type;
  ncclRedOp_t op;
  size_t count;
  int root, wrong;
  bool in_place;
};

ncclResult_t call(const Case& c, const Rank& r, const int* from, int* to) {
  const auto type = c.wrong == 1 ? static_cast<ncclDataType_t>(77) : c.type;
  const auto op = c.wrong == 2 ? static_cast<ncclRedOp_t>(55) : c.op;
  const int root = c.wrong == 3 ? 9 : c.root;
  ncclComm_t comm = c.wrong == 4 ? nullptr : r.comm;
  switch (c.kind) {
    case kAllReduce:
      return ncclAllReduce(from, to, c.count, type, op, comm, r.stream);
    case kReduce:
      return ncclReduce(from, to, c.count, type, op, root, comm, r.stream);
    case kBroadcast:
      return ncclBroadcast(from, to, c.count, type, root, comm, r.stream);
    case kAllGather:
      return ncclAllGather(from, to, c.count, type, comm, r.stream);
    default:
      return ncclReduceScatter(from, to, c.count, type, op, comm, r.stream);
  }
}

// What rank `to` holds afterwards; nothing where it gets no result.
std::vector<double> expected(const Case& c, const std::vector<Rank>& ranks, int to) {
  const auto size = static_cast<double>(ranks.size());
  if (c.kind == kBroadcast) {
    const auto& of_root = ranks[static_cast<size_t>(c.root)].values;
    return {of_root.begin(), of_root.begin() + static_cast<long>(c.count)};
  }
  std::vector<double> result;
  if (c.kind == kAllGather) {
    for (const Rank& r : ranks) {
      result.insert(result.end(), r.values.begin(), r.values.begin() + static_cast<long>(c.count));
    }
    return result;
  }
  if (c.kind == kReduce && to != c.root) return result;
  const size_t first = c.kind == kReduceScatter ? static_cast<size_t>(to) * c.count : 0;
  for (size_t i = first; i < first + c.count; ++i) {
    double value = ranks[0].values[i];
    for (size_t r = 1; r < ranks.size(); ++r) value = combine(c.op, value, ranks[r].values[i]);
    result.push_back(c.op == ncclAvg ? value / size : value);
  }
  return result;
}

void collective(Draw& draw, std::vector<Rank>& ranks) {
  Case c{};
  c.kind = static_cast<Kind>(draw.from(0, kKinds - 1));
  c.type = draw.of({ncclInt32, ncclFloat, ncclDouble});
  c.op = draw.of({ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg});
  if (c.type == ncclInt32 && c.op == ncclAvg) c.op = ncclSum;  // how it is rounded is not said
  c.count = static_cast<size_t>(draw.of({0, 1, draw.from(2, 400), draw.from(2, 400)}));
  c.root = draw.from(0, static_cast<int>(ranks.size()) - 1);
  c.wrong = draw.wrong(4);
  c.in_place = draw.chance(30) && c.kind != kAllGather && c.kind != kReduceScatter;
  for (Rank& r : ranks) {
    r.values.clear();
    for (size_t i = 0; i < kRoom; ++i) r.values.push_back(draw.from(-9, 9));
  }
  std::printf("kind %d, type %d, operation %d, count %zu, root %d%s, wrong %d\n", c.kind, c.type,
              c.op, c.count, c.root, c.in_place ? ", in place" : "", c.wrong);
  for (size_t i = 0; i < ranks.size(); ++i) {
    require(cudaSetDevice(static_cast<int>(i)));
    put(c.type, ranks[i].from, ranks[i].values);
    put(c.type, ranks[i].to, std::vector<double>(kRoom, 0));
    require(cudaDeviceSynchronize());
  }
  ncclGroupStart();
  for (size_t i = 0; i < ranks.size(); ++i) {
    Rank& r = ranks[i];
    require(cudaSetDevice(static_cast<int>(i)));
    status("  call", call(c, r, r.from, c.in_place ? r.from : r.to));
  }
  const ncclResult_t done = ncclGroupEnd();
  status("  group", done);
  if (done != ncclSuccess) return;
  for (size_t i = 0; i < ranks.size(); ++i) {
    require(cudaSetDevice(static_cast<int>(i)));
    require(cudaStreamSynchronize(ranks[i].stream));
    const std::vector<double> want = expected(c, ranks, static_cast<int>(i));
    const std::vector<double> got =
        get(c.type, c.in_place ? ranks[i].from : ranks[i].to, want.size());
    conformance::right("  result", conformance::relative_error(got, want), 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Draw draw(conformance::seed_of(argc, argv));
  int devices = 0;
  require(cudaGetDeviceCount(&devices));
  std::vector<Rank> ranks(static_cast<size_t>(std::min(devices, 2)));
  std::printf("ranks: %zu\n", ranks.size());
  std::vector<ncclComm_t> comms(ranks.size());
  status("init all", ncclCommInitAll(comms.data(), static_cast<int>(comms.size()), nullptr));
  for (size_t i = 0; i < ranks.size(); ++i) {
    Rank& r = ranks[i];
    r.comm = comms[i];
    require(cudaSetDevice(static_cast<int>(i)));
    require(cudaStreamCreate(&r.stream));
    require(cudaMalloc(reinterpret_cast<void**>(&r.from), kRoom * sizeof(double)));
    require(cudaMalloc(reinterpret_cast<void**>(&r.to), kRoom * sizeof(double)));
  }
  for (int i = 0; i < 30; ++i) collective(draw, ranks);
  for (const Rank& r : ranks) status("destroy", ncclCommDestroy(r.comm));
}

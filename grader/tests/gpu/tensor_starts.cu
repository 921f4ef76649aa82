// Asks a card which starting coordinates of tensor copies it takes: each line is one form of copy
// and a start, and ends with ok, illegal (the launch failed) or wrong (other bytes than the PTX ISA
// says: those of the tensor, and zeros or nothing beyond its edges).
//
//   nvcc -O2 -std=c++17 -arch=sm_90a grader/tests/gpu/tensor_starts.cu -o tensor_starts
//   ./tensor_starts            all of them; the last line counts
//   ./tensor_starts FIRST      from number FIRST on, in this process, up to the first that fails
//
// A launch that fails ends everything in its process, so a child goes on behind it.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kMostBytes = 16384;  // of a box
constexpr int kBad = 3;            // exit status: the launch failed
constexpr uint8_t kUntouched = 0xee;

struct Probe {
  bool store = false;
  int dimensions = 2;
  int element = 4;              // bytes
  int box_bytes = 64;           // along the first dimension
  int swizzle = 0;              // bytes
  int start = 0, row = 0;       // elements; of the first dimension, and of all others
  bool elements_apart = false;  // every second row is taken
};

constexpr int kRowBytes = 512, kRows = 8, kBoxRows = 4;

std::vector<Probe> all_probes() {
  std::vector<Probe> out;
  const auto starts_of = [](int element) {
    std::vector<int> starts = {0, 1, -1, 2, -2, 3, -3, 5, -5, 7, 8, -8, 15, 16, -16, 17, 31, 33};
    const int width = kRowBytes / element;
    for (const int behind : {1, 2, 3, 4}) starts.push_back(width - behind);  // hangs over the end
    starts.push_back(width);                                                 // all of it outside
    return starts;
  };
  for (const bool store : {false, true}) {
    for (const int element : {4, 1, 2, 8}) {
      for (const int start : starts_of(element)) {
        out.push_back({store, 2, element, 64, 0, start});
        if (element == 4) out.push_back({store, 1, element, 64, 0, start});
      }
    }
    for (const int box : {16, 32, 128, 256}) {
      for (const int start : {1, -1, 4, -4, 6}) out.push_back({store, 2, 4, box, 0, start});
    }
    for (const int swizzle : {32, 64, 128}) {
      for (const int start : {0, 1, -1, 4, -4, 8}) {
        out.push_back({store, 2, 4, swizzle, swizzle, start});
        out.push_back({store, 2, 2, swizzle, swizzle, start});
      }
    }
    for (const int row : {-1, 1, -3, 5, 7, 8}) {
      for (const int start : {0, -1, 4}) {
        out.push_back({store, 2, 4, 64, 0, start, row});
        out.push_back({store, 3, 4, 64, 0, start, row});
      }
    }
    for (const int start : {0, 1, -1, 4}) out.push_back({store, 2, 4, 64, 0, start, 0, true});
  }
  return out;
}

std::string words_of(const Probe& p) {
  char text[160];
  std::snprintf(text, sizeof text, "%s %dd element %d box %3d swizzle %3d start %4d row %2d%s",
                p.store ? "store" : "load ", p.dimensions, p.element, p.box_bytes, p.swizzle,
                p.start, p.row, p.elements_apart ? " every second row" : "");
  return text;
}

int box_rows(const Probe& p) { return p.dimensions == 1 ? 1 : kBoxRows; }
int planes(const Probe& p) { return p.dimensions == 3 ? 2 : 1; }
int tensor_rows(const Probe& p) { return p.dimensions == 1 ? 1 : kRows; }
int tensor_planes(const Probe& p) { return p.dimensions == 3 ? 3 : 1; }
size_t tensor_bytes(const Probe& p) {
  return size_t{kRowBytes} * static_cast<size_t>(tensor_rows(p) * tensor_planes(p));
}

// Where 16 bytes of the box lie in shared memory.
size_t swizzled(const Probe& p, size_t at) {
  const size_t bits = p.swizzle == 128 ? 7 : p.swizzle == 64 ? 3 : p.swizzle == 32 ? 1 : 0;
  return at ^ ((at >> 7 & bits) << 4);
}

uint8_t byte_of_tensor(size_t at) { return static_cast<uint8_t>(at * 7 % 251 + 1); }
uint8_t byte_of_box(size_t at) { return static_cast<uint8_t>(at * 5 % 241 + 3); }

template <bool kStore, int kDimensions>
__global__ void copy(const __grid_constant__ CUtensorMap map, uint8_t* box, int bytes, int x,
                     int y) {
  extern __shared__ uint8_t raw[];
  __shared__ alignas(8) uint64_t barrier;
  const auto begin = static_cast<uint32_t>(__cvta_generic_to_shared(raw));
  uint8_t* const shared = raw + (1024 - begin % 1024) % 1024;
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const auto object = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  for (int i = threadIdx.x; i < bytes; i += 32) shared[i] = kStore ? box[i] : kUntouched;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(object) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x == 0 && kStore) {
    if (kDimensions == 1) {
      asm volatile(
          "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(&map),
          "r"(x), "r"(to)
          : "memory");
    } else if (kDimensions == 2) {
      asm volatile(
          "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
          "r"(x), "r"(y), "r"(to)
          : "memory");
    } else {
      asm volatile(
          "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %2}], [%3];" ::"l"(
              &map),
          "r"(x), "r"(y), "r"(to)
          : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
  if (kStore) return;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object), "r"(bytes)
                 : "memory");
    if (kDimensions == 1) {
      asm volatile(
          "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
          "{%2}], [%3];" ::"r"(to),
          "l"(&map), "r"(x), "r"(object)
          : "memory");
    } else if (kDimensions == 2) {
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
          "{%2, %3}], [%4];" ::"r"(to),
          "l"(&map), "r"(x), "r"(y), "r"(object)
          : "memory");
    } else {
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
          "{%2, %3, %3}], [%4];" ::"r"(to),
          "l"(&map), "r"(x), "r"(y), "r"(object)
          : "memory");
    }
  }
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra again;\n}" ::"r"(object)
      : "memory");
  for (int i = threadIdx.x; i < bytes; i += 32) box[i] = shared[i];
}

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encoder() {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000, cudaEnableDefault,
                                   &found);
#else
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &address, cudaEnableDefault, &found);
#endif
  return reinterpret_cast<Encode>(address);
}

bool describe(const Probe& p, void* tensor, CUtensorMap* map) {
  const CUtensorMapDataType type = p.element == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : p.element == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : p.element == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                    : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const cuuint64_t extent[] = {static_cast<cuuint64_t>(kRowBytes / p.element),
                               static_cast<cuuint64_t>(tensor_rows(p)),
                               static_cast<cuuint64_t>(tensor_planes(p))};
  const cuuint64_t pitch[] = {kRowBytes, static_cast<cuuint64_t>(kRowBytes) * kRows};
  const cuuint32_t taken = p.elements_apart ? 2 * kBoxRows : kBoxRows;
  const cuuint32_t box[] = {static_cast<cuuint32_t>(p.box_bytes / p.element), taken, 2};
  const cuuint32_t every[] = {1, p.elements_apart ? 2u : 1u, 1};
  const CUtensorMapSwizzle swizzle = p.swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : p.swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : p.swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                       : CU_TENSOR_MAP_SWIZZLE_NONE;
  return encoder()(map, type, static_cast<cuuint32_t>(p.dimensions), tensor, extent, pitch, box,
                   every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

// For each byte of the box, in the order of its rows: where in the tensor it is; -1: outside.
std::vector<long> places_of(const Probe& p) {
  std::vector<long> out;
  for (int plane = 0; plane < planes(p); ++plane) {
    for (int row = 0; row < box_rows(p); ++row) {
      const int y = p.row + row * (p.elements_apart ? 2 : 1), z = p.row + plane;
      const bool inside = (p.dimensions < 2 || (y >= 0 && y < kRows)) &&
                          (p.dimensions < 3 || (z >= 0 && z < tensor_planes(p)));
      const long base = (p.dimensions < 2   ? 0L
                         : p.dimensions < 3 ? long{y}
                                            : long{z} * kRows + y) *
                        kRowBytes;
      for (int b = 0; b < p.box_bytes; ++b) {
        const long x = long{p.start} * p.element + b;
        out.push_back(inside && x >= 0 && x < kRowBytes ? base + x : -1);
      }
    }
  }
  return out;
}

template <bool kStore>
void launch(const Probe& p, const CUtensorMap& map, uint8_t* box, int bytes) {
  const auto kernel = p.dimensions == 1   ? copy<kStore, 1>
                      : p.dimensions == 2 ? copy<kStore, 2>
                                          : copy<kStore, 3>;
  kernel<<<1, 32, kMostBytes + 1024>>>(map, box, bytes, p.start, p.row);
}

// "ok", "wrong ...", "refused"; nullptr: the launch failed.
const char* run(const Probe& p) {
  const std::vector<long> places = places_of(p);
  const size_t bytes = places.size(), all = tensor_bytes(p);
  std::vector<uint8_t> tensor(all), box(bytes);
  for (size_t i = 0; i < all; ++i) tensor[i] = byte_of_tensor(i);
  for (size_t i = 0; i < bytes; ++i) box[swizzled(p, i)] = byte_of_box(i);
  uint8_t *d_tensor = nullptr, *d_box = nullptr;
  if (cudaMalloc(&d_tensor, all) != cudaSuccess || cudaMalloc(&d_box, bytes) != cudaSuccess) {
    return "no memory";
  }
  cudaMemcpy(d_tensor, tensor.data(), all, cudaMemcpyHostToDevice);
  cudaMemcpy(d_box, box.data(), bytes, cudaMemcpyHostToDevice);
  CUtensorMap map;
  if (!describe(p, d_tensor, &map)) return "refused by cuTensorMapEncodeTiled";
  if (p.store) {
    launch<true>(p, map, d_box, static_cast<int>(bytes));
  } else {
    launch<false>(p, map, d_box, static_cast<int>(bytes));
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return nullptr;
  std::vector<uint8_t> expected = p.store ? tensor : box;
  for (size_t i = 0; i < bytes; ++i) {
    if (p.store && places[i] >= 0) expected[static_cast<size_t>(places[i])] = byte_of_box(i);
    if (!p.store) {
      expected[swizzled(p, i)] =
          places[i] < 0 ? uint8_t{0} : tensor[static_cast<size_t>(places[i])];
    }
  }
  std::vector<uint8_t> got(expected.size());
  cudaMemcpy(got.data(), p.store ? d_tensor : d_box, got.size(), cudaMemcpyDeviceToHost);
  cudaFree(d_tensor);
  cudaFree(d_box);
  return got == expected ? "ok" : "wrong";
}

int run_from(const std::vector<Probe>& probes, size_t first) {
  for (size_t i = first; i < probes.size(); ++i) {
    const char* const result = run(probes[i]);
    std::printf("%3zu %s %s\n", i, words_of(probes[i]).c_str(),
                result == nullptr ? "illegal" : result);
    std::fflush(stdout);
    if (result == nullptr) return kBad;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Probe> probes = all_probes();
  if (argc == 2) return run_from(probes, static_cast<size_t>(std::atol(argv[1])));
  size_t next = 0, counts[3] = {};  // ok, illegal, other
  while (next < probes.size()) {
    const std::string command = std::string(argv[0]) + " " + std::to_string(next);
    std::FILE* const child = popen(command.c_str(), "r");
    if (child == nullptr) return 1;
    const size_t before = next;
    char line[256];
    while (std::fgets(line, sizeof line, child) != nullptr) {
      std::fputs(line, stdout);
      const bool ok = std::strstr(line, " ok\n") != nullptr;
      ++counts[ok ? 0 : std::strstr(line, " illegal\n") != nullptr ? 1 : 2];
      ++next;
    }
    pclose(child);
    if (next == before) {
      std::printf("%3zu %s the process ended\n", next, words_of(probes[next]).c_str());
      ++counts[2];
      ++next;
    }
  }
  std::printf("%zu ok, %zu illegal, %zu other\n", counts[0], counts[1], counts[2]);
  return 0;
}

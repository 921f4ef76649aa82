// Asks a card how tensor copies with im2col and interleaved layouts lie in shared memory. A case is
// a line: its form, what the driver said of the map, and what the copy brought: "ok" if it is what
// the host reckons, else "wrong" with a table. The table has a number per 16 bytes of shared
// memory: the place in global memory that they came from, in units of 16 bytes; "-" are zeros, "."
// was not written.
//
//   nvcc -O2 -std=c++17 -arch=sm_90a grader/tests/gpu/tensor_layouts.cu -o tensor_layouts
//   ./tensor_layouts           all of them; the last line counts
//   ./tensor_layouts FIRST     from number FIRST on, in this process, up to the first that fails
//
// A launch that fails ends everything in its process, so a child goes on behind it.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kMostBytes = 32768;  // of a box
constexpr int kBad = 3;            // exit status: the launch failed
constexpr uint32_t kUntouched = 0xeeeeeeee;
constexpr size_t kMemory = 1 << 20;  // bytes of the tensor's allocation; word i holds i + 1

enum class Way { kLoad, kStore };

// Extents and coordinates: channels first, then w, h and d as far as there are, then n.
struct Case {
  std::string kind = "im2col";
  Way way = Way::kLoad;
  bool im2col = true;
  int rank = 4, element = 4;  // bytes
  std::vector<int> extent, at, steps;
  std::vector<int> strides;            // bytes; empty: packed
  std::vector<int> lower, upper, off;  // im2col; w first
  std::vector<int> box;                // tiled
  int channels = 4, pixels = 8;
  int interleave = 0, swizzle = 0;  // bytes
  int base = 0;                     // bytes from the start of the allocation
  // Of an interleaved tensor one unit is an element, and the last dimension but one is a slice.
  int expected_bytes() const {
    int n = interleave != 0 ? interleave : element;
    if (im2col) return n * (interleave != 0 ? 1 : channels) * pixels;
    for (size_t d = 0; d < box.size(); ++d) {
      if (interleave == 0 || d + 2 != box.size()) n *= (box[d] + steps[d] - 1) / steps[d];
    }
    return n;
  }
};

std::string list(const std::vector<int>& v) {
  std::string out = "(";
  for (size_t i = 0; i < v.size(); ++i) out += (i == 0 ? "" : " ") + std::to_string(v[i]);
  return out + ")";
}

std::string words_of(const Case& c) {
  std::string out = c.kind + (c.way == Way::kStore ? " store" : " load") + " rank " +
                    std::to_string(c.rank) + " element " + std::to_string(c.element) + " extent " +
                    list(c.extent) + " at " + list(c.at) + " steps " + list(c.steps);
  if (!c.strides.empty()) out += " strides " + list(c.strides);
  if (c.im2col) {
    out += " lower " + list(c.lower) + " upper " + list(c.upper) + " off " + list(c.off) +
           " channels " + std::to_string(c.channels) + " pixels " + std::to_string(c.pixels);
  } else {
    out += " box " + list(c.box);
  }
  return out + " interleave " + std::to_string(c.interleave) + " swizzle " +
         std::to_string(c.swizzle) + (c.base != 0 ? " base " + std::to_string(c.base) : "");
}

// ---- cases

Case random_im2col(unsigned seed) {
  std::mt19937 rng(seed * 2654435761u + 7);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<unsigned>(high - low + 1));
  };
  Case c;
  c.rank = between(3, 5);
  c.way = seed % 5 == 4 ? Way::kStore : Way::kLoad;
  c.element = 1 << between(0, 3);
  const int unit = 16 / c.element;  // elements
  const int swizzles[] = {0, 0, 32, 64, 128};
  c.swizzle = swizzles[rng() % 5];
  const int most = c.swizzle == 0 ? 4 : c.swizzle / 16;
  c.channels = unit * between(1, most);
  c.pixels = between(1, 40);
  c.extent = {unit * between(1, most + 2)};
  c.at = {unit * between(0, 2)};
  c.steps = {1};
  for (int d = 0; d < c.rank - 2; ++d) {
    const int n = between(2, d == 0 ? 9 : 5);
    c.extent.push_back(n);
    c.steps.push_back(rng() % 3 == 0 ? between(1, 3) : 1);
    // Stores stay inside.
    c.lower.push_back(c.way == Way::kStore ? between(0, 1) : between(-2, 1));
    c.upper.push_back(std::max(between(-2, c.way == Way::kStore ? 0 : 2), c.lower.back() - n + 1));
    c.off.push_back(c.way == Way::kStore ? 0 : between(0, 3));
    const int size = n + c.upper.back() - c.lower.back();  // of the bounding box
    c.at.push_back(c.lower.back() + between(0, (size - 1) / c.steps.back()) * c.steps.back());
  }
  c.extent.push_back(between(1, 3));
  c.steps.push_back(1);
  c.at.push_back(between(0, c.extent.back() - 1));
  return c;
}

Case plain_im2col() {
  Case c;
  c.extent = {8, 6, 5, 2};
  c.at = {0, -1, -1, 0};
  c.steps = {1, 1, 1, 1};
  c.lower = {-1, -1};
  c.upper = {0, 1};
  c.off = {1, 2};
  c.channels = 4;
  c.pixels = 24;
  return c;
}

// Where the PTX ISA says little: starts beside the bounding box or off its grid, large steps.
void add_edges(std::vector<Case>* out) {
  const auto add = [&](const char* kind, auto change) {
    Case c = plain_im2col();
    c.kind = kind;
    change(c);
    out->push_back(c);
  };
  add("start_left_of_box", [](Case& c) { c.at = {0, -3, 0, 0}; });
  add("start_right_of_box", [](Case& c) { c.at = {0, 7, 0, 0}; });
  add("start_above_box", [](Case& c) { c.at = {0, 0, -4, 0}; });
  add("start_below_box", [](Case& c) { c.at = {0, 0, 7, 0}; });
  add("start_off_grid", [](Case& c) {
    c.steps = {1, 2, 2, 1};
    c.at = {0, 0, 0, 0};
  });
  add("channel_not_16_bytes", [](Case& c) { c.at = {1, 0, 0, 0}; });
  add("channel_in_front", [](Case& c) { c.at = {-4, 0, 0, 0}; });
  add("channel_behind", [](Case& c) { c.at = {8, 0, 0, 0}; });
  add("image_in_front", [](Case& c) { c.at = {0, 0, 0, -1}; });
  add("image_behind", [](Case& c) { c.at = {0, 0, 0, 2}; });
  add("image_step_2", [](Case& c) {
    c.extent = {8, 3, 2, 4};
    c.steps = {1, 1, 1, 2};
  });
  add("channel_step_2", [](Case& c) { c.steps = {2, 1, 1, 1}; });
  add("store_in_front", [](Case& c) {
    c.way = Way::kStore;
    c.off = {0, 0};
  });
  add("store_inside", [](Case& c) {
    c.way = Way::kStore;
    c.off = {0, 0};
    c.lower = {0, 0};
    c.upper = {0, 0};
    c.at = {0, 2, 1, 0};
  });
  // A store whose bounding box is larger than the tensor, but that stays inside.
  for (const int beyond : {-1, 1}) {
    add(beyond < 0 ? "store_box_in_front" : "store_box_behind", [=](Case& c) {
      c.way = Way::kStore;
      c.off = {0, 0};
      c.lower = {std::min(beyond, 0), 0};
      c.upper = {std::max(beyond, 0), 0};
      c.at = {0, 1, 1, 0};
      c.pixels = 4;
    });
  }
  add("store_h_in_front", [](Case& c) {
    c.way = Way::kStore;
    c.off = {0, 0};
    c.lower = {0, -1};
    c.upper = {0, 0};
    c.at = {0, 1, 1, 0};
    c.pixels = 4;
  });
  add("store_off_box", [](Case& c) {
    c.way = Way::kStore;
    c.off = {0, 0};
    c.lower = {1, 0};
    c.upper = {0, 0};
    c.at = {0, 0, 1, 0};
    c.pixels = 4;
  });
  for (const int channel : {-4, 8}) {
    add("store_channel_outside", [=](Case& c) {
      c.way = Way::kStore;
      c.off = {0, 0};
      c.lower = {0, 0};
      c.upper = {0, 0};
      c.at = {channel, 1, 1, 0};
      c.pixels = 4;
    });
  }
  for (const int image : {-1, 2}) {
    add("store_image_outside", [=](Case& c) {
      c.way = Way::kStore;
      c.off = {0, 0};
      c.lower = {0, 0};
      c.upper = {0, 0};
      c.at = {0, 1, 1, image};
      c.pixels = 4;
    });
  }
  add("store_past_the_end", [](Case& c) {
    c.way = Way::kStore;
    c.off = {0, 0};
    c.lower = {0, 0};
    c.upper = {0, 0};
    c.at = {0, 3, 3, 1};
  });
  add("empty_box", [](Case& c) {
    c.lower = {4, 0};
    c.upper = {-3, 0};
  });
  add("one_pixel_box", [](Case& c) {
    c.lower = {3, 2};
    c.upper = {-2, -2};
    c.at = {0, 3, 2, 0};
  });
  add("channels_12", [](Case& c) { c.channels = 3; });
  add("channels_260", [](Case& c) { c.channels = 260; });
  add("channels_0", [](Case& c) { c.channels = 0; });
  add("pixels_1025", [](Case& c) { c.pixels = 1025; });
  add("pixels_1024", [](Case& c) { c.pixels = 1024; });
  add("pixels_0", [](Case& c) { c.pixels = 0; });
  add("lower_-129", [](Case& c) { c.lower = {-129, 0}; });
  add("upper_128", [](Case& c) { c.upper = {128, 0}; });
  add("wide_swizzle_32", [](Case& c) {
    c.channels = 12;
    c.swizzle = 32;
  });
  add("rank_5_lower_-17", [](Case& c) {
    c.rank = 5;
    c.extent = {8, 6, 5, 3, 2};
    c.at = {0, 0, 0, 0, 0};
    c.steps = {1, 1, 1, 1, 1};
    c.lower = {-17, 0, 0};
    c.upper = {0, 0, 0};
    c.off = {0, 0, 0};
  });
  add("line_without_strides", [](Case& c) {
    c.im2col = false;
    c.rank = 1;
    c.extent = {64};
    c.at = {0};
    c.steps = {1};
    c.box = {16};
  });
  add("rank_2", [](Case& c) {
    c.rank = 2;
    c.extent = {8, 6};
    c.at = {0, 0};
    c.steps = {1, 1};
    c.lower = c.upper = c.off = {};
  });
}

// Interleaved: strides are not those of any packing, so that the numbers tell what they mean.
void add_interleaved(std::vector<Case>* out) {
  const auto add = [&](const std::string& kind, int interleave, int swizzle, auto change) {
    Case c;
    c.kind = kind;
    c.im2col = false;
    c.element = 2;
    c.interleave = interleave;
    c.swizzle = swizzle;
    c.rank = 4;
    c.extent = {32, 6, 5, 3};
    c.at = {0, 0, 0, 0};
    c.steps = {1, 1, 1, 1};
    c.strides = {64, 1024, 16384};
    c.box = {8, 3, 2, 2};
    change(c);
    out->push_back(c);
  };
  for (const int interleave : {16, 32}) {
    const auto add_both = [&](const std::string& kind, auto change) {
      add(kind, interleave, interleave == 32 ? 32 : 0, change);
    };
    const auto make_column = [](Case& c) {
      c.im2col = true;
      c.lower = {0, -1};
      c.upper = {0, 0};
      c.off = {1, 0};
      c.channels = 8;
      c.pixels = 40;
    };
    const auto of_rank_5 = [](Case& c) {
      c.rank = 5;
      c.extent = {12, 6, 5, 3, 2};
      c.at = {0, 0, 0, 0, 0};
      c.steps = {1, 1, 1, 1, 1};
      c.strides = {64, 1024, 16384, 131072};
      c.box = {8, 2, 2, 2, 2};
    };
    add_both("tile", [&](Case&) {});
    for (const int slices : {1, 4, 7, 8, 9, 16, 32}) {  // the last dimension but one
      add_both("tile_slices_" + std::to_string(slices), [&](Case& c) { c.box[2] = slices; });
    }
    for (const int element : {1, 4}) {
      add_both("tile_element_" + std::to_string(element), [&](Case& c) {
        c.element = element;
        c.box = {16, 2, 32, 2};
      });
    }
    for (const int start : {-1, 4, 5}) {
      add_both("tile_slice_at_" + std::to_string(start), [&](Case& c) { c.at[2] = start; });
    }
    add_both("tile_slice_step_2", [&](Case& c) {
      c.steps[2] = 2;
      c.box[2] = 16;
    });
    add_both("tile_box_0_is_4", [&](Case& c) { c.box[0] = 4; });
    add_both("tile_start_1", [&](Case& c) { c.at = {1, 0, 0, 0}; });
    add_both("tile_start_inside", [&](Case& c) { c.at = {3, 1, 2, 1}; });
    add_both("tile_over_edges", [&](Case& c) { c.at = {-3, -1, 4, 2}; });
    add_both("tile_behind", [&](Case& c) { c.at = {28, 4, 4, 2}; });
    add_both("tile_rank_3", [&](Case& c) {
      c.rank = 3;
      c.extent = {32, 6, 5};
      c.at = {0, 1, 0};
      c.steps = {1, 1, 1};
      c.strides = {64, 1024};
      c.box = {8, 3, 2};
    });
    add_both("tile_rank_5", of_rank_5);
    add_both("tile_rank_2", [&](Case& c) {
      c.rank = 2;
      c.extent = {32, 6};
      c.at = {0, 0};
      c.steps = {1, 1};
      c.strides = {64};
      c.box = {8, 3};
    });
    add_both("tile_steps", [&](Case& c) {
      c.box = {16, 4, 2, 4};
      c.steps = {2, 2, 1, 2};
    });
    add_both("tile_store", [&](Case& c) {
      c.way = Way::kStore;
      c.at = {1, 1, 1, 1};
    });
    add_both("tile_store_over_end", [&](Case& c) {
      c.way = Way::kStore;
      c.at = {28, 4, 4, 2};
    });
    add_both("tile_store_in_front", [&](Case& c) {
      c.way = Way::kStore;
      c.at = {-1, 0, 0, 0};
    });
    for (const int swizzle : {0, 32, 64, 128}) {
      add("tile_swizzle_" + std::to_string(swizzle), interleave, swizzle, [&](Case& c) {
        c.box = {8, 4, 4, 2};
      });
    }
    add_both("tile_swizzle_narrow", [&](Case& c) {  // rows of units that are no whole pattern
      c.element = 4;
      c.box = {4, 3, 1, 2};
      c.swizzle = 128;
    });
    add_both("tile_stride_16", [&](Case& c) { c.strides = {16, 1040, 16400}; });
    add_both("tile_base_16", [&](Case& c) { c.base = 16; });
    add_both("im2col", make_column);
    for (const int channels : {1, 4, 16, 24, 64}) {
      add_both("im2col_channels_" + std::to_string(channels), [&](Case& c) {
        make_column(c);
        c.channels = channels;
      });
    }
    add_both("im2col_inside", [&](Case& c) {
      make_column(c);
      c.at = {29, 1, 3, 1};
    });
    add_both("im2col_steps", [&](Case& c) {
      make_column(c);
      c.steps = {2, 3, 1, 1};
    });
    add_both("im2col_rank_5", [&](Case& c) {
      of_rank_5(c);
      c.im2col = true;
      c.lower = {-1, 0, 1};
      c.upper = {1, -1, 0};
      c.off = {0, 1, 2};
      c.at = {-1, 0, 2, 1, 0};
      c.pixels = 60;
    });
    add_both("im2col_rank_3", [&](Case& c) {
      c.im2col = true;
      c.rank = 3;
      c.extent = {9, 5, 4};
      c.at = {-1, 3, 1};
      c.steps = {2, 1, 1};
      c.strides = {1024, 16384};
      c.lower = {-1};
      c.upper = {1};
      c.off = {1};
      c.channels = 8;
      c.pixels = 20;
    });
    add_both("im2col_store", [&](Case& c) {
      make_column(c);
      c.way = Way::kStore;
      c.lower = {0, 0};
      c.off = {0, 0};
      c.at = {3, 1, 2, 1};
    });
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> out;
  out.push_back(plain_im2col());
  for (unsigned seed = 0; seed < 200; ++seed) out.push_back(random_im2col(seed));
  add_edges(&out);
  add_interleaved(&out);
  return out;
}

// ---- the copies

struct Start {
  int at[5];
  uint16_t off[3];
  int bytes;
};

#define ARRIVED "mbarrier::complete_tx::bytes"
#define LOAD(dimensions, coordinates, ...)                                                 \
  asm volatile("cp.async.bulk.tensor." dimensions "d.shared::cluster.global.tile." ARRIVED \
               " [%0], [%1, {" coordinates "}], [%2];" ::"r"(to),                          \
               "l"(&map), "r"(object), __VA_ARGS__                                         \
               : "memory")
#define STORE(dimensions, mode, coordinates, ...)                              \
  asm volatile("cp.async.bulk.tensor." dimensions "d.global.shared::cta." mode \
               ".bulk_group [%1, {" coordinates "}], [%0];" ::"r"(to),         \
               "l"(&map), __VA_ARGS__                                          \
               : "memory")
#define COLUMN(dimensions, coordinates, offsets, ...)                                        \
  asm volatile("cp.async.bulk.tensor." dimensions "d.shared::cluster.global.im2col." ARRIVED \
               " [%0], [%1, {" coordinates "}], [%2], {" offsets "};" ::"r"(to),             \
               "l"(&map), "r"(object), __VA_ARGS__                                           \
               : "memory")

#define AT(i) "r"(s.at[i])
#define OFF(i) "h"(s.off[i])

template <int kRank, bool kIm2col>
__device__ void start_load(const CUtensorMap& map, uint32_t to, uint32_t object, const Start& s) {
  if constexpr (kIm2col) {
    if (kRank == 3) COLUMN("3", "%3, %4, %5", "%6", AT(0), AT(1), AT(2), OFF(0));
    if (kRank == 4) {
      COLUMN("4", "%3, %4, %5, %6", "%7, %8", AT(0), AT(1), AT(2), AT(3), OFF(0), OFF(1));
    }
    if (kRank == 5) {
      COLUMN("5", "%3, %4, %5, %6, %7", "%8, %9, %10", AT(0), AT(1), AT(2), AT(3), AT(4), OFF(0),
             OFF(1), OFF(2));
    }
  } else {
    if (kRank == 3) LOAD("3", "%3, %4, %5", AT(0), AT(1), AT(2));
    if (kRank == 4) LOAD("4", "%3, %4, %5, %6", AT(0), AT(1), AT(2), AT(3));
    if (kRank == 5) LOAD("5", "%3, %4, %5, %6, %7", AT(0), AT(1), AT(2), AT(3), AT(4));
  }
}

template <int kRank, bool kIm2col>
__device__ void start_store(const CUtensorMap& map, uint32_t to, const Start& s) {
  if constexpr (kIm2col) {
    if (kRank == 3) STORE("3", "im2col_no_offs", "%2, %3, %4", AT(0), AT(1), AT(2));
    if (kRank == 4) {
      STORE("4", "im2col_no_offs", "%2, %3, %4, %5", AT(0), AT(1), AT(2), AT(3));
    }
    if (kRank == 5) {
      STORE("5", "im2col_no_offs", "%2, %3, %4, %5, %6", AT(0), AT(1), AT(2), AT(3), AT(4));
    }
  } else {
    if (kRank == 3) STORE("3", "tile", "%2, %3, %4", AT(0), AT(1), AT(2));
    if (kRank == 4) STORE("4", "tile", "%2, %3, %4, %5", AT(0), AT(1), AT(2), AT(3));
    if (kRank == 5) STORE("5", "tile", "%2, %3, %4, %5, %6", AT(0), AT(1), AT(2), AT(3), AT(4));
  }
}

// A load whose bytes are not as many as expected leaves `late` set, and shared memory as it is
// then.
template <int kRank, bool kIm2col, bool kStore>
__global__ void copy(const __grid_constant__ CUtensorMap map, uint32_t* box, int* late, Start s) {
  extern __shared__ uint8_t raw[];
  __shared__ alignas(8) uint64_t barrier;
  const auto begin = static_cast<uint32_t>(__cvta_generic_to_shared(raw));
  auto* const shared = reinterpret_cast<uint32_t*>(raw + (1024 - begin % 1024) % 1024);
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const auto object = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  for (int i = threadIdx.x; i < kMostBytes / 4; i += 32) shared[i] = kStore ? box[i] : kUntouched;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(object) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (kStore) {
    if (threadIdx.x != 0) return;
    start_store<kRank, kIm2col>(map, to, s);
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    return;
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object),
                 "r"(s.bytes)
                 : "memory");
    start_load<kRank, kIm2col>(map, to, object, s);
  }
  __syncwarp();
  uint32_t done = 0;
  for (int tries = 0; tries < 2000 && done == 0; ++tries) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], 0;\nselp.u32 %0, 1, 0, done;\n}"
        : "=r"(done)
        : "r"(object)
        : "memory");
    if (done == 0) __nanosleep(100);
  }
  // With other bytes than expected the phase does not end, or the next one does not.
  if (done != 0 && threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(object) : "memory");
  }
  __nanosleep(2000);
  __syncwarp();
  if (done != 0) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], 1;\nselp.u32 %0, 1, 0, done;\n}"
        : "=r"(done)
        : "r"(object)
        : "memory");
  }
  if (done == 0) *late = 1;
  __syncwarp();
  for (int i = threadIdx.x; i < kMostBytes / 4; i += 32) box[i] = shared[i];
}

using Kernel = void (*)(CUtensorMap, uint32_t*, int*, Start);

template <bool kIm2col, bool kStore>
Kernel kernel_of(int rank) {
  if (rank == 3) return copy<3, kIm2col, kStore>;
  if (rank == 4) return copy<4, kIm2col, kStore>;
  return copy<5, kIm2col, kStore>;
}

// ---- the host

template <class Function>
Function driver(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found);
  return reinterpret_cast<Function>(address);
}

std::vector<size_t> strides_of(const Case& c) {  // bytes, of all dimensions
  std::vector<size_t> out = {static_cast<size_t>(c.element)};
  for (size_t d = 0; d + 1 < c.extent.size(); ++d) {
    out.push_back(c.strides.empty() ? out.back() * static_cast<size_t>(c.extent[d])
                                    : static_cast<size_t>(c.strides[d]));
  }
  return out;
}

CUresult describe(const Case& c, void* memory, CUtensorMap* map) {
  const CUtensorMapDataType type = c.element == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : c.element == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : c.element == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                    : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const std::vector<cuuint64_t> extent(c.extent.begin(), c.extent.end());
  const std::vector<size_t> all = strides_of(c);
  const std::vector<cuuint64_t> strides(all.begin() + 1, all.end());
  const std::vector<cuuint32_t> steps(c.steps.begin(), c.steps.end()),
      box(c.box.begin(), c.box.end());
  const auto interleave = c.interleave == 0    ? CU_TENSOR_MAP_INTERLEAVE_NONE
                          : c.interleave == 16 ? CU_TENSOR_MAP_INTERLEAVE_16B
                                               : CU_TENSOR_MAP_INTERLEAVE_32B;
  const auto swizzle = c.swizzle == 0    ? CU_TENSOR_MAP_SWIZZLE_NONE
                       : c.swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                       : c.swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                         : CU_TENSOR_MAP_SWIZZLE_128B;
  if (c.im2col) {
    return driver<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col")(
        map, type, static_cast<cuuint32_t>(c.rank), memory, extent.data(), strides.data(),
        c.lower.data(), c.upper.data(), static_cast<cuuint32_t>(c.channels),
        static_cast<cuuint32_t>(c.pixels), steps.data(), interleave, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  return driver<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled")(
      map, type, static_cast<cuuint32_t>(c.rank), memory, extent.data(), strides.data(), box.data(),
      steps.data(), interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

size_t swizzled(const Case& c, size_t at) {
  const size_t bits = c.swizzle == 128 ? 7 : c.swizzle == 64 ? 3 : c.swizzle == 32 ? 1 : 0;
  return at ^ ((at >> 7 & bits) << 4);
}

// Of every 16 bytes of a column: where they lie in shared memory, and in global memory (-1:
// outside).
struct Place {
  size_t shared;
  long global;
};

std::vector<Place> places_of(const Case& c) {
  std::vector<Place> out;
  const size_t spatial = static_cast<size_t>(c.rank - 2), last = static_cast<size_t>(c.rank - 1);
  const std::vector<size_t> stride = strides_of(c);
  const size_t row = static_cast<size_t>(c.channels * c.element);
  const size_t pitch = std::max(row, static_cast<size_t>(c.swizzle));
  std::vector<int> at = c.at;
  for (int pixel = 0; pixel < c.pixels; ++pixel) {
    for (size_t byte = 0; byte < row; byte += 16) {
      const int channel = at[0] + static_cast<int>(byte) / c.element;
      bool inside =
          channel >= 0 && channel < c.extent[0] && at[last] >= 0 && at[last] < c.extent[last];
      size_t global =
          static_cast<size_t>(channel * c.element) + static_cast<size_t>(at[last]) * stride[last];
      for (size_t d = 0; d < spatial; ++d) {
        const int x = at[d + 1] + c.off[d];
        inside = inside && x >= 0 && x < c.extent[d + 1];
        global += static_cast<size_t>(x) * stride[d + 1];
      }
      out.push_back({swizzled(c, static_cast<size_t>(pixel) * pitch + byte),
                     inside ? static_cast<long>(global) : -1});
    }
    size_t d = 0;
    for (; d < spatial; ++d) {
      at[d + 1] += c.steps[d + 1];
      if (at[d + 1] <= c.extent[d + 1] - 1 + c.upper[d]) break;
      at[d + 1] = c.lower[d];
    }
    if (d == spatial) at[last] += c.steps[last];
  }
  return out;
}

void print_table(const std::vector<uint32_t>& box, size_t chunks) {
  for (size_t i = 0; i < chunks; ++i) {
    if (i % 16 == 0) std::printf("\n      ");
    const uint32_t word = box[i * 4];
    const bool in_a_row = word != 0 && box[i * 4 + 1] == word + 1 && box[i * 4 + 3] == word + 3 &&
                          (word - 1) % 4 == 0;
    if (word == kUntouched) {
      std::printf("    .");
    } else if (in_a_row) {
      std::printf(" %4u", (word - 1) / 4);
    } else if (word == 0 && box[i * 4 + 3] == 0) {
      std::printf("    -");
    } else {
      std::printf(" %x:%x:%x:%x", word, box[i * 4 + 1], box[i * 4 + 2], box[i * 4 + 3]);
    }
  }
}

enum class Said { kOk, kWrong, kRefused, kFailed, kTable };

Said run(const Case& c) {
  std::vector<uint32_t> memory(kMemory / 4), box(kMostBytes / 4);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint32_t>(i + 1);
  for (size_t i = 0; i < box.size(); ++i) box[i] = static_cast<uint32_t>(i + 1) | 0x40000000u;
  uint8_t* d_memory = nullptr;
  uint32_t* d_box = nullptr;
  int* d_late = nullptr;
  cudaMalloc(&d_memory, kMemory);
  cudaMalloc(&d_box, kMostBytes);
  cudaMalloc(&d_late, sizeof(int));
  cudaMemset(d_late, 0, sizeof(int));
  cudaMemcpy(d_memory, memory.data(), kMemory, cudaMemcpyHostToDevice);
  cudaMemcpy(d_box, box.data(), kMostBytes, cudaMemcpyHostToDevice);
  alignas(64) CUtensorMap map = {};
  const CUresult refused = describe(c, d_memory + c.base, &map);
  if (refused != CUDA_SUCCESS) return Said::kRefused;
  if (c.rank < 3) return Said::kTable;
  Start s = {};
  for (size_t d = 0; d < c.at.size(); ++d) s.at[d] = c.at[d];
  for (size_t d = 0; d < c.off.size(); ++d) s.off[d] = static_cast<uint16_t>(c.off[d]);
  s.bytes = c.expected_bytes();
  if (s.bytes > kMostBytes) return Said::kTable;
  const bool store = c.way == Way::kStore;
  const Kernel kernel =
      c.im2col ? (store ? kernel_of<true, true>(c.rank) : kernel_of<true, false>(c.rank))
               : (store ? kernel_of<false, true>(c.rank) : kernel_of<false, false>(c.rank));
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMostBytes + 1024);
  kernel<<<1, 32, kMostBytes + 1024>>>(map, d_box, d_late, s);
  if (cudaDeviceSynchronize() != cudaSuccess) return Said::kFailed;
  int late = 0;
  std::vector<uint32_t> expected = store ? memory : std::vector<uint32_t>(box.size(), kUntouched);
  std::vector<uint32_t> got(expected.size());
  cudaMemcpy(&late, d_late, sizeof late, cudaMemcpyDeviceToHost);
  cudaMemcpy(got.data(), store ? static_cast<const void*>(d_memory) : d_box, got.size() * 4,
             cudaMemcpyDeviceToHost);
  cudaFree(d_memory);
  cudaFree(d_box);
  cudaFree(d_late);
  if (late != 0) std::printf(" [other bytes than %d]", s.bytes);
  const bool reckoned = c.im2col && c.interleave == 0;
  if (reckoned) {
    for (const Place& p : places_of(c)) {
      for (size_t w = 0; w < 4; ++w) {
        const size_t shared = p.shared / 4 + w, global = static_cast<size_t>(p.global) / 4 + w;
        if (store && p.global >= 0) expected[global] = box[shared];
        if (!store) expected[shared] = p.global < 0 ? 0 : memory[global];
      }
    }
    if (got == expected && late == 0) return Said::kOk;
  }
  if (store) {  // which places hold what
    for (size_t i = 0; i < got.size(); i += 4) {
      if (got[i] == memory[i]) continue;
      std::printf(" %zu<-%x", i / 4, got[i]);
    }
  } else {
    size_t chunks = got.size() / 4;
    while (chunks > 0 && got[chunks * 4 - 4] == kUntouched) --chunks;
    print_table(got, std::min<size_t>(chunks, 128));
    if (reckoned) {
      std::printf("\n    expected");
      print_table(expected, std::min<size_t>(chunks, 128));
    }
  }
  return reckoned ? Said::kWrong : Said::kTable;
}

constexpr const char* kWords[] = {"ok", "wrong", "refused", "failed", "seen"};

int run_from(const std::vector<Case>& cases, size_t first) {
  for (size_t i = first; i < cases.size(); ++i) {
    std::printf("%3zu %s:", i, words_of(cases[i]).c_str());
    std::fflush(stdout);
    const Said said = run(cases[i]);
    std::printf("\n=== %zu %s %s\n", i, cases[i].kind.c_str(), kWords[static_cast<int>(said)]);
    std::fflush(stdout);
    if (said == Said::kFailed) return kBad;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Case> cases = all_cases();
  if (argc == 2) return run_from(cases, static_cast<size_t>(std::atol(argv[1])));
  size_t next = 0, counts[5] = {};
  while (next < cases.size()) {
    const std::string command = std::string(argv[0]) + " " + std::to_string(next);
    std::FILE* const child = popen(command.c_str(), "r");
    if (child == nullptr) return 1;
    const size_t before = next;
    char line[8192];
    while (std::fgets(line, sizeof line, child) != nullptr) {
      if (std::strncmp(line, "===", 3) != 0 || std::strstr(line, " ok\n") == nullptr) {
        std::fputs(line, stdout);
      }
      if (std::strncmp(line, "===", 3) != 0) continue;
      for (int w = 0; w < 5; ++w) {
        if (std::strstr(line, (std::string(" ") + kWords[w] + "\n").c_str()) != nullptr)
          ++counts[w];
      }
      ++next;
    }
    pclose(child);
    if (next == before) {
      std::printf("=== %zu %s the process ended\n", next, cases[next].kind.c_str());
      ++next;
    }
  }
  for (int w = 0; w < 5; ++w) std::printf("%zu %s%s", counts[w], kWords[w], w < 4 ? ", " : "\n");
  return 0;
}

// Fragments of matrices, put together and taken apart: every lane holds some elements of each.
#ifndef WARPLINGS_SIMULATOR_EXEC_FRAGMENTS_H_
#define WARPLINGS_SIMULATOR_EXEC_FRAGMENTS_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "decode/matrix.h"
#include "exec/half.h"
#include "exec/lanes.h"
#include "exec/reports.h"
#include "exec/warp.h"

namespace warplings::sim::WARPLINGS_ISA {

// use(decode): decode(bits) is the value of a float of at most 32 bits.
template <class Use>
void with_decoder(MatrixType type, Use use) {
  switch (type) {
    case MatrixType::kF16:
      return use([](uint64_t x) { return f16_to_float(static_cast<uint32_t>(x)); });
    case MatrixType::kBF16:
      return use([](uint64_t x) { return bf16_to_float(static_cast<uint32_t>(x)); });
    case MatrixType::kTF32:  // 1 + 8 + 10 bits; the others are not looked at
      return use(
          [](uint64_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) & 0xffffe000u); });
    case MatrixType::kE4M3:
      return use([](uint64_t x) { return e4m3_to_float(static_cast<uint32_t>(x)); });
    case MatrixType::kE5M2:
      return use([](uint64_t x) { return e5m2_to_float(static_cast<uint32_t>(x)); });
    default:
      return use([](uint64_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x)); });
  }
}

// dense[row * columns + column] = decode(bits of the element)
template <class T, class Decode>
void gather(const Warp& w, const Fragment& f, T* dense, Decode decode) {
  const int bits = bits_of(f.type);
  if (bits == 64) {
    for (int e = 0; e < f.elements; ++e) {
      const uint64_t* lanes = w.in<uint64_t>(f.registers[static_cast<size_t>(e)]);
      for (int lane = 0; lane < 32; ++lane) dense[f.at[32 * e + lane]] = decode(lanes[lane]);
    }
    return;
  }
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (int e = 0; e < f.elements; ++e) {
    const uint32_t* lanes = w.in<uint32_t>(f.registers[static_cast<size_t>(e / f.per_register)]);
    const int shift = e % f.per_register * bits;
    const uint16_t* at = &f.at[static_cast<size_t>(e) * 32];
    for (int lane = 0; lane < 32; ++lane) dense[at[lane]] = decode((lanes[lane] >> shift) & mask);
  }
}

// The other way: encode(value) gives the bits of an element.
template <class T, class Encode>
void scatter(Warp& w, const Fragment& f, const T* dense, uint32_t lanes, Encode encode) {
  const int bits = bits_of(f.type);
  for (size_t r = 0; r < f.registers.size(); ++r) {
    if (f.registers[r] == kNoPlace) continue;
    each_lane(lanes, [&](int lane) {
      uint64_t value = 0;
      for (int j = 0; j < f.per_register; ++j) {
        const size_t e = r * static_cast<size_t>(f.per_register) + static_cast<size_t>(j);
        value |= static_cast<uint64_t>(encode(dense[f.at[32 * e + static_cast<size_t>(lane)]]))
                 << (j * bits);
      }
      if (bits == 64) {
        w.out<uint64_t>(f.registers[r])[lane] = value;
      } else {
        w.out<uint32_t>(f.registers[r])[lane] = static_cast<uint32_t>(value);
      }
    });
  }
}

// A sparse A of 16 rows with its zeros: 16 x stored elements become 16 x 2 * stored.
template <class T>
void unpack_sparse(const Warp& w, const SparseA& sparse, MatrixType type, const T* packed,
                   int stored, T* full) {
  const int per_chunk = sparse.chunk / 2;
  std::fill_n(full, 16 * 2 * stored, T{});
  const uint32_t* metadata = w.in<uint32_t>(sparse.metadata);
  for (int row = 0; row < 16; ++row) {
    for (int i = 0; i < stored; ++i) {
      const auto [lane, shift] = sparse.bits_of_chunk(type, row, i / per_chunk);
      const int column = sparse.column(type, metadata[lane] >> shift & 15, i);
      full[row * 2 * stored + column] = packed[row * stored + i];
    }
  }
}

inline void check_metadata(Warp& w, const SparseA& sparse, MatrixType type, uint32_t lanes) {
  if (sparse.chunk == 0 || !is_register(sparse.metadata)) return;
  uint32_t& undefined = w.undefined_lanes(sparse.metadata);
  const uint32_t found = undefined & lanes & sparse.lanes(type);
  if (found != 0) report_undefined(w, found, "says where a sparse matrix has its elements");
  undefined &= ~found;
}

inline void gather_floats(const Warp& w, const Fragment& f, double* dense) {
  if (f.type == MatrixType::kF64) {
    return gather(w, f, dense, [](uint64_t x) { return std::bit_cast<double>(x); });
  }
  with_decoder(f.type, [&](auto decode) { gather(w, f, dense, decode); });
}

inline void gather_integers(const Warp& w, const Fragment& f, int32_t* dense) {
  const int unused = 32 - bits_of(f.type);
  const bool is_signed = f.type == MatrixType::kS8 || f.type == MatrixType::kS4;
  gather(w, f, dense, [=](uint64_t x) {
    const uint32_t value = static_cast<uint32_t>(x);
    if (!is_signed) return static_cast<int32_t>(value);
    return static_cast<int32_t>(value << unused) >> unused;
  });
}

inline void scatter_floats(Warp& w, const Fragment& f, const double* dense, uint32_t lanes) {
  switch (f.type) {
    case MatrixType::kF16:
      return scatter(w, f, dense, lanes,
                     [](double x) { return half_from_double(x, Rounding::kNearest).bits; });
    case MatrixType::kF64:
      return scatter(w, f, dense, lanes, [](double x) { return std::bit_cast<uint64_t>(x); });
    default:
      return scatter(w, f, dense, lanes, [](double x) {
        return std::bit_cast<uint32_t>(canonical(static_cast<float>(x)));
      });
  }
}

// Lanes in which a register of the fragment is undefined.
inline uint32_t undefined_lanes(Warp& w, const Fragment& f, uint32_t lanes) {
  uint32_t found = 0;
  for (int r = 0; r < f.filled_registers(); ++r) {
    const Place place = f.registers[static_cast<size_t>(r)];
    if (is_register(place)) found |= w.undefined_lanes(place) & lanes;
  }
  return found;
}

}  // namespace warplings::sim::WARPLINGS_ISA

#endif  // WARPLINGS_SIMULATOR_EXEC_FRAGMENTS_H_

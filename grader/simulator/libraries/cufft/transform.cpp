// From the memory of the program through all dimensions of a transform and back.
#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "cufft/line_fft.h"
#include "cufft/plan.h"

namespace warplings::libraries {
namespace {

constexpr size_t kLanes = 16;  // lines that are transformed side by side

FftLayout packed_layout(const std::array<int64_t, 3>& n, int64_t row) {
  FftLayout layout;
  layout.embed = {n[0], n[1], row};
  layout.distance = n[0] * n[1] * row;
  return layout;
}

// Batches of [n0][n1][row] complex numbers.
template <class T>
struct Grid {
  Grid(const FftPlan& plan, int64_t row_length)
      : batch(plan.batch), n0(plan.n[0]), n1(plan.n[1]), row(row_length) {
    const auto size = static_cast<size_t>(batch * n0 * n1 * row);
    re.resize(size);
    im.resize(size);
  }
  // Calls visit(index here, index in the layout).
  template <class Visit>
  void for_each(const FftLayout& layout, int64_t columns, Visit visit) const {
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t x = 0; x < n0; ++x) {
        for (int64_t y = 0; y < n1; ++y) {
          const int64_t here = ((b * n0 + x) * n1 + y) * row;
          const int64_t there =
              b * layout.distance + (x * layout.embed[1] + y) * layout.embed[2] * layout.stride;
          for (int64_t z = 0; z < columns; ++z) {
            visit(static_cast<size_t>(here + z), there + z * layout.stride);
          }
        }
      }
    }
  }
  int64_t batch, n0, n1, row;
  std::vector<T> re, im;
};

// All lines along one axis: `outer` blocks of [n][inner].
template <class T>
void transform_axis(Parts<T> data, size_t outer, size_t n, size_t inner) {
  if (n == 1) return;
  const LineFft<T> fft(n);
  const size_t room = kLanes * (n + fft.scratch_size());
  std::vector<T> re(room), im(room);
  const Parts<T> lines = {re.data(), im.data()};
  const Parts<T> scratch = {lines.re + kLanes * n, lines.im + kLanes * n};
  const auto start_of = [&](size_t line) { return line / inner * n * inner + line % inner; };
  for (size_t first = 0; first < outer * inner; first += kLanes) {
    const size_t lanes = std::min(kLanes, outer * inner - first);
    size_t start[kLanes] = {};
    for (size_t lane = 0; lane < lanes; ++lane) start[lane] = start_of(first + lane);
    for (size_t t = 0; t < n; ++t) {
      for (size_t lane = 0; lane < lanes; ++lane) {
        lines.re[t * lanes + lane] = data.re[start[lane] + t * inner];
        lines.im[t * lanes + lane] = data.im[start[lane] + t * inner];
      }
    }
    fft.run(lines, scratch, lanes);
    for (size_t t = 0; t < n; ++t) {
      for (size_t lane = 0; lane < lanes; ++lane) {
        data.re[start[lane] + t * inner] = lines.re[t * lanes + lane];
        data.im[start[lane] + t * inner] = lines.im[t * lanes + lane];
      }
    }
  }
}

template <class T>
Parts<T> parts_of(Grid<T>& grid, int sign) {
  Parts<T> parts = {grid.re.data(), grid.im.data()};
  if (sign == CUFFT_INVERSE) std::swap(parts.re, parts.im);
  return parts;
}

template <class T>
void transform_rows(Grid<T>& grid, int sign) {
  transform_axis(parts_of(grid, sign), static_cast<size_t>(grid.batch * grid.n0 * grid.n1),
                 static_cast<size_t>(grid.row), 1);
}

template <class T>
void transform_other_axes(Grid<T>& grid, int sign) {
  transform_axis(parts_of(grid, sign), static_cast<size_t>(grid.batch * grid.n0),
                 static_cast<size_t>(grid.n1), static_cast<size_t>(grid.row));
  transform_axis(parts_of(grid, sign), static_cast<size_t>(grid.batch),
                 static_cast<size_t>(grid.n0), static_cast<size_t>(grid.n1 * grid.row));
}

template <class T>
void load_complex(Grid<T>& grid, const FftLayout& layout, const void* from) {
  const auto* values = static_cast<const std::complex<T>*>(from);
  grid.for_each(layout, grid.row, [&](size_t here, int64_t there) {
    grid.re[here] = values[there].real();
    grid.im[here] = values[there].imag();
  });
}

template <class T>
void store_complex(const Grid<T>& grid, const FftLayout& layout, int64_t columns, void* to) {
  auto* values = static_cast<std::complex<T>*>(to);
  grid.for_each(layout, columns, [&](size_t here, int64_t there) {
    values[there] = {grid.re[here], grid.im[here]};
  });
}

// Rows of the first half to whole rows: X[n - k] is the conjugate of X[k]. What has to be real
// counts as real.
template <class T>
void complete_rows(const Grid<T>& half, Grid<T>* whole) {
  const int64_t n = whole->row;
  for (int64_t line = 0; line < whole->batch * whole->n0 * whole->n1; ++line) {
    for (int64_t k = 0; k < n; ++k) {
      const bool mirrored = k >= half.row;
      const bool is_real = k == 0 || 2 * k == n;
      const auto from = static_cast<size_t>(line * half.row + (mirrored ? n - k : k));
      const auto to = static_cast<size_t>(line * n + k);
      whole->re[to] = half.re[from];
      whole->im[to] = is_real ? T(0) : mirrored ? -half.im[from] : half.im[from];
    }
  }
}

template <class T>
void run(const FftPlan& plan, const void* in, void* out, int sign) {
  const FftLayout from = plan.input_layout(in == out), to = plan.output_layout(in == out);
  if (plan.real_output()) {
    Grid<T> half(plan, plan.half()), whole(plan, plan.n[2]);
    load_complex(half, from, in);
    transform_other_axes(half, CUFFT_INVERSE);
    complete_rows(half, &whole);
    transform_rows(whole, CUFFT_INVERSE);
    whole.for_each(to, whole.row, [&](size_t here, int64_t there) {
      static_cast<T*>(out)[there] = whole.re[here];
    });
    return;
  }
  Grid<T> grid(plan, plan.n[2]);
  if (plan.real_input()) {
    grid.for_each(from, grid.row, [&](size_t here, int64_t there) {
      grid.re[here] = static_cast<const T*>(in)[there];
    });
    sign = CUFFT_FORWARD;
  } else {
    load_complex(grid, from, in);
  }
  transform_rows(grid, sign);
  transform_other_axes(grid, sign);
  store_complex(grid, to, plan.real_input() ? plan.half() : grid.row, out);
}

}  // namespace

FftLayout FftPlan::input_layout(bool in_place) const {
  if (!packed) return in;
  if (real_input()) return packed_layout(n, in_place ? 2 * half() : n[2]);
  return packed_layout(n, real_output() ? half() : n[2]);
}

FftLayout FftPlan::output_layout(bool in_place) const {
  if (!packed) return out;
  if (real_output()) return packed_layout(n, in_place ? 2 * half() : n[2]);
  return packed_layout(n, real_input() ? half() : n[2]);
}

void run_fft(const FftPlan& plan, const void* in, void* out, int sign) {
  if (plan.is_double()) {
    run<double>(plan, in, out, sign);
  } else {
    run<float>(plan, in, out, sign);
  }
}

}  // namespace warplings::libraries

// Tests of 10/06 tensor parallel.
#include "06_tensor_parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "02_all_reduce_support.h"
#include "kit/kit.h"

namespace {

struct Case {
  int devices;
  Shape shape;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.shape.batch << " x " << c.shape.in << ", hidden " << c.shape.hidden << ", out "
             << c.shape.out << ", devices = " << c.devices;
}
// Never square, the hidden values a multiple of the devices and not of the tile.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int devices : device_counts()) {
    all.push_back({devices, {3, 5, 2 * devices, 4}});
    all.push_back({devices, {17, 33, 9 * devices, 20}});
    all.push_back({devices, {1, 40, 16 * devices, 1}});
  }
  return all;
}

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;
PinnedFloats pinned(const std::vector<float>& values) {
  void* memory = nullptr;
  if (cudaMallocHost(&memory, values.size() * sizeof(float)) != cudaSuccess) memory = nullptr;
  PinnedFloats copy(static_cast<float*>(memory), [](float* p) { cudaFreeHost(p); });
  std::copy(values.begin(), values.end(), copy.get());
  return copy;
}

// Rows [0, rows) and columns [begin, begin + width) of a row-major matrix with `cols` columns.
std::vector<float> columns_of(const std::vector<float>& matrix, int rows, int cols, int begin,
                              int width) {
  std::vector<float> out;
  for (int row = 0; row < rows; ++row) {
    const auto at = matrix.begin() + row * cols + begin;
    out.insert(out.end(), at, at + width);
  }
  return out;
}

// Reference in double: y = relu(x a) b. x is batch x in, a in x hidden, b hidden x out.
std::vector<double> forward_on_cpu(const Shape& s, const std::vector<float>& x,
                                   const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> y(s.batch * s.out, 0);
  for (int row = 0; row < s.batch; ++row) {
    for (int k = 0; k < s.hidden; ++k) {
      double h = 0;
      for (int i = 0; i < s.in; ++i) {
        h += static_cast<double>(x[row * s.in + i]) * a[i * s.hidden + k];
      }
      h = std::max(h, 0.0);
      for (int col = 0; col < s.out; ++col) y[row * s.out + col] += h * b[k * s.out + col];
    }
  }
  return y;
}

// Memory of all devices for one case.
class Layers {
 public:
  // x as given; a and b as given for each device, or unwritten.
  Layers(const Case& c, const std::vector<float>& x, const std::vector<std::vector<float>>& a,
         const std::vector<std::vector<float>>& b)
      : ranks_(c.devices),
        streams_(c.devices),
        x_(PerDevice<float>::input(std::vector<std::vector<float>>(c.devices, x), "d_x")),
        a_(a.empty() ? PerDevice<float>::output(c.devices, c.shape.in * part(c), "d_a")
                     : PerDevice<float>::input(a, "d_a")),
        b_(b.empty() ? PerDevice<float>::output(c.devices, part(c) * c.shape.out, "d_b")
                     : PerDevice<float>::input(b, "d_b")),
        h_(PerDevice<float>::output(c.devices, c.shape.batch * part(c), "d_h")),
        y_(PerDevice<float>::output(c.devices, c.shape.batch * c.shape.out, "d_y")) {
    for (int d = 0; d < c.devices; ++d) {
      slices_.push_back({x_.get()[d], a_.get()[d], b_.get()[d], h_.get()[d], y_.get()[d], ranks_[d],
                         streams_[d]});
    }
  }
  static int part(const Case& c) { return c.shape.hidden / c.devices; }
  const Slice* slices() const { return slices_.data(); }
  const kit::DeviceBuffer<float>& a(int d) const { return a_[d]; }
  const kit::DeviceBuffer<float>& b(int d) const { return b_[d]; }
  const kit::DeviceBuffer<float>& h(int d) const { return h_[d]; }
  const kit::DeviceBuffer<float>& y(int d) const { return y_[d]; }

 private:
  Ranks ranks_;
  Streams streams_;
  PerDevice<float> x_, a_, b_, h_, y_;
  std::vector<Slice> slices_;
};

struct Weights {
  std::vector<float> a, b;
};
Weights random_weights(const Shape& s) {
  return {kit::random_integer_floats(s.in * s.hidden, -3, 3),
          kit::random_integer_floats(s.hidden * s.out, -3, 3)};
}
std::vector<float> rows_of(const Case& c, const Weights& w, int d) {
  const int rows = Layers::part(c) * c.shape.out;
  return {w.b.begin() + d * rows, w.b.begin() + (d + 1) * rows};
}

// Slices as they have to lie on the devices. Integers: products and sums are exact.
struct Prepared {
  std::vector<float> x;
  Weights weights;
  std::unique_ptr<Layers> layers;
};
Prepared prepare(const Case& c) {
  Prepared p;
  p.x = kit::random_integer_floats(c.shape.batch * c.shape.in, -3, 3);
  p.weights = random_weights(c.shape);
  std::vector<std::vector<float>> a, b;
  for (int d = 0; d < c.devices; ++d) {
    a.push_back(
        columns_of(p.weights.a, c.shape.in, c.shape.hidden, d * Layers::part(c), Layers::part(c)));
    b.push_back(rows_of(c, p.weights, d));
  }
  p.layers = std::make_unique<Layers>(c, p.x, a, b);
  return p;
}

kit::Run run_forward(const Case& c, const Prepared& p) {
  return run_call("forward", [&] { return forward(c.shape, p.layers->slices(), c.devices); });
}

}  // namespace

TEST(TensorParallel, ADeviceGetsItsColumnsOfA) {
  RecordProperty("todo", 1);
  kit::for_each("x", cases(), [](const Case& c) {
    const Weights w = random_weights(c.shape);
    const PinnedFloats h_a = pinned(w.a), h_b = pinned(w.b);
    const std::vector<float> x(c.shape.batch * c.shape.in, 0.0f);
    const Layers layers(c, x, {}, {});
    cudaError_t error = cudaSuccess;
    kit::run([&] {
      return error = scatter_weights(h_a.get(), h_b.get(), c.shape, layers.slices(), c.devices);
    });
    expect_success("scatter_weights", error);
    const int part = Layers::part(c);
    for (int d = 0; d < c.devices; ++d) {
      kit::expect_equal(layers.a(d), columns_of(w.a, c.shape.in, c.shape.hidden, d * part, part),
                        kit::Shape(c.shape.in, part));
    }
  });
}

TEST(TensorParallel, ADeviceGetsItsRowsOfB) {
  RecordProperty("todo", 2);
  kit::for_each("x", cases(), [](const Case& c) {
    const Weights w = random_weights(c.shape);
    const PinnedFloats h_a = pinned(w.a), h_b = pinned(w.b);
    const std::vector<float> x(c.shape.batch * c.shape.in, 0.0f);
    const Layers layers(c, x, {}, {});
    kit::run([&] {
      scatter_weights(h_a.get(), h_b.get(), c.shape, layers.slices(), c.devices);
      const uint64_t copies = wsim_api_calls("cudaMemcpy2DAsync") +
                              wsim_api_calls("cudaMemcpyAsync") + wsim_api_calls("cudaMemcpy");
      if (copies > 2u * c.devices) {
        kit::fail("scatter_weights made " + std::to_string(copies) + " copies for " +
                  std::to_string(c.devices) +
                  " devices. Two are enough for each: one call copies a piece of every row.");
      }
    });
    for (int d = 0; d < c.devices; ++d) {
      kit::expect_equal(layers.b(d), rows_of(c, w, d), kit::Shape(Layers::part(c), c.shape.out));
    }
  });
}

TEST(TensorParallel, HiddenValuesStayWhereTheyAreUsed) {
  RecordProperty("todo", 3);
  kit::for_each("x", cases(), [](const Case& c) {
    const Prepared p = prepare(c);
    run_forward(c, p);
    const int part = Layers::part(c);
    for (int d = 0; d < c.devices; ++d) {
      std::vector<float> h;  // batch x part
      for (int row = 0; row < c.shape.batch; ++row) {
        for (int k = 0; k < part; ++k) {
          float sum = 0;
          for (int i = 0; i < c.shape.in; ++i) {
            sum += p.x[row * c.shape.in + i] * p.weights.a[i * c.shape.hidden + d * part + k];
          }
          h.push_back(std::max(sum, 0.0f));
        }
      }
      kit::expect_equal(p.layers->h(d), h, kit::Shape(c.shape.batch, part));
    }
  });
}

TEST(TensorParallel, EveryDeviceHasTheWholeResult) {
  RecordProperty("todo", 3);
  kit::for_each("x", cases(), [](const Case& c) {
    const Prepared p = prepare(c);
    run_forward(c, p);
    const std::vector<double> y = forward_on_cpu(c.shape, p.x, p.weights.a, p.weights.b);
    for (int d = 0; d < c.devices; ++d) {
      kit::expect_near(p.layers->y(d), y, kit::Tolerance::absolute(0),
                       kit::Shape(c.shape.batch, c.shape.out));
    }
  });
}

TEST(TensorParallel, OnlyTheResultCrossesTheLinks) {
  RecordProperty("todo", 3);
  const int devices = device_counts().back();
  const Case c = {devices, {24, 32, 32 * devices, 20}};
  const Prepared p = prepare(c);
  run_forward(c, p);
  for (int d = 0; d < devices; ++d) {
    kit::budget("bytes over a link, per byte of y",
                kit::ratio(link_use(d).bytes, c.shape.batch * c.shape.out * sizeof(float)),
                kit::at_most(2.0 * (devices - 1) / devices),
                "Columns of a, then rows of b: the hidden values need not be collected in between");
  }
}

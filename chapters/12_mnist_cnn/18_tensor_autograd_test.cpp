// Tests of 12/18 tensor autograd. Each computation is written twice: with the tape, and in double,
// where steps to both sides give the gradients (gradcheck).
#include "18_tensor_autograd.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"

namespace {

// The operations of the tape in double, on the CPU.
struct DoubleMatrix {
  int rows, cols;
  std::vector<double> values;
  double& at(int row, int col) { return values[static_cast<size_t>(row) * cols + col]; }
  double at(int row, int col) const { return values[static_cast<size_t>(row) * cols + col]; }
};
struct InDouble {
  using Value = DoubleMatrix;
  static Value add(Value a, const Value& b) {
    for (size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i % b.values.size()];
    return a;
  }
  static Value multiply(Value a, const Value& b) {
    for (size_t i = 0; i < a.values.size(); ++i) a.values[i] *= b.values[i];
    return a;
  }
  static Value matmul(const Value& a, const Value& b) {
    Value c{a.rows, b.cols, std::vector<double>(static_cast<size_t>(a.rows) * b.cols)};
    for (int i = 0; i < a.rows; ++i) {
      for (int j = 0; j < b.cols; ++j) {
        for (int k = 0; k < a.cols; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
      }
    }
    return c;
  }
  static Value relu(Value a) {
    for (double& value : a.values) value = std::max(value, 0.0);
    return a;
  }
  static Value mean(const Value& a) {
    double sum = 0;
    for (const double value : a.values) sum += value;
    return {1, 1, {sum / static_cast<double>(a.values.size())}};
  }
};

// The same names for a tape.
struct OnTape {
  using Value = Variable;
  Tape& tape;
  Value add(Value a, Value b) const { return tape_add(tape, a, b); }
  Value multiply(Value a, Value b) const { return tape_multiply(tape, a, b); }
  Value matmul(Value a, Value b) const { return tape_matmul(tape, a, b); }
  Value relu(Value a) const { return tape_relu(tape, a); }
  Value mean(Value a) const { return tape_mean(tape, a); }
};

// Computations from leaves `in` to a loss, for both kinds of operations.
struct MeanOfProduct {  // of different matrices
  template <class Ops>
  typename Ops::Value operator()(const Ops& op, const std::vector<typename Ops::Value>& in) const {
    return op.mean(op.multiply(in[0], in[1]));
  }
};
struct Square {
  template <class Ops>
  typename Ops::Value operator()(const Ops& op, const std::vector<typename Ops::Value>& in) const {
    return op.mean(op.multiply(in[0], in[0]));
  }
};
struct RowAdded {
  template <class Ops>
  typename Ops::Value operator()(const Ops& op, const std::vector<typename Ops::Value>& in) const {
    const auto sum = op.add(in[0], in[1]);
    return op.mean(op.multiply(sum, in[2]));
  }
};
struct Product {
  template <class Ops>
  typename Ops::Value operator()(const Ops& op, const std::vector<typename Ops::Value>& in) const {
    return op.mean(op.multiply(op.matmul(in[0], in[1]), in[2]));
  }
};
struct UsedInFourPlaces {
  template <class Ops>
  typename Ops::Value operator()(const Ops& op, const std::vector<typename Ops::Value>& in) const {
    const auto twice = op.add(in[0], in[0]);
    return op.mean(op.relu(op.add(op.matmul(in[0], twice), in[0])));
  }
};
struct TwoLayers {  // x, w1, b1, w2, b2, target: the mean of the squared distances
  template <class Ops>
  typename Ops::Value operator()(const Ops& op, const std::vector<typename Ops::Value>& in) const {
    const auto hidden = op.relu(op.add(op.matmul(in[0], in[1]), in[2]));
    const auto distance = op.add(op.add(op.matmul(hidden, in[3]), in[4]), in[5]);
    return op.mean(op.multiply(distance, distance));
  }
};

struct ProductOfMeans {  // neither mean is the loss
  template <class Ops>
  typename Ops::Value operator()(const Ops& op, const std::vector<typename Ops::Value>& in) const {
    return op.multiply(op.mean(in[0]), op.mean(in[1]));
  }
};

std::vector<float> copy(const float* d_values, int count) {
  std::vector<float> values(count);
  cudaMemcpy(values.data(), d_values, count * sizeof(float), cudaMemcpyDeviceToHost);
  return values;
}

// Loss and the gradient of every leaf against steps of 1e-5 in double. `times` calls of backward.
template <class Computation>
void gradcheck(const Computation& compute, const std::vector<kit::Shape>& shapes, int times = 1) {
  std::vector<DoubleMatrix> in;
  std::vector<std::vector<float>> leaves;
  for (const kit::Shape& shape : shapes) {
    leaves.push_back(kit::random_floats(shape.size()));
    in.push_back({shape.rows, shape.cols, {leaves.back().begin(), leaves.back().end()}});
  }
  float loss = 0, of_itself = 0;
  std::vector<std::vector<float>> gradients;
  const kit::Run run = kit::run([&] {
    Tape tape;
    std::vector<Variable> variables;
    for (size_t i = 0; i < shapes.size(); ++i) {
      variables.push_back(tape.leaf(leaves[i], shapes[i].rows, shapes[i].cols));
    }
    const Variable result = compute(OnTape{tape}, variables);
    for (int i = 0; i < times; ++i) tape_backward(tape, result);
    loss = copy(tape.at(result).value, 1)[0];
    of_itself = copy(tape.at(result).gradient, 1)[0];
    for (const Variable variable : variables) {
      gradients.push_back(copy(tape.at(variable).gradient, tape.at(variable).count()));
    }
  });
  kit::expect_no_leak(run);
  if (gradients.empty()) return;  // a computation before has failed: nothing ran
  if (of_itself != 1) {
    ::testing::Test::RecordProperty("todo", 4);  // whatever the operations do, nothing starts them
    kit::fail("After tape_backward the gradient of the loss itself is " +
              std::to_string(of_itself) + ", expected 1: there the chain rule begins.");
    return;
  }
  const auto loss_in_double = [&] { return compute(InDouble(), in).values[0]; };
  kit::expect_near("loss", {loss}, {loss_in_double()}, kit::Tolerance::absolute(1e-6));
  for (size_t leaf = 0; leaf < in.size() && leaf < gradients.size(); ++leaf) {
    std::vector<double> by_step;
    for (double& value : in[leaf].values) {
      const double middle = value, step = 1e-5;
      value = middle + step;
      const double above = loss_in_double();
      value = middle - step;
      by_step.push_back((above - loss_in_double()) / (2 * step));
      value = middle;
    }
    kit::expect_near("gradient of leaf " + std::to_string(leaf), gradients[leaf], by_step,
                     kit::Tolerance::absolute(2e-6), kit::Shape(in[leaf].rows, in[leaf].cols));
  }
}

using Shapes = std::vector<kit::Shape>;

}  // namespace

TEST(TensorAutograd, ARowIsAddedToEveryRow) {
  RecordProperty("todo", 1);
  gradcheck(RowAdded(), Shapes{{5, 3}, {1, 3}, {5, 3}});
  gradcheck(RowAdded(), Shapes{{2, 7}, {2, 7}, {2, 7}});        // as large as the other
  gradcheck(RowAdded(), Shapes{{2, 300}, {1, 300}, {2, 300}});  // more columns than a block
}

TEST(TensorAutograd, EachFactorGetsTheOther) {
  RecordProperty("todo", 2);
  gradcheck(MeanOfProduct(), Shapes{{1, 1}, {1, 1}});
  gradcheck(MeanOfProduct(), Shapes{{3, 7}, {3, 7}});
}

TEST(TensorAutograd, AMeanHandsOnWhatItGets) {
  RecordProperty("todo", 2);
  gradcheck(ProductOfMeans(), Shapes{{3, 4}, {2, 5}});
}

TEST(TensorAutograd, GradientsOfAMatrixThatIsUsedTwiceAddUp) {
  RecordProperty("todo", 2);
  gradcheck(Square(), Shapes{{4, 5}});
}

TEST(TensorAutograd, MatrixProductsGoBackThroughTransposes) {
  RecordProperty("todo", 3);
  gradcheck(Product(), Shapes{{2, 3}, {3, 4}, {2, 4}});
  gradcheck(Product(), Shapes{{1, 9}, {9, 1}, {1, 1}});
  gradcheck(Product(), Shapes{{17, 2}, {2, 19}, {17, 19}});
  gradcheck(Product(), Shapes{{2, 5}, {5, 70}, {2, 70}});  // b has two blocks, a has one
  gradcheck(Product(), Shapes{{70, 5}, {5, 2}, {70, 2}});
}

TEST(TensorAutograd, ASquareMatrixInFourPlacesGetsAllParts) {
  RecordProperty("todo", 3);
  gradcheck(UsedInFourPlaces(), Shapes{{6, 6}});
}

TEST(TensorAutograd, TheTapeRunsBackwardThroughTwoLayers) {
  RecordProperty("todo", 4);
  gradcheck(TwoLayers(), Shapes{{6, 5}, {5, 8}, {1, 8}, {8, 3}, {1, 3}, {6, 3}});
}

TEST(TensorAutograd, BackwardMayBeCalledAgain) {
  RecordProperty("todo", 4);
  gradcheck(TwoLayers(), Shapes{{3, 2}, {2, 4}, {1, 4}, {4, 2}, {1, 2}, {3, 2}}, 3);
}

TEST(TensorAutograd, WhatComesAfterTheLossHasNoGradient) {
  RecordProperty("todo", 4);
  std::vector<float> later;
  kit::run([&] {
    Tape tape;
    const Variable x = tape.leaf({1, 2, 3}, 1, 3);
    const Variable loss = tape_mean(tape, x);
    const Variable unused = tape_multiply(tape, x, x);
    tape_backward(tape, tape_mean(tape, unused));  // leaves gradients there
    tape_backward(tape, loss);
    later = copy(tape.at(unused).gradient, 3);
    const std::vector<float> of_x = copy(tape.at(x).gradient, 3);
    later.insert(later.end(), of_x.begin(), of_x.end());
  });
  const double third = 1.0 / 3;
  kit::expect_near("gradients of what was made after the loss, and of x", later,
                   {0, 0, 0, third, third, third}, kit::Tolerance::units(4));
}

TEST(TensorAutograd, ALeafMayBeTheLoss) {
  RecordProperty("todo", 4);
  std::vector<float> got;
  kit::run([&] {
    Tape tape;
    const Variable x = tape.leaf({3}, 1, 1), y = tape.leaf({2}, 1, 1);
    const Variable product = tape_multiply(tape, x, y);
    tape_backward(tape, product);  // leaves gradients everywhere
    tape_backward(tape, y);
    for (const Variable of : {x, y, product}) got.push_back(copy(tape.at(of).gradient, 1)[0]);
  });
  kit::expect_near("gradients of x, of y, which is the loss, and of x y", got, {0, 1, 0},
                   kit::Tolerance::absolute(0));
}

TEST(TensorAutograd, EveryOperationTakesLongMatrices) {
  RecordProperty("todo", 2);
  constexpr int kLong = 131'077;  // more than a block has threads, and a grid may have in y
  const std::vector<float> values = kit::random_integer_floats(kLong);
  std::vector<float> passed, gradient;
  kit::run([&] {
    Tape tape;
    const Variable x = tape.leaf(values, kLong, 1), one = tape.leaf({1}, 1, 1);
    const Variable result = tape_relu(tape, tape_multiply(tape, tape_add(tape, x, one), x));
    tape_backward(tape, tape_mean(tape, result));
    passed = copy(tape.at(result).value, kLong);
    gradient = copy(tape.at(x).gradient, kLong);
  });
  std::vector<double> expected, slope, scale;
  for (const double v : values) {
    expected.push_back(std::max(0.0, (v + 1) * v));
    slope.push_back(expected.back() > 0 ? (2 * v + 1) / kLong : 0);
    scale.push_back((2 * std::fabs(v) + 1) / kLong);
  }
  kit::expect_near("relu((x + 1) x)", passed, expected, kit::Tolerance::absolute(0));
  kit::expect_near("gradient of x", gradient, slope, kit::Tolerance::units(8, scale));
}

TEST(TensorAutograd, ProductsMayBeLongAndThin) {
  RecordProperty("todo", 3);
  constexpr int kLong = 131'077;  // past twice what a grid may have in y
  kit::for_each("rows", std::vector<int>{kLong, 1}, [](int rows) {
    const int cols = kLong / rows;
    const std::vector<float> values = kit::random_integer_floats(kLong);
    std::vector<float> of_product, of_long;
    kit::run([&] {
      Tape tape;
      const Variable x = tape.leaf(values, rows, cols), two = tape.leaf({2}, 1, 1);
      const Variable product = rows > 1 ? tape_matmul(tape, x, two) : tape_matmul(tape, two, x);
      tape_backward(tape, tape_mean(tape, product));
      of_product = copy(tape.at(product).value, kLong);
      of_long = copy(tape.at(x).gradient, kLong);
    });
    kit::expect_near(
        "product", of_product,
        [&] {
          std::vector<double> twice(values.begin(), values.end());
          for (double& value : twice) value *= 2;
          return twice;
        }(),
        kit::Tolerance::absolute(0));
    kit::expect_near("gradient of the long one", of_long, std::vector<double>(kLong, 2.0 / kLong),
                     kit::Tolerance::units(4, std::vector<double>(kLong, 2.0 / kLong)));
  });
}

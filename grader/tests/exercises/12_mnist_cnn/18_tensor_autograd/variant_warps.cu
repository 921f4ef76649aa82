// Another right answer: a warp per column sum and per product, and a backward that gathers the
// functions to run first.
#include "18_tensor_autograd.h"
#include "support.h"

namespace {

constexpr int kThreads = 256;

// A matrix or its transpose, as it lies: element (i, j) is data[i * row_step + j * col_step].
struct View {
  const float* data;
  int rows, cols, row_step, col_step;
};
View as_is(const Matrix& m, const float* data) { return {data, m.rows, m.cols, m.cols, 1}; }
View transposed(const Matrix& m, const float* data) { return {data, m.cols, m.rows, 1, m.cols}; }

// c += a b; a warp per element.
__global__ void add_matmul(View a, View b, float* c) {
  const int i = blockIdx.x;
  float sum = 0.0f;
  for (int k = threadIdx.x; k < a.cols; k += 32) {
    sum += a.data[i / b.cols * a.row_step + k * a.col_step] *
           b.data[k * b.row_step + i % b.cols * b.col_step];
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) c[i] += sum;
}

// c += a; a has `period` elements and is repeated.
__global__ void add_repeated(const float* a, float* c, int count, int period) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) c[i] += a[i % period];
}

// c += a, summed up over its rows: c is one row. A warp per column.
__global__ void add_rows(const float* a, float* c, int rows, int cols) {
  const int col = blockIdx.x;
  float sum = 0.0f;
  for (int row = threadIdx.x; row < rows; row += 32) sum += a[row * cols + col];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) c[col] += sum;
}

// c += a b, element by element.
__global__ void add_product(const float* a, const float* b, float* c, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) c[i] += a[i] * b[i];
}

__global__ void add_relu(const float* a, float* c, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) c[i] += fmaxf(a[i], 0.0f);
}

// da += dc where a is above 0.
__global__ void add_passed(const float* a, const float* dc, float* da, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count && a[i] > 0.0f) da[i] += dc[i];
}

// c += the mean of a. One warp.
__global__ void add_mean(const float* a, float* c, int count) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += 32) sum += a[i];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) *c += sum / count;
}

__global__ void add_share(const float* of_mean, float* c, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) c[i] += *of_mean / count;
}

int blocks_for(int count) { return (count + kThreads - 1) / kThreads; }

}  // namespace

Variable tape_add(Tape& tape, Variable left, Variable right) {
  const Matrix a = tape.at(left), b = tape.at(right);
  const Variable result = tape.make(a.rows, a.cols);
  const Matrix c = tape.at(result);
  add_repeated<<<blocks_for(c.count()), kThreads>>>(a.value, c.value, c.count(), a.count());
  add_repeated<<<blocks_for(c.count()), kThreads>>>(b.value, c.value, c.count(), b.count());
  tape.nodes[result].backward = [a, b, c] {
    add_repeated<<<blocks_for(c.count()), kThreads>>>(c.gradient, a.gradient, c.count(), c.count());
    // As many rows of c's gradient as b was repeated, one below the other, each as long as b.
    add_rows<<<b.count(), 32>>>(c.gradient, b.gradient, c.count() / b.count(), b.count());
  };
  return result;
}

Variable tape_multiply(Tape& tape, Variable left, Variable right) {
  const Matrix a = tape.at(left), b = tape.at(right);
  const Variable result = tape.make(a.rows, a.cols);
  const Matrix c = tape.at(result);
  add_product<<<blocks_for(c.count()), kThreads>>>(a.value, b.value, c.value, c.count());
  tape.nodes[result].backward = [a, b, c] {
    add_product<<<blocks_for(c.count()), kThreads>>>(c.gradient, b.value, a.gradient, c.count());
    add_product<<<blocks_for(c.count()), kThreads>>>(c.gradient, a.value, b.gradient, c.count());
  };
  return result;
}

Variable tape_matmul(Tape& tape, Variable left, Variable right) {
  const Matrix a = tape.at(left), b = tape.at(right);
  const Variable result = tape.make(a.rows, b.cols);
  const Matrix c = tape.at(result);
  add_matmul<<<c.count(), 32>>>(as_is(a, a.value), as_is(b, b.value), c.value);
  tape.nodes[result].backward = [a, b, c] {
    add_matmul<<<a.count(), 32>>>(as_is(c, c.gradient), transposed(b, b.value), a.gradient);
    add_matmul<<<b.count(), 32>>>(transposed(a, a.value), as_is(c, c.gradient), b.gradient);
  };
  return result;
}

Variable tape_relu(Tape& tape, Variable operand) {
  const Matrix a = tape.at(operand);
  const Variable result = tape.make(a.rows, a.cols);
  const Matrix c = tape.at(result);
  add_relu<<<blocks_for(c.count()), kThreads>>>(a.value, c.value, c.count());
  tape.nodes[result].backward = [a, c] {
    add_passed<<<blocks_for(c.count()), kThreads>>>(a.value, c.gradient, a.gradient, c.count());
  };
  return result;
}

Variable tape_mean(Tape& tape, Variable operand) {
  const Matrix a = tape.at(operand);
  const Variable result = tape.make(1, 1);
  const Matrix c = tape.at(result);
  add_mean<<<1, 32>>>(a.value, c.value, a.count());
  tape.nodes[result].backward = [a, c] {
    add_share<<<blocks_for(a.count()), kThreads>>>(c.gradient, a.gradient, a.count());
  };
  return result;
}

void tape_backward(Tape& tape, Variable loss) {
  std::vector<const std::function<void()>*> to_run;
  for (Variable variable = 0; variable < static_cast<Variable>(tape.nodes.size()); ++variable) {
    const Tape::Node& node = tape.nodes[variable];
    const std::vector<float> start(node.matrix.count(), variable == loss ? 1.0f : 0.0f);
    cudaMemcpy(node.matrix.gradient, start.data(), start.size() * sizeof(float),
               cudaMemcpyHostToDevice);
    if (variable <= loss && node.backward) to_run.push_back(&node.backward);
  }
  for (size_t i = to_run.size(); i > 0; --i) (*to_run[i - 1])();
}

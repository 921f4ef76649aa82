// 12/18 Tensor autograd: the chain rule, written down while the forward pass runs.
//   Each operation computes a matrix c from a and b, puts it at the end of the tape, and leaves a
//   function there that adds to the gradients of a and b what c's gradient says. Whoever uses a
//   matrix comes later on the tape, so running these functions from the end to the beginning finds
//   every gradient complete. Gradients are added: a matrix may be used more than once.
//   tape_add is complete, the way back included: the other operations have its parts.
//   TODOs  4
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

// c += a b
__global__ void add_matmul(View a, View b, float* c) {
  // TODO(3): c, whatever it held, is greater by the product. c is row-major; a and b lie as their
  // views say.
  if (blockIdx.x + threadIdx.x == 0) c[0] += a.data[0] * b.data[0];
}

// c += a; a has `period` elements and is repeated.
__global__ void add_repeated(const float* a, float* c, int count, int period) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) c[i] += a[i % period];
}

// c += a, summed up over its rows: c is one row. A thread per column.
__global__ void add_rows(const float* a, float* c, int rows, int cols) {
  // TODO(1): c, whatever it held, is greater by the sum of the rows of a.
  const int col = blockIdx.x * kThreads + threadIdx.x;
  if (col < cols) c[col] += rows * a[col];
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
  // TODO(2): da, whatever it held, is greater by dc where relu let a pass.
  if (blockIdx.x + threadIdx.x < count) da[0] += a[0] * dc[0];
}

// c += the mean of a. One warp.
__global__ void add_mean(const float* a, float* c, int count) {
  const float sum = warp_sum(a[0]);  // TODO(1), too: all of a has a part in the mean.
  if (threadIdx.x == 0) *c += sum / count;
}

// c += what the gradient of a mean of `count` values hands to each of them.
__global__ void add_share(const float* of_mean, float* c, int count) {
  if (blockIdx.x + threadIdx.x < count) c[0] += *of_mean;  // TODO(1), too: every value of c.
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
    add_rows<<<blocks_for(b.count()), kThreads>>>(c.gradient, b.gradient, c.count() / b.count(),
                                                  b.count());
  };
  return result;
}

Variable tape_multiply(Tape& tape, Variable left, Variable right) {
  // TODO(2): The product, and on the tape what its gradient adds to that of a, and to that of b;
  // a and b may be one.
  const Variable result = tape.make(tape.at(left).rows, tape.at(left).cols);
  add_product<<<1, 1>>>(tape.at(left).value, tape.at(right).value, tape.at(result).value, 1);
  return result;
}

Variable tape_matmul(Tape& tape, Variable left, Variable right) {
  // TODO(3), too: The product, and on the tape what its gradient adds to those of a and b, here
  // products of matrices.
  const Matrix a = tape.at(left), b = tape.at(right);
  const Variable result = tape.make(a.rows, b.cols);
  add_matmul<<<1, 1>>>(as_is(a, a.value), transposed(b, b.value), tape.at(result).value);
  return result;
}

Variable tape_relu(Tape& tape, Variable operand) {
  // TODO(2), too: relu(a), and the way back through it.
  const Matrix a = tape.at(operand);
  const Variable result = tape.make(a.rows, a.cols);
  add_relu<<<1, 1>>>(a.value, tape.at(result).value, 1);
  add_passed<<<1, 1>>>(a.value, a.gradient, tape.at(result).gradient, 1);
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
  // TODO(4): Every gradient, for this loss; what is there now is of an earlier call. Leaves have no
  // backward function.
  if (tape.nodes[loss].backward) tape.nodes[loss].backward();
}

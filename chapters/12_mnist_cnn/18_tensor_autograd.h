// 12/18 Tensor autograd: the tape, and what the test calls.
#ifndef CHAPTERS_12_MNIST_CNN_18_TENSOR_AUTOGRAD_H_
#define CHAPTERS_12_MNIST_CNN_18_TENSOR_AUTOGRAD_H_

#include <cuda_runtime_api.h>

#include <functional>
#include <vector>

// A matrix in device memory, row-major, and the derivative of the loss by each of its elements.
struct Matrix {
  int rows, cols;
  float* value;
  float* gradient;
  int count() const { return rows * cols; }
};

// Every matrix of a computation, in the order in which they were made. A variable is a position on
// the tape. `backward` of a matrix hands its gradient on to those that it was made from.
using Variable = int;
struct Tape {
  struct Node {
    Matrix matrix;
    std::function<void()> backward;  // empty for a leaf
  };
  std::vector<Node> nodes;

  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape() {
    for (const Node& node : nodes) cudaFree(node.matrix.value);
  }
  const Matrix& at(Variable variable) const { return nodes[variable].matrix; }
  // A new matrix at the end of the tape; value and gradient are zeros.
  Variable make(int rows, int cols) {
    void* memory = nullptr;  // value, then gradient
    const size_t bytes = 2 * sizeof(float) * rows * cols;
    cudaMalloc(&memory, bytes);
    cudaMemset(memory, 0, bytes);
    float* value = static_cast<float*>(memory);
    nodes.push_back({{rows, cols, value, value + rows * cols}, {}});
    return static_cast<Variable>(nodes.size()) - 1;
  }
  // A matrix that is made from nothing: an input or a parameter.
  Variable leaf(const std::vector<float>& values, int rows, int cols) {
    const Variable variable = make(rows, cols);
    cudaMemcpy(at(variable).value, values.data(), values.size() * sizeof(float),
               cudaMemcpyHostToDevice);
    return variable;
  }
};

// Matrices have at least one element. In a sum b is as large as a, or one row for all rows of a; a
// product is one of elements, of matrices of the same size; a mean is 1 x 1, of all elements.
Variable tape_add(Tape& tape, Variable a, Variable b);
Variable tape_multiply(Tape& tape, Variable a, Variable b);
Variable tape_matmul(Tape& tape, Variable a, Variable b);  // m x k times k x n
Variable tape_relu(Tape& tape, Variable a);
Variable tape_mean(Tape& tape, Variable a);

// Gradients of all matrices on the tape: derivatives of `loss`, which is 1 x 1. That of the loss
// itself is 1, those of matrices behind it are 0. May be called again.
void tape_backward(Tape& tape, Variable loss);

#endif  // CHAPTERS_12_MNIST_CNN_18_TENSOR_AUTOGRAD_H_

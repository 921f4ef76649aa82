# 11/04 Torch extension: y = x^2 + x + 1 as an operator of PyTorch, with its gradient.
#   x, y, grad   tensors on the GPU, float32 or float64, any shape; kernels see n numbers in a row
#   built twice  at once by load_inline, and as a package that pip installs
#   TODOs        4
import pathlib

import torch

# Kernels and launchers. No header of PyTorch: nvcc would need about a minute for it.
CUDA_SOURCE = (
    """
#include <cuda_runtime.h>

template <typename T>
__global__ void poly_forward(const T* x, T* y, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i] + x[i] + 1;
}

constexpr int kBlock = 256;  // threads

template <typename T>
void launch_forward(const T* x, T* y, long n, void* stream) {
  const unsigned grid = (n + kBlock - 1) / kBlock;
  if (n > 0) poly_forward<<<grid, kBlock, 0, static_cast<cudaStream_t>(stream)>>>(x, y, n);
}
"""
    # TODO(1): grad_x = dL/dx from grad_y = dL/dy, by a kernel of your own, in the same manner.
    """
    template <typename T>
    void launch_backward(const T* grad_y, const T* x, T* grad_x, long n, void* stream) {}
    """
    """
template void launch_forward(const float*, float*, long, void*);
template void launch_forward(const double*, double*, long, void*);
template void launch_backward(const float*, const float*, float*, long, void*);
template void launch_backward(const double*, const double*, double*, long, void*);
"""
)

# What Python calls: from tensors to addresses.
CPP_SOURCE = (
    """
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

template <typename T>
void launch_forward(const T* x, T* y, long n, void* stream);
template <typename T>
void launch_backward(const T* grad_y, const T* x, T* grad_x, long n, void* stream);

void check(const torch::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "expected a tensor on the GPU, got one on ", x.device());
}

torch::Tensor forward(torch::Tensor x) {
  check(x);
  const c10::cuda::CUDAGuard device(x.device());  // where x lies, also with several cards
"""
    # TODO(2): y, a new tensor, by launch_forward: for the type of x, with any steps, in PyTorch's
    # current stream. backward() does the same for two tensors.
    "auto y = torch::zeros_like(x);"
    """
  return y;
}

torch::Tensor backward(torch::Tensor grad_y, torch::Tensor x) {
  check(grad_y);
  check(x);
  const c10::cuda::CUDAGuard device(x.device());
  grad_y = grad_y.contiguous();
  x = x.contiguous();
  auto grad_x = torch::empty_like(x);
  void* stream = c10::cuda::getCurrentCUDAStream().stream();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "poly_backward", [&] {
    launch_backward(grad_y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(),
                    grad_x.data_ptr<scalar_t>(), x.numel(), stream);
  });
  return grad_x;
}
"""
)

MODULE_SOURCE = """
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
  m.def("backward", &backward);
}
"""

SETUP_SOURCE = ""  # TODO(3): A setup.py that builds the module poly_activation, from files of your
# naming, with what PyTorch has for it: torch.utils.cpp_extension.


def build_inline():
    """The module, compiled into PyTorch's cache and loaded."""
    from torch.utils.cpp_extension import load_inline
    # Both sources are complete: nothing is to be added to them.
    return load_inline("poly_inline", CPP_SOURCE + MODULE_SOURCE, CUDA_SOURCE,
                       no_implicit_headers=True)


def write_package(folder):
    """The same as sources that `pip install FOLDER` builds once, into a module poly_activation."""
    folder = pathlib.Path(folder)
    # TODO(3), too: All that pip needs lies in the folder.


def operator(module):
    """A function of tensors that autograd knows, on the two calls of the module."""

    class Poly(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return module.forward(x)  # TODO(4): Whatever the backward pass needs is kept, too.

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad_y):
            return torch.zeros_like(grad_y)  # TODO(4), too: the gradient of x, from what was kept.

    return Poly.apply

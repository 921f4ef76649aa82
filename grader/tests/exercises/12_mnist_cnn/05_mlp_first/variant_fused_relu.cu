// ReLU forward and backward by one kernel with a switch; a step waits for its own copies.
#include <vector>

#include "01_data_loader_support.h"
#include "02_linear.h"
#include "03_cross_entropy.h"
#include "04_sgd_update.h"
#include "05_mlp_first.h"

namespace {

// y = x or dx = dy where `gate` is above 0, else 0.
__global__ void pass_where_positive(const float* gate, const float* value, float* out, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    out[i] = gate[i] > 0 ? value[i] : 0;
  }
}

void forward(const Mlp& mlp, const float* d_parameters, const float* d_x, int n,
             const MlpWorkspace& work) {
  launch_linear_forward(d_x, d_parameters, d_parameters + mlp.b1(), work.hidden, n, mlp.in,
                        mlp.hidden);
  pass_where_positive<<<4, 128>>>(work.hidden, work.hidden, work.relu, n * mlp.hidden);
  launch_linear_forward(work.relu, d_parameters + mlp.w2(), d_parameters + mlp.b2(), work.logits, n,
                        mlp.hidden, mlp.classes);
}

void backward(const Mlp& mlp, const float* d_parameters, const float* d_x,
              const unsigned char* d_labels, int n, const MlpWorkspace& work, float* d_loss,
              float* d_gradients) {
  launch_cross_entropy(work.logits, d_labels, d_loss, work.dlogits, n, mlp.classes);
  launch_linear_backward(work.relu, d_parameters + mlp.w2(), work.dlogits, work.drelu,
                         d_gradients + mlp.w2(), d_gradients + mlp.b2(), n, mlp.hidden,
                         mlp.classes);
  pass_where_positive<<<4, 128>>>(work.relu, work.drelu, work.dhidden, n * mlp.hidden);
  launch_linear_backward(d_x, d_parameters, work.dhidden, nullptr, d_gradients,
                         d_gradients + mlp.b1(), n, mlp.in, mlp.hidden);
}

}  // namespace

void launch_mlp_forward(const Mlp& mlp, const float* d_parameters, const float* d_x, int n,
                        const MlpWorkspace& work) {
  forward(mlp, d_parameters, d_x, n, work);
}

void launch_mlp_backward(const Mlp& mlp, const float* d_parameters, const float* d_x,
                         const unsigned char* d_labels, int n, const MlpWorkspace& work,
                         float* d_loss, float* d_gradients) {
  backward(mlp, d_parameters, d_x, d_labels, n, work, d_loss, d_gradients);
}

cudaError_t train_mlp(const Mlp& mlp, const Dataset& set, const MlpTraining& how,
                      float* d_parameters, float* losses) {
  Staging staging;
  float *d_gradients = nullptr, *d_work = nullptr, *d_loss = nullptr;
  cudaError_t error = make_staging(how.batch, mlp.in, &staging);
  const auto allocate = [&error](float** p, size_t n) {
    if (error == cudaSuccess) error = cudaMalloc(p, n * sizeof(float));
  };
  allocate(&d_gradients, mlp.parameters());
  allocate(&d_work, MlpWorkspace::size(mlp, how.batch));
  allocate(&d_loss, 1);
  const MlpWorkspace work(mlp, how.batch, d_work);
  std::vector<int> order(set.count);
  for (int epoch = 0; epoch < how.epochs; ++epoch) {
    shuffle(order.data(), set.count, how.seed, epoch);
    for (int first = 0; first + how.batch <= set.count && error == cudaSuccess;
         first += how.batch) {
      error = stage_batch(set, order.data() + first, how.batch, staging, nullptr);
      if (error != cudaSuccess) break;
      forward(mlp, d_parameters, staging.d_images, how.batch, work);
      backward(mlp, d_parameters, staging.d_images, staging.d_labels, how.batch, work, d_loss,
               d_gradients);
      launch_sgd_update(d_parameters, d_gradients, how.rate, static_cast<int>(mlp.parameters()));
      error = cudaGetLastError();
      if (error != cudaSuccess) break;
      error = cudaMemcpy(losses++, d_loss, sizeof(float), cudaMemcpyDeviceToHost);
    }
  }
  free_staging(&staging);
  for (float* pointer : {d_gradients, d_work, d_loss}) cudaFree(pointer);
  return error;
}

// 10/08 Multi-process as a program of its own, started by MPI or Slurm: one process per GPU, on as
// many machines as the launcher says.
//
//   nvcc -O2 -c 08_multi_process.cu 08_multi_process_baseline.cu
//   mpicxx -O2 08_multi_process_main.cpp 08_multi_process.o 08_multi_process_baseline.o
//       -o multi_process -I$CUDA_HOME/include -L$CUDA_HOME/lib64 -lnccl -lcudart
//   mpirun -n 2 ./multi_process            (08_multi_process.sbatch does the same under Slurm)
#include <cuda_runtime.h>
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "08_multi_process.h"

namespace {

class MpiWorld : public World {
 public:
  MpiWorld() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  void broadcast(void* data, size_t bytes, int root) override {
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
  }
  void all_gather(const void* mine, void* all, size_t bytes) override {
    const int count = static_cast<int>(bytes);
    MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
  }

 private:
  int rank_ = 0, ranks_ = 1;
};

// Rank r brings r + 1 a thousand times; the mean is (ranks + 1) / 2.
bool run(World& world, Member& member) {
  constexpr size_t kCount = 1000;
  std::vector<float> x(kCount, static_cast<float>(world.rank() + 1));
  float* d_x = nullptr;
  if (cudaMalloc(&d_x, kCount * sizeof(float)) != cudaSuccess) return false;
  cudaMemcpy(d_x, x.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  const bool done = mean_over_ranks(member, d_x, kCount) == ncclSuccess &&
                    wait_or_abort(&member, 60) == ncclSuccess;
  if (done) cudaMemcpy(x.data(), d_x, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  if (!done) {
    std::printf("rank %d of %d: no mean: a rank is gone or late\n", world.rank(), world.ranks());
    return false;
  }
  const float expected = 0.5f * static_cast<float>(world.ranks() + 1);
  std::printf("rank %d of %d, device %d: mean %g, expected %g\n", world.rank(), world.ranks(),
              member.device, x[kCount - 1], expected);
  return x[kCount - 1] == expected;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MpiWorld world;
  Member member;
  const ncclResult_t joined = join(world, &member);
  if (joined != ncclSuccess) std::printf("join: %s\n", ncclGetErrorString(joined));
  const bool right = joined == ncclSuccess && run(world, member);
  leave(&member);
  if (!right) MPI_Abort(MPI_COMM_WORLD, 1);  // or the others wait for this rank
  MPI_Finalize();
  return 0;
}

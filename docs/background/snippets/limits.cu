// What the card says of itself: nothing of this is a constant of CUDA.
#include <cstdio>

int ask(cudaDeviceAttr attribute) {
  int value = 0;
  cudaDeviceGetAttribute(&value, attribute, 0);
  return value;
}

int main() {
  const int sms = ask(cudaDevAttrMultiProcessorCount);
  const int threads = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  const int lanes = ask(cudaDevAttrWarpSize);
  printf("multiprocessors           %d\n", sms);
  printf("warps at a time, per SM   %d, of %d lanes each\n", threads / lanes, lanes);
  printf("threads at a time, card   %d\n", sms * threads);
  printf("blocks at a time, per SM  %d\n", ask(cudaDevAttrMaxBlocksPerMultiprocessor));
  printf("registers, per SM         %d\n", ask(cudaDevAttrMaxRegistersPerMultiprocessor));
  printf("shared memory, per SM     %d KiB\n",
         ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 1024);
  printf("L2 cache                  %d MiB\n", ask(cudaDevAttrL2CacheSize) >> 20);
}

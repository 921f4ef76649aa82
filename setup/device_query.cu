// Lists every CUDA device of this machine and runs one kernel on each. Builds alone:
//   nvcc -o device_query setup/device_query.cu && ./device_query
// `./grade doctor` runs the same program in the simulator. Exit status: 0 when every device ran its
// kernel, 1 when one did not, 2 when there is no usable driver or no device.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr int kElements = 1000;  // not a multiple of kBlock: the last block is partial
constexpr int kBlock = 256;      // threads

constexpr double kKibi = 1024.0;
constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;

__global__ void write_squares(int* squares, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    squares[i] = i * i;
  }
}

// What to do about an error that says more about the installation than about the program.
const char* advice(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
      return "No NVIDIA driver is loaded, or it is older than this program's CUDA runtime.\n"
             "Run nvidia-smi: if it fails, install the driver; if it shows a lower CUDA\n"
             "version than the runtime above, update the driver or build with an older nvcc.";
    case cudaErrorNoDevice:
      return "The driver sees no GPU. Check nvidia-smi and that CUDA_VISIBLE_DEVICES does not\n"
             "hide it. In a container, start it with: docker run --gpus all";
    case cudaErrorNoKernelImageForDevice:
      return "This program holds no code for this GPU. Build it with nvcc -arch=native.";
    case cudaErrorUnsupportedPtxVersion:
      return "The driver is older than nvcc and cannot translate its PTX. Update the driver,\n"
             "or build with nvcc -arch=native.";
    case cudaErrorDevicesUnavailable:
      return "Another process has this GPU for itself (compute mode \"exclusive\"), or it is\n"
             "being reset. Look at nvidia-smi.";
    case cudaErrorSystemDriverMismatch:
      return "The kernel module and the driver libraries have different versions: reboot.";
    case cudaErrorSystemNotReady:
      return "The machine's fabric manager is not running: systemctl status\n"
             "nvidia-fabricmanager.";
    default:
      return "Look at nvidia-smi and at the kernel's log: dmesg | grep -i -e nvrm -e xid";
  }
}

void report(const char* what, cudaError_t error) {
  std::printf("  %s failed: %s (%s)\n%s\n", what, cudaGetErrorString(error),
              cudaGetErrorName(error), advice(error));
}

// -1 where the device does not have the attribute.
int attribute(cudaDeviceAttr name, int device) {
  int value = -1;
  if (cudaDeviceGetAttribute(&value, name, device) != cudaSuccess) {
    cudaGetLastError();  // not an error of the launch that follows
    return -1;
  }
  return value;
}

// FP32 cores of one multiprocessor, from the CUDA programming guide; 0 if not known here.
int cores_per_multiprocessor(int major, int minor) {
  switch (major) {
    case 7:
      return 64;
    case 8:
      return minor == 0 ? 64 : 128;
    case 9:
    case 10:
    case 11:
    case 12:
      return 128;
    default:
      return 0;
  }
}

void print_row(const char* label) { std::printf("  %-20s ", label); }

void print_compute(int device, int major, int minor) {
  const int count = attribute(cudaDevAttrMultiProcessorCount, device);
  const int cores = cores_per_multiprocessor(major, minor);
  const int clock = attribute(cudaDevAttrClockRate, device);  // kHz
  print_row("Compute capability");
  std::printf("%d.%d  (nvcc -arch=sm_%d%d)\n", major, minor, major, minor);
  print_row("Multiprocessors");
  if (cores > 0) {
    std::printf("%d SMs x %d FP32 cores = %d\n", count, cores, count * cores);
  } else {
    std::printf("%d SMs\n", count);
  }
  if (clock > 0) {
    print_row("Clock");
    std::printf("%.0f MHz", clock / 1e3);
    if (cores > 0) {  // a fused multiply-add counts as two operations
      std::printf(", so at most %.1f TFLOP/s in FP32", 2.0 * count * cores * clock / 1e9);
    }
    std::printf("\n");
  }
}

void print_memory(int device, const cudaDeviceProp& properties) {
  const int ecc = attribute(cudaDevAttrEccEnabled, device);
  const int clock = attribute(cudaDevAttrMemoryClockRate, device);       // kHz
  const int width = attribute(cudaDevAttrGlobalMemoryBusWidth, device);  // bits
  print_row("Global memory");
  std::printf("%.1f GiB, ECC %s%s\n", properties.totalGlobalMem / kGibi, ecc > 0 ? "on" : "off",
              attribute(cudaDevAttrIntegrated, device) > 0 ? ", shared with the CPU" : "");
  if (clock > 0 && width > 0) {  // integrated GPUs report 0
    print_row("Memory bandwidth");
    // Two transfers per clock; a byte has eight bits.
    std::printf("%.0f GB/s at most (%d bits at %.0f MHz)\n", 2.0 * clock * (width / 8) / 1e6, width,
                clock / 1e3);
  }
  print_row("L2 cache");
  std::printf("%.1f MiB\n", attribute(cudaDevAttrL2CacheSize, device) / kMebi);
  print_row("Constant memory");
  std::printf("%.0f KiB\n", attribute(cudaDevAttrTotalConstantMemory, device) / kKibi);
  print_row("Shared memory");
  std::printf("%.0f KiB per block, %.0f with opt-in, %.0f per SM\n",
              attribute(cudaDevAttrMaxSharedMemoryPerBlock, device) / kKibi,
              attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device) / kKibi,
              attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) / kKibi);
}

void print_limits(int device, const cudaDeviceProp& properties) {
  print_row("Registers");
  std::printf("%d per block, %d per SM (32 bits each)\n",
              attribute(cudaDevAttrMaxRegistersPerBlock, device),
              attribute(cudaDevAttrMaxRegistersPerMultiprocessor, device));
  print_row("Threads");
  std::printf("%d per block, %d per SM, %d per warp\n",
              attribute(cudaDevAttrMaxThreadsPerBlock, device),
              attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device),
              attribute(cudaDevAttrWarpSize, device));
  print_row("Blocks");
  std::printf("%d per SM\n", attribute(cudaDevAttrMaxBlocksPerMultiprocessor, device));
  print_row("Largest block");
  std::printf("%d x %d x %d threads\n", attribute(cudaDevAttrMaxBlockDimX, device),
              attribute(cudaDevAttrMaxBlockDimY, device),
              attribute(cudaDevAttrMaxBlockDimZ, device));
  print_row("Largest grid");
  std::printf("%d x %d x %d blocks\n", attribute(cudaDevAttrMaxGridDimX, device),
              attribute(cudaDevAttrMaxGridDimY, device), attribute(cudaDevAttrMaxGridDimZ, device));
  print_row("PCI address");
  std::printf("%04x:%02x:%02x\n", attribute(cudaDevAttrPciDomainId, device),
              attribute(cudaDevAttrPciBusId, device), attribute(cudaDevAttrPciDeviceId, device));
  // The runtime does not say it otherwise, and NVML is not part of every installation.
  const bool is_slice = std::strstr(properties.name, " MIG ") != nullptr;
  print_row("MIG");
  std::printf("%s\n", is_slice ? "yes: this device is a slice of a card" : "no");
}

// Runs the kernel and compares every element. `squares` is device memory for kElements ints.
bool run_kernel(int* squares) {
  constexpr int kGrid = (kElements + kBlock - 1) / kBlock;
  int result[kElements];
  cudaError_t error = cudaMemset(squares, 0xFF, sizeof(result));  // -1 in every element
  if (error != cudaSuccess) {
    report("cudaMemset", error);
    return false;
  }
  write_squares<<<kGrid, kBlock>>>(squares, kElements);
  error = cudaGetLastError();
  if (error == cudaSuccess) {
    error = cudaDeviceSynchronize();
  }
  if (error != cudaSuccess) {
    report("A kernel", error);
    return false;
  }
  error = cudaMemcpy(result, squares, sizeof(result), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    report("cudaMemcpy", error);
    return false;
  }
  for (int i = 0; i < kElements; ++i) {
    if (result[i] != i * i) {
      std::printf("  A kernel ran and gave a wrong result: element %d is %d, not %d.\n", i,
                  result[i], i * i);
      return false;
    }
  }
  print_row("Test kernel");
  std::printf("ran: %d blocks of %d threads, all %d results right\n", kGrid, kBlock, kElements);
  return true;
}

bool try_kernel(int device) {
  cudaError_t error = cudaSetDevice(device);
  if (error != cudaSuccess) {
    report("cudaSetDevice", error);
    return false;
  }
  int* squares = nullptr;
  error = cudaMalloc(&squares, kElements * sizeof(int));
  if (error != cudaSuccess) {
    report("cudaMalloc", error);
    return false;
  }
  const bool ran = run_kernel(squares);
  cudaFree(squares);
  return ran;
}

bool query(int device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) {
    std::printf("\nDevice %d\n", device);
    report("cudaGetDeviceProperties", error);
    return false;
  }
  std::printf("\nDevice %d: %s\n", device, properties.name);
  print_compute(device, properties.major, properties.minor);
  print_memory(device, properties);
  print_limits(device, properties);
  return try_kernel(device);
}

}  // namespace

int main() {
  int runtime = 0;
  int driver = 0;
  int count = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);  // 0 without a driver
  std::printf("CUDA runtime %d.%d, ", runtime / 1000, runtime % 1000 / 10);
  if (driver > 0) {
    std::printf("driver for CUDA up to %d.%d", driver / 1000, driver % 1000 / 10);
  } else {
    std::printf("no NVIDIA driver");
  }
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    const cudaError_t reason = error == cudaSuccess ? cudaErrorNoDevice : error;
    std::printf(", no usable device\n\n%s (%s)\n%s\n", cudaGetErrorString(reason),
                cudaGetErrorName(reason), advice(reason));
    std::printf("The course also runs without a GPU, in its simulator: ./grade\n");
    return 2;
  }
  std::printf(", %d device%s\n", count, count == 1 ? "" : "s");
  int failed = 0;
  for (int device = 0; device < count; ++device) {
    failed += query(device) ? 0 : 1;
  }
  if (failed > 0) {
    std::printf("\n%d of %d devices did not run the test kernel.\n", failed, count);
    return 1;
  }
  return 0;
}

// What the tests of chapter 10 share: streams and arrays on several devices.
#ifndef CHAPTERS_10_NCCL_SUPPORT_H_
#define CHAPTERS_10_NCCL_SUPPORT_H_

#include <cuda_runtime.h>

#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kit/kit.h"
#include "kit/largest.h"

// Fails the running case if `function` has not returned a success.
inline void expect_success(const std::string& function, cudaError_t error,
                           kit::Site site = kit::Site::here()) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  kit::fail(function + " returned " + cudaGetErrorName(error) + ".", site);
}

inline bool can_access(int device, int peer) {
  int can = 1;
  if (device != peer) cudaDeviceCanAccessPeer(&can, device, peer);
  return can == 1;
}

// Throws where the driver lets the first `devices` not reach each other's memory, as between most
// cards without NVLink: there no code could pass.
inline void require_peer_access(int devices) {
  for (int device = 0; device < devices; ++device) {
    for (int peer = 0; peer < devices; ++peer) {
      if (can_access(device, peer)) continue;
      throw std::runtime_error(
          "GPU " + std::to_string(device) + " cannot reach the memory of GPU " +
          std::to_string(peer) +
          " on this machine, which this exercise needs. It is no fault of your "
          "file: --device sim grades it without GPUs.");
    }
  }
}

// Fails the running case if the host waited in the last kit::run. A GPU does not tell.
inline void expect_no_wait(const std::string& function, kit::Site site = kit::Site::here()) {
  for (const char* call :
       {"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize"}) {
    if (kit::api_calls(call) == 0) continue;
    kit::report_class_problem();  // it names the line
    kit::fail("It waits: " + function + " calls " + call +
                  ", so the host waits for one device, while it should give work to all. Let "
                  "streams wait for each other by events.",
              site);
    return;
  }
}

// 2, 3, ... up to the devices that are here, but at most 4: with two, the left neighbour is the
// right one as well.
inline std::vector<int> device_counts() {
  std::vector<int> counts;
  for (int n = 2; n <= kit::device_count() && n <= 4; ++n) counts.push_back(n);
  return counts;
}

// n elements on each of some devices.
struct SizeCase {
  int devices, n;
};
inline std::ostream& operator<<(std::ostream& out, const SizeCase& c) {
  return out << c.n << ", devices = " << c.devices;
}
// Every size on every number of devices.
inline std::vector<SizeCase> on_devices(const std::vector<int>& sizes) {
  std::vector<SizeCase> all;
  for (const int devices : device_counts()) {
    for (const int n : sizes) all.push_back({devices, n});
  }
  return all;
}

// A stream on each of the first `devices` devices, none of which waits for a default stream.
class Streams {
 public:
  explicit Streams(int devices) : streams_(devices) {
    for (int d = 0; d < devices; ++d) {
      const kit::OnDevice scope(d);
      cudaStreamCreateWithFlags(&streams_[d], cudaStreamNonBlocking);
    }
  }
  ~Streams() {
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  const cudaStream_t* data() const { return streams_.data(); }
  cudaStream_t operator[](int d) const { return streams_[d]; }

 private:
  std::vector<cudaStream_t> streams_;
};

// One buffer on each device, and their addresses for launchers.
template <class T>
class PerDevice {
 public:
  // hosts[d]: what lies on device d.
  static PerDevice input(const std::vector<std::vector<T>>& hosts, const std::string& name) {
    return PerDevice(hosts.size(), name, [&](int d, const char* called) {
      return kit::DeviceBuffer<T>::input(hosts[d], called);
    });
  }
  static PerDevice inout(const std::vector<std::vector<T>>& hosts, const std::string& name) {
    return PerDevice(hosts.size(), name, [&](int d, const char* called) {
      return kit::DeviceBuffer<T>::inout(hosts[d], called);
    });
  }
  static PerDevice output(int devices, size_t n, const std::string& name) {
    return output(std::vector<size_t>(devices, n), name);
  }
  static PerDevice output(const std::vector<size_t>& sizes, const std::string& name) {
    return PerDevice(sizes.size(), name, [&](int d, const char* called) {
      return kit::DeviceBuffer<T>::output(sizes[d], called);
    });
  }

  const kit::DeviceBuffer<T>& operator[](int d) const { return buffers_[d]; }
  T* const* get() const { return pointers_.data(); }

 private:
  template <class Make>
  PerDevice(size_t devices, const std::string& name, const Make& make) {
    for (int d = 0; d < static_cast<int>(devices); ++d) {
      const kit::OnDevice scope(d);
      buffers_.push_back(make(d, (name + "[" + std::to_string(d) + "]").c_str()));
      pointers_.push_back(buffers_.back().get());
    }
  }
  std::vector<kit::DeviceBuffer<T>> buffers_;
  std::vector<T*> pointers_;
};

// n small integers on each device, the same on all; only what is touched takes room, for
// kit::at_largest.
class LargePerDevice {
 public:
  LargePerDevice(int devices, size_t n, const std::string& name) {
    const std::vector<float> values = kit::random_integer_floats(kit::kPeriod);
    for (int d = 0; d < devices; ++d) {
      const kit::OnDevice scope(d);
      const std::string called = name + "[" + std::to_string(d) + "]";
      arrays_.push_back(kit::LargeArray<float>::inout(n, called.c_str(), values));
      pointers_.push_back(arrays_.back().get());
    }
  }
  const kit::LargeArray<float>& operator[](int d) const { return arrays_[d]; }
  float* const* get() const { return pointers_.data(); }

 private:
  std::vector<kit::LargeArray<float>> arrays_;
  std::vector<float*> pointers_;
};

// Random floats for each device; integers make sums exact in any order.
inline std::vector<std::vector<float>> random_per_device(int devices, size_t n) {
  std::vector<std::vector<float>> hosts;
  for (int d = 0; d < devices; ++d) hosts.push_back(kit::random_integer_floats(n));
  return hosts;
}

#endif  // CHAPTERS_10_NCCL_SUPPORT_H_

// Tests of 10/01 device count.
#include "01_device_count.h"

#include <warplings/script.h>

#include <cstring>

#include "kit/kit.h"
#include "support.h"

namespace {

// A device whose kernel reads memory of another.
struct Pair {
  int device, peer;
};
std::ostream& operator<<(std::ostream& out, const Pair& pair) {
  return out << "kernel on device " << pair.device << ", x on device " << pair.peer;
}

std::vector<Pair> pairs() {
  std::vector<Pair> all;
  const int count = std::min(kit::device_count(), 3);
  for (int device = 0; device < count; ++device) {
    for (int peer = 0; peer < count; ++peer) all.push_back({device, peer});
  }
  return all;
}

// Nobody reaches anybody, as when a program starts.
void forget_access() {
  for (int device = 0; device < kit::device_count(); ++device) {
    const kit::OnDevice scope(device);
    for (int peer = 0; peer < kit::device_count(); ++peer) {
      if (peer != device) cudaDeviceDisablePeerAccess(peer);
    }
  }
  cudaGetLastError();
}

void expect_current(int device, const char* function) {
  const int now = kit::current_device();
  if (now == device) return;
  cudaSetDevice(device);
  kit::fail("Device " + std::to_string(device) + " was current before " + function + ", device " +
            std::to_string(now) +
            " afterwards. The caller's next allocation would lie on the wrong device: give back "
            "what cudaGetDevice said.");
}

}  // namespace

TEST(DeviceCount, ListsEveryDevice) {
  RecordProperty("todo", 1);
  const int count = kit::device_count();
  std::vector<DeviceFacts> facts(count);
  const int listed = list_devices(facts.data(), count);
  if (listed != count) {
    kit::fail("list_devices returned " + std::to_string(listed) + "; this machine has " +
              std::to_string(count) + " devices.");
  }
  kit::for_each("device", device_counts(), [&](int next) {
    const int device = next - 1;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, device);
    const DeviceFacts& got = facts[device];
    if (std::strcmp(got.name, properties.name) != 0) {
      kit::fail("Device " + std::to_string(device) + " is called \"" + properties.name +
                "\", not \"" + std::string(got.name, strnlen(got.name, sizeof got.name)) + "\".");
    }
    kit::expect_equal(
        "memory and multiprocessors",
        std::vector<size_t>{got.memory, static_cast<size_t>(got.multiprocessors)},
        {properties.totalGlobalMem, static_cast<size_t>(properties.multiProcessorCount)});
  });
}

TEST(DeviceCount, WritesNoMoreThanThereIsRoomFor) {
  RecordProperty("todo", 1);
  std::vector<DeviceFacts> facts(kit::device_count());
  facts[1].multiprocessors = -7;
  const int listed = list_devices(facts.data(), 1);
  if (listed != kit::device_count()) {
    kit::fail("list_devices returned " + std::to_string(listed) +
              ": it counts all devices, also those that facts has no room for.");
  }
  if (facts[1].multiprocessors != -7) {
    kit::fail("facts has room for 1 device, and list_devices wrote facts[1].");
  }
}

TEST(DeviceCount, ListsNoMoreDevicesThanThereAre) {
  RecordProperty("todo", 1);
  const int count = kit::device_count();
  std::vector<DeviceFacts> facts(count + 2);
  for (DeviceFacts& one : facts) one.multiprocessors = -7;
  const int listed = list_devices(facts.data(), count + 2);
  if (listed != count) {
    kit::fail("list_devices returned " + std::to_string(listed) + "; this machine has " +
              std::to_string(count) + " devices, and facts has room for " +
              std::to_string(count + 2) + ".");
  }
  if (facts[count].multiprocessors != -7) {
    kit::fail("list_devices wrote facts[" + std::to_string(count) +
              "]: there is room, and there is no such device.");
  }
  if (list_devices(nullptr, 0) != count) {
    kit::fail("list_devices(nullptr, 0) is to count the devices, and writes no facts.");
  }
}

TEST(DeviceCount, AsksForEveryPair) {
  RecordProperty("todo", 2);
  const int count = kit::device_count();
  std::vector<int> reaches(count * count, -1), expected;
  expect_success("peer_matrix", peer_matrix(reaches.data(), count));
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) expected.push_back(can_access(i, j) ? 1 : 0);
  }
  kit::expect_equal("reaches", reaches, expected, kit::Shape(count, count));
}

TEST(DeviceCount, NotEveryPairReaches) {
  RecordProperty("todo", 2);
  if (!kit::simulated()) return;
  const int count = kit::device_count();
  struct Script {
    Script() { wsim_script_unreachable(0, 1); }
    ~Script() { wsim_script_unreachable(-1, -1); }
  } const script;
  std::vector<int> reaches(count * count, -1), expected(count * count, 1);
  expected[1] = 0;  // row 0, column 1
  expect_success("peer_matrix", peer_matrix(reaches.data(), count));
  kit::expect_equal("reaches", reaches, expected, kit::Shape(count, count));
}

TEST(DeviceCount, WhoCannotReachIsToldSo) {
  RecordProperty("todo", 3);
  if (!kit::simulated()) return;
  forget_access();
  struct Script {
    Script() { wsim_script_unreachable(0, 1); }
    ~Script() { wsim_script_unreachable(-1, -1); }
  } const script;
  if (enable_access(0, 1) == cudaSuccess) {
    kit::fail("enable_access(0, 1) returned a success where device 0 cannot reach device 1.");
  }
  expect_success("enable_access(1, 0), which is possible,", enable_access(1, 0));
}

TEST(DeviceCount, AccessMayBeAskedForTwice) {
  RecordProperty("todo", 3);
  require_peer_access(2);
  forget_access();
  expect_success("enable_access, the first time,", enable_access(0, 1));
  expect_success("enable_access, the second time,", enable_access(0, 1));
  const cudaError_t left = cudaGetLastError();
  if (left != cudaSuccess) {
    kit::fail(std::string("enable_access returned a success, but cudaGetLastError still gives ") +
              cudaGetErrorName(left) +
              ": whoever checks the next launch takes that for its error. Read it once.");
  }
}

TEST(DeviceCount, AKernelReadsMemoryOfAnotherDevice) {
  RecordProperty("todo", 3);
  kit::for_each("case", pairs(), [](const Pair& pair) {
    if (!can_access(pair.device, pair.peer)) return;
    forget_access();
    const std::vector<float> x = kit::random_floats(1025);
    const kit::OnDevice there(pair.peer);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const kit::OnDevice here(pair.device);
    const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
    const kit::OnDevice caller(pair.peer);
    kit::run([&] {
      expect_success("enable_access", enable_access(pair.device, pair.peer));
      expect_current(pair.peer, "enable_access");
      expect_success("launch_twice_on", launch_twice_on(pair.device, d_x.get(), d_y.get(), 1025));
      expect_current(pair.peer, "launch_twice_on");
    });
    expect_no_wait("launch_twice_on");
    std::vector<float> expected;
    for (const float value : x) expected.push_back(2 * value);
    kit::expect_equal(d_y, expected);
  });
}

TEST(DeviceCount, ARefusalLeavesTheDeviceAndNoError) {
  RecordProperty("todo", 3);
  const kit::OnDevice caller(1);
  const cudaError_t error = enable_access(0, kit::device_count());
  expect_current(1, "enable_access");
  const cudaError_t left = cudaGetLastError();
  if (error == cudaSuccess) {
    kit::fail("enable_access returned a success for device " + std::to_string(kit::device_count()) +
              ", which is not there.");
  }
  if (left != cudaSuccess) {
    kit::fail(
        std::string("enable_access has returned its error, and cudaGetLastError still gives ") +
        cudaGetErrorName(left) + ": whoever checks the next launch takes that for its error.");
  }
}

TEST(DeviceCount, AccessIsGivenInOneDirection) {
  RecordProperty("todo", 3);
  require_peer_access(2);
  forget_access();
  expect_success("enable_access", enable_access(0, 1));
  const kit::OnDevice scope(1);
  const cudaError_t other = cudaDeviceDisablePeerAccess(0);
  cudaGetLastError();
  if (other != cudaErrorPeerAccessNotEnabled) {
    kit::fail(
        "enable_access(0, 1) is about kernels on device 0. It has given device 1 access to "
        "memory of device 0.");
  }
}

TEST(DeviceCount, ReturnsWhatWasRefused) {
  RecordProperty("todo", 3);
  require_peer_access(2);
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(40), "x");
  const auto d_y = kit::DeviceBuffer<float>::output(40, "y");
  std::vector<DeviceFacts> facts(kit::device_count());
  std::vector<int> reaches(4);
  // Another device than theirs, so that it shows where one stays current: also after an error.
  const kit::OnDevice caller(1);
  kit::run([&] { return list_devices(facts.data(), 2) >= 0; });
  kit::run([&] { return peer_matrix(reaches.data(), 2); });
  kit::run([&] {
    forget_access();
    return enable_access(0, 1);
  });
  kit::run([&] { return launch_twice_on(0, d_x.get(), d_y.get(), 40); });
}

TEST(DeviceCount, NoElementsAreNoError) {
  RecordProperty("todo", 4);
  const kit::OnDevice caller(1);
  expect_success("launch_twice_on", launch_twice_on(0, nullptr, nullptr, 0));
  expect_current(1, "launch_twice_on");
}

TEST(DeviceCount, LaunchesOnTheDeviceThatItWasGiven) {
  RecordProperty("todo", 4);
  kit::for_each("device", device_counts(), [](int next) {
    const int device = next - 1;
    forget_access();
    const std::vector<float> x = kit::random_floats(300);
    const kit::OnDevice there(device);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
    const kit::OnDevice caller(0);
    kit::run([&] {
      expect_success("launch_twice_on", launch_twice_on(device, d_x.get(), d_y.get(), 300));
      expect_current(0, "launch_twice_on");
    });
    expect_no_wait("launch_twice_on");
    std::vector<float> expected;
    for (const float value : x) expected.push_back(2 * value);
    kit::expect_equal(d_y, expected);
  });
}

TEST(DeviceCount, DoublesTheLongestArrays) {
  RecordProperty("todo", 4);
  kit::at_largest(1 << 30, [](int n) {
    const kit::OnDevice there(1);
    const auto d_x = kit::large_floats(n, "x");
    const auto d_y = kit::LargeArray<float>::output(n, "y");
    const kit::OnDevice caller(0);
    cudaError_t error = cudaSuccess;
    kit::run([&] { error = launch_twice_on(1, d_x.get(), d_y.get(), n); });
    expect_success("launch_twice_on", error);
    kit::expect_at_ends(d_y, [&](size_t i) { return 2 * d_x.at(i); });
  });
}

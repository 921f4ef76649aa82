#include "kit/speed/speed.h"

#include <cuda_runtime_api.h>

#include <cstdlib>

#include "kit/speed/measurement.h"

namespace kit {

namespace internal {

void* current_address(const SpeedArray& array) { return array.current(); }
double initial_value(const SpeedArray& array, size_t i) { return array.initial(i); }

}  // namespace internal

HostMemory pinned_memory() {
  const auto allocate = [](size_t bytes) {
    void* memory = nullptr;
    return cudaMallocHost(&memory, bytes) == cudaSuccess ? memory : nullptr;
  };
  return {allocate, [](void* memory) { cudaFreeHost(memory); }};
}
HostMemory pageable_memory() {
  return {[](size_t bytes) { return std::malloc(bytes); }, [](void* memory) { std::free(memory); }};
}

Baseline stage(const std::string& name, std::function<void()> launch) {
  return {Baseline::Kind::kStage, name, std::move(launch), false, ""};
}
Baseline library(const std::string& name, const Library& library, std::function<void()> launch) {
  return {Baseline::Kind::kLibrary, name, std::move(launch), true, library.missing};
}
Baseline limit(const std::string& name, std::function<void()> launch) {
  return {Baseline::Kind::kLimit, name, std::move(launch), false, ""};
}
Baseline copy_rate() { return {Baseline::Kind::kCopyRate, "copy rate", nullptr, false, ""}; }
Baseline read_rate() { return {Baseline::Kind::kReadRate, "read rate", nullptr, false, ""}; }
Baseline fma_rate() { return {Baseline::Kind::kFmaRate, "FMA rate", nullptr, false, ""}; }

Speed::Speed(Site site) : measurement_(std::make_unique<internal::Measurement>(site)) {}
Speed::~Speed() = default;

internal::SpeedArray* Speed::add(Role role, internal::Element element, size_t n, const char* name,
                                 Values values, const HostMemory& memory) {
  measurement_->arrays.push_back(
      std::make_unique<internal::SpeedArray>(role, element, n, name, values, memory));
  return measurement_->arrays.back().get();
}

Speed& Speed::bytes(double least) {
  measurement_->bytes = least;
  return *this;
}
Speed& Speed::flops(double least) {
  measurement_->flops = least;
  return *this;
}
Speed& Speed::tensor_flops(double least) {
  measurement_->on_tensor_cores = true;
  return flops(least);
}
Speed& Speed::slice(double k) {
  measurement_->slice = k;
  return *this;
}
Speed& Speed::whole_call() {
  measurement_->whole_call = true;
  return *this;
}
Speed& Speed::launch(std::function<void()> work) {
  measurement_->launch = std::move(work);
  return *this;
}

Speed& Speed::expect_array(internal::SpeedArray* array, std::function<Expected(size_t)> expected,
                           const Tolerance& tolerance) {
  measurement_->expectations.push_back({array, std::move(expected), tolerance});
  return *this;
}

Speed& Speed::against(const Baseline& baseline, const Bars& bars) {
  measurement_->bars.push_back({baseline, bars});
  return *this;
}

bool Speed::grade() { return measurement_->grade(); }

}  // namespace kit

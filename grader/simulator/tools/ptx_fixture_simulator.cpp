// A fixture's kernel on the simulator.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/finding.h"
#include "decode/program.h"
#include "exec/launch.h"
#include "memory/device_memory.h"
#include "profile/counters.h"
#include "tools/ptx_fixture.h"

namespace warplings::sim {
namespace {

// Device memory for the time of one fixture.
class Buffer {
 public:
  Buffer(const std::vector<uint8_t>& bytes, const char* name)
      : address_(
            memory().allocate(std::max<size_t>(bytes.size(), 1), AllocationKind::kDevice, name)),
        size_(bytes.size()) {
    if (address_ == 0) return;
    std::copy(bytes.begin(), bytes.end(), memory().view(address_));
    memory().mark_defined(address_, size_);
  }
  ~Buffer() {
    if (address_ != 0) memory().free(address_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint64_t address() const { return address_; }
  void copy_to(std::vector<uint8_t>* bytes) const {
    std::copy_n(memory().view(address_), size_, bytes->begin());
  }

 private:
  static DeviceMemory& memory() { return DeviceMemory::instance(); }
  uint64_t address_;
  size_t size_;
};

const char* status_text(LaunchStatus status) {
  switch (status) {
    case LaunchStatus::kOk:
      return "";
    case LaunchStatus::kIllegalAddress:
      return "the kernel used an illegal address";
    case LaunchStatus::kMisaligned:
      return "the kernel used a misaligned address";
    case LaunchStatus::kAssert:
      return "an assertion of the kernel failed";
    case LaunchStatus::kTrap:
      return "the kernel reached a trap";
    case LaunchStatus::kTimeout:
      return "the kernel does not end";
    case LaunchStatus::kUnsupported:
      return "the kernel has an instruction that is not supported";
  }
  return "the kernel ended in an unknown way";
}

// Errors that the checks found; notes do not fail a fixture.
std::string findings_text() {
  std::string text;
  for (const Finding& finding : FindingLog::instance().snapshot()) {
    if (finding.is_note) continue;
    text += (text.empty() ? "" : "\n  ") + finding.check + ": " + finding.message;
  }
  return text;
}

void note_opcodes(const LoadedModule* module, std::set<std::string>* opcodes) {
  const std::vector<PcCounters>& counters = CounterStore::instance().of(module);
  for (const ptx::Function& source : module->source->functions) {
    const Function& function = module->functions[module->function_index.at(source.name)];
    for (size_t i = 0; i < source.body.size(); ++i) {  // one instruction of code for each of PTX
      if (counters[function.entry + i].issued != 0) opcodes->insert(source.body[i].opcode);
    }
  }
}

}  // namespace

std::string run_on_simulator(const Fixture& fixture, std::vector<uint8_t>* output) {
  std::set<std::string> opcodes;
  return run_and_note_opcodes(fixture, output, &opcodes);
}

std::string run_and_note_opcodes(const Fixture& fixture, std::vector<uint8_t>* output,
                                 std::set<std::string>* opcodes) {
  auto module = ptx::parse(fixture.text, fixture.path);
  const auto entry = std::find_if(module->functions.begin(), module->functions.end(),
                                  [](const ptx::Function& f) { return f.is_entry; });
  if (entry == module->functions.end()) return "there is no .entry to run";
  const std::string name = entry->name;
  FindingLog::instance().clear();
  LoadedModule* loaded = load_module(std::move(module));
  const Kernel* kernel = find_kernel(loaded, name);
  if (kernel == nullptr) return "the kernel " + name + " was not loaded";

  const Buffer input(fixture.input, "input");
  const Buffer out(*output, "output");
  if (input.address() == 0 || out.address() == 0) return "there is no device memory left";
  std::vector<uint64_t> arguments;
  if (fixture.has_input) arguments.push_back(input.address());
  arguments.push_back(out.address());
  if (kernel->params.size() != arguments.size()) {
    return "the kernel has " + std::to_string(kernel->params.size()) + " parameters, needs " +
           (fixture.has_input ? "2: input, output" : "1: output (there is no input line)");
  }
  std::vector<uint8_t> params(std::max<size_t>(kernel->param_bytes, 16));
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (kernel->params[i].size != sizeof(uint64_t)) return "parameters must be .u64 pointers";
    std::memcpy(params.data() + kernel->params[i].offset, &arguments[i], sizeof(uint64_t));
  }
  LaunchConfig config;
  config.grid = {fixture.grid[0], fixture.grid[1], fixture.grid[2]};
  config.block = {fixture.block[0], fixture.block[1], fixture.block[2]};
  config.dynamic_shared = fixture.shared_bytes;
  config.cluster = kernel->cluster;
  const LaunchStatus status = run_kernel(*kernel, config, params.data());
  note_opcodes(loaded, opcodes);
  const std::string findings = findings_text();
  if (!findings.empty()) return findings;
  if (status != LaunchStatus::kOk) return status_text(status);
  out.copy_to(output);
  return "";
}

}  // namespace warplings::sim

#include "recorded.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "course/json.h"
#include "kit/json.h"

namespace warplings::sim::random {
namespace {

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// The lines of an array, which is as long as there are kernels.
std::string lines(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "\n  " : ",\n  ") + value;
  return "[" + text + (text.empty() ? "]" : "\n ]");
}

}  // namespace

Recorded read_recorded(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  try {
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const course::Json json = course::parse_json(text, path);
    Recorded recorded;
    recorded.machine = json.string_or("machine");
    recorded.date = json.string_or("date");
    recorded.first_seed = static_cast<uint64_t>(json.number_or("first_seed"));
    recorded.kernels = std::stoull(json.string_or("kernels"), nullptr, 16);
    const course::Json* hashes = json.find("hashes");
    if (hashes == nullptr) throw std::runtime_error("there is no \"hashes\"");
    for (const course::Json& hash : hashes->items) {
      recorded.hashes.push_back(std::stoull(hash.text, nullptr, 16));
    }
    return recorded;
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

void write_recorded(const std::string& path, const Recorded& recorded) {
  std::vector<std::string> hashes, unoptimised;
  for (const uint64_t hash : recorded.hashes) hashes.push_back(kit::json_string(hex(hash)));
  for (const uint64_t seed : recorded.unoptimised) unoptimised.push_back(std::to_string(seed));
  std::ofstream file(path);
  file << "{\n \"format\": 1,\n \"kind\": \"random-kernels\",\n \"machine\": "
       << kit::json_string(recorded.machine) << ",\n \"date\": " << kit::json_string(recorded.date)
       << ",\n \"first_seed\": " << recorded.first_seed
       << ",\n \"kernels\": " << kit::json_string(hex(recorded.kernels))
       << ",\n \"hashes\": " << lines(hashes) << ",\n \"unoptimised_seeds\": " << lines(unoptimised)
       << "\n}\n";
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace warplings::sim::random

#include "recorded.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace warplings::sim::random {
namespace {

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

Recorded read_recorded(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  try {
    const nlohmann::json json = nlohmann::json::parse(file);
    Recorded recorded;
    recorded.machine = json.at("machine");
    recorded.date = json.at("date");
    recorded.first_seed = json.at("first_seed");
    recorded.kernels = std::stoull(json.at("kernels").get<std::string>(), nullptr, 16);
    for (const auto& hash : json.at("hashes")) {
      recorded.hashes.push_back(std::stoull(hash.get<std::string>(), nullptr, 16));
    }
    return recorded;
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

void write_recorded(const std::string& path, const Recorded& recorded) {
  nlohmann::ordered_json json;
  json["format"] = 1;
  json["kind"] = "random-kernels";
  json["machine"] = recorded.machine;
  json["date"] = recorded.date;
  json["first_seed"] = recorded.first_seed;
  json["kernels"] = hex(recorded.kernels);
  json["hashes"] = nlohmann::ordered_json::array();
  for (const uint64_t hash : recorded.hashes) json["hashes"].push_back(hex(hash));
  json["unoptimised_seeds"] = recorded.unoptimised;
  std::ofstream file(path);
  file << json.dump(1) << "\n";
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace warplings::sim::random

#include "recorded.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "course/error.h"
#include "course/json.h"
#include "course/text.h"

namespace warplings::sim::random {
namespace {

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

Recorded read_recorded(const std::string& path) {
  const course::Json json = course::parse_json(course::read_text(path), path);
  const course::Json* hashes = json.find("hashes");
  const course::Json* first_seed = json.find("first_seed");
  if (hashes == nullptr || first_seed == nullptr) {
    throw std::runtime_error(path + ": \"hashes\" or \"first_seed\" is missing");
  }
  Recorded recorded;
  recorded.machine = json.string_or("machine");
  recorded.date = json.string_or("date");
  recorded.first_seed = static_cast<uint64_t>(first_seed->number);
  recorded.kernels = std::stoull(json.string_or("kernels"), nullptr, 16);
  for (const course::Json& hash : hashes->items) {
    recorded.hashes.push_back(std::stoull(hash.text, nullptr, 16));
  }
  return recorded;
}

void write_recorded(const std::string& path, const Recorded& recorded) {
  std::vector<std::string> hashes, seeds;
  for (const uint64_t hash : recorded.hashes) hashes.push_back("  \"" + hex(hash) + "\"");
  for (const auto seed : recorded.unoptimised) seeds.push_back("  " + std::to_string(seed));
  std::ofstream file(path);
  file << "{\n \"format\": 1,\n \"kind\": \"random-kernels\",\n"
       << " \"machine\": " << course::json_quote(recorded.machine) << ",\n"
       << " \"date\": " << course::json_quote(recorded.date) << ",\n"
       << " \"first_seed\": " << recorded.first_seed << ",\n"
       << " \"kernels\": \"" << hex(recorded.kernels) << "\",\n"
       << " \"hashes\": [\n"
       << course::join(hashes, ",\n") << "\n ],\n"
       << " \"unoptimised_seeds\": [" << (seeds.empty() ? "" : "\n") << course::join(seeds, ",\n")
       << (seeds.empty() ? "" : "\n ") << "]\n}\n";
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace warplings::sim::random

// Processes of one machine that tell each other something by files in a folder they share.
#ifndef CHAPTERS_10_NCCL_08_MULTI_PROCESS_SUPPORT_H_
#define CHAPTERS_10_NCCL_08_MULTI_PROCESS_SUPPORT_H_

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "08_multi_process.h"

class FileWorld : public World {
 public:
  FileWorld(std::string folder, int rank, int ranks)
      : folder_(std::move(folder)), rank_(rank), ranks_(ranks) {}
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  void broadcast(void* data, size_t bytes, int root) override {
    const std::string name = next();
    if (rank_ == root) write(name, data, bytes);
    read(name, data, bytes);
  }
  void all_gather(const void* mine, void* all, size_t bytes) override {
    const std::string name = next();
    write(name + "." + std::to_string(rank_), mine, bytes);
    for (int rank = 0; rank < ranks_; ++rank) {
      read(name + "." + std::to_string(rank), static_cast<char*>(all) + rank * bytes, bytes);
    }
  }
  int calls() const { return calls_; }

 private:
  std::string next() { return folder_ + "/call" + std::to_string(calls_++); }

  // Under another name first: a file that can be seen is whole.
  static void write(const std::string& name, const void* data, size_t bytes) {
    const std::string hidden = name + ".part";
    std::ofstream(hidden, std::ios::binary)
        .write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    std::filesystem::rename(hidden, name);
  }
  // Waits for the file, for 10 seconds at most.
  static void read(const std::string& name, void* data, size_t bytes) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!std::filesystem::exists(name)) {
      if (std::chrono::steady_clock::now() >= end) {
        throw std::runtime_error(
            "waited 10 s for what another process should have sent: do all of them make the same "
            "calls of World in the same order?");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::vector<char> content(bytes);
    std::ifstream file(name, std::ios::binary);
    file.read(content.data(), static_cast<std::streamsize>(bytes));
    std::memcpy(data, content.data(), bytes);
  }

  std::string folder_;
  int rank_, ranks_, calls_ = 0;
};

#endif  // CHAPTERS_10_NCCL_08_MULTI_PROCESS_SUPPORT_H_

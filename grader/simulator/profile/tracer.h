// The text debugger behind `grade trace`: what one warp of one block of the first launch does,
// source line by source line, with the values that chosen threads load and store, and small arrays
// in shared memory as they are when all have passed a barrier.
//
//   GRADE_SIM_TRACE         file that gets the text, lines of at most 80 columns
//   GRADE_SIM_TRACE_BLOCK   "x", "x,y" or "x,y,z"; default 0
//   GRADE_SIM_TRACE_WARP    of the block; default 0
//   GRADE_SIM_TRACE_THREAD  of the block: its warp, and this thread's values only
//   GRADE_SIM_TRACE_LINES   "A:B": only these source lines
#ifndef WARPLINGS_SIMULATOR_PROFILE_TRACER_H_
#define WARPLINGS_SIMULATOR_PROFILE_TRACER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exec/observer.h"

namespace warplings::sim {

class Tracer : public LaunchObserver {
 public:
  // Reads the environment; called before the first launch.
  static void start();

  void launch_started(const Kernel& kernel, const LaunchConfig& config) override;
  void launch_ended() override;
  void block_started(Block& block) override;
  void block_ended(Block& block) override;
  void instruction(Warp& warp, const Instr& in, uint32_t active) override;
  void request(Warp& warp, const Request& request, Traffic traffic, uint32_t transactions) override;

 private:
  struct Access {
    Request request;
    Traffic traffic;
  };
  // Consecutive instructions of one source line, by the same lanes.
  struct Step {
    Position where;
    uint32_t lanes = 0;
    int instructions = 0;
    std::vector<std::string> notes;                   // of the warp
    std::map<int, std::vector<std::string>> by_lane;  // what it loaded and stored
    std::vector<std::string> tiles;                   // whole lines, behind a barrier
  };
  // What is known of an array in shared memory from the accesses of the warp.
  struct Tile {
    ptx::Type type = ptx::Type::kB32;
    uint32_t element = 0;  // bytes
    std::string shown;     // its text when it was last shown
  };

  void finish_instruction(Warp& warp);
  void begin_step(const Position& where, uint32_t lanes);
  void note_control(Warp& warp, const Instr& in, uint32_t active);
  void note_access(Warp& warp, const Access& access);
  void note_tiles(const Warp& warp);
  void write_step();
  const std::string& source_line(const Position& where);
  bool is_wanted(const Position& where) const;

  std::string path_, text_;
  Dim3 block_{0, 0, 0};
  int warp_ = 0, thread_ = -1;  // -1: the first two and the last of the warp
  int first_line_ = 0, last_line_ = 0;
  bool in_launch_ = false, done_ = false;
  Warp* followed_ = nullptr;
  uint32_t pc_ = 0;
  int frame_ = 0;
  bool pending_ = false;
  uint32_t behind_barrier_ = 0;     // the instruction there; 0: waits at none
  uint32_t block_width_ = 1;        // threads in x
  std::map<uint32_t, Tile> tiles_;  // by offset in shared memory
  std::vector<Access> accesses_;
  Step step_;
  int steps_ = 0, left_out_ = 0;
  std::map<std::string, std::vector<std::string>> sources_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_TRACER_H_

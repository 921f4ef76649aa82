#include "profile/tracer.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/machine.h"
#include "decode/opcodes.h"
#include "decode/program.h"
#include "exec/launch.h"
#include "profile/trace_values.h"

namespace warplings::sim {
namespace {

constexpr int kMostTraceSteps = 400;
constexpr size_t kTraceColumns = 80, kIndent = 27;  // of the source, and of what belongs to it

std::string cut(std::string text, size_t columns) {
  if (text.size() > columns) text = text.substr(0, columns - 3) + "...";
  return text;
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  return parts;
}

// "threads 32 to 63", "thread 32".
std::string threads_of_warp(uint64_t threads, int warp) {
  const uint64_t first = 32 * static_cast<uint64_t>(warp);
  const uint64_t last = std::min(threads, first + 32) - 1;
  if (first == last) return "thread " + std::to_string(first);
  return "threads " + std::to_string(first) + " to " + std::to_string(last);
}

// Lines of the same indent, later ones two columns further in. Parts with two spaces between them
// stay whole where they fit.
std::string wrapped(const std::string& text) {
  std::string out, line(kIndent, ' ');
  bool empty = true;
  const auto put = [&](const std::string& part, const char* space) {
    if (!empty && line.size() + std::strlen(space) + part.size() > kTraceColumns) {
      out += line + "\n";
      line = std::string(kIndent + 2, ' ');
      empty = true;
    }
    line += (empty ? "" : space) + cut(part, kTraceColumns - kIndent - 2);
    empty = false;
  };
  for (const std::string& part : split(text, "  ")) {
    if (part.size() <= kTraceColumns - kIndent - 2) {
      put(part, "  ");
      continue;
    }
    for (const std::string& word : split(part, " ")) put(word, " ");
  }
  return out + line + "\n";
}

std::string in_row(Dim3 d) {
  return std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z);
}

}  // namespace

void Tracer::start() {
  const TraceOptions& options = Machine::current().options().trace;
  Tracer& tracer = Machine::get<Tracer>();
  if (options.path.empty() || !tracer.path_.empty()) return;
  tracer.path_ = options.path;  // watches until the machine ends
  tracer.block_ = options.block;
  tracer.warp_ = options.warp;
  tracer.thread_ = options.thread;
  tracer.first_line_ = options.first_line;
  tracer.last_line_ = options.last_line;
  engine_options().observer = &tracer;
}

void Tracer::launch_started(const Kernel& kernel, const LaunchConfig& config) {
  const Dim3 g = config.grid;
  const bool has_block = block_.x < g.x && block_.y < g.y && block_.z < g.z;
  const bool has_warp = static_cast<uint64_t>(warp_) * 32 < config.block.count();
  in_launch_ = !done_ && has_block && has_warp;
  if (!in_launch_) return;
  block_width_ = config.block.x;
  text_ = kernel.demangled + ", grid " + in_row(g) + ", block " + in_row(config.block) +
          "\nblock (" + in_row(block_) + "), warp " + std::to_string(warp_) + " of " +
          std::to_string((config.block.count() + 31) / 32) + ": " +
          threads_of_warp(config.block.count(), warp_) + "\n\n step  line  instr  lanes  source\n";
}

void Tracer::launch_ended() {
  if (!in_launch_) return;
  in_launch_ = false;
  done_ = true;
  write_step();
  followed_ = nullptr;
  if (left_out_ > 0) {
    text_ += "and " + std::to_string(left_out_) + " more steps; --lines A:B shows some of them.\n";
  }
  std::ofstream file(path_);
  file << text_;
  if (!file.flush()) std::fprintf(stderr, "GRADE_SIM_TRACE: cannot write %s\n", path_.c_str());
}

void Tracer::block_started(Block& block) {
  if (!in_launch_ || block.index.x != block_.x || block.index.y != block_.y ||
      block.index.z != block_.z) {
    return;
  }
  followed_ = &block.warps[static_cast<size_t>(warp_)];
  followed_->watch_instructions = followed_->watch_requests = this;
  pending_ = false;
}

void Tracer::block_ended(Block& block) {
  if (followed_ == nullptr || followed_->block != &block) return;
  finish_instruction(*followed_);
  write_step();
  step_ = {};
  followed_ = nullptr;
}

void Tracer::instruction(Warp& warp, const Instr& in, uint32_t active) {
  finish_instruction(warp);
  if (behind_barrier_ != 0 && warp.pc == behind_barrier_) {
    note_tiles(warp);
    behind_barrier_ = 0;
  }
  if (in.kind == Kind::kBarrier && active != 0) behind_barrier_ = warp.pc + 1;
  const Position where = warp.module->position_of(warp.pc).user;
  if (where.line != step_.where.line || where.file != step_.where.file ||
      warp.group_mask != step_.lanes) {
    write_step();
    begin_step(where, warp.group_mask);
  }
  ++step_.instructions;
  pc_ = warp.pc;
  frame_ = warp.current_frame;
  pending_ = true;
  accesses_.clear();
  note_control(warp, in, active);
}

void Tracer::request(Warp&, const Request& request, Traffic traffic, uint32_t) {
  accesses_.push_back({request, traffic});
}

// Its results are in their registers by now.
void Tracer::finish_instruction(Warp& warp) {
  if (pending_) {
    for (const Access& access : accesses_) note_access(warp, access);
  }
  pending_ = false;
  accesses_.clear();
}

void Tracer::begin_step(const Position& where, uint32_t lanes) {
  step_ = {};
  step_.where = where;
  step_.lanes = lanes;
}

void Tracer::note_control(Warp& warp, const Instr& in, uint32_t active) {
  if (in.kind == Kind::kBarrier && active != 0) {
    int others = 0, alive = 0;
    for (const Warp& other : warp.block->warps) {
      if (other.groups.empty() || &other == &warp) continue;
      ++alive;
      bool waits = true;
      for (const Group& group : other.groups) waits &= group.state == GroupState::kAtBarrier;
      others += waits;
    }
    step_.notes.push_back("arrives at the barrier; " + std::to_string(others) + " of " +
                          std::to_string(alive) + " other warps wait");
  }
  if (in.kind == Kind::kBranch && active != 0 && active != warp.group_mask) {
    const int target = warp.module->position_of(in.target).user.line;
    step_.notes.push_back("the warp splits: " + lanes_text(active, "goes", "go") + " to line " +
                          std::to_string(target) + ",  " +
                          lanes_text(warp.group_mask & ~active, "goes", "go") + " on");
  }
  if (in.kind == Kind::kExit && active != 0) {
    step_.notes.push_back(lanes_text(active, "ends", "end"));
  }
}

void Tracer::note_access(Warp& warp, const Access& access) {
  const Instr& in = warp.module->code[pc_];
  const ptx::Instruction& source = instruction_at(*warp.module, pc_);
  const bool shared = access.traffic == Traffic::kSharedLoad ||
                      access.traffic == Traffic::kSharedStore ||
                      access.traffic == Traffic::kSharedAtomic;
  const bool local =
      access.traffic == Traffic::kLocalLoad || access.traffic == Traffic::kLocalStore;
  const bool atomic =
      access.traffic == Traffic::kGlobalAtomic || access.traffic == Traffic::kSharedAtomic;
  const bool plain =
      is_load(source) || is_store(source) || source.row->access == AccessKind::kLoadUniform;
  const uint32_t element = std::max<uint32_t>(1, in.size);
  const ptx::Type type = type_of(source);
  if (shared && plain) {
    const uint64_t address = access.request.address[std::countr_zero(access.request.mask)];
    if (const SharedVariable* variable = shared_variable_at(warp, address)) {
      Tile& tile = tiles_[static_cast<uint32_t>(variable->offset)];
      tile.type = type;
      tile.element = element;
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    if (!((access.request.mask >> lane) & 1)) continue;
    const bool wanted = thread_ >= 0 ? lane == thread_ % 32 : lane < 2 || lane == 31;
    if (!wanted) continue;
    const uint64_t address = access.request.address[lane];
    std::string text = shared  ? shared_place(warp, address, element)
                       : local ? "local[" + std::to_string(address / element) + "]"
                               : global_place(address, element);
    if (plain && in.vector > 1) text += " and " + std::to_string(in.vector - 1) + " more";
    const bool same_frame = warp.current_frame == frame_;
    if (atomic) {
      text += " " + std::string("atomic ") + value_text(register_bits(warp, in, 1, lane), type);
      if (in.destinations == 1 && in.ops[0] != kNoPlace && same_frame) {
        text += ", was " + value_text(register_bits(warp, in, 0, lane), type);
      }
    } else if (plain && same_frame) {
      text += access.request.write ? " <-" : " ->";
      for (int part = 0; part < in.vector; ++part) {
        text += (part == 0 ? " " : ", ") + value_text(register_bits(warp, in, part, lane), type);
      }
    } else {
      text += access.request.write ? " is written" : " is read";
    }
    step_.by_lane[lane].push_back(std::move(text));
  }
}

// Every array whose elements the warp has used and that has changed since it was last shown, in
// rows as wide as the block where the array is so: the PTX does not tell its dimensions.
void Tracer::note_tiles(const Warp& warp) {
  constexpr size_t kMostElements = 64, kMostInRow = 16;
  for (auto& [offset, tile] : tiles_) {
    const SharedVariable* variable = shared_variable_at(warp, offset);
    if (variable == nullptr || variable->size % tile.element != 0) continue;
    const size_t count = variable->size / tile.element;
    if (count > kMostElements) continue;
    std::vector<std::string> values;
    size_t widest = 1;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(
          shared_value(*warp.block, offset + i * tile.element, tile.element, tile.type));
      widest = std::max(widest, values.back().size());
    }
    const std::string label = shared_place(warp, offset + (count - 1) * tile.element, tile.element);
    const size_t room = (kTraceColumns - kIndent - label.size()) / (widest + 1);
    size_t in_row = block_width_ <= kMostInRow && count % block_width_ == 0 ? block_width_ : 8;
    in_row = std::max<size_t>(1, std::min(in_row, room));
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      if (i % in_row == 0) {
        const std::string place = shared_place(warp, offset + i * tile.element, tile.element);
        text += (i == 0 ? "" : "\n") + std::string(kIndent, ' ') + place +
                std::string(label.size() - place.size(), ' ');
      }
      text += std::string(widest + 1 - values[i].size(), ' ') + values[i];
    }
    if (text != tile.shown) step_.tiles.push_back(text + "\n");
    tile.shown = text;
  }
}

bool Tracer::is_wanted(const Position& where) const {
  return last_line_ == 0 || (where.line >= first_line_ && where.line <= last_line_);
}

const std::string& Tracer::source_line(const Position& where) {
  static const auto* const none = new std::string();
  auto [entry, is_new] = sources_.try_emplace(where.file);
  if (is_new) {
    std::ifstream file(where.file);
    for (std::string line; std::getline(file, line);) {
      const size_t begin = line.find_first_not_of(" \t");
      entry->second.push_back(begin == std::string::npos ? "" : line.substr(begin));
    }
  }
  const size_t index = static_cast<size_t>(where.line) - 1;
  return where.line > 0 && index < entry->second.size() ? entry->second[index] : *none;
}

void Tracer::write_step() {
  if (step_.instructions == 0 || !is_wanted(step_.where)) return;
  if (++steps_ > kMostTraceSteps) {
    ++left_out_;
    return;
  }
  char head[64];
  std::snprintf(head, sizeof head, "%5d %5d %6d %6d  ", steps_, step_.where.line,
                step_.instructions, std::popcount(step_.lanes));
  text_ += head + cut(source_line(step_.where), kTraceColumns - kIndent) + "\n";
  for (const auto& [lane, facts] : step_.by_lane) {
    std::string line = "thread " + std::to_string(32 * warp_ + lane) + ":";
    for (const std::string& fact : facts) line += "  " + fact;
    text_ += wrapped(line);
  }
  for (const std::string& note : step_.notes) text_ += wrapped(note);
  for (const std::string& tile : step_.tiles) text_ += tile;
}

}  // namespace warplings::sim

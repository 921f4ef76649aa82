// The pipeline of a block: copies under way and phases of each mbarrier, and who waits for which.
#include <algorithm>
#include <climits>
#include <map>
#include <set>

#include "cli/view/picture.h"
#include "cli/view/svg.h"
#include "course/error.h"
#include "course/text.h"

namespace grade::view {
namespace {

constexpr size_t kMostObjects = 16, kMostRoles = 6;

// Warps beside each other that wait for the same phases in the same order.
struct Role {
  int first = 0, last = 0;
  std::vector<std::pair<int, int>> phases;  // mbarrier, number
  std::string name() const {
    return last > first ? "warps " + std::to_string(first) + "–" + std::to_string(last)
                        : "warp " + std::to_string(first);
  }
};

// Of the warps that do something in the pipeline.
std::vector<Role> roles_of(const Launch& launch) {
  std::map<int, Role> warps;
  const auto of = [&](int warp) -> Role& {
    Role& role = warps[warp];
    role.first = role.last = warp;
    return role;
  };
  for (const PhaseWait& wait : launch.pipeline.waits) {
    of(wait.warp).phases.emplace_back(wait.object, wait.phase);
  }
  for (const Flight& flight : launch.pipeline.flights) of(flight.warp);
  std::vector<Role> roles;
  for (const auto& [warp, role] : warps) {
    const bool joins = !roles.empty() && roles.back().last + 1 == warp && !role.phases.empty() &&
                       roles.back().phases == role.phases;
    if (joins) {
      roles.back().last = warp;
    } else {
      roles.push_back(role);
    }
  }
  return roles;
}

std::vector<int> objects_of(const Launch& launch) {
  std::set<int> objects;
  for (const PhaseSpan& phase : launch.pipeline.phases) objects.insert(phase.object);
  return {objects.begin(), objects.end()};
}

// The copies that one phase counts.
struct Delivery {
  int start = 0, end = 0, bytes = 0;
};

// By number of the phase.
std::map<int, Delivery> deliveries_to(const Launch& launch, int object) {
  std::map<int, Delivery> out;
  for (const Flight& flight : launch.pipeline.flights) {
    if (flight.kind != Flight::kIn || flight.object != object) continue;
    const int end = flight.end < 0 ? launch.end() : flight.end;
    const auto [entry, is_new] = out.try_emplace(flight.phase, Delivery{flight.start, end, 0});
    Delivery& delivery = entry->second;
    delivery.start = std::min(delivery.start, flight.start);
    delivery.end = std::max(delivery.end, end);
    delivery.bytes += flight.bytes;
  }
  return out;
}

std::string bytes_text(int bytes) {
  constexpr int kKibi = 1024;
  return bytes % kKibi == 0 ? std::to_string(bytes / kKibi) + " KiB"
                            : std::to_string(bytes) + " bytes";
}

// "warps 0–3 wait for full[0] 4 times, 120 steps in all": whoever waits longest first.
std::vector<std::string> wait_lines(const Launch& launch, const std::vector<Role>& roles) {
  struct Sum {
    int times = 0, steps = 0;
  };
  std::vector<std::pair<int, std::string>> lines;  // less the steps
  for (const Role& role : roles) {
    std::map<int, Sum> sums;
    const std::string who = role.name() + (role.last > role.first ? " wait for " : " waits for ");
    for (const PhaseWait& wait : launch.pipeline.waits) {
      if (wait.warp != role.first) continue;
      if (wait.end < 0) {
        lines.emplace_back(INT_MIN, who + launch.object_name(wait.object) + " for ever");
        continue;
      }
      ++sums[wait.object].times;
      sums[wait.object].steps += wait.end - wait.start;
    }
    for (const auto& [object, sum] : sums) {
      lines.emplace_back(-sum.steps,
                         who + launch.object_name(object) + " " +
                             course::plural(static_cast<size_t>(sum.times), "time") + ", " +
                             course::plural(static_cast<size_t>(sum.steps), "step") + " in all");
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (const auto& [order, line] : lines) out.push_back(line);
  return out;
}

class PipelineSheet {
 public:
  PipelineSheet(const Launch& launch, const PictureName& name)
      : launch_(launch),
        from_(name.crop_or("from", 0)),
        to_(std::max(from_ + 1, std::min(launch.end(), name.crop_or("to", launch.end())))),
        roles_(roles_of(launch)),
        svg_("Pipeline of a block of " + launch.kernel, words()) {
    objects_ = objects_of(launch);
    left_out_ = objects_.size() > kMostObjects ? objects_.size() - kMostObjects : 0;
    objects_.resize(objects_.size() - left_out_);
    if (roles_.size() > kMostRoles) roles_.resize(kMostRoles);
  }

  std::string str() {
    svg_.heading("Block " + std::to_string(launch_.index[0]) + " of " + launch_.kernel +
                     ": what is under way, and who waits for which",
                 words());
    for (int tick = 0; tick <= 4; ++tick) {
      const int step = from_ + (to_ - from_) * tick / 4;
      svg_.text(x(step), kTop - 8, std::to_string(step),
                tick == 4   ? "end"
                : tick == 0 ? "start"
                            : "middle",
                kDim, 10);
    }
    for (const int object : objects_) draw_object(object);
    if (left_out_ > 0) {
      svg_.text(kLeft, y_ + 8, "and " + course::plural(left_out_, "more mbarrier"), "start", kDim,
                11);
      y_ += 18;
    }
    y_ += 6;
    for (const Role& role : roles_) draw_role(role);
    y_ += 14;
    svg_.key(kLeft, y_, kHues[0], "copies under way");
    svg_.key(kLeft + 140, y_, kUnused, "phase of parity 1; waits");
    svg_.key(kLeft + 310, y_, kHues[1], "executes");
    svg_.key(kLeft + 400, y_, kHues[2], "products under way");
    if (launch_.is_cut) {
      y_ += 18;
      svg_.text(kLeft, y_, "The block went on for longer: its first 4,000 stretches are kept.",
                "start", kDim, 11);
    }
    return svg_.str(kSheet, y_ + 14);
  }

 private:
  static constexpr double kWide = 640, kTop = 76, kLetter = 6;

  double x(int step) const {
    return kLeft + kWide * (std::clamp(step, from_, to_) - from_) / (to_ - from_);
  }
  std::string words() const {
    std::string text;
    for (const std::string& line : wait_lines(launch_, roles_)) {
      if (text.size() + line.size() > 110) return text + "; and more.";
      text += (text.empty() ? "" : "; ") + line;
    }
    return text.empty() ? "nobody waits." : text + ".";
  }
  // A bar between two steps with what it is, where there is room.
  void bar(int start, int end, double y, double high, const char* fill, const std::string& label,
           const char* ink) {
    const int last = end < 0 ? to_ : end;
    if (last <= from_ || start >= to_) return;
    const double left = x(start), width = std::max(1.0, x(last) - left);
    svg_.rect(left, y, width, high, fill, " stroke=\"#ffffff\" stroke-width=\"0.5\"");
    if (kLetter * static_cast<double>(label.size()) + 4 < width) {
      svg_.text(left + width / 2, y + high - 3, label, "middle", ink, 10);
    }
  }
  // Copies above, phases below.
  void draw_object(int object) {
    const std::map<int, Delivery> deliveries = deliveries_to(launch_, object);
    svg_.text(kLeft - 8, y_ + (deliveries.empty() ? 13 : 17), launch_.object_name(object), "end",
              kInk, 11);
    for (const auto& [number, d] : deliveries) {
      bar(d.start, d.end, y_, 13, kHues[0], bytes_text(d.bytes), "#ffffff");
    }
    const double below = deliveries.empty() ? y_ + 4 : y_ + 14;
    for (const PhaseSpan& phase : launch_.pipeline.phases) {
      if (phase.object != object) continue;
      const bool odd = phase.number % 2 != 0;
      bar(phase.start, phase.end, below, 11, odd ? kUnused : "#ffffff", odd ? "1" : "0", kDim);
    }
    y_ = below + 17;
  }
  // What its first warp does, and below it what its warpgroup has the tensor cores do.
  void draw_role(const Role& role) {
    svg_.text(kLeft - 8, y_ + 12, role.name(), "end", kInk, 11);
    svg_.rect(kLeft, y_, kWide, 16, "#ffffff");
    const auto draw = [&](int start, int end, const char* fill) {
      if (x(end) > x(start)) svg_.tile(x(start), y_, x(end) - x(start), 16, fill);
    };
    int start = 0, end = 0;  // of steps behind each other
    for (const Step& step : launch_.steps) {
      if (step.warp != role.first || step.kind == Step::kWaits) continue;
      if (step.kind == Step::kWaitsForever) draw(step.start, step.start + step.length, kWrong);
      if (step.kind != Step::kRuns) continue;
      if (step.start > end) {
        draw(start, end, kHues[1]);
        start = step.start;
      }
      end = std::max(end, step.start + step.length);
    }
    draw(start, end, kHues[1]);
    svg_.flush_tiles();
    for (const PhaseWait& wait : launch_.pipeline.waits) {
      if (wait.warp != role.first || wait.end < 0) continue;
      bar(wait.start, wait.end, y_, 16, kUnused, launch_.object_name(wait.object), kInk);
    }
    y_ += 18;
    bool has_products = false;
    for (const Flight& flight : launch_.pipeline.flights) {
      const bool own = flight.warp >= role.first && flight.warp <= role.last;
      if (!own || flight.kind == Flight::kIn) continue;
      const bool product = flight.kind == Flight::kProduct;
      has_products = true;
      bar(flight.start, flight.end, y_, 9, kHues[product ? 2 : 0], "", kInk);
    }
    y_ += has_products ? 16 : 6;
  }

  const Launch& launch_;
  int from_ = 0, to_ = 1;
  std::vector<Role> roles_;
  std::vector<int> objects_;
  size_t left_out_ = 0;
  Svg svg_;
  double y_ = kTop;
};

// ---- 80 columns

constexpr int kNames = 12, kTimes = 66;  // columns

// One character for each stretch of steps.
class TextRow {
 public:
  explicit TextRow(int end) : end_(end), cells_(kTimes, " ") {}
  void fill(int start, int end, const std::string& with) {
    if (end < 0) end = end_;
    if (end <= start) return;
    const int first = std::min(kTimes - 1, start * kTimes / end_);
    const int last = std::clamp(end * kTimes / end_ - 1, first, kTimes - 1);
    for (int i = first; i <= last; ++i) cells_[static_cast<size_t>(i)] = with;
  }
  std::string str(const std::string& name) const {
    std::string shown = name;
    const auto columns = [&] {  // of UTF-8
      return std::count_if(shown.begin(), shown.end(), [](char c) { return (c & 0xc0) != 0x80; });
    };
    if (columns() > kNames - 1) shown.resize(kNames - 1);  // a variable's name, in ASCII
    std::string text = std::string(static_cast<size_t>(kNames - 1 - columns()), ' ') + shown + " ▏";
    for (const std::string& cell : cells_) text += cell;
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
  }

 private:
  int end_;
  std::vector<std::string> cells_;
};

std::string object_rows(const Launch& launch, int object) {
  std::string text;
  const std::map<int, Delivery> deliveries = deliveries_to(launch, object);
  TextRow copies(launch.end()), phases(launch.end());
  for (const auto& [number, d] : deliveries) copies.fill(d.start, d.end, "=");
  for (const PhaseSpan& phase : launch.pipeline.phases) {
    if (phase.object != object) continue;
    phases.fill(phase.start, phase.end, phase.number % 2 != 0 ? "1" : "0");
  }
  if (!deliveries.empty()) text += copies.str("copies to");
  return text + phases.str(launch.object_name(object));
}

std::string role_rows(const Launch& launch, const Role& role) {
  TextRow row(launch.end()), products(launch.end());
  for (const Step& step : launch.steps) {
    if (step.warp != role.first) continue;
    const char* const with = step.kind == Step::kRuns ? "█" : step.kind == Step::kWaits ? "-" : "x";
    row.fill(step.start, step.start + step.length, with);
  }
  bool has_products = false;
  for (const Flight& flight : launch.pipeline.flights) {
    const bool own = flight.warp >= role.first && flight.warp <= role.last;
    if (!own || flight.kind != Flight::kProduct) continue;
    has_products = true;
    products.fill(flight.start, flight.end, "#");
  }
  return row.str(role.name()) + (has_products ? products.str("wgmma") : "");
}

}  // namespace

std::string pipeline_svg(const Launch& launch, const PictureName& name) {
  if (launch.pipeline.empty()) {
    throw course::Error("the run", 0,
                        "recorded no pipeline: no mbarrier, bulk copy or wgmma of this kernel.");
  }
  return PipelineSheet(launch, name).str();
}

std::string pipeline_text(const Launch& launch) {
  std::string text =
      "Its pipeline: = copies under way, 0 and 1 the parity of a phase, █ executes,\n"
      "- waits, # products under way\n";
  const std::vector<int> objects = objects_of(launch);
  for (size_t i = 0; i < objects.size() && i < kMostObjects; ++i) {
    text += object_rows(launch, objects[i]);
  }
  if (objects.size() > kMostObjects) {
    text += "and " + course::plural(objects.size() - kMostObjects, "more mbarrier") + "\n";
  }
  std::vector<Role> roles = roles_of(launch);
  if (roles.size() > kMostRoles) roles.resize(kMostRoles);
  for (const Role& role : roles) text += role_rows(launch, role);
  for (const std::string& line : wait_lines(launch, roles)) text += line + "\n";
  return text;
}

}  // namespace grade::view

#include "profile/view_log.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "core/machine.h"
#include "profile/json.h"
#include "profile/profile_log.h"
#include "profile/timeline_model.h"
#include "profile/timeline_report.h"
#include "profile/view_recorder.h"

namespace warplings::sim {
namespace {

constexpr size_t kMostItems = 600;  // of the timeline

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string item_json(const TimelineItem& item) {
  const Work& work = *item.work;
  JsonObject out;
  out.text("kind", kind_name(work))
      .text("name", work.name)
      .count("device", static_cast<uint64_t>(item.stream.device))
      .text("stream", item.stream.name)
      .count("stream_id", item.stream.id)
      .raw("issued", seconds(item.issued))
      .raw("start", seconds(item.start))
      .raw("end", seconds(item.end));
  if (work.bytes > 0) out.count("bytes", work.bytes);
  if (work.pageable) out.flag("pageable", true);
  if (work.where.known()) {
    out.text("file", work.where.file).count("line", static_cast<uint64_t>(work.where.line));
  }
  return out.str();
}

std::string timeline_json(const std::vector<TimelineItem>& items, Timeline& timeline) {
  std::vector<std::string> rows, waits;
  for (const TimelineItem& item : items) {
    if (rows.size() < kMostItems) rows.push_back(item_json(item));
  }
  const double end = items.back().end;
  for (const HostWait& wait : timeline.host_waits()) {
    if (wait.end <= items.front().issued || wait.start > end || waits.size() >= kMostItems)
      continue;
    waits.push_back("[" + seconds(wait.start) + "," + seconds(wait.end) + "]");
  }
  return JsonObject()
      .text("label", timeline_label())
      .count("left_out", items.size() - rows.size())
      .raw("items", json_array(rows))
      .raw("waits", json_array(waits))
      .str();
}

std::string finding_json(const Finding& finding) {
  JsonObject out;
  out.text("check", finding.check)
      .text("kind", finding.kind)
      .text("message", finding.message)
      .text("kernel", finding.kernel)
      .text("file", finding.where.file)
      .count("line", static_cast<uint64_t>(std::max(0, finding.where.line)))
      .text("other_file", finding.other.file)
      .count("other_line", static_cast<uint64_t>(std::max(0, finding.other.line)))
      .flag("note", finding.is_note)
      .count("count", finding.count);
  if (finding.scene != nullptr) out.raw("scene", scene_json(*finding.scene));
  return out.str();
}

// What the whole modelled card can do.
std::string limits_json() {
  const GpuModel& model = gpu_model();
  const double lanes = static_cast<double>(model.multiprocessors) * model.fp32_lanes;
  return JsonObject()
      .count("multiprocessors", static_cast<uint64_t>(model.multiprocessors))
      .number("dram", model.dram_bytes_per_second)
      .number("l2", model.l2_bytes_per_clock * model.clock_hz)
      .number("flops", 2 * lanes * model.clock_hz)
      .str();
}

}  // namespace

ViewLog& ViewLog::instance() { return Machine::get<ViewLog>(); }

// Where some of the work comes from known lines, what comes from none is not the program's own: a
// test looks at its arrays with copies, hundreds of them.
void ViewLog::keep_stretch(Timeline& timeline) {
  std::vector<TimelineItem> items = finished_work(timeline);
  const auto is_own = [](const TimelineItem& item) { return item.work->where.known(); };
  const bool own = std::any_of(items.begin(), items.end(), is_own);
  if (own) {
    std::erase_if(items, [&](const TimelineItem& item) { return !is_own(item); });
  }
  if (items.empty()) return;
  std::set<uint64_t> streams;
  double begin = items.front().issued, end = begin;
  for (const TimelineItem& item : items) {
    streams.insert(item.stream.id);
    end = std::max(end, item.end);
  }
  const std::tuple<bool, size_t, double> rank{own, streams.size(), end - begin};
  if (rank <= rank_) return;
  rank_ = rank;
  stretch_ = timeline_json(items, timeline);
}

std::string ViewLog::json() {
  keep_stretch(Timeline::instance());
  const ViewRecorder& recorder = ViewRecorder::instance();
  std::vector<std::string> findings, wrong;
  for (const Finding& finding : recorder.findings()) findings.push_back(finding_json(finding));
  for (const auto& [kernel, view] : recorder.wrong()) {
    wrong.push_back(
        JsonObject().text("name", kernel).raw("view", launch_view_json(*view, nullptr)).str());
  }
  JsonObject out;
  out.count("format", 1)
      .text("kind", "view")
      .text("label", timeline_label())
      .raw("limits", limits_json())
      .raw("findings", json_array(findings))
      .count("findings_left_out", recorder.findings_left_out())
      .raw("wrong", json_array(wrong))
      .raw("profile", ProfileLog::instance().json());
  if (!stretch_.empty()) out.raw("timeline", stretch_);
  return out.str() + "\n";
}

}  // namespace warplings::sim

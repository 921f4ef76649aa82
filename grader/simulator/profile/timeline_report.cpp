#include "profile/timeline_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "profile/timeline_model.h"

namespace warplings::sim {
namespace {

constexpr int kColumns = 80;
constexpr size_t kMostRows = 16;  // streams in the picture

// How the work is drawn, and which part of the device it keeps busy.
struct Sign {
  char letter;
  const char* words;
};
constexpr Sign kToDevice{'>', "copy to device"}, kToHost{'<', "copy to host"},
    kOnDevice{'=', "copy on device, memset"}, kPeer{'x', "copy between devices"},
    kOnHost{'-', "copy on host"}, kKernel{'#', "kernel"}, kHostFunction{'f', "host function"};

const Sign& sign_of(const Work& work) {
  if (work.kind == WorkKind::kKernel || work.kind == WorkKind::kLibrary) return kKernel;
  if (work.kind == WorkKind::kFill) return kOnDevice;
  if (work.kind != WorkKind::kCopy) return kHostFunction;
  switch (work.path) {
    case CopyPath::kToDevice:
      return kToDevice;
    case CopyPath::kToHost:
      return kToHost;
    case CopyPath::kOnDevice:
      return kOnDevice;
    case CopyPath::kPeer:
      return kPeer;
    case CopyPath::kOnHost:
      return kOnHost;
  }
  return kOnHost;
}

std::string duration(double seconds) {
  char text[32];
  if (seconds >= 1) {
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  } else if (seconds >= 1e-3) {
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  }
  return text;
}

// Time in which at least one of the spans is going on.
double covered(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  double sum = 0, end = -1;
  for (const Span& span : spans) {
    const double start = std::max(span.start, end);
    if (span.end > start) sum += span.end - start;
    end = std::max(end, span.end);
  }
  return sum;
}

// One line of the picture: in each column what takes most of its time.
class Row {
 public:
  Row(double begin, double end, int columns)
      : begin_(begin), step_((end - begin) / columns), columns_(static_cast<size_t>(columns)) {}

  void add(double start, double end, char letter) {
    const auto column = [&](double time) {
      const double at = (time - begin_) / step_;
      return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(columns_.size() - 1)));
    };
    for (size_t i = column(start); i <= column(end); ++i) {
      const double low = begin_ + step_ * static_cast<double>(i);
      const double part = std::min(end, low + step_) - std::max(start, low);
      if (part > 0) columns_[i][letter] += part;
    }
  }
  std::string text() const {
    std::string out;
    for (const auto& column : columns_) {
      char best = ' ';
      double most = 0;
      for (const auto& [letter, part] : column) {
        if (part > most) {
          most = part;
          best = letter;
        }
      }
      out.push_back(best);
    }
    return out;
  }

 private:
  double begin_, step_;
  std::vector<std::map<char, double>> columns_;
};

std::string padded(std::string text, size_t width) {
  text.resize(width, ' ');
  return text;
}

std::string row_name(const TimelineItem& item, bool several_devices) {
  std::string name = item.stream.name;
  if (name == "the default stream") name = "default";
  if (name == "the per-thread default stream") name = "per thread";
  return several_devices ? "gpu " + std::to_string(item.stream.device) + " " + name : name;
}

std::string legend(const std::vector<TimelineItem>& items) {
  std::map<char, const char*> used;
  for (const TimelineItem& item : items) {
    used[sign_of(*item.work).letter] = sign_of(*item.work).words;
  }
  std::string text;
  for (const auto& [letter, words] : used) {
    text += text.empty() ? "" : "   ";
    text += std::string(1, letter) + " " + words;
  }
  return text + "   w host waits\n";
}

// How long each part of the device works, and what lies side by side.
std::string usage(const std::vector<TimelineItem>& items, double length) {
  std::map<char, std::vector<Span>> spans;
  std::map<char, const char*> words;
  std::vector<Span> all;
  for (const TimelineItem& item : items) {
    const Sign& sign = sign_of(*item.work);
    spans[sign.letter].push_back({item.start, item.end});
    words[sign.letter] = sign.words;
    all.push_back({item.start, item.end});
  }
  std::string text;
  double sum = 0;
  for (const auto& [letter, list] : spans) {
    const double busy = covered(list);
    sum += busy;
    char line[96];
    std::snprintf(line, sizeof line, "  %-24s%4zu   busy %-9s %3.0f %% of the time\n",
                  words[letter], list.size(), duration(busy).c_str(), 100 * busy / length);
    text += line;
  }
  const double together = sum - covered(all);
  char line[96];
  std::snprintf(line, sizeof line, "  %-31s%-9s %s\n", "side by side", duration(together).c_str(),
                together > 0 ? "saved by overlap" : "nothing overlaps");
  return text + line;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  return out + "\"";
}

std::string trace_event(const std::string& name, const char* category, double start, double end,
                        int process, uint64_t thread, const std::string& arguments) {
  constexpr double kMicroseconds = 1e6;
  char numbers[160];
  std::snprintf(numbers, sizeof numbers,
                "\"ph\": \"X\", \"ts\": %.4f, \"dur\": %.4f, \"pid\": %d, \"tid\": %llu",
                start * kMicroseconds, (end - start) * kMicroseconds, process,
                static_cast<unsigned long long>(thread));
  return "{\"name\": " + quoted(name) + ", \"cat\": " + quoted(category) + ", " + numbers +
         ", \"args\": {" + arguments + "}}";
}

std::string name_event(const char* what, int process, uint64_t thread, const std::string& name) {
  return std::string("{\"name\": \"") + what +
         "\", \"ph\": \"M\", \"pid\": " + std::to_string(process) +
         ", \"tid\": " + std::to_string(thread) + ", \"args\": {\"name\": " + quoted(name) + "}}";
}

}  // namespace

const char* kind_name(const Work& work) {
  switch (work.kind) {
    case WorkKind::kKernel:
      return "kernel";
    case WorkKind::kLibrary:
      return "library call";
    case WorkKind::kFill:
      return "memset";
    case WorkKind::kHostFunction:
      return "host function";
    case WorkKind::kCopy:
      return work.path == CopyPath::kOnDevice ? "copy on device" : sign_of(work).words;
    default:
      return "other";
  }
}

std::vector<TimelineItem> finished_work(Timeline& timeline) {
  std::vector<TimelineItem> work;
  add_finished_work(timeline, &work);
  return work;
}

void add_finished_work(Timeline& timeline, std::vector<TimelineItem>* work) {
  timeline.place_what_has_run();
  size_t known = 0;  // so many of `work` still begin the list
  for (const TimelineItem& item : timeline.items()) {
    const bool shown = item.is_placed && item.work != nullptr && item.end > item.start;
    if (!shown) continue;
    if (known == work->size() || (*work)[known].serial != item.serial) {
      work->erase(work->begin() + static_cast<std::ptrdiff_t>(known), work->end());
      work->push_back(item);
    }
    ++known;
  }
  work->erase(work->begin() + static_cast<std::ptrdiff_t>(known), work->end());
}

std::string timeline_picture(Timeline& timeline) {
  const std::vector<TimelineItem> items = finished_work(timeline);
  if (items.empty()) return "";
  double begin = items.front().issued, end = timeline.now();
  std::map<std::pair<int, uint64_t>, std::vector<const TimelineItem*>> rows;
  size_t width = 4;
  const bool several = std::any_of(items.begin(), items.end(), [&](const TimelineItem& item) {
    return item.stream.device != items.front().stream.device;
  });
  for (const TimelineItem& item : items) {
    begin = std::min(begin, item.issued);
    end = std::max(end, item.end);
    rows[{item.stream.device, item.stream.id}].push_back(&item);
    width = std::max(width, row_name(item, several).size());
  }
  const int columns = kColumns - static_cast<int>(width) - 3;
  std::string text = std::string(timeline_label()) + ": " + duration(end - begin) +
                     ", a column is " + duration((end - begin) / columns) + "\n";
  Row host(begin, end, columns);
  for (const HostWait& wait : timeline.host_waits()) {
    if (wait.end > begin) host.add(std::max(wait.start, begin), wait.end, 'w');
  }
  text += padded("host", width) + " |" + host.text() + "|\n";
  size_t shown = 0;
  for (const auto& [key, list] : rows) {
    if (shown++ == kMostRows) break;
    Row row(begin, end, columns);
    for (const TimelineItem* item : list) {
      row.add(item->start, item->end, sign_of(*item->work).letter);
    }
    text += padded(row_name(*list.front(), several), width) + " |" + row.text() + "|\n";
  }
  if (rows.size() > kMostRows) {
    text += "and " + std::to_string(rows.size() - kMostRows) + " more streams\n";
  }
  return text + legend(items) + usage(items, end - begin);
}

std::string timeline_trace(Timeline& timeline) {
  constexpr int kHost = 1000;  // after the devices
  const std::vector<TimelineItem> items = finished_work(timeline);
  std::vector<std::string> events;
  events.push_back(name_event("process_name", kHost, 0, "host"));
  std::map<std::pair<int, uint64_t>, std::string> streams;
  for (const TimelineItem& item : items) {
    const Work& work = *item.work;
    streams[{item.stream.device, item.stream.id}] = item.stream.name;
    std::string arguments =
        "\"line\": " + quoted(work.where.known() ? work.where.short_name() : "");
    if (work.bytes > 0) {
      arguments += ", \"bytes\": " + std::to_string(work.bytes);
    }
    char issued[48];
    std::snprintf(issued, sizeof issued, ", \"called at us\": %.4f", item.issued * 1e6);
    events.push_back(trace_event(
        sign_of(work).letter == kKernel.letter ? work.name : kind_name(work), kind_name(work),
        item.start, item.end, item.stream.device, item.stream.id, arguments + issued));
  }
  for (const auto& [key, name] : streams) {
    events.push_back(name_event("process_name", key.first, 0,
                                "device " + std::to_string(key.first) + ", " + timeline_label()));
    events.push_back(name_event("thread_name", key.first, key.second, name));
  }
  for (const HostWait& wait : timeline.host_waits()) {
    events.push_back(trace_event("host waits", "host", wait.start, wait.end, kHost, 0, ""));
  }
  std::string text =
      "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"time\": " + quoted(timeline_label()) +
      "}, \"traceEvents\": [\n";
  for (size_t i = 0; i < events.size(); ++i) {
    text += events[i] + (i + 1 < events.size() ? ",\n" : "\n");
  }
  return text + "]}\n";
}

}  // namespace warplings::sim

#include "cli/bench/measurement.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "cli/json_out.h"
#include "cli/speed_text.h"

namespace grade {
namespace {

// What a call's rate counts: operations where arithmetic is the limit, else bytes.
double amount_of(const SpeedReport& speed, const char** unit) {
  constexpr double kManyOperations = 8;  // per byte
  const bool counts_flops = std::any_of(speed.ratios.begin(), speed.ratios.end(),
                                        [](const SpeedRatio& r) { return r.name == "FMA rate"; }) ||
                            speed.flops > kManyOperations * speed.bytes;
  *unit = counts_flops ? "FLOP/s" : "B/s";
  const double amount = counts_flops ? speed.flops : speed.bytes;
  if (amount == 0) *unit = "";
  return amount;
}

bool same_unit(const SpeedRatio& ceiling, const char* unit) {
  return (ceiling.name == "FMA rate") == (std::string(unit) == "FLOP/s");
}

const SpeedReport* find_speed(const Result& result, const std::string& test,
                              const std::string& where) {
  for (const TestReport& report : result.tests) {
    if (report.name != test) continue;
    for (const SpeedReport& speed : report.speeds) {
      if (speed.where == where) return &speed;
    }
  }
  return nullptr;
}

void add_graded(BenchMeasurement* m, const char* name, const SpeedReport* speed, double amount) {
  if (speed == nullptr || speed->seconds <= 0) return;
  m->rows.push_back({name, name, speed->level, speed->seconds, amount / speed->seconds});
}

BenchMeasurement measurement_of(const TestReport& test, const SpeedReport& speed,
                                const Result& learner, const Result& solution) {
  BenchMeasurement m;
  m.exercise = solution.id;
  m.test = test.short_name();
  m.where = speed.where;
  m.device = speed.device;
  m.modelled = speed.modelled;
  m.slice = speed.slice;
  const double amount = amount_of(speed, &m.unit);
  add_graded(&m, "yours", find_speed(learner, test.name, m.where), amount);
  add_graded(&m, "solution", find_speed(solution, test.name, m.where), amount);
  for (const SpeedRatio& ratio : speed.ratios) {
    if (ratio.seconds <= 0) continue;
    if (ratio.kind != "ceiling") {
      m.rows.push_back({ratio.name, ratio.kind, "", ratio.seconds, amount / ratio.seconds});
    } else if (same_unit(ratio, m.unit)) {
      m.rows.push_back({ratio.name, ratio.kind, "", 0, ratio.amount / ratio.seconds});
    }
  }
  return m;
}

double fastest_rate(const BenchMeasurement& m) {
  double most = 0;
  for (const BenchRow& row : m.rows) most = std::max(most, row.rate);
  return most;
}

// Times of rows without rates become speeds, so that longer is better in every picture.
double height_of(const BenchMeasurement& m, const BenchRow& row) {
  if (*m.unit != '\0') return row.rate;
  return row.seconds > 0 ? 1 / row.seconds : 0;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string label_of(const BenchMeasurement& m, const BenchRow& row) {
  return *m.unit != '\0' ? rate_text(row.rate, 1, m.unit) : time_text(row.seconds);
}

// What was measured, and where: "IsFast, cols = 1024, NVIDIA H200".
std::string title_of(const BenchMeasurement& m) {
  std::string title = m.test + (m.where.empty() ? "" : ", " + m.where) + ", " + m.device;
  // Rates are those of the part of the card that has the work.
  if (m.slice > 1) title += ", 1/" + std::to_string(std::lround(m.slice)) + " of the card";
  return title;
}

}  // namespace

std::vector<BenchMeasurement> measurements_of(const Result& learner, const Result& solution) {
  std::vector<BenchMeasurement> all;
  // The solution's run names the tests: a learner's may have ended early.
  for (const Result* named : {&solution, &learner}) {
    for (const TestReport& test : named->tests) {
      for (const SpeedReport& speed : test.speeds) {
        all.push_back(measurement_of(test, speed, learner, solution));
      }
    }
    if (!all.empty()) break;
  }
  return all;
}

std::string picture_name(const BenchMeasurement& m) {
  std::string name = m.exercise + "." + m.test;
  if (!m.where.empty()) name += ".";
  for (const char c : m.where) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    if (c == ',') name += '_';
  }
  return name + ".svg";
}

std::string bench_text(const BenchMeasurement& m, const Terminal& terminal) {
  constexpr size_t kName = 26, kTime = 14, kRate = 16, kShare = 8;
  std::string text =
      terminal.paint(Style::kBold, m.exercise) + "\n" + wrap(title_of(m), "  ", terminal.columns);
  text += "  " + pad("", kName) + pad_left("per call", kTime) + pad_left("rate", kRate) +
          pad_left("of best", kShare + 2) + "\n";
  const double most = fastest_rate(m);
  for (const BenchRow& row : m.rows) {
    char share[16] = "";
    if (most > 0) std::snprintf(share, sizeof share, "%.3g %%", 100 * row.rate / most);
    std::string line = "  " + pad(row.name.substr(0, kName), kName) +
                       pad_left(row.seconds > 0 ? time_text(row.seconds) : "", kTime) +
                       pad_left(row.rate > 0 ? rate_text(row.rate, 1, m.unit) : "", kRate) +
                       pad_left(share, kShare + 2);
    if (!row.level.empty() && row.level != "none") line += "  " + row.level;
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string bench_json(const BenchMeasurement& m) {
  std::vector<std::string> rows;
  for (const BenchRow& row : m.rows) {
    rows.push_back(JsonOut()
                       .text("name", row.name)
                       .text("kind", row.kind)
                       .text("level", row.level)
                       .number("seconds", row.seconds)
                       .number("rate", row.rate)
                       .str());
  }
  return JsonOut()
      .text("exercise", m.exercise)
      .text("test", m.test)
      .text("case", m.where)
      .text("device", m.device)
      .boolean("modelled", m.modelled)
      .text("unit", m.unit)
      .raw("rows", json_array(rows))
      .str();
}

std::string bench_svg(const BenchMeasurement& m) {
  constexpr int kWidth = 720, kLeft = 190, kBar = 26, kTop = 52, kRight = 120;
  const int height = kTop + static_cast<int>(m.rows.size()) * kBar + 16;
  double most = 0;
  for (const BenchRow& row : m.rows) most = std::max(most, height_of(m, row));
  const double scale = most > 0 ? (kWidth - kLeft - kRight) / most : 0;
  char text[512];
  std::snprintf(text, sizeof text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                "font-family=\"sans-serif\" font-size=\"13\">\n"
                "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                kWidth, height, kWidth, height);
  std::string svg = text;
  svg += "<text x=\"12\" y=\"20\" font-weight=\"bold\">" + escaped(m.exercise) + "</text>\n";
  svg += "<text x=\"12\" y=\"38\" fill=\"#555\">" + escaped(title_of(m)) + "</text>\n";
  int y = kTop;
  for (const BenchRow& row : m.rows) {
    const int length = static_cast<int>(height_of(m, row) * scale);
    const char* colour = row.kind == "yours"      ? "#2b6cb0"
                         : row.kind == "solution" ? "#2f855a"
                         : row.kind == "ceiling"  ? "#c05621"
                                                  : "#a0aec0";
    svg += "<text x=\"" + std::to_string(kLeft - 8) + "\" y=\"" + std::to_string(y + 16) +
           "\" text-anchor=\"end\">" + escaped(row.name) + "</text>\n";
    std::snprintf(text, sizeof text,
                  "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", kLeft,
                  y + 3, std::max(length, 1), kBar - 8, colour);
    svg += text;
    svg += "<text x=\"" + std::to_string(kLeft + length + 6) + "\" y=\"" + std::to_string(y + 16) +
           "\">" + escaped(label_of(m, row)) + "</text>\n";
    y += kBar;
  }
  return svg + "</svg>\n";
}

}  // namespace grade

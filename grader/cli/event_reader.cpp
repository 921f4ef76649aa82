#include "cli/event_reader.h"

#include "cli/linked_kernels.h"
#include "course/error.h"
#include "course/json.h"

namespace grade {
namespace {

using course::Json;

int integer(const Json& event, const char* key) { return static_cast<int>(event.number_or(key)); }

Finding read_finding(const Json& event) {
  Finding finding;
  finding.check = event.string_or("check");
  finding.kind = event.string_or("kind");
  finding.message = event.string_or("message");
  finding.file = event.string_or("file");
  finding.line = integer(event, "line");
  finding.other_file = event.string_or("other_file");
  finding.other_line = integer(event, "other_line");
  finding.kernel = event.string_or("kernel");
  finding.where = event.string_or("case");
  finding.is_note = event.bool_or("is_note");
  finding.expected = event.bool_or("expected");
  finding.count = static_cast<long>(event.number_or("count", 1));
  return finding;
}

BudgetCheck read_budget(const Json& event) {
  BudgetCheck budget;
  budget.name = event.string_or("name");
  budget.unit = event.string_or("unit");
  budget.message = event.string_or("message");
  budget.value = event.number_or("value");
  budget.limit = event.number_or("limit");
  budget.passed = event.bool_or("passed");
  return budget;
}

SpeedReport read_speed(const Json& event) {
  SpeedReport speed;
  speed.where = event.string_or("case");
  speed.device = event.string_or("device");
  speed.verdict = event.string_or("verdict");
  speed.level = event.string_or("level");
  speed.reason = event.string_or("reason");
  speed.left_out = event.string_or("left_out");
  speed.modelled = event.bool_or("modelled");
  speed.seconds = event.number_or("seconds");
  speed.bytes = event.number_or("bytes");
  speed.flops = event.number_or("flops");
  speed.slice = event.number_or("slice", 1);
  speed.rounds = integer(event, "rounds");
  const Json* ratios = event.find("ratios");
  if (ratios == nullptr) return speed;
  for (const Json& item : ratios->items) {
    SpeedRatio ratio;
    ratio.kind = item.string_or("kind");
    ratio.name = item.string_or("name");
    ratio.level = item.string_or("level");
    ratio.ratio = item.number_or("ratio");
    ratio.low = item.number_or("low");
    ratio.high = item.number_or("high");
    ratio.pass = item.number_or("pass");
    ratio.gold = item.number_or("gold");
    ratio.reference = item.number_or("reference");
    ratio.seconds = item.number_or("seconds");
    ratio.amount = item.number_or("amount");
    speed.ratios.push_back(ratio);
  }
  return speed;
}

LaunchInfo read_launch(const Json& event) {
  LaunchInfo launch;
  launch.kernel = event.string_or("kernel");
  launch.file = event.string_or("file");
  launch.line = integer(event, "line");
  const auto triple = [&](const char* key, int* out) {
    const Json* sizes = event.find(key);
    for (size_t i = 0; sizes != nullptr && i < 3 && i < sizes->items.size(); ++i) {
      out[i] = static_cast<int>(sizes->items[i].number);
    }
  };
  triple("grid", launch.grid);
  triple("block", launch.block);
  return launch;
}

CounterMap read_counters(const Json& event) {
  CounterMap counters;
  const Json* object = event.find("counters");
  if (object == nullptr) return counters;
  for (const course::JsonMember& member : object->members) {
    counters[member.key] = member.value.number;
  }
  return counters;
}

}  // namespace

TestReport& EventReader::test(const std::string& name) {
  for (TestReport& report : result_->tests) {
    if (report.name == name) return report;
  }
  result_->tests.emplace_back().name = name;
  return result_->tests.back();
}

TestReport* EventReader::running() {
  for (TestReport& report : result_->tests) {
    if (report.started && !report.finished) return &report;
  }
  return nullptr;
}

const TestReport* EventReader::out_of_turn() {
  result_->out_of_turn = true;
  return nullptr;
}

void EventReader::begin(const Json& event) {
  phase_ = Phase::kTests;
  result_->simulated = event.bool_or("simulated");
  const Json* names = event.find("tests");
  if (names == nullptr) return;
  for (const Json& name : names->items) test(name.text);
}

void EventReader::end(const Json& event) {
  phase_ = Phase::kDone;
  result_->done = true;
  result_->simulated_thread_instructions += event.number_or("simulated_thread_instructions");
}

void EventReader::note(TestReport& report, const std::string& kind, const Json& event) {
  if (kind == "property") {
    report.properties[event.string_or("key")] = event.string_or("value");
  } else if (kind == "counters") {
    report.counters.emplace_back(event.string_or("case"), read_counters(event));
  } else if (kind == "launch") {
    report.launches.push_back(read_launch(event));
  } else if (kind == "failure") {
    report.failures.push_back(
        {event.string_or("file"), integer(event, "line"), event.string_or("message")});
  } else if (kind == "finding") {
    report.findings.push_back(read_finding(event));
  } else if (kind == "budget") {
    report.budgets.push_back(read_budget(event));
  } else if (kind == "speed") {
    report.speeds.push_back(read_speed(event));
  } else if (kind == "part") {
    for (LinkedKernel& kernel : result_->linked) {
      if (kernel.id == event.string_or("exercise")) kernel.share = event.number_or("share");
    }
  } else if (kind == "own_parts") {
    const std::string why = too_few_own_kernels(result_->linked, event.number_or("needed"));
    if (!why.empty()) report.failures.push_back({"", 0, why});
  }
}

const TestReport* EventReader::read(std::string_view line) {
  Json event;
  try {
    event = course::parse_json(std::string(line), "channel");
  } catch (const course::Error&) {
    return nullptr;  // cut short by a crash in the middle of a line
  }
  const std::string kind = event.string_or("event");
  if (kind == "start") {
    if (phase_ != Phase::kBefore) return out_of_turn();
    begin(event);
    return nullptr;
  }
  if (phase_ != Phase::kTests) return out_of_turn();
  TestReport* const current = running();
  if (kind == "done") {
    if (current != nullptr) return out_of_turn();
    end(event);
    return nullptr;
  }
  const std::string name = event.string_or("test");
  if (name.empty()) return nullptr;
  if (kind == "test_start") {
    TestReport& report = test(name);
    if (current != nullptr || report.started) return out_of_turn();
    report.started = true;
    return nullptr;
  }
  if (current == nullptr || current->name != name) return out_of_turn();
  result_->at_work = kind == "at_work" ? event.string_or("doing") : "";
  if (kind == "test_end") {
    current->finished = true;
    current->passed = event.bool_or("passed") && current->failures.empty();
    current->ms = event.number_or("ms");
    return current;
  }
  note(*current, kind, event);
  const bool decides = kind == "failure" || kind == "finding" || kind == "budget" ||
                       kind == "speed" || kind == "own_parts";
  return decides ? current : nullptr;
}

}  // namespace grade

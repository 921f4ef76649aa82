#include "kit/context.h"

#include <unistd.h>

namespace kit {

Context& context() {
  static Context* instance = new Context;  // never destroyed: exit handlers use it
  return *instance;
}

std::string case_name() {
  std::string label;
  for (const std::string& name : context().cases) {
    if (!label.empty() && !name.empty()) label += ", ";
    label += name;
  }
  return label;
}

std::string case_label() {
  std::string label = case_name();
  const std::string& run = context().run_name;
  if (!run.empty() && label.find(run) == std::string::npos) {
    label += (label.empty() ? "" : ", ") + run;
  }
  return label;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool is_test_file(const std::string& path) {
  const std::string end = "_test.cpp";
  return path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
}

void send_properties() {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  if (info == nullptr) return;
  const testing::TestResult& result = *info->result();
  Context& now = context();
  for (; now.properties_sent < result.test_property_count(); ++now.properties_sent) {
    const testing::TestProperty& property = result.GetTestProperty(now.properties_sent);
    now.channel.send("property", JsonObject()
                                     .text("test", now.test)
                                     .text("key", property.key())
                                     .text("value", property.value()));
  }
}

void send_launches() {
  Context& now = context();
  for (const Launch& launch : now.last_run.launches()) {
    if (now.launches_sent++ >= 4) return;
    const auto triple = [](const unsigned* sizes) {
      return json_array(
          {std::to_string(sizes[0]), std::to_string(sizes[1]), std::to_string(sizes[2])});
    };
    now.channel.send("launch", JsonObject()
                                   .text("test", now.test)
                                   .text("case", case_label())
                                   .text("kernel", launch.kernel)
                                   .text("file", launch.file)
                                   .integer("line", static_cast<uint64_t>(launch.line))
                                   .raw("grid", triple(launch.grid))
                                   .raw("block", triple(launch.block)));
  }
}

void report_at_work(const std::string& doing) {
  Context& now = context();
  now.channel.send("at_work", JsonObject().text("test", now.test).text("doing", doing));
}

JsonObject failure_fields(const std::string& file, int line, const std::string& message) {
  JsonObject fields;
  fields.text("test", context().test).text("file", file);
  fields.integer("line", static_cast<uint64_t>(line < 0 ? 0 : line)).text("message", message);
  return fields;
}

void flush_pending() {
  Context& now = context();
  if (now.channel.open()) {
    now.channel.write_line(now.pending_line);
  } else {
    write_all(STDERR_FILENO, now.pending_text.data(), now.pending_text.size());
  }
}

}  // namespace kit

// grade view [EX] and grade view -- PROGRAM: a run as pictures, in one HTML file, in the terminal,
// or one by one.
#include <poll.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>

#include "cli/app.h"
#include "cli/args.h"
#include "cli/browser.h"
#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/process/interrupt.h"
#include "cli/python_program.h"
#include "cli/simulated_program.h"
#include "cli/tool.h"
#include "cli/trace.h"
#include "cli/view/history.h"
#include "cli/view/page.h"
#include "cli/view/picture.h"
#include "cli/view_server.h"
#include "cli/watch/failing_thread.h"
#include "cli/watch/file_watcher.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr int kPort = 8642;

// Where the simulator leaves the recording, and keeps what ptxas said.
fs::path start_recording(App& app) {
  const fs::path file = output_of_simulator(app, "GRADE_SIM_VIEW", "view.json");
  ::setenv("GRADE_SIM_CACHE", file.parent_path().c_str(), 1);
  choose_model(app.options());
  return file;
}

fs::path folder_of(App& app) {
  const fs::path folder = app.paths().build(Device::kSimulator) / "view";
  fs::create_directories(folder);
  return folder;
}

// What is looked at: an exercise, or a program under its name.
struct Subject {
  const course::Exercise* exercise = nullptr;
  std::string title;
  std::string recording;
  bool passed = false;               // its tests, where it is an exercise
  std::vector<std::string> failing;  // the thread that its verdict is about, as trace takes it
};

// On this machine's screen, if somebody sits before it.
bool open_browser(App& app, const std::string& what) {
  return app.terminal().is_terminal && open_in_browser(what);
}

// ---- runs before and the reference ------------------------------------------------------------

// After a pass: what the reference does. "" where it may not be shown, or did not run.
std::string reference_of(App& app, const course::Exercise& exercise) {
  if (app.options().solution || !app.progress().is_passed(exercise.id)) return "";
  const fs::path file = start_recording(app);
  run_watched(app, exercise, Program::kSolution);
  const std::optional<std::string> text = take_output(file);
  return text ? view::summary(course::parse_json(*text, "the recording")) : "";
}

// ---- what comes of it -------------------------------------------------------------------------

// A page is about kernels; what has none has only its timeline.
bool has_kernels(const std::string& recording) {
  const course::Json json = course::parse_json(recording, "the recording");
  const course::Json* profile = json.find("profile");
  return profile != nullptr && !profile->find("kernels")->items.empty();
}

std::string page_of(App& app, const Subject& subject) {
  view::PageContent content;
  content.title = subject.title;
  content.recording = subject.recording;
  content.about = "A run in the simulator";
  if (subject.exercise != nullptr) {
    const course::Exercise& exercise = *subject.exercise;
    content.exercise = exercise.id;
    content.about = exercise.title + (app.options().solution ? ": the reference" : ": your file") +
                    ", in the simulator";
    content.file = exercise.name + exercise.extension();
    content.reference = reference_of(app, exercise);
    if (!app.options().solution) {
      content.history = view::history_json(view::remember_run(
          app.paths(), exercise, subject.passed,
          view::summary(course::parse_json(subject.recording, "the recording"))));
    }
  }
  return view::page_html(app.paths().root, content);
}

std::string file_name(const std::string& title) {
  std::string name;
  for (const char c : title) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

// The launch to look at: where something was found wrong, that one.
view::Launch launch_of(App& app, const Subject& subject, const view::Recording& recording) {
  const course::Exercise* exercise = subject.exercise;
  const course::Json& kernel = recording.kernel(
      app.options().kernel, exercise == nullptr ? "" : exercise->name + exercise->extension());
  return recording.wrong_launch_of(kernel).value_or(recording.launch_of(kernel));
}

int write_png(App& app, const std::string& svg, const Subject& subject) {
  const char* const browser = is_in_path("chromium")               ? "chromium"
                              : is_in_path("chromium-browser")     ? "chromium-browser"
                              : is_in_path("google-chrome-stable") ? "google-chrome-stable"
                                                                   : nullptr;
  if (browser == nullptr) {
    throw UsageError(
        "--png needs chromium, which is not here. --svg writes the same picture without it.");
  }
  const fs::path stem =
      folder_of(app) / (file_name(subject.title) + "_" + file_name(app.options().png));
  const fs::path drawn = stem.string() + ".svg", file = stem.string() + ".png";
  course::write_text(drawn, svg);
  const auto number_after = [&](const std::string& key) {
    return svg.substr(svg.find(key) + key.size(),
                      svg.find('"', svg.find(key) + key.size()) - svg.find(key) - key.size());
  };
  const std::string size = std::to_string(std::stoi(number_after(" width=\""))) + "," +
                           std::to_string(std::stoi(number_after(" height=\"")));
  const ChildResult result =
      ask({browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
           "--force-device-scale-factor=2", "--window-size=" + size,
           "--screenshot=" + file.string(), "file://" + drawn.string()});
  fs::remove(drawn);
  if (!result.ok() || !fs::exists(file)) {
    complain(std::string(browser) + " did not make the picture:\n" + result.err.text());
    return kFail;
  }
  print(file.string() + "\n");
  return kPass;
}

// chrome://tracing and Perfetto read it.
std::string chrome_trace(const course::Json& recording) {
  std::string events;
  const course::Json* timeline = recording.find("timeline");
  if (timeline == nullptr) throw UsageError("the run has no timeline: no work was waited for.");
  for (const course::Json& item : timeline->find("items")->items) {
    const std::string kind = item.string_or("kind");
    JsonOut out;
    out.text("name", kind == "kernel" ? item.string_or("name") : kind)
        .text("cat", kind)
        .text("ph", "X")
        .number("ts", item.number_or("start") * 1e6)
        .number("dur", (item.number_or("end") - item.number_or("start")) * 1e6)
        .number("pid", item.number_or("device"))
        .number("tid", item.number_or("stream_id"))
        .raw("args", JsonOut()
                         .text("stream", item.string_or("stream"))
                         .number("line", item.number_or("line"))
                         .number("bytes", item.number_or("bytes"))
                         .str());
    events += (events.empty() ? "" : ",\n") + out.str();
  }
  return "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"time\": " +
         course::json_quote(timeline->string_or("label")) + "}, \"traceEvents\": [\n" + events +
         "\n]}\n";
}

// ---- step by step, in the terminal -------------------------------------------------------------

// Where nobody says which, the thread that the verdict is about.
Options trace_options(const App& app, const Subject& subject) {
  Options options = app.options();
  const bool chosen = !options.block.empty() || !options.warp.empty() || !options.thread.empty() ||
                      !options.lines.empty() || !options.test_case.empty();
  if (chosen || subject.failing.empty()) return options;
  const Options failing = parse_arguments(subject.failing);
  options.test_case = failing.test_case;
  options.block = failing.block;
  options.thread = failing.thread;
  return options;
}

// A second run, of which nothing is shown but the trace: "" where there is none.
std::string traced(App& app, const Subject& subject, const Options& options) {
  ::unsetenv("GRADE_SIM_VIEW");  // one looks on at a time
  App tracing(options, app.paths());
  const fs::path file = start_trace(tracing, options);
  if (subject.exercise != nullptr) {
    run_watched(tracing, *subject.exercise);
  } else {
    int status = kPass;
    ask(simulated_program(tracing, options.rest, &status));
  }
  return take_output(file).value_or("");
}

std::string trace_text(App& app, const Subject& subject) {
  constexpr int kMostSteps = 12;  // where nobody has said which
  const Options options = trace_options(app, subject);
  const std::string trace = traced(app, subject, options);
  if (trace.empty()) return "";
  const int columns = app.terminal().columns;
  const bool chosen = !app.options().block.empty() || !app.options().warp.empty() ||
                      !app.options().thread.empty() || !app.options().lines.empty();
  std::string command = "./grade trace " + subject.title;
  if (subject.exercise == nullptr) command = "./grade trace -- " + course::join(options.rest, " ");
  for (const std::string& argument : subject.failing) command += " " + argument;
  std::string text =
      "\nStep by step\n" +
      trace_rows(trace, columns, chosen ? std::numeric_limits<int>::max() : kMostSteps);
  if (text.find(" more steps\n") != std::string::npos)
    text += "\n" + wrap(command + "\nshows all of it.", "", columns);
  return text;
}

// What is asked for instead of the page; nothing if the page is.
std::optional<int> show_part(App& app, const Subject& subject) {
  const Options& options = app.options();
  const bool picture = !options.svg.empty() || !options.png.empty();
  if (!picture && !options.as_text && options.chrome_trace.empty()) return std::nullopt;
  const view::Recording recording(course::parse_json(subject.recording, "the recording"));
  if (!options.chrome_trace.empty()) {
    course::write_text(options.chrome_trace, chrome_trace(recording.json()));
    print(options.chrome_trace + "\n");
  }
  if (options.as_text) {
    print(harmless(view::picture_text(launch_of(app, subject, recording), app.terminal().columns)));
    print(trace_text(app, subject));
  }
  if (!picture) return kPass;
  const bool png = options.svg.empty();
  const view::PictureName name =
      view::picture_name(png ? options.png : options.svg, png ? "--png" : "--svg");
  const view::Launch launch =
      name.is_of_launch() ? launch_of(app, subject, recording) : view::Launch();
  const std::string svg = view::picture_svg(recording, launch, name, view::line_of_file);
  if (!options.png.empty()) return write_png(app, svg, subject);
  print(svg);
  return kPass;
}

int show(App& app, const Subject& subject) {
  if (const std::optional<int> status = show_part(app, subject)) return *status;
  if (!has_kernels(subject.recording)) {
    complain(subject.title + " launched no kernel; --svg time draws what its streams did.");
    return kFail;
  }
  const std::string page = page_of(app, subject);
  const fs::path file = folder_of(app) / (file_name(subject.title) + ".html");
  course::write_text(file, page);
  const bool opened = open_browser(app, file.string());
  print(app.terminal().paint(Style::kBold, subject.title) + "  " +
        bytes_text(static_cast<double>(page.size())) +
        (opened ? ", opened in the browser\n" : ", open it in a browser\n") + file.string() + "\n");
  return kPass;
}

// Runs the exercise; the recording in `subject`, or the status to end with.
std::optional<int> record(App& app, const course::Exercise& exercise, Subject* subject) {
  subject->exercise = &exercise;
  subject->title = exercise.id;
  const fs::path file = start_recording(app);
  const Result result = run_watched(app, exercise);
  if (const std::optional<int> status = show_early_end(app, result)) return status;
  const std::optional<std::string> text = take_output(file);
  if (!text) {
    complain(exercise.id + " ended before it could be drawn, or launched no kernel.");
    return kFail;
  }
  subject->recording = *text;
  subject->passed = result.passed();
  subject->failing = trace_arguments(result);
  return std::nullopt;
}

// Until Ctrl-C: the page on 127.0.0.1, made again when the file is saved.
int serve(App& app, const course::Exercise& exercise) {
  const fs::path source = course::files_of(app.paths().root, exercise).starter;
  FileWatcher watcher(source);
  PageServer server(kPort);
  const auto make = [&] {
    Subject subject;
    if (!record(app, exercise, &subject)) server.show(page_of(app, subject));
  };
  make();
  print("http://127.0.0.1:" + std::to_string(server.port()) + "/  made again at every save of " +
        source.filename().string() + "; Ctrl-C ends it\n");
  open_browser(app, "http://127.0.0.1:" + std::to_string(server.port()) + "/");
  Interrupts& interrupts = Interrupts::instance();
  while (!interrupts.ended()) {
    pollfd ready[] = {
        {server.fd(), POLLIN, 0}, {watcher.fd(), POLLIN, 0}, {interrupts.fd(), POLLIN, 0}};
    constexpr int kLook = 300;  // milliseconds
    ::poll(ready, 3, watcher.polls() ? kLook : -1);
    if ((ready[0].revents & POLLIN) != 0) server.answer();
    if (watcher.changed()) {
      watcher.settle();
      make();
    }
  }
  return kPass;
}

}  // namespace

int view_command(App& app) {
  if (!app.options().rest.empty()) {
    if (app.options().serve) throw UsageError("--serve is for exercises; a program has no file.");
    return run_and_show(
        app, [&] { return start_recording(app); },
        [&](const fs::path& file, const std::string& title) {
          const std::optional<std::string> text = take_output(file);
          Subject subject;
          subject.title = title;
          if (text) {
            subject.recording = *text;
            return show(app, subject);
          }
          complain(title + " ended before it could be drawn, or launched no kernel.");
          return static_cast<int>(kFail);
        });
  }
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) throw UsageError("all exercises are passed: name the one to view.");
  if (runs_without_simulator(*exercise) || exercise->gpu_only) {
    throw UsageError(exercise->id + " runs no kernel in the simulator; there is nothing to draw.");
  }
  if (app.options().serve) return serve(app, *exercise);
  Subject subject;
  if (const std::optional<int> status = record(app, *exercise, &subject)) return *status;
  return show(app, subject);
}

}  // namespace grade

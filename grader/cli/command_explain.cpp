// grade explain [KIND]: what a finding of the simulator means, from docs/findings.
#include <algorithm>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/findings.h"
#include "cli/views.h"
#include "course/text.h"

namespace grade {
namespace {

// Markdown as a terminal shows it: emphasis in bold, code as it is.
std::string shown(std::string text, const Terminal& terminal) {
  for (size_t open = text.find("**"); open != std::string::npos; open = text.find("**")) {
    const size_t close = text.find("**", open + 2);
    if (close == std::string::npos) break;
    const std::string inner = text.substr(open + 2, close - open - 2);
    text.replace(open, close + 2 - open, terminal.paint(Style::kBold, inner));
  }
  return course::replace_all(text, "`", "");
}

std::string section_of(const ExplainedFinding& finding, const Terminal& terminal) {
  const std::string title = finding.check + ": " + course::join(finding.kinds, ", ");
  std::string text = wrap(terminal.paint(Style::kBold, title), "", terminal.columns);
  for (const std::string& paragraph : finding.paragraphs) {
    text += "\n" + wrap(shown(paragraph, terminal), "  ", terminal.columns);
  }
  return text + "\nMore of this check: docs/findings/" + finding.check + ".md\n";
}

std::string list_of(const std::vector<ExplainedFinding>& findings, const std::string& check) {
  std::string text, last;
  for (const ExplainedFinding& finding : findings) {
    if (!check.empty() && finding.check != check) continue;
    if (finding.check != last) text += (last.empty() ? "" : "\n") + finding.check + "\n";
    last = finding.check;
    for (const std::string& kind : finding.kinds) text += "  " + kind + "\n";
  }
  return text + "\n./grade explain KIND says what it means and how to mend it.\n";
}

// The kinds that hold `name`; without any, the one that is spelt nearly so.
std::vector<std::string> near(const std::vector<ExplainedFinding>& findings,
                              const std::string& name) {
  std::vector<std::string> inside, best;
  size_t distance = std::max<size_t>(name.size() / 2, 2);  // edits
  for (const ExplainedFinding& finding : findings) {
    for (const std::string& kind : finding.kinds) {
      if (kind.find(name) != std::string::npos) inside.push_back(kind);
      const size_t edits = course::edit_distance(name, kind);
      if (edits < distance) {
        distance = edits;
        best = {kind};
      }
    }
  }
  return inside.empty() ? best : inside;
}

[[noreturn]] void refuse(const std::vector<ExplainedFinding>& findings, const std::string& name) {
  const std::vector<std::string> kinds = near(findings, name);
  throw UsageError("no finding is called \"" + harmless(name) + "\"." +
                   (kinds.empty() ? "" : " Did you mean " + course::join(kinds, ", ") + "?") +
                   " ./grade explain lists all.");
}

}  // namespace

std::string explanation_of(App& app, const std::string& kind) {
  for (const ExplainedFinding& finding : read_findings(app.paths().root)) {
    if (finding.is(kind)) return section_of(finding, app.terminal());
  }
  throw course::Error("docs/findings", 0, "have no section about " + kind + ".");
}

int explain_command(App& app) {
  const std::vector<ExplainedFinding> findings = read_findings(app.paths().root);
  const std::vector<std::string>& operands = app.options().operands;
  if (operands.empty()) {
    print(list_of(findings, ""));
    return kPass;
  }
  // As the messages write it: "racecheck/shared-race".
  const std::string name = operands[0].substr(operands[0].find('/') + 1);
  bool is_check = false;
  for (const ExplainedFinding& finding : findings) {
    if (finding.is(name)) {
      print(section_of(finding, app.terminal()));
      return kPass;
    }
    is_check = is_check || finding.check == name;
  }
  if (!is_check) refuse(findings, name);
  print(list_of(findings, name));
  return kPass;
}

}  // namespace grade

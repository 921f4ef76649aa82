// grade predict [EX]: asks what the lesson asks, before a run tells.
#include <iostream>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/predictions.h"
#include "course/text.h"

namespace grade {
namespace {

// False at the end of the input.
bool ask(App& app, const course::Exercise& exercise, const OpenQuestion& question) {
  print(question_text(question, app.terminal()));
  for (std::string line; std::getline(std::cin, line);) {
    const std::string said = answer_text(app, exercise, question, line);
    if (!said.empty()) {
      print(said + "\n");
      return true;
    }
    print("That is none of the answers. > ");
  }
  print("\n");
  return false;
}

}  // namespace

int predict_command(App& app) {
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) {
    print("All exercises are passed. ./grade predict EX asks the questions of one.\n");
    return kPass;
  }
  std::vector<OpenQuestion> questions = questions_of(app, *exercise, false);
  if (questions.empty()) {
    questions = questions_of(app, *exercise, true);
    print(questions.empty() ? exercise->id + " asks for no prediction.\n"
                            : "All are answered; the first answers stay counted.\n");
  }
  print(app.terminal().paint(Style::kBold, questions.empty() ? "" : exercise->id) +
        (questions.empty() ? "" : "\n"));
  for (const OpenQuestion& question : questions) {
    if (!ask(app, *exercise, question)) break;
  }
  return kPass;
}

}  // namespace grade

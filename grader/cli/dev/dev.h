// Commands for people who write exercises: ./grade dev NAME.
#ifndef WARPLINGS_CLI_DEV_DEV_H_
#define WARPLINGS_CLI_DEV_DEV_H_

#include <map>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/gates/gate.h"

namespace grade {

// Arguments after "dev NAME": "--option value" for options that take one, flags, the rest.
struct DevArguments {
  std::vector<std::string> operands;
  std::map<std::string, std::string> options;  // "--out" -> "FILE"; flags: ""
  bool has(const std::string& name) const { return options.count(name) != 0; }
  // Throws UsageError where it is missing.
  std::string need(const std::string& name) const;
};

// "09" and "09_cuda_libraries" are chapters; anything else names one exercise.
std::vector<const course::Exercise*> chosen(App& app, const std::string& text);

int dev_new(App& app, const DevArguments& arguments);
int dev_sync(App& app, const DevArguments& arguments);
int dev_check(App& app, const DevArguments& arguments);
int dev_renumber(App& app, const DevArguments& arguments);
int dev_classes(App& app, const DevArguments& arguments);
// The share of `dev classes` that the self-test runs: another one each day, and all in a month.
Item planted_answers_of_today(App& app);
int dev_site(App& app, const DevArguments& arguments);
// Called by the build: the derived texts of an exercise as one CUDA file, and the jumps into it.
int dev_derive(App& app, const DevArguments& arguments);
int dev_dispatch(App& app, const DevArguments& arguments);
// The ways into a planted program, and the options of its linker.
int dev_plant(App& app, const DevArguments& arguments);

}  // namespace grade
#endif  // WARPLINGS_CLI_DEV_DEV_H_

// Figures that a run of an exercise gives: counter, finding, result, modelled (figures.h).
#ifndef WARPLINGS_CLI_GATES_RUN_SOURCES_H_
#define WARPLINGS_CLI_GATES_RUN_SOURCES_H_

#include <string>

#include "cli/gates/figures.h"

namespace grade {

bool is_of_a_run(const Mark& mark);
// Throws course::Error.
std::string run_value(const GateContext& context, const Mark& mark, const std::string& file);

// Builds and runs `program`: "EX" (the solution), "EX@starter", "EX@mutant_2". Throws.
Result run_for(const GateContext& context, const Mark& mark, const std::string& file,
               const std::string& program, const std::string& filter,
               const std::vector<std::pair<std::string, std::string>>& environment = {});

// "1,536"
std::string with_thousands(double value);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_RUN_SOURCES_H_

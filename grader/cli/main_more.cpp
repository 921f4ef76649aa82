// grade_more: commands that look closer at a run, and those that look after the machine.
#include "cli/commands.h"

int main(int argc, char** argv) {
  return grade::run_part({{"compare", grade::compare_command},
                          {"sanitize", grade::sanitize_command},
                          {"bench", grade::bench_command},
                          {"profile", grade::profile_command},
                          {"trace", grade::trace_command},
                          {"view", grade::view_command},
                          {"exec", grade::exec_command},
                          {"class", grade::class_command},
                          {"update", grade::update_command},
                          {"doctor", grade::doctor_command}},
                         argc, argv);
}

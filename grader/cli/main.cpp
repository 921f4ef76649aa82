// grade: the command line of the course. The launcher ./grade starts it.
#include "cli/commands.h"

int main(int argc, char** argv) {
  return grade::run_part({{"", grade::open_course},
                          {"run", grade::run_command},
                          {"watch", grade::watch_command},
                          {"read", grade::read_command},
                          {"predict", grade::predict_command},
                          {"list", grade::list_command},
                          {"check-all", grade::check_all_command},
                          {"hint", grade::hint_command},
                          {"reset", grade::reset_command},
                          {"restore", grade::restore_command},
                          {"solution", grade::solution_command},
                          {"explain", grade::explain_command},
                          {"clean", grade::clean_command},
                          {"help", grade::help_command}},
                         argc, argv);
}

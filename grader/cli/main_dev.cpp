// grade_dev: for people who write exercises or work on the grader.
#include "cli/commands.h"

int main(int argc, char** argv) {
  return grade::run_part({{"selftest", grade::selftest_command}, {"dev", grade::dev_command}}, argc,
                         argv);
}

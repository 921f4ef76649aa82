"""A baseline that does nothing, for script_test.cpp: it answers as kit/libraries/script.h says."""

import sys


def say(line):
    print(line, flush=True)


if sys.argv[1] == "refuse":
    say("missing no framework here")
    sys.exit()
say("# prepares")
say("ready")
for request in sys.stdin:
    say("done" if request.startswith("work ") else "failed out of memory")

#!/usr/bin/env python3
"""Tests of folder_order.py: what it must call wrong, and what it must not."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import folder_order as tested  # noqa: E402

SIM = "grader/simulator/"
# A file, what it includes, whether that is wrong.
CASES = [
    (SIM + "exec/grid.cpp", '"memory/device_memory.h"', False),
    (SIM + "exec/grid.cpp", '"exec/warp.h"', False),
    (SIM + "exec/grid.cpp", '"checks/race.h"', True),
    (SIM + "checks/race.cpp", '"exec/warp.h"', False),
    (SIM + "checks/race.cpp", '"profile/cost.h"', True),
    (SIM + "profile/cost.cpp", '"checks/race.h"', True),
    (SIM + "core/finding.cpp", '"ptx/module.h"', True),
    (SIM + "core/finding.cpp", "<warplings/sim.h>", False),
    (SIM + "include/warplings/sim.h", '"core/finding.h"', True),
    (SIM + "libraries/cufft/plan.cpp", '"common/call.h"', False),
    (SIM + "libraries/common/call.cpp", '"exec/warp.h"', False),
    (SIM + "tools/run.cpp", '"common/call.h"', True),
    (SIM + "runtime/api.cpp", '"kit/kit.h"', True),
    (SIM + "runtime/api.cpp", "<vector>", False),
    ("grader/kit/run.cpp", '"warplings/sim.h"', False),
    ("grader/kit/run.cpp", '"core/finding.h"', True),
    ("grader/kit/run.cpp", '"cli/app.h"', True),
    ("grader/cli/app.cpp", '"course/text.h"', False),
    ("grader/course/text.cpp", '"cli/app.h"', True),
    ("chapters/02/01_test.cpp", '"kit/kit.h"', False),
    ("chapters/02/01_test.cpp", '"exec/warp.h"', True),
    ("solutions/02/01.cu", '"01.h"', False),
    ("grader/tests/kit/run_test.cpp", '"exec/warp.h"', False),
]
OTHERS = [SIM + "memory/device_memory.h", SIM + "exec/warp.h", SIM + "checks/race.h",
          SIM + "profile/cost.h", SIM + "ptx/module.h", SIM + "include/warplings/sim.h",
          SIM + "core/finding.h", SIM + "libraries/common/call.h", "grader/kit/kit.h",
          "grader/cli/app.h", "grader/course/text.h", "chapters/02/01.h"]


def main():
    failed = 0
    for source, name, wrong in CASES:
        texts = dict.fromkeys(OTHERS, "")
        texts[source] = f"// A comment\n#include {name}\n"
        got = tested.mistakes(texts)
        if len(got) != int(wrong) or any(source + ":2 " not in line for line in got):
            failed += 1
            print(f"FAIL  {source} includes {name}: {got}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

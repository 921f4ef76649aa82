#!/usr/bin/env python3
"""Tests of include_folders.py: what it must call wrong, and what it must not."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import include_folders as tested  # noqa: E402

SYSTEM = "/opt/cuda-13.0"
PRIVATE = os.path.join(tested.ROOT, ".toolkit/cuda")
OUR_BLAS = os.path.join(tested.OURS, "cublas/include/cublas_v2.h")

# Headers, toolkit, private, what the mistakes mention (nothing: there is none).
CASES = [
    ([SYSTEM + "/include/cuda_runtime.h", OUR_BLAS], SYSTEM, False, []),
    ([SYSTEM + "/include/cublas_v2.h", "/usr/include/cudnn.h"], SYSTEM, False, []),
    (["/opt/cuda-12.4/include/cuda_runtime_api.h"], SYSTEM, False, ["cuda-12.4"]),
    (["/opt/cuda-12.4/include/curand.h"], SYSTEM, False, ["curand.h"]),
    ([PRIVATE + "/include/cuda_runtime.h", OUR_BLAS], PRIVATE, True, []),
    ([PRIVATE + "/include/cuda_runtime.h", "/usr/include/cudnn.h"], PRIVATE, True, ["cudnn.h"]),
    ([SYSTEM + "/include/cuda_fp16.h"], PRIVATE, True, ["cuda_fp16.h"]),
    ([SYSTEM + "/include/cufft.h"], SYSTEM, True, [".toolkit", "cufft.h"]),
]


def main():
    failed = 0
    for paths, toolkit, private, expected in CASES:
        got = tested.mistakes({path: "an object" for path in paths}, toolkit, private)
        if len(got) != len(expected) or any(e not in g for e, g in zip(expected, got)):
            failed += 1
            print(f"FAIL  {paths}: {got}, expected mentions of {expected}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

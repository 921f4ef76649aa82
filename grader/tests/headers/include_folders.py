#!/usr/bin/env python3
"""Which folders did the compilers take headers from?

    python3 grader/tests/headers/include_folders.py BUILD [--private-toolkit] [--list]

Reads what Ninja remembers of every object of the build folder, lists the folders with the number of
their headers (--list: of every one, else of CUDA's), and fails if

  - a CUDA header comes from anywhere but the toolkit of the compiler that is used: two toolkits in one
    build are a mistake that shows much later;
  - a header of a CUDA library is neither ours (grader/simulator/libraries) nor of that toolkit or of
    the system;
  - with --private-toolkit: the compiler is not the one in .toolkit/, or any header of a CUDA library
    is not ours. That toolkit has none, so the course then rests on nobody's installation.

Without --private-toolkit the stricter rules hold by themselves where the compiler is that in .toolkit/.
Ends with "N headers in M folders, K of CUDA's libraries"; exit status 1 and a line for each mistake.
Python 3, standard library only.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
OURS = os.path.join(ROOT, "grader/simulator/libraries")
# A header that only a CUDA toolkit has, and those of the libraries that the simulator replaces.
CUDA = re.compile(r"^(cuda_runtime(_api)?|cuda|driver_types|device_types|vector_types|cuda_fp16)\.h$")
LIBRARIES = re.compile(r"^(cublas_v2|cublasLt|cublasXt|cudnn|cufft|curand|curand_kernel|nccl)\.h$")


def cached(build, name):
    """A variable of CMakeCache.txt."""
    with open(os.path.join(build, "CMakeCache.txt")) as file:
        for line in file:
            if line.startswith(name + ":"):
                return line.split("=", 1)[1].strip()
    sys.exit(f"{build}/CMakeCache.txt has no {name}: is it a build folder of the course?")


def toolkit_of(build):
    compiler = os.path.realpath(cached(build, "CMAKE_CUDA_COMPILER"))
    return os.path.dirname(os.path.dirname(compiler))


def headers(build):
    """Every header that an object in the build folder depends on, with one such object."""
    ninja = cached(build, "CMAKE_MAKE_PROGRAM")
    text = subprocess.run([ninja, "-C", build, "-t", "deps"], capture_output=True, text=True).stdout
    found, current = {}, None
    for line in text.splitlines():
        if line and not line[0].isspace():
            current = line.split(": #deps")[0]
            if not os.path.exists(os.path.join(build, current)):
                current = None  # of a target that is gone
        elif current and line.strip():
            path = line.strip()
            if path not in found:
                found[path] = current
    return {os.path.realpath(os.path.join(build, path)): by for path, by in found.items()}


def lies_in(path, folder):
    return path.startswith(folder + os.sep)


def mistakes(found, toolkit, private):
    wrong = []
    if private and not lies_in(toolkit, os.path.join(ROOT, ".toolkit")):
        wrong.append(f"the compiler is that of {toolkit}, not of .toolkit/")
    for path, by in sorted(found.items()):
        name = os.path.basename(path)
        own = lies_in(path, toolkit)
        if LIBRARIES.match(name):
            allowed = lies_in(path, OURS) or (not private and (own or lies_in(path, "/usr/include")))
        elif CUDA.match(name):
            allowed = own or lies_in(path, ROOT)
        else:
            continue
        if not allowed:
            wrong.append(f"{by} includes {path}")
    return wrong


def show(found, toolkit, everything):
    folders = collections.Counter()
    for path in found:
        folder = os.path.dirname(path)
        for base in (toolkit, "/usr/include", "/usr/lib"):
            if lies_in(path, base):  # their inner structure is nobody's concern
                folder = os.path.join(base, "...")
        folders[folder] += 1
    for folder, count in sorted(folders.items()):
        if everything or lies_in(folder, toolkit) or lies_in(folder, OURS):
            print(f"{count:6}  {os.path.relpath(folder, ROOT) if lies_in(folder, ROOT) else folder}")
    return len(folders)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--private-toolkit", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    build = os.path.realpath(arguments.build)
    toolkit = toolkit_of(build)
    private = arguments.private_toolkit or lies_in(toolkit, os.path.join(ROOT, ".toolkit"))
    found = headers(build)
    folders = show(found, toolkit, arguments.list)
    libraries = sum(1 for path in found if LIBRARIES.match(os.path.basename(path)))
    wrong = mistakes(found, toolkit, private)
    if not any(CUDA.match(os.path.basename(path)) for path in found) or libraries == 0:
        wrong.append(f"nothing in {build} includes CUDA and one of its libraries: build it first")
    for line in wrong:
        print("WRONG  " + line)
    print(f"{len(found)} headers in {folders} folders, {libraries} of CUDA's libraries")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""clang-format on every .cpp and .h of ours. Standard library only.

    python3 grader/tests/style/style.py --check    # the self-test: status 1 and the places, 77 without the tool
    python3 grader/tests/style/style.py --write    # formats everything

clang-format differs from version to version, so the version is fixed: that of Debian 12. Device code is
left to its authors: pages, findings and planted defects name its lines.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VERSION = 14
SKIPPED = 77


def program_of_version(tool):
    """The program of the right version; None if there is none."""
    for name in (f"{tool}-{VERSION}", tool):
        path = shutil.which(name)
        if path is None:
            continue
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
        found = re.search(r"version (\d+)", said)
        if found and int(found.group(1)) == VERSION:
            return path
    return None


def sources():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.cpp", "*.h"], capture_output=True,
                            text=True, check=False)
    return [file for file in listed.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, file))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    order = parser.add_mutually_exclusive_group(required=True)
    order.add_argument("--check", action="store_true")
    order.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    program, files = program_of_version("clang-format"), sources()
    if program is None or not files:
        print(f"clang-format {VERSION} is not installed" if files else "this is no clone of git")
        return SKIPPED if arguments.check else 2
    if arguments.write:
        return subprocess.run([program, "-i", *files], cwd=ROOT, check=False).returncode
    ran = subprocess.run([program, "--dry-run", *files], cwd=ROOT, capture_output=True, text=True,
                         check=False)
    places = re.findall(r"^(\S+?:\d+):\d+: warning: code should be clang-formatted", ran.stderr, re.M)
    for place in places:
        print(f"{place}: not as clang-format {VERSION} writes it")
    if places:
        print("python3 grader/tests/style/style.py --write formats everything.")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Reads every #include of the repository and fails on one that points against the order of folders.

Data flows one way: chapters use the kit, the kit uses the simulator's public headers, and the
simulator knows nothing of either. Inside the simulator a folder includes those of the rows below its
own, never one of its row or above. Tests may look everywhere.

    folder_order.py [FOLDER]    the repository's root; default: the one that this file lies in
"""

import glob
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
SIMULATOR = "grader/simulator"

# From the ground up. grader/simulator/README.md explains each folder.
ROWS = [
    ["include"],
    ["core"],
    ["ptx"],
    ["decode"],
    ["memory"],
    ["exec"],
    ["checks", "profile"],
    ["runtime"],
    ["libraries", "tools"],
]
LEVEL = {folder: level for level, row in enumerate(ROWS) for folder in row}

# Who else may include what, beside itself. The simulator is above.
ALLOWED = {
    "chapters": {"kit", "simulator's include", "solutions"},
    "solutions": {"kit", "simulator's include", "chapters"},
    "kit": {"simulator's include"},
    "course": set(),
    "cli": {"course", "kit"},  # the kit: in the text of a new exercise
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SOURCES = (".h", ".cpp", ".cu", ".cuh", ".def", ".inc")


def owner(path):
    """The part of the repository that a file belongs to; None: no part that has a place."""
    parts = path.split("/")
    if parts[0] in ("chapters", "solutions"):
        return parts[0]
    if parts[:2] == ["grader", "simulator"] and len(parts) > 3:
        return "simulator's " + parts[2]
    if parts[0] == "grader" and parts[1] in ALLOWED and len(parts) > 2:
        return parts[1]
    return None


def may_include(source, target):
    """Both are owners."""
    if source == target:
        return True
    prefix = "simulator's "
    if source.startswith(prefix):
        if not target.startswith(prefix):
            return False
        below = LEVEL.get(target[len(prefix):])
        above = LEVEL.get(source[len(prefix):])
        return below is not None and above is not None and below < above
    return target in ALLOWED[source]


def target_of(source, name, quoted, files):
    """The file of the repository that an include of `source` names, or None."""
    folders = ["grader", SIMULATOR, SIMULATOR + "/include", SIMULATOR + "/libraries"]
    if quoted:
        folders.insert(0, os.path.dirname(source))
        if source.startswith("solutions/"):  # launchers are declared beside the starter
            folders.insert(1, "chapters/" + source.split("/")[1])
    for folder in folders:
        path = os.path.normpath(os.path.join(folder, name))
        if path in files:
            return path
    return None


def mistakes(texts):
    """`texts`: path from the root -> text of each source file. A line for each wrong include."""
    found = []
    for source in sorted(texts):
        of_source = owner(source)
        if of_source is None:
            continue
        for number, line in enumerate(texts[source].splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = target_of(source, match.group(2), match.group(1) == '"', texts)
            of_target = owner(target) if target else None
            if of_target and not may_include(of_source, of_target):
                found.append(f"{source}:{number} includes {target}: {of_source} lies below "
                             f"{of_target} or beside it, and must not know it")
    return found


def read_sources(root):
    texts = {}
    for top in ("chapters", "solutions", "grader"):
        for path in glob.glob(os.path.join(root, top, "**/*"), recursive=True):
            name = os.path.relpath(path, root)
            if name.endswith(SOURCES) and not name.startswith("grader/tests/"):
                with open(path, encoding="utf-8") as file:
                    texts[name] = file.read()
    return texts


def main():
    root = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    texts = read_sources(root)
    found = mistakes(texts)
    for line in found:
        print(line)
    folders = {owner(path) for path in texts if path.startswith(SIMULATOR)} - {None}
    unknown = sorted(f for f in folders if f[len("simulator's "):] not in LEVEL)
    for folder in unknown:
        print(f"{SIMULATOR}: the {folder} has no row in the order: give it one in ROWS")
    print(f"{len(texts)} files, {len(found)} includes against the order")
    return 1 if found or unknown or not folders else 0


if __name__ == "__main__":
    sys.exit(main())

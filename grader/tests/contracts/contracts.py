"""What the header of an exercise promises or asks, and which test looks at it.

    python3 grader/tests/contracts/contracts.py [--open]

A test names the words of its header that it is about:

    TEST(VectorAdd, AcceptsNoElements) {
      // contract: 0 adds nothing and is not an error

Statements of a header are its comments, split at full stops, semicolons and lines of a list. In the chapters of
WHOLE, and in any file with a mark, each statement shares words with a mark, and each mark stands in a test and is
found in the header. Everything else is open: counted here, and listed with --open.
"""

import glob
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
WHOLE = ["02_vector_add"]
MARK = re.compile(r"//\s*contract:\s*(.+)")


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def blocks(header):
    """Comments of the header, each a list of lines without their slashes; its first line is the title."""
    found, lines = [], []
    for line in header.split("\n")[1:] + [""]:
        if line.startswith("//"):
            lines.append(line[2:])
        elif lines:
            found.append(lines)
            lines = []
    return found


def statements(header):
    found = []
    for lines in blocks(header):
        parts = []
        for line in lines:
            indent = len(line) - len(line.lstrip())
            # "   n   any size" begins an entry of a list; what is further in goes on with it.
            if not parts or indent == 3 or (indent == 1 and parts[-1][0] > 1):
                parts.append((indent, line))
            else:
                parts[-1] = (parts[-1][0], parts[-1][1] + " " + line)
        for _, text in parts:
            found += [squeezed(s) for s in re.split(r"(?<=[^\s.][.;])\s", text)]
    return [s.rstrip(".;") for s in found if re.search(r"[A-Za-z]", s)]


def marks(test):
    """(words, name of the test that they stand in, or None) of each mark."""
    found, name = [], None
    for line in test.split("\n"):
        if line.startswith("}"):
            name = None
        started = re.match(r"TEST(?:_F|_P)?\((\w+),\s*(\w+)", line)
        if started:
            name = ".".join(started.groups())
        mark = MARK.search(line)
        if mark:
            found.append((squeezed(mark.group(1)), name))
    return found


def problems(exercise, header, said, marked):
    found = []
    whole = squeezed(" ".join(" ".join(lines) for lines in blocks(header)))
    for statement in said:
        if not any(words in statement or statement in words for words, _ in marked):
            found.append(f"{exercise}: no test is about \"{statement}\". Name the words of it in the test that "
                         "is: // contract: ...")
    for words, name in marked:
        if name is None:
            found.append(f"{exercise}: the mark \"{words}\" stands outside of every test.")
        if words not in whole:
            found.append(f"{exercise}: the header does not say \"{words}\". Has its sentence changed?")
    return found


def main():
    tied, exercises, wrong, untied = 0, 0, [], []
    for path in sorted(glob.glob(os.path.join(ROOT, "chapters", "*", "*_test.cpp"))):
        header = path[: -len("_test.cpp")] + ".h"
        exercise = os.path.relpath(path, os.path.join(ROOT, "chapters"))[: -len("_test.cpp")]
        if not os.path.exists(header):
            continue
        with open(header) as file:
            text = file.read()
        said = statements(text)
        with open(path) as file:
            marked = marks(file.read())
        if marked or exercise.split("/")[0] in WHOLE:
            exercises += 1
            tied += len(said)
            wrong += problems(exercise, text, said, marked)
        else:
            untied.append((exercise, said))
    for exercise, said in untied if "--open" in sys.argv else []:
        print(exercise)
        for statement in said:
            print("    " + statement)
    print(f"{tied} statements of {exercises} headers are tied to tests; open: "
          f"{sum(len(said) for _, said in untied)} statements of {len(untied)} headers")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

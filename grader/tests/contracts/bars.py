"""Bars of speed in words, beside those that the tests ask for.

    python3 grader/tests/contracts/bars.py

A bar stands in the test of an exercise, kit::Bars(3.0, 4.0), and in words in three more places: behind "Bar:" in its
starter, among the points of "What must hold" in its lesson, and in the table of its chapter. Each number of these
sentences has to be one of the test's; what is said of the model has to be what the simulator asks for.
"""

import glob
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
WORDS = {"one and a half times": 1.5, "twice": 2, "three times": 3, "four times": 4, "five times": 5, "six times": 6,
         "ten times": 10, "half": 0.5, "a quarter": 0.25, "a third": 1 / 3}
NUMBER = r"(?<![\w.,^/])(\d+(?:\.\d+)?)(?![\w/³]|[.,]\d)"
BAR = re.compile(r"Bars\(([^()]*)\)((?:\.\w+\([^()]*\))*)")
# What makes a clause one about speed.
SPEED = re.compile(r"speed|as fast|\brate\b|\bCUB\b|cuBLAS|cuFFT|\d×", re.I)


def numbers_of(text):
    return [float(n) for n in re.findall(r"\d+(?:\.\d+)?", text)]


def bars_of(test):
    """(every number of a bar, those that count in the simulator)."""
    everywhere, simulated = set(), set()
    for match in BAR.finditer(test):
        levels, more = numbers_of(match.group(1)), match.group(2)
        model = re.search(r"\.modelled\(([^()]*)\)", more)
        before = test[: match.start()]
        on_gpu = re.search(r"simulated\(\) \? [^;?]*: (?:kit::)?$", before)
        everywhere.update(levels)
        if model:
            everywhere.update(numbers_of(model.group(1)))
            simulated.add(numbers_of(model.group(1))[0])
        elif levels and not on_gpu:
            simulated.add(levels[0])
    return everywhere, simulated


def said(clause):
    """(number, whether it is said of the model) of each bar in the words of a clause."""
    text = re.sub(r"\[[^]]*\]\([^)]*\)|`[^`]*`", " ", clause)
    found = [(WORDS[m.group(0)], m.end()) for m in re.finditer(rf"\b(?:{'|'.join(WORDS)})\b", text)]
    pattern = rf"{NUMBER}(?= (?:times|%|of cuBLAS|of CUB)|×)|(?:gold|modelled) {NUMBER}"
    for m in re.finditer(pattern, text):
        value = float(m.group(1) or m.group(2))
        found.append((value / 100 if text[m.end():].startswith(" %") else value, m.end()))
    of_model = re.search(r"modelled (\d+(?:\.\d+)?)", text)
    result = []
    for value, end in sorted(found, key=lambda item: item[1]):
        rest = text[end:]
        if of_model:
            model = end >= of_model.start(1)
        else:
            in_model = re.search(r"modelled|in the model", rest)
            model = bool(in_model) and "on a card" not in rest[: in_model.start()] and " or" not in rest
        result.append((value, model))
    return result


def problems(where, clause, bars):
    everywhere, simulated = bars
    found = []
    for value, model in said(clause):
        pool = simulated if model else everywhere
        if any(abs(value - number) < 1e-6 for number in pool):
            continue
        asked = ", ".join(f"{number:g}" for number in sorted(pool)) or "none"
        of_what = "in the simulator the test asks for" if model else "bars of the test are"
        found.append(f"{where}: \"{clause.strip()}\" says {value:g}; {of_what} {asked}.")
    return found


def clauses_of_starter(text):
    bar = re.search(r"^//   Bars?: +((?:.+\n)(?://    +.+\n)*)", text, re.M)
    return [re.sub(r"\n//\s*", " ", bar.group(1))] if bar else []


def clauses_of_lesson(text):
    part = re.search(r"## What must hold\n(.*?)(?=\n## |\Z)", text, re.S)
    points = re.findall(r"^- (.+)$", part.group(1), re.M) if part else []
    return [c for point in points for c in re.split(r"; |(?<=[.)]) ", point) if SPEED.search(c)]


def clauses_of_table(readme, exercise):
    row = re.search(rf"^\| \[{exercise}\]\(.*$", readme, re.M)
    cells = row.group(0).split("|") if row else []
    return [c for c in cells[4].split(";") if SPEED.search(c)] if len(cells) > 4 else []


def main():
    wrong, compared = [], 0
    for test in sorted(glob.glob(os.path.join(ROOT, "chapters", "*", "*_test.cpp"))):
        stem = test[: -len("_test.cpp")]
        chapter, exercise = os.path.split(stem)
        texts = {}
        for key, path in (("test", test), ("starter", stem + ".cu"), ("lesson", stem + ".md"),
                          ("table", os.path.join(chapter, "README.md"))):
            with open(path) as file:
                texts[key] = file.read()
        bars = bars_of(texts["test"])
        for key, clauses in (("starter", clauses_of_starter(texts["starter"])),
                             ("lesson", clauses_of_lesson(texts["lesson"])),
                             ("table", clauses_of_table(texts["table"], exercise))):
            for clause in clauses:
                compared += len(said(clause))
                wrong += problems(f"{os.path.relpath(stem, os.path.join(ROOT, 'chapters'))} ({key})", clause, bars)
    print(f"{compared} bars in words are those of the tests" if not wrong else "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

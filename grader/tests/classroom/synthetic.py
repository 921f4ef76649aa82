"""A class whose verdicts are known beforehand: the course's own mutants and variants as students.

    python3 grader/tests/classroom/synthetic.py FOLDER STUDENTS EX... [--hostile] [--grade [SHARE]]

Writes FOLDER/assignment.json, FOLDER/submissions with a folder, zip or tar archive per student, and
FOLDER/expected.json: by student and exercise, pass, fail, missing or refused, which is any way not to pass. What
is there already is kept. With --hostile, the answers of grader/tests/hostile are among those of 02/01 (needs
their program: ninja -C build/sim hostile.class). With --grade, `./grade class` grades them, or the share of them
("2/3"), and one line says how many verdicts are as known beforehand, and how long it took.
"""

import io
import json
import os
import random
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "grader/classroom"))

import assignment as assignments  # noqa: E402


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def mutants(folder, solution):
    """Whole files, made as `find` and `put` of mutants.txt say."""
    path = os.path.join(folder, "mutants.txt")
    if not os.path.exists(path):
        return
    for block in re.split(r"^mutant: ", read(path), flags=re.M)[1:]:
        if re.search(r"^(only|flags|support|file):", block, flags=re.M):
            continue  # judged in another way, or by another file
        parts = re.findall(r"^find:\n((?:\|.*\n)+)put:\n((?:\|.*\n?)*)", block, flags=re.M)
        text = solution
        for find, put in parts:
            find, put = ("".join(line[1:] + "\n" for line in part.splitlines()) for part in (find, put))
            if text.count(find) != 1:
                break
            text = text.replace(find, put)
        else:
            if parts:
                yield text


def answers(exercise):
    """(text, expected) of one exercise: its solution, starter, mutants and variants."""
    solution = read(os.path.join(ROOT, "solutions", exercise["id"] + ".cu"))
    folder = os.path.join(ROOT, "grader/tests/exercises", exercise["id"])
    yield solution, "pass"
    yield read(os.path.join(ROOT, "chapters", exercise["id"] + ".cu")), "fail"
    yield "this is no C++\n", "does not compile"
    for name in sorted(os.listdir(folder)):
        if name.startswith("variant_") and name.endswith(".cu"):
            yield read(os.path.join(folder, name)), "pass"
    for text in mutants(folder, solution):
        yield text, "fail"


HOSTILE_EXERCISE = "02_vector_add/01_vector_add"
REFUSED = ("fail", "does not compile")


def hostile(folder):
    """Answers that are after what is not theirs; what they look for lies in `folder`."""
    found = [os.path.join(where, "hostile.class") for where, _, names in os.walk(os.path.join(ROOT, "build/sim"))
             if "hostile.class" in names]
    with tempfile.TemporaryDirectory() as written:
        subprocess.run([found[0], written, ROOT], check=True)
        for name in sorted(os.listdir(written)):
            text = read(os.path.join(written, name, "01_vector_add.cu")).replace("CLASS", folder)
            yield text.replace("HOME", os.path.expanduser("~")).replace("PORT", "9"), "refused"


def hand_in(folder, student, files, form):
    """`files`: path in the submission -> text."""
    if form == "folder":
        for path, text in files.items():
            file = os.path.join(folder, student, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
        os.makedirs(os.path.join(folder, student), exist_ok=True)
    elif form == "zip":
        with zipfile.ZipFile(os.path.join(folder, student + ".zip"), "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
    else:
        with tarfile.open(os.path.join(folder, student + ".tar.gz"), "w:gz") as archive:
            for path, text in files.items():
                info = tarfile.TarInfo(path)
                info.size = len(text.encode())
                archive.addfile(info, io.BytesIO(text.encode()))


def make(folder, count, parts, with_hostile=False, seed=1):
    chance = random.Random(seed)
    os.makedirs(os.path.join(folder, "submissions"))
    assignments.write_new(os.path.join(folder, "assignment.json"), parts)
    listed = assignments.load(os.path.join(folder, "assignment.json")).exercises
    pools = {e["id"]: list(answers(e)) for e in listed}
    if with_hostile:
        pools[HOSTILE_EXERCISE] += hostile(folder)
    expected = {}
    for number in range(count):
        student = f"student{number:03}"
        files, expected[student] = {}, {}
        for position, exercise in enumerate(listed):
            name = exercise["id"]
            pool = pools[name]
            if (number + position) % 7 == 6:
                expected[student][name] = "missing"
                continue
            # The first students take one each, so that all of them are handed in if there are enough.
            text, outcome = pool[number] if number < len(pool) else chance.choice(pool)
            path = f"chapters/{name}.cu" if number % 2 else f"hw/{name.split('/')[1]}.cu"
            files[path] = text
            expected[student][name] = outcome
        form = ("folder", "zip", "tar")[number % 3]
        hand_in(os.path.join(folder, "submissions"), student, files, form)
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(expected, file, indent=1)
    return expected


def is_as(known, outcome):
    return outcome in REFUSED if known == "refused" else outcome == known


def grade(folder, expected, share):
    """How many verdicts there are, and the ones that are not as known beforehand."""
    argv = [os.path.join(ROOT, "grade"), "class", "run", os.path.join(folder, "assignment.json"),
            os.path.join(folder, "submissions"), *(["--share", share] if share else [])]
    begin = time.monotonic()
    ran = subprocess.run(argv, stderr=subprocess.PIPE, text=True)
    minutes = (time.monotonic() - begin) / 60
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    graded = len(re.findall(r"^\d+ of \d+  ", ran.stderr, flags=re.M))
    verdicts = os.path.join(folder, "assignment.graded/verdicts")
    records = [json.loads(read(os.path.join(where, name)))
               for where, _, names in os.walk(verdicts) for name in names if name.endswith(".json")]
    other = [f"{r['student']} {r['exercise']}: {r['outcome']}, not {expected[r['student']][r['exercise']]}"
             for r in records if not is_as(expected[r["student"]][r["exercise"]], r["outcome"])]
    total = sum(len(answers) for answers in expected.values())
    print("\n".join([*other, f"{len(records)} of {total} answers have a verdict, {len(other)} other than known "
                             f"beforehand; {graded} graded now, {graded / minutes:.0f} a minute, "
                             f"{(used.ru_utime + used.ru_stime) / max(graded, 1):.1f} CPU-s each"]))
    return 1 if other or ran.returncode not in (0, 3) else 0


def main(folder, count, *rest):
    folder = os.path.abspath(folder)
    grading = "--grade" in rest
    parts, options = (rest[:rest.index("--grade")], rest[rest.index("--grade") + 1:]) if grading else (rest, ())
    known = os.path.join(folder, "expected.json")
    expected = json.loads(read(known)) if os.path.exists(known) else make(
        folder, int(count), [part for part in parts if part != "--hostile"], "--hostile" in parts)
    print(f"{len(expected)} students, {sum(len(e) for e in expected.values())} answers")
    return grade(folder, expected, options[0] if options else None) if grading else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""What students get: the course at its last commit without the assignment's answers; and what Gradescope
and Classroom 50 get."""

import io
import json
import os
import subprocess
import tarfile
import zipfile

from assignment import ROOT, Mistake


def committed_files():
    """(path, mode, bytes) of every file of the last commit."""
    ran = subprocess.run(["git", "-C", ROOT, "archive", "--format=tar", "HEAD"], capture_output=True)
    if ran.returncode != 0:
        raise Mistake("packing takes the files of the last commit, and git says: " +
                      ran.stderr.decode(errors="replace").strip())
    with tarfile.open(fileobj=io.BytesIO(ran.stdout)) as archive:
        for member in archive:
            if member.isreg():
                yield member.name, member.mode, archive.extractfile(member).read()


def withheld(text):
    """A marked solution whose answers are the starter's own lines: the starter made from it is the
    same, and it compiles. The rules of the markers are in grader/course/starter.h."""
    lines, given, inside = [], [], False
    for line in text.splitlines():
        marker = line.lstrip()
        if marker.startswith(("//~begin", "#~begin")):
            lines += [line, *given]
            inside = True
        elif marker.startswith(("//~end", "#~end")):
            lines.append(line)
            inside, given = False, []
        elif inside:
            continue
        else:
            lines.append(line)
            is_given = marker.startswith(("//~", "#~"))
            given = [*given, starter_line(line)] if is_given else []
    return "\n".join(lines) + "\n"


def starter_line(line):
    """What `//~ X` puts into the starter: X, at the indentation of the marker."""
    indent, _, rest = line.partition("//~" if "//~" in line else "#~")
    return (indent + rest[1:]).rstrip()


def for_students(assignment):
    assigned = {e["id"] for e in assignment.exercises}
    solutions = {f"solutions/{i}{ending}" for i in assigned for ending in (".cu", ".py")}
    tried = tuple(f"grader/tests/exercises/{i}/" for i in assigned)  # mutants and variants
    for path, mode, data in committed_files():
        if path in solutions:
            yield path, mode, withheld(data.decode()).encode()
        elif not path.startswith(tried):
            yield path, mode, data
    lines = [f"# {assignment.title}", ""]
    if assignment.due:
        lines += [f"Due {assignment.due.strftime('%Y-%m-%d %H:%M %z')}.", ""]
    lines += ["| exercise | points | file to hand in |", "| --- | --- | --- |"]
    for exercise in assignment.exercises:
        name = exercise["id"]
        ending = "py" if exercise["kind"] == "python" else "cu"
        lines.append(f"| {name} | {assignment.points[name]:g} | chapters/{name}.{ending} |")
    yield "ASSIGNMENT.md", 0o644, ("\n".join(lines) + "\n").encode()


SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, when it builds its image (Ubuntu). ./grade installs what it lacks.
set -eu
apt-get update
apt-get install -y --no-install-recommends git python3
mkdir -p /autograder/course
tar -C /autograder/course -xf /autograder/source/course.tar.gz
cd /autograder/course
git init -q && git add -A && git -c user.name=course -c user.email=course@localhost commit -qm course
./grade --yes --version
./grade class prepare /autograder/source/assignment.json
"""

RUN = """#!/usr/bin/env bash
# One submission, in a container that is thrown away after it: hence no jail.
cd /autograder/course
exec ./grade class run /autograder/source/assignment.json --gradescope /autograder \\
  --no-jail --out /tmp/graded
"""


def with_course(assignment_path):
    """What an autograder needs besides its scripts: the whole course, and the assignment."""
    course = io.BytesIO()
    with tarfile.open(fileobj=course, mode="w:gz") as archive:
        for path, mode, data in committed_files():
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(data), mode
            archive.addfile(info, io.BytesIO(data))
    with open(assignment_path, "rb") as file:
        yield "assignment.json", 0o644, file.read()
    yield "course.tar.gz", 0o644, course.getvalue()


def for_gradescope(assignment_path):
    yield "setup.sh", 0o755, SETUP.encode()
    yield "run_autograder", 0o755, RUN.encode()
    yield from with_course(assignment_path)


def for_classroom50(assignment_path):
    with open(os.path.join(os.path.dirname(__file__), "classroom50_autograder.py"), "rb") as file:
        yield "autograder.py", 0o644, file.read()
    yield from with_course(assignment_path)


def write(files, to):
    """A zip if the name ends so, else a folder that must not be there yet."""
    try:
        if to.endswith(".zip"):
            with zipfile.ZipFile(to, "x", zipfile.ZIP_DEFLATED) as archive:
                for path, mode, data in files:
                    info = zipfile.ZipInfo(path)
                    info.external_attr = (0o100000 | mode) << 16
                    info.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(info, data)
            return
        os.makedirs(to)
        for path, mode, data in files:
            file = os.path.join(to, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "wb") as out:
                out.write(data)
            os.chmod(file, mode)
    except FileExistsError:
        raise Mistake(f"{to} is there already, and was not touched.") from None
    except OSError as error:
        raise Mistake(f"{to}: {error.strerror}.") from None


def submission_time(folder):
    """When Gradescope says that the files were handed in; None without its metadata."""
    try:
        with open(os.path.join(folder, "submission_metadata.json"), encoding="utf-8") as file:
            return json.load(file).get("created_at")
    except (OSError, ValueError):
        return None


def commit_time(checkout):
    """When the checked out commit was made, which is when Classroom 50 counts it as handed in."""
    ran = subprocess.run(["git", "-C", checkout, "log", "-1", "--format=%cI"], capture_output=True, text=True)
    return ran.stdout.strip() or None

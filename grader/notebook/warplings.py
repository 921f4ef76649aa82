"""Exercises in a notebook:

    import sys; sys.path.insert(0, "FOLDER OF THE COURSE/grader/notebook")
    %load_ext warplings
    %exercise 02/01                  puts the starter into the next cell
    %%exercise 02/01                 grades the cell below it
    %%exercise 02/01 --view time     and draws a picture of its run, as ./grade view --svg names them
    %hint 02/01                      one step further at each call

The cell becomes the exercise's file, so that everything else (./grade view, profile, trace) knows it,
too. What was in the file before is kept, and ./grade restore brings it back.
"""

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
from IPython.display import SVG, display

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../classroom"))

from assignment import ROOT, Mistake, find_exercise, source_of  # noqa: E402

del sys.path[0]  # the notebook's own modules may have such names

DEVICES = ("auto", "gpu", "sim")


def parse(line):
    parser = argparse.ArgumentParser(prog="%%exercise", add_help=False, exit_on_error=False)
    parser.add_argument("exercise")
    parser.add_argument("--device", choices=DEVICES, default="auto")
    parser.add_argument("--view", metavar="PICTURE")
    try:
        options, unknown = parser.parse_known_args(shlex.split(line))
    except (argparse.ArgumentError, SystemExit) as error:
        raise UsageError(f"%%exercise EX [--device auto|gpu|sim] [--view PICTURE]: {error}") from None
    if unknown:
        raise UsageError(f"%%exercise does not know {unknown[0]}.")
    return options


class Course:
    def __init__(self, folder=ROOT):
        self.folder = folder
        self.written = {}  # file: hash of what a cell put there

    def grade(self, *arguments):
        ran = subprocess.run([os.path.join(self.folder, "grade"), *arguments, "--no-color"],
                             capture_output=True, text=True, cwd=self.folder)
        if ran.returncode == 2:
            raise UsageError((ran.stderr or ran.stdout).strip())
        return ran.stdout

    def file_of(self, part):
        """The one exercise that `part` names, and its file."""
        try:
            exercise = find_exercise(part)
        except Mistake as mistake:
            raise UsageError(str(mistake)) from None
        return exercise["id"], os.path.join(self.folder, source_of(exercise))

    def put(self, exercise, path, text):
        """Writes a cell. What somebody else wrote there is kept by ./grade reset."""
        with open(path, "rb") as file:
            now = hashlib.sha256(file.read()).hexdigest()
        if self.written.get(path) != now:
            self.grade("reset", exercise, "--yes")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.written[path] = hashlib.sha256(text.encode()).hexdigest()


@magics_class
class Exercises(Magics):
    def __init__(self, shell):
        super().__init__(shell)
        self.course = Course()

    @line_cell_magic
    def exercise(self, line, cell=None):
        """Grades the cell; as a line, puts what the exercise's file holds into the next cell."""
        options = parse(line)
        exercise, path = self.course.file_of(options.exercise)
        if cell is None:
            with open(path, encoding="utf-8") as file:
                text = file.read().removeprefix("\n")
            self.shell.set_next_input(f"%%exercise {options.exercise}\n{text}")
            return
        # Line 2 of the cell is line 2 of the file: messages name lines.
        self.course.put(exercise, path, "\n" + cell)
        verdict = json.loads(self.course.grade("run", exercise, "--device", options.device, "--json"))
        print(verdict["screen"], end="")
        if options.view:
            display(SVG(self.course.grade("view", exercise, "--svg", options.view)))

    @line_magic
    def hint(self, line):
        """The next hint of an exercise."""
        print(self.course.grade("hint", line.strip()), end="")


def load_ipython_extension(ipython):
    ipython.register_magics(Exercises)

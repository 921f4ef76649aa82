"""%%exercise against a course with a stand-in for ./grade. Where IPython is not installed, stand-ins
for its four names serve too: what they do is not what is tested."""

import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "grader/notebook"))

try:
    import IPython
except ImportError:
    for name, members in {"IPython": {}, "IPython.core": {},
                          "IPython.core.error": {"UsageError": type("UsageError", (Exception,), {})},
                          "IPython.core.magic": {"Magics": object, "line_cell_magic": lambda f: f,
                                                 "line_magic": lambda f: f,
                                                 "magics_class": lambda c: c},
                          "IPython.display": {"SVG": str, "display": print}}.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    IPython = sys.modules["IPython"]

import warplings  # noqa: E402
from IPython.core.error import UsageError  # noqa: E402

# Notes each call; `run` shows what the file held then.
GRADE = """#!/bin/sh
echo "$*" >> calls
case $1 in
  run) printf '{"screen": "%s"}' "$(head -c 40 chapters/02_vector_add/01_vector_add.cu | tr '\\n' '|')" ;;
  reset) cp chapters/02_vector_add/01_vector_add.cu kept; echo starter > chapters/02_vector_add/01_vector_add.cu ;;
  view) echo '<svg/>' ;;
  hint) [ "$2" = 02/01 ] || { echo "no such exercise" >&2; exit 2; }; echo "Think." ;;
esac
"""


class Shell:
    def set_next_input(self, text):
        self.next = text


class Notebook(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name
        os.makedirs(os.path.join(self.folder, "chapters/02_vector_add"))
        for name, text in {"grade": GRADE, "chapters/02_vector_add/01_vector_add.cu": "mine\n"}.items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(os.path.join(self.folder, "grade"), 0o755)
        self.magics = warplings.Exercises.__new__(warplings.Exercises)
        self.magics.course = warplings.Course(self.folder)
        self.magics.shell = Shell()

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def cell(self, line, text=None):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.magics.exercise(line, text)
        return said.getvalue()

    def test_the_cell_becomes_the_file_with_its_lines(self):
        self.assertEqual(self.cell("02/01", "one\ntwo\n"), "|one|two|")
        self.assertIn("run 02_vector_add/01_vector_add --device auto --json", self.read("calls"))

    def test_what_somebody_else_wrote_is_kept_once(self):
        self.cell("02/01", "first\n")
        self.assertEqual(self.read("kept"), "mine\n")
        self.cell("02/01", "second\n")
        self.assertEqual(self.read("calls").count("reset"), 1)
        with open(os.path.join(self.folder, "chapters/02_vector_add/01_vector_add.cu"), "w") as file:
            file.write("by an editor\n")
        self.cell("02/01", "third\n")
        self.assertEqual(self.read("kept"), "by an editor\n")

    def test_the_line_fills_the_next_cell_and_comes_back_whole(self):
        self.cell("01_vector_add")
        self.assertEqual(self.magics.shell.next, "%%exercise 01_vector_add\nmine\n")
        self.cell("01_vector_add", "a\nb\n")
        self.cell("01_vector_add")
        self.assertEqual(self.magics.shell.next, "%%exercise 01_vector_add\na\nb\n")

    def test_a_picture_is_drawn_when_it_is_asked_for(self):
        self.cell("01_vector_add", "x\n")
        self.assertNotIn("view", self.read("calls"))
        self.cell("01_vector_add --view time", "x\n")
        self.assertIn("view 02_vector_add/01_vector_add --svg time", self.read("calls"))

    def test_mistakes_are_said_and_nothing_is_written(self):
        for line in ("", "nothing", "matmul", "02/01 --device tpu", "02/01 --loud"):
            with self.subTest(line), self.assertRaises(UsageError):
                self.cell(line, "x\n")
        with self.assertRaises(UsageError):
            self.magics.hint("99/99")
        self.assertEqual(self.read("chapters/02_vector_add/01_vector_add.cu"), "mine\n")


RUN_PAGE = """
import re, sys
from IPython.core.interactiveshell import InteractiveShell
page = open("docs/notebooks.md", encoding="utf-8").read()
shell = InteractiveShell.instance()
for cell in re.findall(r"^```python\\n(.*?)^```$", page, flags=re.M | re.S):
    shell.run_cell(cell).raise_error()
print("NEXT CELL", shell.rl_next_input)
shell.run_cell("%hint 02/99").raise_error()
"""


class Page(unittest.TestCase):
    """The cells of docs/notebooks.md, in IPython itself and this course. They change no file."""

    @unittest.skipUnless(hasattr(IPython, "__version__"), "IPython is not installed")
    def test_runs_as_it_is_written(self):
        with tempfile.TemporaryDirectory() as home:
            ran = subprocess.run([sys.executable, "-B", "-c", RUN_PAGE], cwd=ROOT, capture_output=True, text=True,
                                 env={**os.environ, "IPYTHONDIR": home})
        with open(os.path.join(ROOT, "chapters/02_vector_add/01_vector_add.cu"), encoding="utf-8") as file:
            starter = file.read()
        self.assertIn("NEXT CELL %%exercise 02/01\n" + starter.rstrip(), ran.stdout, ran.stderr)
        # The magics are those of the course: one that does not exist is refused in its words.
        self.assertIn('no exercise is called "02/99"', ran.stderr)


def cells_of_chapter_02():
    """The page's first cell; a wrong answer; the solution, with a picture; a hint."""
    with open(os.path.join(ROOT, "docs/notebooks.md"), encoding="utf-8") as file:
        [page] = re.findall(r"^```python\n(.*?)^```$", file.read(), flags=re.M | re.S)
    with open(os.path.join(ROOT, "solutions/02_vector_add/01_vector_add.cu"), encoding="utf-8") as file:
        solution = file.read()
    return [page, "%%exercise 02/01 --device sim\n" + solution.replace("a[i] + b[i]", "a[i] - b[i]"),
            "%%exercise 02/01 --device sim --view time\n" + solution, "%hint 02/01"]


# In a view of the course that forgets what is written into it: the solution becomes the exercise's file there.
CONVERT = r"""set -e
mount -t tmpfs none "$1/layer"
mkdir "$1/layer/upper" "$1/layer/work"
mount -t overlay none -o "lowerdir=$0,upperdir=$1/layer/upper,workdir=$1/layer/work" "$0"
cd "$0"
cp "$1/cells.ipynb" .
exec "$2" -m nbconvert --execute --ExecutePreprocessor.startup_timeout=600 --ExecutePreprocessor.iopub_timeout=60 \
  --to notebook --output-dir "$1/out" cells.ipynb
"""


class Converted(unittest.TestCase):
    """A notebook of chapter 02, by jupyter nbconvert --execute, in this course as it is built."""

    def setUp(self):
        missing = [name for name in ("nbconvert", "ipykernel") if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"{' and '.join(missing)} not installed")
        if not os.path.exists(os.path.join(ROOT, "build/sim/bin/grade")):
            self.skipTest("build/sim is not built")
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name
        os.mkdir(os.path.join(self.folder, "layer"))

    def outputs(self):
        """What stands below each cell, by kind."""
        code = [{"cell_type": "code", "execution_count": None, "id": str(number), "metadata": {}, "outputs": [],
                 "source": cell} for number, cell in enumerate(cells_of_chapter_02())]
        book = {"cells": code, "nbformat": 4, "nbformat_minor": 5,
                "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}}
        with open(os.path.join(self.folder, "cells.ipynb"), "w", encoding="utf-8") as file:
            json.dump(book, file)
        home = {name: os.path.join(self.folder, "home") for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
        ran = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", CONVERT, ROOT, self.folder,
                              sys.executable], capture_output=True, text=True, env={**os.environ, **home})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        with open(os.path.join(self.folder, "out/cells.ipynb"), encoding="utf-8") as file:
            below = [cell["outputs"] for cell in json.load(file)["cells"]]
        return [{kind: "".join(text) for output in outputs
                 for kind, text in output.get("data", {output.get("name"): output.get("text")}).items()}
                for outputs in below]

    def test_a_wrong_answer_fails_and_the_solution_passes_with_its_picture(self):
        with open(os.path.join(ROOT, "chapters/02_vector_add/01_vector_add.cu"), encoding="utf-8") as file:
            before = file.read()
        page, wrong, solution, hint = self.outputs()
        self.assertEqual(page, {})
        self.assertRegex(wrong["stdout"], r"(?m)^02_vector_add/01_vector_add  simulator .*\n  FAIL  ")
        self.assertRegex(solution["stdout"], r"(?m)^  PASS  all \d+ tests$")
        self.assertRegex(solution["image/svg+xml"], r"(?s)^<svg.*</svg>\s*$")
        self.assertTrue(hint["stdout"].strip())
        with open(os.path.join(ROOT, "chapters/02_vector_add/01_vector_add.cu"), encoding="utf-8") as file:
            self.assertEqual(file.read(), before)


if __name__ == "__main__":
    unittest.main()

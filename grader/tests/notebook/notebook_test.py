"""%%exercise against a course with a stand-in for ./grade. Where IPython is not installed, stand-ins
for its four names serve too: what they do is not what is tested."""

import contextlib
import io
import os
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


if __name__ == "__main__":
    unittest.main()

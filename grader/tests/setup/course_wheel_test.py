"""The course as a Python package (setup/course_wheel.py, setup/warplings): packed twice, installed by pip without
a network, and what it makes compared with the commit, file by file."""

import os
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))


def git(*arguments):
    return subprocess.run(["git", "-C", REPOSITORY, *arguments], check=True, capture_output=True).stdout


def pack(out, *prebuilt):
    subprocess.run([sys.executable, "-B", os.path.join(REPOSITORY, "setup/course_wheel.py"), "--out", out, *prebuilt],
                   check=True, capture_output=True)
    [name] = os.listdir(out)
    return os.path.join(out, name)


@unittest.skipUnless(os.path.exists(os.path.join(REPOSITORY, ".git")), "needs the commit: this is no clone")
class CourseWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="warplings course ")
        cls.place = cls.scratch.name
        prebuilt = os.path.join(cls.place, "warplings_grader-0-py3-none-any.whl")
        with open(prebuilt, "wb") as file:
            file.write(b"prebuilt\n")
        cls.wheel = pack(os.path.join(cls.place, "one"), prebuilt)
        cls.again = pack(os.path.join(cls.place, "another"), prebuilt)
        cls.installed = os.path.join(cls.place, "installed")
        subprocess.run([sys.executable, "-m", "venv", cls.installed], check=True)
        subprocess.run([os.path.join(cls.installed, "bin/pip"), "install", "-q", "--no-index", cls.wheel], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def start(self, *arguments, folder):
        ran = subprocess.run([os.path.join(self.installed, "bin/warplings"), *arguments], cwd=folder,
                             capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr

    def folder(self):
        made = tempfile.TemporaryDirectory(dir=self.place)
        self.addCleanup(made.cleanup)
        return made.name

    def test_the_same_commit_gives_the_same_bits(self):
        with open(self.wheel, "rb") as one, open(self.again, "rb") as another:
            self.assertEqual(one.read(), another.read())

    def test_its_folder_is_the_commit(self):
        folder = self.folder()
        status, said = self.start(folder=folder)
        self.assertEqual(status, 0, said)
        self.assertIn("./grade", said)
        made = os.path.join(folder, "warplings")
        files = sorted(os.path.relpath(os.path.join(where, name), made)
                       for where, _, names in os.walk(made) for name in names)
        self.assertIn(".toolkit/warplings_grader-0-py3-none-any.whl", files)
        listed = dict(reversed(line.split("\t")) for line in
                      git("ls-tree", "-r", "--format=%(objectmode)%x09%(path)", "-z", "HEAD").decode().split("\0")[:-1])
        self.assertEqual([name for name in files if not name.startswith(".toolkit/")], sorted(listed))
        for name, mode in listed.items():
            self.assertEqual(os.access(os.path.join(made, name), os.X_OK), mode == "100755", name)
        hashes = subprocess.run(["git", "-C", REPOSITORY, "hash-object", "--no-filters", "--stdin-paths"], check=True,
                                capture_output=True, text=True,
                                input="".join(os.path.join(made, name) + "\n" for name in sorted(listed))).stdout
        of_commit = git("ls-tree", "-r", "--format=%(path)%x09%(objectname)", "-z", "HEAD").decode().split("\0")[:-1]
        self.assertEqual(hashes.split(), [line.split("\t")[1] for line in sorted(of_commit)])

    def test_a_folder_that_holds_something_is_left_alone(self):
        folder = self.folder()
        with open(os.path.join(folder, "mine"), "w", encoding="utf-8"):
            pass
        status, said = self.start(folder, folder=folder)
        self.assertEqual(status, 2)
        self.assertIn("not an empty folder", said)
        self.assertEqual(os.listdir(folder), ["mine"])
        self.assertEqual(os.listdir(os.path.dirname(folder)).count(os.path.basename(folder) + ".new"), 0)

    def test_a_notebook_finds_the_course_around_it_and_makes_one_elsewhere(self):
        sys.path.insert(0, os.path.join(REPOSITORY, "setup"))
        import warplings
        self.assertEqual(warplings.find_course(os.path.join(REPOSITORY, "chapters/01_hello_indexing")), REPOSITORY)
        folder = self.folder()
        self.assertIsNone(warplings.find_course(folder))
        script = ("import sys, types\n"
                  "class Magics: pass\n"
                  "def module(name, **members):\n"
                  "    sys.modules[name] = types.ModuleType(name)\n"
                  "    sys.modules[name].__dict__.update(members)\n"
                  "same = lambda what: what\n"
                  "module('IPython'); module('IPython.core'); module('IPython.core.error', UsageError=ValueError)\n"
                  "module('IPython.core.magic', Magics=Magics, line_cell_magic=same, line_magic=same, magics_class=same)\n"
                  "module('IPython.display', SVG=str, display=print)\n"
                  "import warplings\n"
                  "shell = types.SimpleNamespace(register_magics=lambda magics: print(magics.__name__))\n"
                  "warplings.load_ipython_extension(shell)\n"
                  "warplings.load_ipython_extension(shell)\n")
        ran = subprocess.run([os.path.join(self.installed, "bin/python"), "-c", script], cwd=folder,
                             capture_output=True, text=True)
        self.assertEqual(ran.stderr, "")
        self.assertEqual(ran.stdout, f"The course is in {os.path.realpath(folder)}/warplings now.\nExercises\nExercises\n")


if __name__ == "__main__":
    unittest.main()

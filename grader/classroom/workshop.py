"""A place to grade in: a private copy of what one build needs, and a view of the machine in which
nothing but that copy can be written. bubblewrap makes the view; inside, `./grade run --jail` makes a
second, smaller one for the program itself."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile

from assignment import ROOT, Mistake, source_of

NINJA = os.environ.get("GRADE_NINJA", "ninja")
BUILD = os.path.join(ROOT, "build/sim")
GRADE = os.path.join(BUILD, "bin/grade")  # ./grade, which started us, has found its tools
PREFIX = "warplings_workshop_"  # of private folders, and of nothing else: what nobody holds is swept
LONGEST = 900  # seconds of one verdict: its own limits end it long before

# All files, to be read. The kernel lets the jail within have a /proc of its own only where nothing
# of /proc is covered, so the processes stay in sight; the jail's have their own.
VIEW = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", "/proc", "/proc", "--unshare-user",
        "--unshare-net", "--unshare-ipc", "--die-with-parent", "--new-session"]

# How `./grade` ends.
PASS, FAIL, SET_UP, OPEN = 0, 1, 2, 3


class NoVerdict(Exception):
    """The grader itself came to no end; nothing is known about the answer."""


def target_of(exercise):
    return exercise["id"].replace("/", ".")


@contextlib.contextmanager
def one_build():
    """The lock that `./grade` holds while it builds: workers of other machines see the same folder."""
    try:
        file = open(os.path.join(BUILD, ".grade_lock"), "a", encoding="utf-8")
    except OSError:  # to be read only, so nobody builds
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def ninja(*arguments):
    ran = subprocess.run([NINJA, "-C", BUILD, *arguments], capture_output=True, text=True)
    if ran.returncode != 0:
        raise Mistake("the course does not build: " + (ran.stdout + ran.stderr).strip()[-800:])
    return ran.stdout


def prepare(exercises):
    """Builds what all submissions share, once. Returns the files of the build that grading needs."""
    targets = [target_of(e) for e in exercises if e["kind"] != "python"]
    python = [e for e in exercises if e["kind"] == "python"]
    for exercise in python:  # their kernels, where they have any
        subprocess.run([GRADE, "run", exercise["id"], "--jail", "--json"], capture_output=True)
    if targets:
        with one_build():
            ninja(*targets)
    # What Ninja says that the targets are made of, and what it does not know of: headers that CMake
    # wrote, libraries that programs load, its own notes.
    listed = ninja("-t", "inputs", "build.ninja", *targets).splitlines()
    files = [os.path.relpath(os.path.join(BUILD, name), BUILD) for name in listed]
    files += ["build.ninja", ".ninja_log", ".ninja_deps", "CMakeCache.txt", "CMakeFiles/rules.ninja",
              "bin/grade", *[os.path.join("course", target) for target in targets]]
    for folder in ["generated", "lib"] + (["course"] if python else []):
        for where, _, names in os.walk(os.path.join(BUILD, folder)):
            files += [os.path.relpath(os.path.join(where, name), BUILD) for name in names]
    return sorted({f for f in files if not f.startswith("..") and os.path.isfile(os.path.join(BUILD, f))})


def why_no_jail():
    """"" if bubblewrap can do its work here."""
    if shutil.which("bwrap") is None:
        return "There is no jail without bubblewrap (the package bubblewrap of your distribution)."
    ran = subprocess.run([*VIEW, "true"], capture_output=True, text=True)
    return "" if ran.returncode == 0 else f"bubblewrap makes no jail here: {ran.stderr.strip()}"


def sweep(folder):
    """Removes what workers left who were killed: folders of ours that nobody holds any more."""
    for name in os.listdir(folder):
        if not name.startswith(PREFIX):
            continue
        path = os.path.join(folder, name)
        try:
            held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if os.fstat(held).st_uid == os.getuid():
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        except OSError:  # its worker lives
            pass
        finally:
            os.close(held)


def new_folder(scratch):
    """A folder of this worker, and the descriptor that holds it until the worker ends, however it ends."""
    scratch = scratch or tempfile.gettempdir()
    sweep(scratch)
    while True:
        folder = tempfile.mkdtemp(prefix=PREFIX, dir=scratch)
        try:
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # another worker swept it up before it was held
            continue
        fcntl.flock(held, fcntl.LOCK_EX)
        if os.path.isdir(folder):
            return folder, held
        os.close(held)  # the same, a moment later


class Workshop:
    """Grades one answer at a time. With `jailed` false the learners' files are put into the course
    itself, as on a machine that is thrown away after each submission."""

    def __init__(self, files, folder, jailed):
        self.jailed = jailed
        self.running = None
        self.replaced = {}  # files of the course, and what was in them
        self.folder, self.held = new_folder(folder)
        try:
            if jailed:
                for name in files:
                    self.copy(name)
                for name in ("answers", "tmp", "build/sim/registers", "build/verdicts", "build/kept"):
                    os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        except BaseException:
            self.close()
            raise

    def copy(self, name):
        """A private file with the same time, so that Ninja finds nothing to do."""
        to = os.path.join(self.folder, "build/sim", name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy2(os.path.join(BUILD, name), to)

    def command(self, answers):
        argv = [*VIEW]
        tmp = os.path.join(self.folder, "tmp")
        argv += ["--bind", os.path.join(self.folder, "build"), os.path.join(ROOT, "build")]
        argv += ["--bind", tmp, tmp, "--setenv", "TMPDIR", tmp, "--setenv", "CCACHE_DISABLE", "1"]
        for path, file in answers.items():
            argv += ["--ro-bind", file, os.path.join(ROOT, path)]
        return argv + ["--chdir", ROOT, "--"]

    def place(self, exercises, submission):
        """Writes the student's files; what was not handed in stays as it is in the course."""
        answers = {}
        for exercise in exercises:
            text = submission.files.get(exercise["id"])
            if text is None:
                continue
            path = source_of(exercise)
            file = (os.path.join(self.folder, "answers", path.replace("/", "."))
                    if self.jailed else os.path.join(ROOT, path))
            if not self.jailed:
                with open(file, "rb") as kept:
                    self.replaced[file] = kept.read()
            with open(file, "wb") as out:
                out.write(text)
            answers[path] = file
        return answers

    def put_back(self):
        """Without a jail: the course as it was, for the next submission."""
        for path, text in self.replaced.items():
            with open(path, "wb") as out:
                out.write(text)
        self.replaced = {}

    def grade(self, exercise, exercises, submission):
        """The verdict as `./grade run --json` gives it. Raises NoVerdict."""
        try:
            return self.verdict_of(exercise, self.place(exercises, submission))
        finally:
            self.put_back()

    def verdict_of(self, exercise, answers):
        argv = [GRADE, "run", exercise["id"], "--device", "sim", "--json"]
        if self.jailed:
            argv = self.command(answers) + argv + ["--jail"]
        self.running = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = self.running.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            self.stop()
            raise NoVerdict(f"no end within {LONGEST} s") from None
        status, self.running = self.running.returncode, None
        self.empty_tmp()
        try:
            verdict = json.loads(out)
        except ValueError:
            said = err.decode(errors="replace").strip()
            raise NoVerdict(said[-400:] or f"./grade ended with status {status}") from None
        if status not in (PASS, FAIL, OPEN):
            problems = [d.get("problem", d["outcome"]) for d in verdict["devices"]]
            raise NoVerdict("; ".join(problems) or f"./grade ended with status {status}")
        return verdict

    def empty_tmp(self):
        if not self.jailed:
            return
        tmp = os.path.join(self.folder, "tmp")
        shutil.rmtree(tmp, ignore_errors=True)
        os.makedirs(tmp, exist_ok=True)

    def stop(self):
        if self.running is None:
            return
        try:
            os.killpg(self.running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.held is not None:
            os.close(self.held)
            self.held = None

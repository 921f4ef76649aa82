"""A class in which all but three students are after what is not theirs, graded by `./grade class` as strangers'
answers are: nobody of them passes, the three do, and afterwards everything is as it was.

    python3 grader/tests/hostile/batch_test.py PROGRAM-THAT-WRITES-THEM
"""

import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "grader/classroom"))

import workshop  # noqa: E402

EXERCISE = "02_vector_add/01_vector_add"
MARK = "stranger_" + hashlib.md5(str(os.getpid()).encode()).hexdigest()
HOME = os.path.expanduser("~")
LEAST = 50  # hostile submissions


def read(path):
    with open(path, "rb") as file:
        return file.read()


def state():
    """All that the course and its build consist of, by hash; names alone of what lies around."""
    found = {}
    for top in ("chapters", "solutions", "grader", "setup", "build/sim/bin", "build/sim/course", ".progress",
                "build/sim/build.ninja", "build/sim/CMakeCache.txt"):
        path = os.path.join(ROOT, top)
        files = [path] if os.path.isfile(path) else [
            os.path.join(where, name) for where, _, names in os.walk(path) for name in names
            if not name.endswith(".pyc")]  # Python's own, of tests that run beside this one
        for file in files:
            if os.path.isfile(file):
                found[file] = (hashlib.sha256(read(file)).hexdigest() if os.path.getsize(file) < 1 << 22
                               else os.stat(file).st_mtime_ns)
    for folder in (ROOT, HOME, os.path.join(ROOT, "build")):
        # build/site is made by a test that may run beside this one.
        found[folder] = sorted(name for name in os.listdir(folder) if name != "site")
    return found


def processes_with(text):
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        for file in ("cmdline", "environ"):
            try:
                if int(number) != os.getpid() and text.encode() in read(f"/proc/{number}/{file}"):
                    found.append(number)
            except OSError:
                pass
    return found


class Ear:
    """A port of this machine, and whether anybody called."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.called = False
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        self.socket.accept()
        self.called = True


def write_class(folder, program, port):
    submissions = os.path.join(folder, "submissions")
    subprocess.run([program, submissions, ROOT], check=True)
    hostile = sorted(os.listdir(submissions))
    for name in hostile:
        path = os.path.join(submissions, name, "01_vector_add.cu")
        text = read(path).decode().replace("CLASS", folder).replace("HOME", HOME)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("/STRANGER", "/" + MARK).replace("PORT", str(port)))
    honest = ["Aaron", "Maria", "Zoe"]  # before, among and after the others
    for name in honest:
        os.makedirs(os.path.join(submissions, name))
        with open(os.path.join(submissions, name, "01_vector_add.cu"), "wb") as file:
            file.write(read(os.path.join(ROOT, "solutions", EXERCISE + ".cu")))
    with open(os.path.join(folder, "assignment.json"), "w", encoding="utf-8") as file:
        json.dump({"title": "Strangers", "exercises": [{"id": EXERCISE, "points": 1}]}, file)
    return hostile, honest


def run_class(folder):
    environment = {**os.environ, "SECRET_OF_THE_TEACHER": MARK, "GRADE_MEMORY_LIMIT_MB": "600",
                   "GRADE_TIME_LIMIT": "10", "TMPDIR": folder}
    ran = subprocess.run([os.path.join(ROOT, "grade"), "class", "run", os.path.join(folder, "assignment.json"),
                          os.path.join(folder, "submissions"), "--jobs", str(min(os.cpu_count() or 1, 8))],
                         capture_output=True, text=True, env=environment)
    records = {}
    for where, _, names in os.walk(os.path.join(folder, "assignment.graded/verdicts")):
        for name in names:
            record = json.loads(read(os.path.join(where, name)))
            records[record["student"]] = record
    return ran, records


def main():
    why = workshop.why_no_jail()
    if why:
        print(f"SKIPPED: {why}")
        return 0
    mistakes = []

    def expect(holds, what):
        if not holds:
            mistakes.append(what)

    with tempfile.TemporaryDirectory(prefix="warplings_strangers_", dir="/var/tmp") as folder:
        ear = Ear()
        hostile, honest = write_class(folder, sys.argv[1], ear.port)
        # What the first run of a day may still build is no stranger's doing.
        for command in ([os.path.join(ROOT, "grade"), "list"],
                        [os.environ.get("GRADE_NINJA", "ninja"), "-C", os.path.join(ROOT, "build/sim"),
                         EXERCISE.replace("/", "."), "grade.more"]):
            subprocess.run(command, check=True, capture_output=True)
        before = state()
        ran, records = run_class(folder)
        after = state()
        expect(ran.returncode == 0, f"grade class ended with {ran.returncode}: {ran.stderr[-2000:]}")
        expect(sorted(records) == sorted(hostile + honest), "records of others than the class")
        for name in hostile:
            record = records.get(name, {})
            expect(record.get("outcome") in ("fail", "does not compile"),
                   f"{name}: {record.get('outcome')} {record.get('problem', '')} {record.get('screen', '')}")
            verdict = json.dumps(record)
            expect(not re.search(r"GOT \S", verdict), f"{name} got something: {record.get('screen')}")
        for name in honest:
            expect(records.get(name, {}).get("outcome") == "pass", f"{name}: {records.get(name)}")
        for what in sorted(set(before) | set(after)):
            expect(before.get(what) == after.get(what), f"{what} has changed")
        for place in ("/tmp", "/dev/shm", "/var/tmp", folder, os.path.join(folder, "submissions"),
                      os.path.join(folder, "assignment.graded/verdicts")):
            expect(not os.path.exists(os.path.join(place, MARK)), f"{place}/{MARK} is there")
        expect(not processes_with(folder), f"still running: {processes_with(folder)}")
        expect(not ear.called, "somebody called out of the jail")
        expect(len(hostile) >= LEAST, f"{len(hostile)} hostile submissions, not {LEAST}")
    for mistake in mistakes:
        print(f"FAIL  {mistake}")
    print(f"{len(hostile)} hostile submissions and {len(honest)} honest ones, {len(mistakes)} things wrong")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())

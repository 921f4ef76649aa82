"""./grade class: submissions that lie, points, tables, packing; then a small class that is graded.

    python3 grader/tests/classroom/class_test.py [-k NAME]

The last part compiles and runs answers; it needs bubblewrap and a build, and says so if they lack.
"""

import contextlib
import csv
import datetime
import errno
import hashlib
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree
import zipfile

import formats
import synthetic  # puts grader/classroom into the path

import assignment as assignments
import grading
import pack
import points
import report
import results
import similarity
import submissions
import workshop
from assignment import ROOT, Mistake

EXERCISES = ["02_vector_add/01_vector_add", "03_memory_model/05_transpose_tile"]
ADD, TRANSPOSE = EXERCISES
ADD_FILE = f"chapters/{ADD}.cu"


class Scratch(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(prefix="warplings_class_test_")
        self.addCleanup(held.cleanup)
        self.folder = held.name

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, path, text="x", mode="w"):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), mode) as file:
            file.write(text)
        return self.path(path)

    def assignment(self, **members):
        data = {"title": "Homework", "exercises": [{"id": i, "points": 10} for i in EXERCISES]}
        return assignments.load(self.write("a.json", json.dumps({**data, **members})))


class Assignments(Scratch):
    def test_a_new_one_can_be_read_and_is_not_overwritten(self):
        path = self.path("homework.json")
        assignments.write_new(path, ["02/01", "transpose_tile"])
        self.assertEqual(list(assignments.load(path).points), EXERCISES)
        with self.assertRaisesRegex(Mistake, "was not touched"):
            assignments.write_new(path, ["02/01"])

    def test_mistakes_are_named(self):
        for members, message in [
                ({"exercises": []}, "no exercises"),
                ({"exercises": [{"id": "02/99"}]}, "no exercise"),
                ({"exercises": [{"id": "transpose"}]}, "could be"),
                ({"exercises": [{"id": ADD}, {"id": ADD}]}, "twice"),
                ({"exercises": [{"id": ADD, "points": -1}]}, "points"),
                ({"exercises": [{"points": 1}]}, "no assignment"),
                ({"due": "tomorrow"}, "is no time"),
                ({"partial": True}, "partial"),
                ({"late": {"per_day": 2}}, "per_day"),
                ({"levels": {"gold": "much"}}, "gold")]:
            with self.subTest(message), self.assertRaisesRegex(Mistake, message):
                self.assignment(**members)
        with self.assertRaisesRegex(Mistake, "is not JSON"):
            assignments.load(self.write("b.json", "{"))


class Collecting(Scratch):
    def collect(self):
        found = submissions.collect(self.path("s"), self.assignment().exercises)
        return {s.student: s for s in found}

    def test_folders_and_archives_by_the_end_of_the_path(self):
        self.write("s/anna/chapters/02_vector_add/01_vector_add.cu", "anna")
        self.write("s/anna/old/deep/01_vector_add.cu", "older")
        self.write("s/anna/.git/01_vector_add.cu", "git")
        with zipfile.ZipFile(self.path("s/ben.zip"), "w") as archive:
            archive.writestr("__MACOSX/01_vector_add.cu", "mac")
            archive.writestr("hw/01_vector_add.cu", "ben")
        with tarfile.open(self.path("s/cleo.tar.gz"), "w:gz") as archive:
            info = tarfile.TarInfo("05_transpose_tile.cu")
            info.size = 4
            archive.addfile(info, io.BytesIO(b"cleo"))
        found = self.collect()
        self.assertEqual(found["anna"].files, {ADD: b"anna"})
        self.assertEqual(found["ben"].files, {ADD: b"ben"})
        self.assertEqual(found["cleo"].files, {TRANSPOSE: b"cleo"})

    def test_branches_of_a_repository(self):
        work = self.path("work")
        git = ["git", "-C", work, "-c", "user.name=x", "-c", "user.email=x@x"]
        self.write("work/" + ADD_FILE, "dora")
        subprocess.run(["git", "init", "-q", "-b", "hand/dora", work], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True)
        subprocess.run(["git", "clone", "-q", "--bare", work, self.path("s")], check=True)
        found = self.collect()
        self.assertEqual(found["hand.dora"].files, {ADD: b"dora"})
        self.assertIsNotNone(found["hand.dora"].when)

    def test_links_and_what_is_no_file_are_not_followed(self):
        self.write("secret.cu", "secret")
        os.makedirs(self.path("s/eve"))
        os.symlink(self.path("secret.cu"), self.path("s/eve/01_vector_add.cu"))
        os.mkfifo(self.path("s/eve/05_transpose_tile.cu"))
        os.symlink(self.path("s/eve"), self.path("s/frank"))
        with tarfile.open(self.path("s/gil.tar"), "w") as archive:
            link = tarfile.TarInfo("01_vector_add.cu")
            link.type, link.linkname = tarfile.SYMTYPE, self.path("secret.cu")
            archive.addfile(link)
            hard = tarfile.TarInfo("05_transpose_tile.cu")
            hard.type, hard.linkname = tarfile.LNKTYPE, "01_vector_add.cu"
            archive.addfile(hard)
        with zipfile.ZipFile(self.path("s/hal.zip"), "w") as archive:
            info = zipfile.ZipInfo("01_vector_add.cu")
            info.external_attr = 0o120777 << 16
            archive.writestr(info, self.path("secret.cu"))
        found = self.collect()
        self.assertEqual(sorted(found), ["eve", "gil", "hal"])
        for submission in found.values():
            self.assertEqual(submission.files, {})
            self.assertIn("no ordinary file", submission.problems[ADD])

    def test_nothing_is_unpacked_and_large_or_broken_files_are_refused(self):
        with zipfile.ZipFile(self.path("up.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("../../escaped.txt", "x")
            archive.writestr("../02_vector_add/01_vector_add.cu", "inside")
            archive.writestr("05_transpose_tile.cu", " " * (submissions.LARGEST + 1))
        os.makedirs(self.path("s"))
        os.rename(self.path("up.zip"), self.path("s/ina.zip"))
        self.write("s/jo.zip", "no archive")
        self.write("s/kim.tar.gz", "no archive")
        found = self.collect()
        self.assertEqual(found["ina"].files, {ADD: b"inside"})
        self.assertIn("at most", found["ina"].problems[TRANSPOSE])
        self.assertIn("cannot be read", found["jo"].problems[ADD])
        self.assertIn("cannot be read", found["kim"].problems[ADD])
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "s"])

    def test_a_student_twice_and_an_empty_folder_are_mistakes(self):
        os.makedirs(self.path("s"))
        with self.assertRaisesRegex(Mistake, "no folder and no archive"):
            self.collect()
        self.write("s/lea/01_vector_add.cu")
        zipfile.ZipFile(self.path("s/lea.zip"), "w").close()
        with self.assertRaisesRegex(Mistake, "twice"):
            self.collect()

    def test_times_are_those_of_times_csv_where_there_is_one(self):
        self.write("s/max/01_vector_add.cu")
        self.write("s/times.csv", "student,time\nmax,2026-01-02T03:04+00:00\n")
        self.assertEqual(self.collect()["max"].when,
                         datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc))


def verdict(outcome, tests=(), ratios=()):
    speeds = [{"ratios": list(ratios)}] if ratios else []
    listed = [{"name": f"T.{i}", "outcome": o, "failures": [], "findings": [], "speeds": speeds}
              for i, o in enumerate(tests)]
    return {"passed": outcome == "pass",
            "devices": [{"outcome": outcome, "tests": listed, "diagnostics": []}]}


def record(outcome, student="anna", exercise=ADD, **members):
    return {"format": 1, "student": student, "exercise": exercise, "outcome": outcome, "hash": "",
            "course": "", "handed_in": members.pop("handed_in", None), **members}


class Points(Scratch):
    def share(self, said, **members):
        made = record(points.outcome_of(said), verdict=said)
        return points.share_of(self.assignment(**members), made)

    def test_a_pass_counts_whole_and_a_failure_its_part(self):
        self.assertEqual(self.share(verdict("pass", ["pass"])), 1)
        self.assertEqual(self.share(verdict("fail", ["pass", "fail"])), 0)
        self.assertEqual(self.share(verdict("fail", ["pass", "fail"]), partial=0.5), 0.25)
        self.assertEqual(self.share(verdict("does not compile"), partial=1), 0)

    def test_open_is_not_failed(self):
        self.assertIsNone(self.share(verdict("inconclusive", ["pass"])))
        self.assertIsNone(points.share_of(self.assignment(), record("no verdict")))
        self.assertEqual(points.share_of(self.assignment(), record("missing")), 0)

    def test_levels_weigh_where_there_are_such_bars(self):
        levels = {"pass": 0.6, "gold": 0.8, "reference": 1}
        bars = {"pass": 1, "gold": 2, "reference": 3}
        for level, worth in levels.items():
            said = verdict("pass", ["pass"], [{**bars, "level": level}])
            self.assertEqual(self.share(said, levels=levels), worth)
        only_pass = verdict("pass", ["pass"], [{"pass": 1, "gold": 0, "reference": 0, "level": "pass"}])
        self.assertEqual(self.share(only_pass, levels=levels), 1)

    def test_late_days_begin_at_once_and_end(self):
        assignment = self.assignment(due="2026-01-01T12:00+00:00", late={"per_day": 0.25, "days": 2})
        for text, days, factor in [("2026-01-01T12:00:00+00:00", 0, 1),
                                   ("2026-01-01T12:00:01+00:00", 1, 0.75),
                                   ("2026-01-03T12:00:00+00:00", 2, 0.5),
                                   ("2026-01-03T12:00:01+00:00", 3, 0)]:
            late = points.days_late(assignment, assignments.parse_time(text))
            self.assertEqual((late, points.late_factor(assignment, late)), (days, factor))
        self.assertEqual(points.days_late(assignment, None), 0)


class Tables(Scratch):
    def rows(self):
        self.marked = self.assignment()
        records = grading.Records(self.path("out"))
        evil = "=1+1<b>&\x07"
        records.write(record("pass", evil, verdict=verdict("pass", ["pass"]), screen="<script>", seconds=1))
        records.write(record("fail", evil, TRANSPOSE, verdict=verdict("fail", ["fail"]), seconds=2))
        records.write(record("open", "ben", verdict=verdict("inconclusive"), seconds=1))
        return results.rows_of(self.marked, records)

    def test_csv_has_no_formulas_of_students(self):
        rows = self.rows()
        results.write_csv(self.marked, rows, self.path("p.csv"))
        with open(self.path("p.csv"), encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual(lines[0]["student"][0], "'")
        self.assertEqual((lines[0]["points"], lines[0][TRANSPOSE]), ("10", "0"))
        self.assertEqual((lines[1]["open"], lines[1][ADD]), ("2", ""))

    def test_junit_can_be_read_and_open_is_skipped(self):
        rows = self.rows()
        results.write_junit(self.marked, rows, self.path("j.xml"))
        suites = ElementTree.parse(self.path("j.xml")).getroot()
        self.assertEqual([s.get("failures") for s in suites], ["1", "0"])
        self.assertEqual([s.get("skipped") for s in suites], ["0", "2"])

    def test_gradescope_gets_the_members_that_it_reads(self):
        rows = self.rows()
        said = results.gradescope(self.marked, rows[0])
        self.assertEqual(said["score"], 10)
        self.assertEqual(formats.gradescope(said), [])
        said["tests"][0]["score"] = "10"
        said["visibility"] = "always"
        self.assertEqual(len(formats.gradescope(said)), 2)

    def test_classroom50_gets_its_contract(self):
        rows = self.rows()
        who = {name: name.lower() for name in
               ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "REVIEW_URL")}
        said = results.classroom50(self.marked, rows[0], who)
        self.assertEqual((said["score"], said["max-score"], said["classroom"]), (10, 20, "classroom"))
        self.assertEqual([test["passed"] for test in said["tests"]], [True, False])
        self.assertEqual(formats.classroom50(said), [])
        said["tests"][0]["score"] = 9.5
        self.assertEqual(len(formats.classroom50(said)), 2)
        still_open = results.classroom50(self.marked, rows[1], who)
        self.assertEqual([test["outcome"] for test in still_open["tests"]], ["open", "not graded"])
        halves = self.assignment(exercises=[{"id": ADD, "points": 2.5}])
        with self.assertRaisesRegex(Mistake, "whole points"):
            results.whole_points(halves)

    def test_pages_escape_what_students_wrote(self):
        rows = self.rows()
        report.write(self.marked, rows, self.path("r"))
        for name in os.listdir(self.path("r")):
            with open(self.path("r", name), encoding="utf-8") as file:
                text = file.read()
            self.assertNotIn("<script>", text)
            self.assertNotIn("<b>", text)
        self.assertEqual(sorted(os.listdir(self.path("r"))),
                         ["index.html", "student_1.html", "student_2.html"])


class Packing(Scratch):
    def test_withheld_solutions_give_the_same_starter_and_nothing_more(self):
        for exercise in assignments.course():
            ending = ".py" if exercise["kind"] == "python" else ".cu"
            mark = "#~" if ending == ".py" else "//~"
            text = synthetic.read(os.path.join(ROOT, "solutions", exercise["id"] + ending))
            kept = pack.withheld(text)
            starter = synthetic.read(os.path.join(ROOT, f"chapters/{exercise['id']}{ending}"))
            given = [line.strip() for line in starter.splitlines()]
            inside = False
            for line in kept.splitlines():
                if line.lstrip().startswith(mark + "begin"):
                    inside = True
                elif line.lstrip().startswith(mark + "end"):
                    inside = False
                elif inside:
                    self.assertIn(line.strip(), given, exercise["id"])
            image = [line for line in text.splitlines() if mark in line and mark + "begin" not in line]
            again = [line for line in kept.splitlines() if mark in line and mark + "begin" not in line]
            self.assertEqual(image, again, exercise["id"])

    def test_an_existing_target_is_not_touched(self):
        os.makedirs(self.path("there"))
        self.write("there.zip")
        for to in ("there", "there.zip"):
            with self.assertRaisesRegex(Mistake, "was not touched"):
                pack.write([], self.path(to))

    def test_a_zip_keeps_what_can_be_started(self):
        pack.write([("grade", 0o755, b"x"), ("a/b", 0o644, b"y")], self.path("p.zip"))
        with zipfile.ZipFile(self.path("p.zip")) as archive:
            self.assertEqual(archive.getinfo("grade").external_attr >> 16, 0o100755)
            self.assertEqual(archive.read("a/b"), b"y")


class Similar(Scratch):
    def test_only_what_students_wrote_is_compared(self):
        exercises = self.assignment().exercises
        starter = synthetic.read(os.path.join(ROOT, ADD_FILE))
        one = submissions.Submission("nia", None)
        one.files[ADD] = (starter + "int mine;\n").encode()
        made = similarity.write_parts(exercises, [one], self.path("similar"))
        with open(os.path.join(made[0], "nia.cpp"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "int mine;\n")


LOOKS_AROUND = """
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
struct Guest {
  Guest() {
    for (const char* name : {"%(root)s/guest", "%(home)s/guest", "%(out)s/guest", "/tmp/%(mark)s"}) {
      if (FILE* file = std::fopen(name, "w")) std::fclose(file);
    }
    if (std::fopen("%(root)s/solutions/%(add)s.cu", "r")) std::abort();
  }
} guest;
"""


class Grading(Scratch):
    """A class of six and two guests, graded once; the tests look at what came of it."""

    def run_class(self, *extra, timeout=250):
        argv = [os.path.join(ROOT, "grade"), "class", "run", self.path("c/assignment.json"),
                self.path("c/submissions"), "--jobs", "2", *extra]
        return subprocess.run(argv, capture_output=True, text=True, timeout=timeout)

    def setUp(self):
        super().setUp()
        why = workshop.why_no_jail()
        if why:
            self.skipTest(why)
        self.expected = synthetic.make(self.path("c"), 4, [ADD])
        self.out = self.path("c/assignment.graded")

    def verdicts(self):
        found = {}
        for where, _, names in os.walk(os.path.join(self.out, "verdicts")):
            for name in names:
                with open(os.path.join(where, name), encoding="utf-8") as file:
                    one = json.load(file)
                found.setdefault(one["student"], {})[one["exercise"]] = one["outcome"]
        return found

    def test_verdicts_are_as_known_and_guests_leave_nothing(self):
        solution = synthetic.read(os.path.join(ROOT, f"solutions/{ADD}.cu"))
        mark = "guest_" + hashlib.md5(self.folder.encode()).hexdigest()
        home = os.path.expanduser("~")
        guest = LOOKS_AROUND % {"root": ROOT, "home": home, "out": self.out, "mark": mark, "add": ADD}
        self.write("c/submissions/zoe/01_vector_add.cu", solution + guest)
        self.expected["zoe"] = {ADD: "pass"}
        progress = os.path.join(ROOT, ".progress")
        before = synthetic.read(progress) if os.path.exists(progress) else None
        ran = self.run_class()
        self.assertEqual((ran.returncode, self.verdicts()), (0, self.expected), ran.stderr)
        for name in (f"{ROOT}/guest", f"{home}/guest", f"{self.out}/guest", f"/tmp/{mark}"):
            self.assertFalse(os.path.exists(name), name)
        self.assertEqual(synthetic.read(progress) if os.path.exists(progress) else None, before)
        with open(os.path.join(self.out, "points.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 1 + len(self.expected))
        again = self.run_class()
        self.assertNotRegex(again.stderr, r"(?m)^\d+ of \d+  ")  # nothing was graded twice

    def test_a_stopped_run_goes_on(self):
        argv = [os.path.join(ROOT, "grade"), "class", "run", self.path("c/assignment.json"),
                self.path("c/submissions"), "--jobs", "1"]
        running = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = running.stderr.readline()
        self.assertRegex(first, "^1 of ")
        running.send_signal(signal.SIGINT)
        rest = running.communicate(timeout=60)[1]
        self.assertEqual(running.returncode, 130, rest)
        self.assertIn("Every verdict so far is kept", rest)
        done = sum(len(e) for e in self.verdicts().values())
        ran = self.run_class()
        self.assertEqual(self.verdicts(), self.expected)
        left = int(re.search(r"^1 of (\d+)", ran.stderr, re.M).group(1))
        self.assertLess(left, sum(o != "missing" for e in self.expected.values() for o in e.values()))
        self.assertGreaterEqual(done, 1)

    def test_shares_of_several_machines_are_the_whole(self):
        for share in ("1/2", "2/2"):
            ran = self.run_class("--share", share)
            self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(self.verdicts(), self.expected)
        listed = self.run_class("--list").stdout.splitlines()
        self.assertEqual(len(listed), len(self.expected))
        self.assertEqual(self.run_class("--slurm", "2").returncode, 0)
        script = synthetic.read(self.path("c/assignment.sbatch"))
        self.assertIn("--array=1-2", script)
        subprocess.run(["bash", "-n", self.path("c/assignment.sbatch")], check=True)


    def on_a_small_disk(self, size, script):
        """Runs a shell script that sees a disk of `size` bytes at DISK."""
        os.makedirs(self.path("disk"), exist_ok=True)
        script = script.replace("DISK", self.path("disk")).replace(
            "RUN", f"{ROOT}/grade class run {self.path('c/assignment.json')} {self.path('c/submissions')} --jobs 2")
        return subprocess.run(["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--size", str(size),
                               "--tmpfs", self.path("disk"), "--", "bash", "-c", script],
                              capture_output=True, text=True, timeout=250)

    def test_a_disk_without_room_to_grade_in_fails_nobody(self):
        ran = self.on_a_small_disk(40 << 20, "RUN --scratch DISK; echo status $?; ls DISK")
        self.assertEqual(ran.stdout, "status 2\n", ran.stderr)  # and nothing is left there
        self.assertIn("the disk is full", ran.stderr)
        self.assertEqual([o for e in self.verdicts().values() for o in e.values() if o != "missing"], [])
        self.assertEqual(self.run_class().returncode, 0)
        self.assertEqual(self.verdicts(), self.expected)

    def test_a_disk_without_room_for_verdicts_loses_none(self):
        self.out = self.path("kept")
        ran = self.on_a_small_disk(1 << 20, "RUN --only student000 --out DISK/out; head -c 2M /dev/zero > DISK/fill; "
                                   "RUN --out DISK/out; echo status $?; rm DISK/fill; RUN --out DISK/out; "
                                   f"echo status $?; cp -r DISK/out {self.out}")
        self.assertEqual(re.findall("status .", ran.stdout), ["status 2", "status 0"], ran.stderr)
        self.assertIn("the disk is full", ran.stderr)
        self.assertEqual(self.verdicts(), self.expected)


class Page(Scratch):
    """docs/teachers.md, command by command, in one folder."""

    def commands(self):
        page = synthetic.read(os.path.join(ROOT, "docs/teachers.md"))
        found = re.findall(r"^```sh\n(.*?)^```$|`(\./grade class [^`]*)`", page, flags=re.M | re.S)
        lines = [line for pair in found for line in "".join(pair).strip().splitlines()]
        return [line for line in lines if not line.endswith("slurm_test.py")]  # grader/classroom/slurm

    def test_every_command_does_what_the_page_says(self):
        why = workshop.why_no_jail()
        if why:
            self.skipTest(why)
        commands = self.commands()
        self.assertEqual([command.split()[2] for command in commands],
                         ["new", "pack", "run", "report", "pack", "pack", "similar"])
        os.symlink(os.path.join(ROOT, "grade"), self.path("grade"))
        for name in ("02_vector_add/01_vector_add", "03_memory_model/05_transpose_tile", "04_atomics/03_histogram_shared"):
            self.write(f"submissions/nia/{name.split('/')[1]}.cu", synthetic.read(os.path.join(ROOT, f"solutions/{name}.cu")))
        for command in commands:
            ran = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=250)
            without_dolos = "similar" in command and "the parts to compare lie in" in ran.stderr
            self.assertEqual(ran.returncode, 2 if without_dolos else 0, f"{command}: {ran.stdout}{ran.stderr}")
        with open(self.path("homework1.graded/points.csv"), encoding="utf-8") as file:
            self.assertEqual([line["points"] for line in csv.DictReader(file)], ["30"])
        page = synthetic.read(os.path.join(ROOT, "docs/teachers.md"))
        for name in re.findall(r"^\| `(points.csv|report/index.html|junit.xml|gradescope/.*?|verdicts/.*?)` \|", page, re.M):
            name = name.replace("STUDENT", "nia").replace("EXERCISE", ADD.replace("/", "."))
            self.assertTrue(os.path.exists(self.path("homework1.graded", name)), name)
        for name, least in [("homework1.zip", 1000), ("autograder.zip", 4)]:
            with zipfile.ZipFile(self.path(name)) as archive:
                self.assertGreaterEqual(len(archive.namelist()), least)
        self.assertEqual(sorted(os.listdir(self.path("autograder"))), ["assignment.json", "autograder.py", "course.tar.gz"])


class Workshops(Scratch):
    """Private folders: of a worker that was killed, and of a machine that is thrown away."""

    def test_what_a_killed_worker_left_is_swept_and_what_is_held_is_not(self):
        folder, held = workshop.new_folder(self.folder)
        os.makedirs(self.path("warplings_workshop_left/build"))
        os.makedirs(self.path("another"))
        os.symlink(self.path("another"), self.path("warplings_workshop_link"))
        second, held_too = workshop.new_folder(self.folder)
        self.assertFalse(os.path.exists(self.path("warplings_workshop_left")))
        for path in (folder, second, self.path("another"), self.path("warplings_workshop_link")):
            self.assertTrue(os.path.exists(path), path)
        os.close(held)
        workshop.sweep(self.folder)
        self.assertFalse(os.path.exists(folder))
        os.close(held_too)

    def test_workers_that_begin_together_leave_each_other_alone(self):
        found = []
        threads = [threading.Thread(target=lambda: found.append(workshop.new_folder(self.folder))) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({folder for folder, _ in found if os.path.isdir(folder)}), len(threads))
        for _, held in found:
            os.close(held)

    def test_without_a_jail_the_course_is_as_before(self):
        self.write(ADD_FILE, "starter")
        one = submissions.Submission("anna", None)
        one.files[ADD] = b"answer"
        seen = []

        def verdict_of(*_):
            seen.append(synthetic.read(self.path(ADD_FILE)))
            raise workshop.NoVerdict("killed")

        with unittest.mock.patch.object(workshop, "ROOT", self.folder):
            bench = workshop.Workshop([], self.folder, False)
            bench.verdict_of = verdict_of
            exercises = self.assignment().exercises
            with self.assertRaises(workshop.NoVerdict):
                bench.grade(exercises[0], exercises, one)
            bench.close()
        self.assertEqual((seen, synthetic.read(self.path(ADD_FILE))), (["answer"], "starter"))


def load(name):
    """A file of grader/classroom that is started and not imported."""
    spec = importlib.util.spec_from_file_location("started", os.path.join(ROOT, "grader/classroom", name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Classroom50(Scratch):
    def test_a_checkout_gets_its_result_and_no_link_is_followed(self):
        self.write("checkout/hw/01_vector_add.cu", "x")
        self.write("precious", "kept")
        os.symlink(self.path("precious"), self.path("checkout/result.json"))
        git = ["git", "-C", self.path("checkout"), "-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True,
                       env={**os.environ, "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+01:00"})
        self.assignment()
        who = {"CLASSROOM": "c", "ASSIGNMENT": "a", "SUBMISSION_TAG": "s", "COMMIT_URL": "u", "RELEASE_URL": "r"}
        fake = FakeWorkshop(lambda *_: verdict("pass", ["pass"]))
        with unittest.mock.patch.object(grading, "Workshop", lambda *_: fake), \
             unittest.mock.patch.object(workshop, "prepare", lambda _: []), \
             unittest.mock.patch.dict(os.environ, who), contextlib.redirect_stderr(io.StringIO()):
            status = load("__main__.py").main(["run", self.path("a.json"), "--classroom50", self.path("checkout"),
                                               "--no-jail", "--out", self.path("out")])
        said = json.loads(synthetic.read(self.path("checkout/result.json")))
        self.assertEqual((status, formats.classroom50(said), said["score"]), (0, [], 10))
        self.assertEqual(said["datetime"], "2026-01-02T02:04:05Z")
        self.assertEqual(synthetic.read(self.path("precious")), "kept")

    def test_the_autograder_sets_up_grades_and_keeps_tokens_to_itself(self):
        shutil.copy(os.path.join(ROOT, "grader/classroom/classroom50_autograder.py"), self.path("autograder.py"))
        self.write("assignment.json", "{}")
        os.makedirs(self.path("checkout"))
        script = b'#!/bin/sh\nif [ "$2" = run ]; then echo "$GITHUB_TOKEN $CLASSROOM $*" > "$5/result.json"; fi\n'
        with tarfile.open(self.path("course.tar.gz"), "w:gz") as archive:
            info = tarfile.TarInfo("grade")
            info.size, info.mode = len(script), 0o755
            archive.addfile(info, io.BytesIO(script))
        ran = subprocess.run([sys.executable, self.path("autograder.py")], cwd=self.path("checkout"), text=True,
                             env={**os.environ, "HOME": self.folder, "GITHUB_TOKEN": "secret", "CLASSROOM": "cuda"},
                             capture_output=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        said = synthetic.read(self.path("checkout/result.json"))
        self.assertRegex(said, r"^ cuda class run .*assignment.json --classroom50 .*checkout --no-jail --out ")


class Trouble(Scratch):
    """What goes wrong around an answer, with a workshop that does not compile."""

    def batch(self, answer):
        assignment = self.assignment()
        records = grading.Records(self.path("out"))
        found = []
        for student in ("anna", "ben", "cleo"):
            one = submissions.Submission(student, None)
            one.files = {name: b"x" for name in EXERCISES}
            found.append(one)
        items = grading.work_list(records, assignment, found, False)
        progress = grading.Progress(len(items))
        with unittest.mock.patch.object(grading, "Workshop", lambda *_: FakeWorkshop(answer)), \
             contextlib.redirect_stderr(io.StringIO()):
            grading.Batch(records, assignment, [], 2, None, True).run(items, progress)
        return records

    def test_the_graders_own_failures_are_tried_again_and_no_fault_of_students(self):
        calls = []

        def answer(exercise, submission):
            calls.append(submission.student)
            raise workshop.NoVerdict("killed")

        records = self.batch(answer)
        self.assertEqual(len(calls), 2 * 6)
        self.assertEqual(records.read("anna", ADD)["outcome"], "no verdict")
        self.assertIsNone(points.share_of(self.assignment(), records.read("anna", ADD)))

    def test_a_full_disk_stops_and_loses_nothing(self):
        written = []
        real = os.replace

        def replace(source, target):
            if len(written) == 3:
                raise OSError(errno.ENOSPC, "No space left on device", target)
            written.append(target)
            real(source, target)

        with unittest.mock.patch("os.replace", replace), \
             self.assertRaisesRegex(Mistake, "disk is full.*goes on from there"):
            self.batch(lambda *_: verdict("pass", ["pass"]))
        kept = [name for _, _, names in os.walk(self.path("out")) for name in names]
        self.assertEqual(len(kept), 3)
        self.assertTrue(all(name.endswith(".json") for name in kept))

    def test_another_answer_or_another_course_is_graded_again(self):
        records = self.batch(lambda *_: verdict("pass", ["pass"]))
        one = submissions.Submission("anna", None)
        one.files = {name: b"x" for name in EXERCISES}
        self.assertTrue(records.is_settled(one, ADD, False))
        one.files[TRANSPOSE] = b"y"
        self.assertFalse(records.is_settled(one, ADD, False))
        one.files[TRANSPOSE] = b"x"
        records.version = "another"
        self.assertFalse(records.is_settled(one, ADD, False))


class Synthetic(Scratch):
    def test_verdicts_other_than_known_are_counted(self):
        grade = self.write("grade", "#!/bin/sh\necho '1 of 2  nia  x  pass' >&2\necho '2 of 2  ben  x  pass' >&2\n")
        os.chmod(grade, 0o755)
        for student in ("nia", "ben"):
            self.write(f"assignment.graded/verdicts/{student}/x.json",
                       json.dumps({"student": student, "exercise": ADD, "outcome": "pass"}))
        for outcome, status, line in (("pass", 0, "0 other"), ("fail", 1, "1 other")):
            self.write("expected.json", json.dumps({"nia": {ADD: "pass"}, "ben": {ADD: outcome}, "cleo": {ADD: "fail"}}))
            said = io.StringIO()
            with unittest.mock.patch.object(synthetic, "ROOT", self.folder), contextlib.redirect_stdout(said):
                self.assertEqual(synthetic.main(self.folder, "3", "--grade"), status)
            self.assertIn(f"2 of 3 answers have a verdict, {line} than known beforehand; 2 graded now", said.getvalue())
            self.assertEqual("ben" in said.getvalue(), status == 1)


class FakeWorkshop:
    def __init__(self, answer):
        self.answer = answer

    def grade(self, exercise, _, submission):
        return self.answer(exercise, submission)

    def stop(self):
        pass

    def close(self):
        pass


if __name__ == "__main__":
    unittest.main()

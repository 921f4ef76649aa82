"""Grades every answer that has no verdict yet. Each verdict is a file of its own, written whole or
not at all: whatever stops a run, the next one goes on from there."""

import errno
import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import threading
import time

import points
from assignment import ROOT, Mistake
from workshop import NoVerdict, Workshop

FORMAT = 1
TRIES = 2  # of an answer for which the grader itself comes to no end


def course_version():
    """The commit, with a mark if files were changed since."""
    ran = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*"],
                         capture_output=True, text=True)
    return ran.stdout.strip() or "archive"


class Records:
    """The verdicts of one assignment, one JSON file each."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "verdicts")
        os.makedirs(self.folder, exist_ok=True)
        self.version = course_version()

    def path(self, student, exercise):
        return os.path.join(self.folder, student, exercise.replace("/", ".") + ".json")

    def read(self, student, exercise):
        try:
            with open(self.path(student, exercise), encoding="utf-8") as file:
                record = json.load(file)
        except (OSError, ValueError):
            return None
        return record if record.get("format") == FORMAT else None

    def write(self, record):
        path = self.path(record["student"], record["exercise"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        part = f"{path}.{socket.gethostname()}.{os.getpid()}.{threading.get_ident()}"
        try:
            with open(part, "w", encoding="utf-8") as file:
                json.dump(record, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError:
            if os.path.exists(part):
                os.remove(part)
            raise

    def is_settled(self, submission, exercise, again_open):
        record = self.read(submission.student, exercise)
        if record is None or record["hash"] != submission.hash() or record["course"] != self.version:
            return False
        if record["outcome"] == "no verdict":
            return False
        return record["outcome"] != "open" or not again_open


class Progress:
    """One line that changes, or one line per answer where nobody watches."""

    def __init__(self, total):
        self.total, self.done = total, 0
        self.start = time.monotonic()
        self.is_terminal = sys.stderr.isatty()
        self.width = shutil.get_terminal_size((80, 24)).columns - 1
        self.lock = threading.Lock()

    def tell(self, record):
        with self.lock:
            self.done += 1
            passed = time.monotonic() - self.start
            left = passed / self.done * (self.total - self.done)
            said = f"{record['student']}  {record['exercise']}  {record['outcome']}"
            head = f"{self.done} of {self.total}"
            if self.is_terminal:
                text = f"{head}, {duration(left)} left   {said}"[: self.width]
                print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            else:
                print(f"{head}  {said}", file=sys.stderr, flush=True)

    def end(self):
        if self.is_terminal and self.done:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def duration(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def blank(records, submission, exercise, outcome):
    return {"format": FORMAT, "student": submission.student, "exercise": exercise["id"],
            "hash": submission.hash(), "course": records.version, "outcome": outcome,
            "handed_in": submission.when.isoformat() if submission.when else None}


def note_missing(records, submission, exercise):
    record = blank(records, submission, exercise, "missing")
    record["problem"] = submission.problems.get(exercise["id"], "no file of this exercise was found")
    records.write(record)


def work_list(records, assignment, submissions, again_open):
    """What is left to grade; files that were not handed in are noted at once."""
    items = []
    for submission in submissions:
        for exercise in assignment.exercises:
            if records.is_settled(submission, exercise["id"], again_open):
                continue
            if exercise["id"] in submission.files:
                items.append((submission, exercise))
            else:
                note_missing(records, submission, exercise)
    return items


class Batch:
    """Several workshops at one list."""

    def __init__(self, records, assignment, files, jobs, scratch, jailed):
        self.records, self.assignment = records, assignment
        self.files, self.jobs, self.scratch, self.jailed = files, jobs, scratch, jailed
        self.items = queue.Queue()
        self.workshops = []
        self.lock = threading.Lock()
        self.problem = None  # what stopped everything
        self.stopped = False

    def run(self, items, progress):
        for item in items:
            self.items.put(item)
        threads = [threading.Thread(target=self.work, args=(progress,), daemon=True)
                   for _ in range(min(self.jobs, len(items)))]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.1)
        except KeyboardInterrupt:
            self.stop(None)
            for thread in threads:
                thread.join(10)
            raise
        finally:
            progress.end()
            for workshop in self.workshops:
                workshop.close()
        if self.problem is not None:
            raise self.problem

    def stop(self, problem):
        with self.lock:
            self.stopped = True
            self.problem = self.problem or problem
            for workshop in self.workshops:
                workshop.stop()

    def work(self, progress):
        try:
            workshop = self.open_workshop()
            while not self.stopped:
                submission, exercise = self.items.get_nowait()
                record = self.grade(workshop, submission, exercise)
                if self.stopped:
                    return
                self.records.write(record)
                progress.tell(record)
        except queue.Empty:
            pass
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            self.stop(Mistake(("the disk is full" if full else f"{error.filename}: {error.strerror}") +
                              ". Every verdict so far is kept; the same command goes on from there."))
        except Mistake as mistake:
            self.stop(mistake)

    def open_workshop(self):
        workshop = Workshop(self.files, self.scratch, self.jailed)
        with self.lock:
            self.workshops.append(workshop)
        return workshop

    def grade(self, workshop, submission, exercise):
        record = blank(self.records, submission, exercise, "no verdict")
        start = time.monotonic()
        for _ in range(TRIES):
            try:
                verdict = workshop.grade(exercise, self.assignment.exercises, submission)
            except NoVerdict as why:
                record["problem"] = str(why)
                if self.stopped:
                    break
                continue
            record["outcome"] = points.outcome_of(verdict)
            record["screen"] = verdict.pop("screen", "")
            record["verdict"] = verdict
            record.pop("problem", None)
            break
        record["seconds"] = round(time.monotonic() - start, 2)
        return record

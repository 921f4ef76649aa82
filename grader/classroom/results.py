"""What comes out: one table, and the forms that other programs read."""

import csv
import datetime
import json
import os
import xml.etree.ElementTree as ElementTree

import points
from assignment import Mistake, parse_time


class Row:
    """One student: records by exercise, and what they are worth."""

    def __init__(self, assignment, submission_or_name, records):
        self.student = submission_or_name
        self.records = {e["id"]: records.read(self.student, e["id"]) for e in assignment.exercises}
        times = [r["handed_in"] for r in self.records.values() if r and r.get("handed_in")]
        self.when = parse_time(times[0]) if times else None
        self.days_late = points.days_late(assignment, self.when)
        self.points = {name: None if record is None else
                       points.points_of(assignment, record, self.days_late)
                       for name, record in self.records.items()}

    @property
    def total(self):
        return sum(p for p in self.points.values() if p is not None)

    @property
    def open(self):
        """Exercises without a verdict: they count as nothing yet, not as failed."""
        return [name for name, p in self.points.items() if p is None]


def rows_of(assignment, records):
    students = sorted(os.listdir(records.folder))
    return [Row(assignment, student, records) for student in students]


def number(value):
    return "" if value is None else f"{value:g}"


def write_csv(assignment, rows, path):
    names = list(assignment.points)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", "points", "of", "days late", "open", *names])
        for row in rows:
            writer.writerow([spreadsheet_text(row.student), number(round(row.total, 2)),
                             number(assignment.total), row.days_late, len(row.open),
                             *[number(row.points[name]) for name in names]])


def spreadsheet_text(text):
    """Names are the students' own: none may begin a formula."""
    return "'" + text if text[:1] in "=+-@\t\r" else text


def first_failure(record):
    for device in record.get("verdict", {}).get("devices", []):
        for test in device["tests"]:
            if test["outcome"] == "fail":
                said = [f["message"] for f in test["failures"]] or [device.get("ended_early", "")]
                return f"{test['name']}: {said[0]}"
        if device.get("ended_early"):
            return device["ended_early"]
        for diagnostic in device["diagnostics"]:
            return f"{diagnostic['file']}:{diagnostic['line']}: {diagnostic['message']}"
    return record.get("problem", record["outcome"])


def printable(text):
    """XML has no other control characters."""
    return "".join(c for c in text if c in "\n\t" or (c.isprintable() and ord(c) < 0x110000))


def write_junit(assignment, rows, path):
    suites = ElementTree.Element("testsuites", name=assignment.title)
    for row in rows:
        suite = ElementTree.SubElement(suites, "testsuite", name=printable(row.student),
                                       tests=str(len(row.records)))
        count = {"failure": 0, "skipped": 0}
        for name, record in row.records.items():
            case = ElementTree.SubElement(suite, "testcase", classname=printable(row.student),
                                          name=name)
            if record is not None and "seconds" in record:
                case.set("time", f"{record['seconds']:.2f}")
            outcome = "not graded" if record is None else record["outcome"]
            if outcome == "pass":
                continue
            kind = "skipped" if outcome in ("open", "no verdict", "not graded") else "failure"
            count[kind] += 1
            said = printable(first_failure(record)) if record else "not graded yet"
            ElementTree.SubElement(case, kind, message=said)
        suite.set("failures", str(count["failure"]))
        suite.set("skipped", str(count["skipped"]))
    ElementTree.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def gradescope(assignment, row):
    """results.json as Gradescope's autograder reads it."""
    tests = []
    for name, record in row.records.items():
        test = {"name": name, "max_score": assignment.points[name],
                "score": round(row.points[name] or 0, 4), "output_format": "text",
                "output": screen_of(record)}
        if row.points[name] is None:
            test["output"] = "NO VERDICT YET: this counts as open, not as failed.\n" + test["output"]
        tests.append(test)
    return {"score": round(row.total, 4), "output_format": "text", "visibility": "visible",
            "output": late_text(row), "tests": tests}


def whole_points(assignment):
    """Classroom 50 counts in whole points."""
    for name, points_of_it in assignment.points.items():
        if points_of_it != int(points_of_it):
            raise Mistake(f"{name} is worth {points_of_it:g}, and Classroom 50 takes whole points only.")


def classroom50(assignment, row, environment):
    """result.json as Classroom 50 reads it; who it is about stands in the environment of its runner."""
    whole_points(assignment)
    tests = [{"test-name": name, "passed": record is not None and record["outcome"] == "pass",
              "score": int((row.points[name] or 0) + 1e-6), "max-score": int(assignment.points[name]),
              "outcome": "not graded" if record is None else record["outcome"], "output": screen_of(record)}
             for name, record in row.records.items()]
    when = (row.when or datetime.datetime.now()).astimezone(datetime.timezone.utc)
    return {"schema": "classroom50/result/v1",
            "classroom": environment["CLASSROOM"], "assignment": environment["ASSIGNMENT"],
            "submission": environment["SUBMISSION_TAG"], "commit": environment["COMMIT_URL"],
            "release": environment["RELEASE_URL"],
            "review": environment.get("REVIEW_URL") or environment["COMMIT_URL"],
            "datetime": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "score": sum(test["score"] for test in tests),
            "max-score": sum(test["max-score"] for test in tests), "tests": tests}


def late_text(row):
    if not row.days_late:
        return ""
    return f"{row.days_late} day{'s' if row.days_late > 1 else ''} late."


def screen_of(record):
    if record is None:
        return "not graded yet"
    return record.get("screen") or record.get("problem", record["outcome"])


def write_gradescope(assignment, rows, folder):
    os.makedirs(folder, exist_ok=True)
    for row in rows:
        write_json(gradescope(assignment, row), os.path.join(folder, row.student + ".json"))


def write_json(data, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)

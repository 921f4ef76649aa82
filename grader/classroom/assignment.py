"""What a class has to do: exercises with their points, the due date, and how levels count."""

import datetime
import json
import os

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
LEVELS = ("pass", "gold", "reference")


class Mistake(Exception):
    """Something that the teacher can mend; str() says what and how."""


def course():
    with open(os.path.join(ROOT, "chapters/course.json"), encoding="utf-8") as file:
        return json.load(file)["exercises"]


def find_exercise(part):
    """The one exercise whose id has `part` in it, as 03/05, transpose_tile or the whole id."""
    def matches(exercise):
        chapter, name = exercise["id"].split("/")
        if part == exercise["id"] or part == name:
            return True
        head, _, tail = part.rpartition("/")
        return chapter.startswith(head) and name.startswith(tail) if head else part in name

    found = [e for e in course() if part == e["id"]] or [e for e in course() if matches(e)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Mistake(f'there is no exercise "{part}". ./grade list shows all of them.')
    names = ", ".join(e["id"] for e in found[:4])
    raise Mistake(f'"{part}" could be {names}{", ..." if len(found) > 4 else ""}. Write more of it.')


def source_of(exercise):
    """The file that a learner edits, from the root of the course."""
    return f"chapters/{exercise['id']}" + (".py" if exercise["kind"] == "python" else ".cu")


class Assignment:
    """Read from JSON; see docs/teachers.md for what each member means."""

    def __init__(self, data, name):
        self.title = data.get("title") or name
        self.due = parse_time(data["due"]) if data.get("due") else None
        late = data.get("late", {})
        self.late_per_day = number(late, "per_day", 0, 0, 1)
        self.late_days = number(late, "days", 0, 0, 1000)
        self.partial = number(data, "partial", 0, 0, 1)
        levels = data.get("levels", {})
        self.levels = {level: number(levels, level, 1, 0, 1) for level in LEVELS}
        self.exercises = []
        self.points = {}
        for item in data.get("exercises", []):
            exercise = find_exercise(item["id"])
            if exercise["id"] in self.points:
                raise Mistake(f"{exercise['id']} is listed twice.")
            self.exercises.append(exercise)
            self.points[exercise["id"]] = number(item, "points", 1, 0, 1e6)
        if not self.exercises:
            raise Mistake("the assignment has no exercises.")
        self.total = sum(self.points.values())


def number(data, name, default, least, most):
    value = data.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise Mistake(f'"{name}" is {value!r}, and must be a number from {least:g} to {most:g}.')
    return value


def parse_time(text):
    """A moment with its offset; without one, local time is meant."""
    try:
        moment = datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        raise Mistake(f'"{text}" is no time. Write it as 2026-12-01T23:59 or with an offset, '
                      "2026-12-01T23:59+01:00.") from None
    return moment.astimezone()


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}.") from None
    except ValueError as error:
        raise Mistake(f"{path} is not JSON: {error}.") from None
    try:
        return Assignment(data, os.path.splitext(os.path.basename(path))[0])
    except (AttributeError, KeyError, TypeError) as error:
        raise Mistake(f"{path} is no assignment: {error}. ./grade class new writes one.") from None


def write_new(path, parts):
    """A file to edit: ten points per exercise, due in a week."""
    exercises = [find_exercise(part) for part in parts]
    due = (datetime.datetime.now() + datetime.timedelta(days=7)).strftime("%Y-%m-%dT23:59")
    data = {
        "title": os.path.splitext(os.path.basename(path))[0],
        "due": due,
        "late": {"per_day": 0.1, "days": 3},
        "partial": 0,
        "levels": {"pass": 1, "gold": 1, "reference": 1},
        "exercises": [{"id": e["id"], "points": 10} for e in exercises],
    }
    text = json.dumps(data, indent=2) + "\n"
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Mistake(f"{path} is there already, and was not touched.") from None
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}.") from None

"""What Gradescope and Classroom 50 say that they read, as checks: a list of what is wrong, empty if nothing is.

Gradescope: https://gradescope-autograders.readthedocs.io/en/latest/specs/
Classroom 50: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding, "The result.json contract"
"""

import datetime

NUMBER, TEXT = (int, float), str
VISIBILITY = ("hidden", "after_due_date", "after_published", "visible")
FORMATS = ("text", "html", "simple_format", "md", "ansi")
GRADESCOPE = {"score": NUMBER, "execution_time": NUMBER, "output": TEXT, "output_format": FORMATS,
              "test_output_format": FORMATS, "test_name_format": FORMATS, "visibility": VISIBILITY,
              "stdout_visibility": VISIBILITY, "extra_data": dict, "tests": list, "leaderboard": list}
GRADESCOPE_TEST = {"score": NUMBER, "max_score": NUMBER, "status": ("passed", "failed"), "name": TEXT,
                   "name_format": FORMATS, "number": TEXT, "output": TEXT, "output_format": FORMATS,
                   "tags": list, "visibility": VISIBILITY, "extra_data": dict}
CLASSROOM50 = {"schema": ("classroom50/result/v1",), "classroom": TEXT, "assignment": TEXT,
               "assignment_type": ("individual", "group"), "owner": TEXT, "submission": TEXT, "commit": TEXT,
               "release": TEXT, "review": TEXT, "datetime": TEXT, "graded_at": TEXT, "score": int,
               "max-score": int, "tests": list, "submitted_by": dict}
# The runner writes these two over; graded_at and submitted_by need not be there.
CLASSROOM50_OPTIONAL = ("assignment_type", "owner", "graded_at", "submitted_by")
CLASSROOM50_TEST = {"test-name": TEXT, "passed": bool, "score": int, "max-score": int}


def members(data, known, where, may_be_more=False):
    for name, value in data.items():
        kind = known.get(name)
        if kind is None:
            if not may_be_more:
                yield f"{where}: nobody reads {name}"
        elif isinstance(kind, tuple) and not isinstance(kind[0], type):
            if value not in kind:
                yield f"{where}: {name} is {value!r}"
        elif not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            yield f"{where}: {name} is {value!r}"


def gradescope(data):
    wrong = list(members(data, GRADESCOPE, "results"))
    tests = data.get("tests", [])
    if "score" not in data and not all("score" in test for test in tests):
        wrong.append("results: a score above, or one at each test")
    for number, test in enumerate(tests):
        wrong += members(test, GRADESCOPE_TEST, f"test {number}")
    return wrong


def classroom50(data):
    wrong = list(members(data, CLASSROOM50, "result"))
    wrong += [f"result: {name} is missing" for name in CLASSROOM50
              if name not in data and name not in CLASSROOM50_OPTIONAL]
    for number, test in enumerate(data.get("tests", [])):
        wrong += members(test, CLASSROOM50_TEST, f"test {number}", may_be_more=True)
        wrong += [f"test {number}: {name} is missing" for name in CLASSROOM50_TEST if name not in test]
    for name in ("score", "max-score"):
        if data.get(name) != sum(test.get(name, 0) for test in data.get("tests", [])):
            wrong.append(f"result: {name} is not the sum of the tests'")
    try:
        datetime.datetime.strptime(data.get("datetime", ""), "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        wrong.append(f"result: datetime is {data.get('datetime')!r}, not UTC in ISO 8601")
    return wrong

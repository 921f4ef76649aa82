"""From a verdict to points."""

import math

from assignment import LEVELS


def level_share(assignment, verdict):
    """The weight of the level reached. A comparison without gold or reference bars cannot ask for
    more than a pass."""
    share = 1.0
    for device in verdict["devices"]:
        for test in device["tests"]:
            for speed in test.get("speeds", []):
                for ratio in speed["ratios"]:
                    bars = [level for level in LEVELS if ratio.get(level, 0) > 0]
                    if bars and ratio["level"] in LEVELS:
                        reached = ratio["level"]
                        best = LEVELS.index(reached) >= LEVELS.index(bars[-1])
                        share = min(share, assignment.levels["reference" if best else reached])
    return share


def tests_of(verdict):
    return [test for device in verdict["devices"] for test in device["tests"]]


def outcome_of(verdict):
    """pass, fail, does not compile or open."""
    outcomes = [device["outcome"] for device in verdict["devices"]]
    if verdict["passed"]:
        return "pass"
    if "inconclusive" in outcomes and not {"fail", "does not compile"} & set(outcomes):
        return "open"
    return "does not compile" if "does not compile" in outcomes else "fail"


def share_of(assignment, record):
    """From 0 to 1 before lateness; None where there is no verdict yet."""
    if record["outcome"] == "missing":
        return 0.0
    if record["outcome"] in ("open", "no verdict"):
        return None
    if record["outcome"] == "pass":
        return level_share(assignment, record["verdict"])
    tests = tests_of(record["verdict"])
    passed = sum(test["outcome"] == "pass" for test in tests)
    return assignment.partial * passed / len(tests) if tests else 0.0


def days_late(assignment, when):
    if assignment.due is None or when is None or when <= assignment.due:
        return 0
    return math.ceil((when - assignment.due).total_seconds() / 86400)


def late_factor(assignment, days):
    if days == 0:
        return 1.0
    if days > assignment.late_days:
        return 0.0
    return max(0.0, 1 - assignment.late_per_day * days)


def points_of(assignment, record, days):
    share = share_of(assignment, record)
    if share is None:
        return None
    return assignment.points[record["exercise"]] * share * late_factor(assignment, days)

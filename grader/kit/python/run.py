"""Runs the test of a Python exercise and tells the grader what happened.

    python3 run.py EXERCISE.py EXERCISE_test.py [--filter=PATTERN] [--needs MODULE ...]

pytest collects and runs the tests where it is installed; without it, which only an exercise that
needs nothing but Python meets, a loop over the same functions does. Exit status: 0 all passed, 1
some failed, 2 wrong use, 77 a module that the exercise needs is missing.
"""

import argparse
import fnmatch
import importlib.util
import os
import pathlib
import sys
import time
import traceback

import kit
from channel import Channel


class Reporter:
    """Runs one test after the other and reports it."""

    def __init__(self, channel, suite):
        self.channel = channel
        self.suite = suite
        self.passed = self.failed = 0

    def name(self, function_name):
        words = function_name.removeprefix("test_").split("_")
        return self.suite + "." + "".join(word[:1].upper() + word[1:] for word in words)

    def start(self, function_names):
        self.channel.send(
            "start", simulated=not kit.on_gpu, tests=[self.name(name) for name in function_names]
        )

    def run(self, function):
        """Raises what the test raised, so that pytest sees it as well."""
        test = self.name(function.__name__)
        send = lambda event, **fields: self.channel.send(event, test=test, **fields)
        if self.channel.open:
            for stream in (sys.stdout, sys.stderr):  # kit/output_mark.h
                print("\x1e" + test, file=stream, flush=True)
        send("test_start")
        for key, value in getattr(function, "kit_properties", {}).items():
            send("property", key=key, value=str(value))
        kit.begin_test(send)
        begin = time.monotonic()
        error = None
        try:
            function()
            kit.check_findings()
        except BaseException as caught:  # sys.exit() in a learner's file is a failure, too
            error = caught
            file, line, message = kit.describe(caught)
            send("failure", file=file, line=line, message=message)
            if not self.channel.open:
                print(f"FAIL {test}: {message}")
        self.passed += error is None
        self.failed += error is not None
        send("test_end", passed=error is None, ms=1000 * (time.monotonic() - begin))
        if isinstance(error, kit.Stuck):
            kit.clean_up()
            os._exit(self.done())
        if error is not None:
            raise error

    def done(self):
        self.channel.send("done", passed=self.passed, failed=self.failed)
        return 1 if self.failed or not self.passed else 0


class Plugin:
    """What pytest asks while it runs."""

    def __init__(self, reporter, pattern):
        self.reporter = reporter
        self.pattern = pattern

    def pytest_collection_modifyitems(self, items):
        items[:] = [
            item
            for item in items
            if fnmatch.fnmatchcase(self.reporter.name(item.name), self.pattern)
        ]
        self.reporter.start([item.name for item in items])

    def pytest_pyfunc_call(self, pyfuncitem):
        self.reporter.run(pyfuncitem.obj)
        return True


def run_with_pytest(pytest, test, reporter, pattern):
    options = [
        "-s",
        "-c",
        "/dev/null",
        "--rootdir",
        str(test.parent),
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
    ]
    # The grader words the results.
    options += ["-p", "no:terminal"] if reporter.channel.open else ["-q", "--no-header", "--tb=no"]
    status = pytest.main([*options, str(test)], plugins=[Plugin(reporter, pattern)])
    # The test file itself does not load: nothing is done, and the grader sees no "done".
    return reporter.done() if status in (0, 1) else 2


def run_without_pytest(test, reporter, pattern):
    module = kit.load(test)
    chosen = [
        function
        for name, function in vars(module).items()
        if name.startswith("test_") and fnmatch.fnmatchcase(reporter.name(name), pattern)
    ]
    reporter.start([function.__name__ for function in chosen])
    for function in chosen:
        try:
            reporter.run(function)
        except BaseException:
            pass  # reported
    return reporter.done()


def load_exercise(path, reporter):
    """False, with a failure of its own, where the learner's file cannot even be loaded."""

    def test_the_file_loads():
        kit.set_exercise(path)

    try:
        kit.set_exercise(path)
        return True
    except BaseException:
        reporter.start([test_the_file_loads.__name__])
        try:
            reporter.run(test_the_file_loads)
        except BaseException:
            pass  # reported
        reporter.done()
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exercise", type=pathlib.Path)
    parser.add_argument("test", type=pathlib.Path)
    parser.add_argument("--filter", default="*", help="of Suite.Name")
    parser.add_argument("--needs", nargs="*", default=[], help="modules")
    options = parser.parse_args()
    missing = [name for name in options.needs if importlib.util.find_spec(name) is None]
    if missing:
        print(f"needs {', '.join(missing)}: sh setup/python_env.sh")
        return 77
    if not kit.on_gpu:
        os.environ["TRITON_INTERPRET"] = "1"  # read by the import of Triton in the learner's file
    suite = "".join(word.capitalize() for word in options.exercise.stem.split("_")[1:])
    reporter = Reporter(Channel(), suite)
    if not load_exercise(options.exercise.resolve(), reporter):
        return 1
    if importlib.util.find_spec("pytest") is None:
        return run_without_pytest(options.test.resolve(), reporter, options.filter)
    import pytest

    return run_with_pytest(pytest, options.test.resolve(), reporter, options.filter)


if __name__ == "__main__":
    try:
        status = main()
    except Exception:
        traceback.print_exc()
        status = 2
    kit.clean_up()
    sys.stdout.flush()
    sys.stderr.flush()
    kit.end_simulator(status)
    os._exit(status)  # threads of a learner's that wait for ever are not waited for

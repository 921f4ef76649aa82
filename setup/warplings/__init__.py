"""Warplings, a course in CUDA C++, as a package. `pipx run warplings [FOLDER]` makes the folder of the course;
`%load_ext warplings` brings the exercises into a notebook. What the wheel holds beside this file is the course
itself (setup/course_wheel.py packs it), and `./grade` in the folder does everything else."""

import argparse
import importlib.resources
import importlib.util
import os
import shutil
import sys
import tarfile

FOLDER = "warplings"
COURSE = "chapters/course.json"  # what makes a folder the course's
PREBUILT = ".whl"


class Refused(Exception):
    """Why no folder is made."""


def make_course(folder):
    """The course in a new folder; an empty one will do. Nothing that looks whole is left behind by a failure."""
    folder = os.path.abspath(folder)
    if os.path.exists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise Refused(f"{folder} exists, and is not an empty folder")
    fresh = folder + ".new"
    if os.path.exists(fresh):
        raise Refused(f"{fresh} is in the way, left by a start that was stopped; remove it")
    os.makedirs(fresh)
    try:
        package = importlib.resources.files(__name__)
        with package.joinpath("course.tar.gz").open("rb") as packed, tarfile.open(fileobj=packed) as course:
            # Our own archive, and still nothing in it may lie elsewhere (Python 3.12 has this as a filter).
            for member in course:
                if not member.isfile() or os.path.isabs(member.name) or ".." in member.name.split("/"):
                    raise Refused(f"the package is damaged: {member.name}")
                course.extract(member, fresh)
        for prebuilt in package.iterdir():
            if prebuilt.name.endswith(PREBUILT):  # ./grade takes it where it fits
                os.makedirs(os.path.join(fresh, ".toolkit"), exist_ok=True)
                with open(os.path.join(fresh, ".toolkit", prebuilt.name), "wb") as file:
                    file.write(prebuilt.read_bytes())
        if os.path.isdir(folder):
            os.rmdir(folder)
        os.rename(fresh, folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return folder


def find_course(start):
    """The folder of the course that `start` lies in, or one called warplings in it; None if there is neither."""
    here = os.path.abspath(start)
    around = [here]
    while around[-1] != os.path.dirname(around[-1]):
        around.append(os.path.dirname(around[-1]))
    places = [os.path.join(here, FOLDER), *around]
    return next((place for place in places if os.path.isfile(os.path.join(place, COURSE))), None)


def load_ipython_extension(ipython):
    """The magics of the course that this notebook lies in; where there is none, a new one is made beside it."""
    course = find_course(os.getcwd())
    if course is None:
        course = make_course(FOLDER)
        print(f"The course is in {course} now.")
    path = os.path.join(course, "grader/notebook/warplings.py")
    spec = importlib.util.spec_from_file_location("warplings_notebook", path)
    magics = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(magics)
    magics.load_ipython_extension(ipython)


def main():
    parser = argparse.ArgumentParser(prog="warplings", description="Makes a folder with the course Warplings in it.")
    parser.add_argument("folder", nargs="?", default=FOLDER, help="a new or an empty folder (default: %(default)s)")
    folder = parser.parse_args().folder
    try:
        made = make_course(folder)
    except (Refused, OSError) as refused:
        print(f"warplings: {refused}", file=sys.stderr)
        return 2
    print(f"The course is in {made}. Next:\n\n    cd {folder}\n    ./grade\n")
    return 0

"""Classroom 50 runs this once for each submission, in the student's checkout, on a machine that is thrown away
afterwards. Beside it lie course.tar.gz and assignment.json; `./grade class pack ... --classroom50` has put them
there. It sets the course up, grades, and leaves result.json in the checkout."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# What the grader needs, and what result.json says; tokens of the forge are no business of a student's program.
KEPT = ("PATH", "HOME", "LANG", "CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL",
        "REVIEW_URL", "PIP_CERT", "PIP_INDEX_URL", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
        "https_proxy", "no_proxy")


def main():
    checkout = os.getcwd()
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    # Not below /tmp, where programs may write.
    with tempfile.TemporaryDirectory(prefix="warplings_", dir=os.path.expanduser("~")) as place:
        course = os.path.join(place, "course")
        os.mkdir(course)

        def run(*argv):
            subprocess.run(argv, check=True, cwd=course, env=environment)

        run("tar", "-xf", os.path.join(HERE, "course.tar.gz"))
        run("git", "init", "-q")
        run("git", "add", "-A")
        run("git", "-c", "user.name=course", "-c", "user.email=course@localhost", "commit", "-qm", "course")
        run("./grade", "--yes", "--version")
        run("./grade", "class", "run", os.path.join(HERE, "assignment.json"), "--classroom50", checkout,
            "--no-jail", "--out", os.path.join(place, "graded"))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:  # Classroom 50 then says that grading failed, not the student
        sys.exit(f"autograder: {error}")

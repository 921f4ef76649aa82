"""./grade class: an assignment, its submissions, and what they are worth. docs/teachers.md explains it.

Exit status: 0 every answer has a verdict, 1 something stopped the run, 2 usage or set-up,
3 some answers are open.
"""

import argparse
import os
import shlex
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
import assignment as assignments
import grading
import pack
import report
import results
import similarity
import submissions
import workshop
from assignment import Mistake

DONE, STOPPED, USAGE, OPEN = 0, 1, 2, 3


def parser():
    top = argparse.ArgumentParser(prog="./grade class", description="Assignments and submissions.")
    commands = top.add_subparsers(dest="command", required=True, metavar="new|pack|run|...")

    new = commands.add_parser("new", help="write an assignment file")
    new.add_argument("file", help="to write, such as homework1.json")
    new.add_argument("exercises", nargs="+", metavar="EX")

    packed = commands.add_parser("pack", help="the course without the assignment's answers")
    packed.add_argument("file", help="the assignment")
    packed.add_argument("to", help="a new folder, or a name that ends with .zip")
    packed.add_argument("--gradescope", action="store_true",
                        help="an autograder for Gradescope instead (with the answers)")
    packed.add_argument("--classroom50", action="store_true",
                        help="an autograder for Classroom 50 instead (with the answers)")

    ready = commands.add_parser("prepare", help="build what grading an assignment needs")
    ready.add_argument("file", help="the assignment")

    run = commands.add_parser("run", help="grade what has no verdict yet")
    run.add_argument("file", help="the assignment")
    run.add_argument("submissions", nargs="?", help="a folder or an archive per student, or a bare "
                     "Git repository with a branch per student")
    run.add_argument("--out", help="where verdicts and reports go (ASSIGNMENT.graded)")
    run.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                     help="answers at once (one per processor)")
    run.add_argument("--only", action="append", metavar="STUDENT", help="this one, may be repeated")
    run.add_argument("--share", metavar="I/N", help="the I-th of N parts of the class, from 1")
    run.add_argument("--again-open", action="store_true", help="grade open answers once more")
    run.add_argument("--list", action="store_true", help="print a command per student, run nothing")
    run.add_argument("--slurm", type=int, metavar="N", help="write a job array of N tasks, run nothing")
    run.add_argument("--no-jail", action="store_true",
                     help="for a machine that is thrown away afterwards; one at a time")
    run.add_argument("--scratch", help="where the private builds lie (the temporary folder)")
    run.add_argument("--gradescope", metavar="FOLDER", help=argparse.SUPPRESS)
    run.add_argument("--classroom50", metavar="CHECKOUT", help=argparse.SUPPRESS)

    out = commands.add_parser("report", help="tables and pages from the verdicts so far")
    out.add_argument("file", help="the assignment")
    out.add_argument("--out", help="where the verdicts are (ASSIGNMENT.graded)")

    similar = commands.add_parser("similar", help="compare the answers with Dolos")
    similar.add_argument("file", help="the assignment")
    similar.add_argument("submissions")
    similar.add_argument("--out", help="(ASSIGNMENT.graded)")
    return top


def folder_of(options):
    return options.out or os.path.splitext(options.file)[0] + ".graded"


def part_of(found, share):
    if not share:
        return found
    try:
        which, of = (int(number) for number in share.split("/"))
    except ValueError:
        which, of = 0, 0
    if not 1 <= which <= of:
        raise Mistake(f'--share is I/N with I from 1 to N, not "{share}".')
    return found[which - 1 :: of]


def chosen(options, assignment):
    found = submissions.collect(options.submissions, assignment.exercises)
    if options.only:
        unknown = set(options.only) - {s.student for s in found}
        if unknown:
            raise Mistake(f"there is no submission of {', '.join(sorted(unknown))}.")
        found = [s for s in found if s.student in options.only]
    return part_of(found, options.share)


def again(options, *extra):
    """The same run as a command, for other machines."""
    argv = [os.path.join(assignments.ROOT, "grade"), "class", "run", os.path.abspath(options.file),
            os.path.abspath(options.submissions), "--out", os.path.abspath(folder_of(options))]
    argv += ["--again-open"] if options.again_open else []
    argv += ["--no-jail"] if options.no_jail else []
    argv += ["--scratch", options.scratch] if options.scratch else []
    return shlex.join([*argv, *extra])


SLURM = """#!/bin/bash
#SBATCH --job-name=warplings
#SBATCH --array=1-{tasks}
#SBATCH --cpus-per-task=1
#SBATCH --mem=8G
#SBATCH --requeue
# Start it again for what is missing; then: ./grade class report {file}
{command} --jobs 1 --share "$SLURM_ARRAY_TASK_ID/{tasks}"
"""


def write_slurm(options, assignment):
    path = os.path.splitext(options.file)[0] + ".sbatch"
    if options.slurm < 1:
        raise Mistake("--slurm takes the number of tasks, at least 1.")
    workshop.prepare(assignment.exercises)  # once, and not by each task
    with open(path, "w", encoding="utf-8") as file:
        file.write(SLURM.format(tasks=options.slurm, command=again(options),
                                file=shlex.quote(options.file)))
    print(f"wrote {path}: sbatch {path}")


def check_jail(options):
    why = "" if options.no_jail else workshop.why_no_jail()
    if why:
        raise Mistake(why + " --no-jail runs strangers' files with your rights: only where the "
                      "machine is thrown away afterwards.")


def run(options):
    assignment = assignments.load(options.file)
    if options.gradescope:
        return run_gradescope(options, assignment)
    if options.classroom50:
        return run_classroom50(options, assignment)
    if options.submissions is None:
        raise Mistake("run needs the folder of submissions: ./grade class run ASSIGNMENT FOLDER")
    if options.slurm is not None:
        write_slurm(options, assignment)
        return DONE
    found = chosen(options, assignment)
    if options.list:
        for submission in found:
            print(again(options, "--jobs", "1", "--only", submission.student))
        return DONE
    return grade(options, assignment, found)


def grade(options, assignment, found):
    records = grading.Records(folder_of(options))
    items = grading.work_list(records, assignment, found, options.again_open)
    if items:
        check_jail(options)
        files = workshop.prepare(assignment.exercises)
        jobs = 1 if options.no_jail else max(1, options.jobs)
        batch = grading.Batch(records, assignment, files, jobs, options.scratch, not options.no_jail)
        batch.run(items, grading.Progress(len(items)))
    if options.share or options.only:
        return DONE  # the tables are of the whole class
    return write_reports(assignment, records, folder_of(options))


def write_reports(assignment, records, folder):
    rows = results.rows_of(assignment, records)
    results.write_csv(assignment, rows, os.path.join(folder, "points.csv"))
    results.write_junit(assignment, rows, os.path.join(folder, "junit.xml"))
    results.write_gradescope(assignment, rows, os.path.join(folder, "gradescope"))
    report.write(assignment, rows, os.path.join(folder, "report"))
    waiting = sum(len(row.open) for row in rows)
    print(f"{len(rows)} students, {sum(len(r.records) for r in rows) - waiting} verdicts, "
          f"{waiting} open: {folder}/points.csv, {folder}/report/index.html")
    return OPEN if waiting else DONE


def grade_one(options, assignment, folder, when):
    """The submission in `folder`, on a machine that is there for it alone."""
    submission = submissions.from_folder("submission", folder, submissions.Names(assignment.exercises))
    if when:
        submission.when = assignments.parse_time(when)
    records = grading.Records(folder_of(options))
    items = grading.work_list(records, assignment, [submission], True)
    if items:
        check_jail(options)
        files = workshop.prepare(assignment.exercises)
        grading.Batch(records, assignment, files, 1, None, not options.no_jail).run(
            items, grading.Progress(len(items)))
    return results.Row(assignment, "submission", records)


def run_gradescope(options, assignment):
    """One submission where Gradescope puts it, its results where Gradescope looks for them."""
    base = options.gradescope
    row = grade_one(options, assignment, os.path.join(base, "submission"), pack.submission_time(base))
    os.makedirs(os.path.join(base, "results"), exist_ok=True)
    results.write_json(results.gradescope(assignment, row), os.path.join(base, "results/results.json"))
    return DONE


def run_classroom50(options, assignment):
    row = grade_one(options, assignment, options.classroom50, pack.commit_time(options.classroom50))
    path = os.path.join(options.classroom50, "result.json")
    if os.path.lexists(path):  # the student's, perhaps a link
        os.remove(path)
    results.write_json(results.classroom50(assignment, row, os.environ), path)
    return DONE


def packed_files(options):
    assignment = assignments.load(options.file)
    if options.classroom50:
        results.whole_points(assignment)
        return pack.for_classroom50(options.file)
    return pack.for_gradescope(options.file) if options.gradescope else pack.for_students(assignment)


def main(argv):
    options = parser().parse_args(argv)
    try:
        if options.command == "new":
            assignments.write_new(options.file, options.exercises)
            print(f"wrote {options.file}: points, due date and levels are yours to change")
        elif options.command == "pack":
            pack.write(packed_files(options), options.to)
            print(f"wrote {options.to}")
        elif options.command == "prepare":
            workshop.prepare(assignments.load(options.file).exercises)
        elif options.command == "report":
            folder = folder_of(options)
            if not os.path.isdir(os.path.join(folder, "verdicts")):
                raise Mistake(f"{folder} holds no verdicts yet: ./grade class run {options.file} FOLDER")
            return write_reports(assignments.load(options.file), grading.Records(folder), folder)
        elif options.command == "similar":
            assignment = assignments.load(options.file)
            found = submissions.collect(options.submissions, assignment.exercises)
            similarity.compare(assignment.exercises, found, os.path.join(folder_of(options), "similar"))
        else:
            return run(options)
    except Mistake as mistake:
        print(f"grade class: {mistake}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("stopped. Every verdict so far is kept; the same command goes on from there.",
              file=sys.stderr)
        return 128 + signal.SIGINT
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

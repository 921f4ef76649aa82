"""Where students' files come from: a folder or an archive for each, or the branches of a Git
repository. Nothing of theirs is unpacked: only the files of the assignment are read, as bytes."""

import datetime
import hashlib
import os
import stat
import subprocess
import tarfile
import zipfile

from assignment import Mistake, parse_time, source_of

LARGEST = 1 << 20  # bytes of one file: a thousand times a solution
MOST_MEMBERS = 100_000  # of one archive
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


class Submission:
    """What one student handed in."""

    def __init__(self, student, when):
        self.student = student
        self.when = when    # moment, or None
        self.files = {}     # exercise id: bytes
        self.problems = {}  # exercise id: why a file was not taken

    def hash(self):
        digest = hashlib.sha256()
        for name in sorted(self.files):
            digest.update(f"{name} {len(self.files[name])} ".encode() + self.files[name])
        return digest.hexdigest()


class Names:
    """Which path in a submission is which exercise: the end of the path decides."""

    def __init__(self, exercises):
        self.by_path, self.by_name = {}, {}
        for exercise in exercises:
            path = source_of(exercise)
            chapter, name = path.split("/")[-2:]
            self.by_path[f"{chapter}/{name}"] = exercise["id"]
            self.by_name[name] = None if name in self.by_name else exercise["id"]

    def exercise(self, path):
        parts = path.replace("\\", "/").split("/")
        if parts[-1].startswith("._") or "__MACOSX" in parts:
            return None
        return self.by_path.get("/".join(parts[-2:])) or self.by_name.get(parts[-1])


def take(submission, names, path, size, is_file, read):
    """One file of a submission, if the assignment asks for it. The shortest path wins."""
    exercise = names.exercise(path)
    if exercise is None or exercise in submission.files:
        return False
    if not is_file:
        submission.problems[exercise] = f"{path} is a link or no ordinary file"
    elif size > LARGEST:
        submission.problems[exercise] = f"{path} has {size} bytes, and at most {LARGEST} are read"
    else:
        submission.files[exercise] = read()[:LARGEST]
        submission.problems.pop(exercise, None)
        return True
    return False


def newest(moments):
    moments = [m for m in moments if m is not None]
    return max(moments) if moments else None


def from_folder(student, folder, names):
    submission = Submission(student, None)
    moments = []
    found = []
    for where, folders, files in os.walk(folder):  # links to folders are not followed
        folders[:] = sorted(f for f in folders if f != ".git")
        found += [os.path.join(where, f) for f in files]
    for path in sorted(found, key=lambda p: (p.count(os.sep), p)):
        facts = os.lstat(path)
        if take(submission, names, os.path.relpath(path, folder), facts.st_size,
                stat.S_ISREG(facts.st_mode), lambda path=path: read_file(path)):
            moments.append(datetime.datetime.fromtimestamp(facts.st_mtime).astimezone())
    submission.when = newest(moments)
    return submission


def read_file(path):
    """Through no link, even if the file was exchanged for one just now."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        return file.read(LARGEST)


def from_archive(student, path, names):
    submission = Submission(student, None)
    moments = []
    try:
        for name, size, is_file, moment, read in members(path):
            if take(submission, names, name, size, is_file, read):
                moments.append(moment)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, RuntimeError,
            NotImplementedError, ValueError) as error:
        for exercise in set(names.by_path.values()) - set(submission.files):
            submission.problems[exercise] = f"{os.path.basename(path)} cannot be read: {error}"
    submission.when = newest(moments)
    return submission


def members(path):
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for info in sorted(archive.infolist()[:MOST_MEMBERS], key=lambda i: i.filename.count("/")):
                kind = stat.S_IFMT(info.external_attr >> 16)
                moment = datetime.datetime(*info.date_time).astimezone()
                yield (info.filename, info.file_size, not info.is_dir() and kind in (0, stat.S_IFREG),
                       moment, lambda i=info: archive.open(i).read(LARGEST))
        return
    with tarfile.open(path) as archive:
        for count, info in enumerate(archive):
            if count == MOST_MEMBERS:
                raise ValueError(f"more than {MOST_MEMBERS} members")
            moment = datetime.datetime.fromtimestamp(info.mtime).astimezone()
            if not info.isdir():
                yield (info.name, info.size, info.isreg(), moment,
                       lambda i=info: archive.extractfile(i).read(LARGEST))


def git(repository, *arguments):
    ran = subprocess.run(["git", "-C", repository, *arguments], capture_output=True)
    if ran.returncode != 0:
        raise Mistake(f"{repository}: git says {ran.stderr.decode(errors='replace').strip()}")
    return ran.stdout


def from_branches(repository, names):
    lines = git(repository, "for-each-ref", "--format=%(refname) %(committerdate:iso-strict)",
                "refs/heads").decode().splitlines()
    for line in lines:
        ref, moment = line.rsplit(" ", 1)
        submission = Submission(ref[len("refs/heads/"):].replace("/", "."), parse_time(moment))
        listed = git(repository, "ls-tree", "-r", "-l", "-z", ref).split(b"\0")
        entries = [entry.decode(errors="replace").split("\t", 1) for entry in listed if entry]
        for facts, path in sorted(entries, key=lambda e: e[1].count("/")):
            mode, kind, blob, size = facts.split()
            take(submission, names, path, int(size) if size != "-" else 0,
                 kind == "blob" and mode.startswith("100"),
                 lambda blob=blob: git(repository, "cat-file", "blob", blob))
        yield submission


def is_bare(folder):
    return os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(
        os.path.join(folder, "objects"))


def read_times(folder):
    """times.csv beside the submissions, STUDENT,TIME: when each was handed in, if files cannot say."""
    path = os.path.join(folder, "times.csv")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = [line.strip().split(",", 1) for line in file if "," in line]
    return {student.strip(): parse_time(moment.strip()) for student, moment in rows
            if student.strip().lower() != "student"}


def collect(folder, exercises):
    """All submissions of a folder, by student."""
    if not os.path.isdir(folder):
        raise Mistake(f"{folder} is no folder. It should hold a folder or an archive per student, "
                      "or be a bare Git repository with a branch for each.")
    names = Names(exercises)
    if is_bare(folder):
        return sorted(from_branches(folder, names), key=lambda s: s.student)
    times = read_times(folder)
    found = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        ending = next((e for e in sorted(ARCHIVES, key=len, reverse=True) if name.endswith(e)), "")
        if name.startswith(".") or os.path.islink(path):
            continue
        if os.path.isdir(path):
            submission = from_folder(name, path, names)
        elif ending:
            submission = from_archive(name[: -len(ending)], path, names)
        else:
            continue
        if submission.student in found:
            raise Mistake(f"{submission.student} is there twice, as a folder and as an archive.")
        submission.when = times.get(submission.student, submission.when)
        found[submission.student] = submission
    if not found:
        raise Mistake(f"{folder} holds no folder and no archive (.zip, .tar, .tar.gz).")
    return list(found.values())

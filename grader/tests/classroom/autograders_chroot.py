"""The autograders for Gradescope and Classroom 50, in a system that is made for them and nothing else.

    sudo python3 grader/tests/classroom/autograders_chroot.py FOLDER

Makes a bare Debian in FOLDER (debootstrap; both services have Ubuntu). Lays out /autograder as Gradescope's
specification says, runs setup.sh once and run_autograder on submissions whose results are known beforehand; then
Classroom 50's autograder.py in a checkout, in the environment that its documentation names. Takes about ten
minutes, 6 GB and the network, and packs the last commit; the self-test does not run it. FOLDER is yours to delete.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import formats
import synthetic  # puts grader/classroom into the path

import assignment as assignments

EXERCISES = ["02/01", "03/05"]
MIRROR = os.environ.get("DEBIAN_MIRROR")  # without it, the one that debootstrap takes by itself
CERTIFICATES = "/etc/network.pem"  # of a network that inspects TLS, where there is one


def in_chroot(root, command, **options):
    """As in a container: its own processes, and no other environment than what the network needs."""
    kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    if os.path.exists(root + CERTIFICATES):
        kept["PIP_CERT"] = CERTIFICATES
    inside = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" bash -c "$1"'
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", inside, root, command],
                          env={**kept, "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                               "HOME": "/root", "LANG": "C.UTF-8"}, **options)


def make_system(root):
    if not os.path.exists(os.path.join(root, "etc/debian_version")):
        mirror = [MIRROR] if MIRROR else []
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, *mirror], check=True)
    for path, to in [("/etc/resolv.conf", "/etc/resolv.conf"), (os.environ.get("PIP_CERT"), CERTIFICATES)]:
        if path:
            shutil.copy(path, root + to)


def lay_out(root, archive):
    """What Gradescope's image has before setup.sh runs."""
    base = os.path.join(root, "autograder")
    shutil.rmtree(base, ignore_errors=True)
    for name in ("source", "submission", "results"):
        os.makedirs(os.path.join(base, name))
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            path = packed.extract(info, os.path.join(base, "source"))
            os.chmod(path, info.external_attr >> 16 & 0o777)
    shutil.copy(os.path.join(base, "source/run_autograder"), base)
    return base


def submissions(listed):
    """(name, files, metadata, scores of the two exercises)."""
    first, second = ({outcome: text for text, outcome in reversed(list(synthetic.answers(e)))} for e in listed)
    names = [f"{e['id'].split('/')[1]}.cu" for e in listed]
    on_time, late = "2026-12-01T10:00:00.365935-08:00", "2026-12-03T10:00:00.365935-08:00"
    yield "right", {names[0]: first["pass"], names[1]: second["pass"]}, on_time, [10, 10]
    yield "one wrong", {names[0]: first["pass"], names[1]: second["fail"]}, on_time, [10, 0]
    yield "no C++, one missing", {names[0]: first["does not compile"]}, on_time, [0, 0]
    yield "in folders, late", {"a/b/" + names[0]: first["pass"], "c/" + names[1]: second["pass"]}, late, [5, 5]
    yield "nothing", {"README.md": "I had no time."}, on_time, [0, 0]
    yield "right again", {names[0]: first["pass"], names[1]: second["pass"]}, on_time, [10, 10]


def grade(root, base, files, when):
    for name in ("submission", "results"):
        shutil.rmtree(os.path.join(base, name))
        os.makedirs(os.path.join(base, name))
    for path, text in files.items():
        file = os.path.join(base, "submission", path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
    with open(os.path.join(base, "submission_metadata.json"), "w", encoding="utf-8") as out:
        json.dump({"id": 1, "created_at": when, "assignment": {"due_date": when}, "users": []}, out)
    with open(os.path.join(base, "results/stdout"), "wb") as out:
        status = in_chroot(root, "cd /autograder && ./run_autograder", stdout=out, stderr=out).returncode
    path = os.path.join(base, "results/results.json")
    return status, json.loads(synthetic.read(path)) if os.path.exists(path) else None


def told(name, status, problems, got, scores):
    """True if it is as it should be."""
    good = status == 0 and not problems and got == scores
    print(f"{'as it should be' if good else 'WRONG'}  {name}: {got}"
          + ("" if good else f", not {scores}; status {status}; {problems}"), flush=True)
    return good


def try_gradescope(folder, root, assignment):
    archive = os.path.join(folder, "autograder.zip")
    pack(assignment, archive, "--gradescope")
    base = lay_out(root, archive)
    in_chroot(root, "bash /autograder/source/setup.sh", check=True)
    good = []
    for name, files, when, scores in submissions(assignments.load(assignment).exercises):
        status, said = grade(root, base, files, when)
        problems = formats.gradescope(said) if said else [synthetic.read(os.path.join(base, "results/stdout"))]
        got = [round(test["score"], 3) for test in said["tests"]] if said else None
        good.append(told("Gradescope, " + name, status, problems, got, scores))
    return all(good)


def try_classroom50(folder, root, assignment):
    """One submission: each sets the course up anew."""
    bundle, checkout = os.path.join(root, "bundle"), os.path.join(root, "checkout")
    for path in (bundle, checkout):
        shutil.rmtree(path, ignore_errors=True)
    pack(assignment, bundle, "--classroom50")
    _, files, when, scores = list(submissions(assignments.load(assignment).exercises))[3]
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(checkout, path)), exist_ok=True)
        with open(os.path.join(checkout, path), "w", encoding="utf-8") as out:
            out.write(text)
    who = {"CLASSROOM": "cuda", "ASSIGNMENT": "homework", "SUBMISSION_TAG": "submit/1", "COMMIT_URL": "https://a/c",
           "RELEASE_URL": "https://a/r", "REVIEW_URL": "https://a/v", "GITHUB_TOKEN": "secret"}
    commit = (f"git init -q && git add -A && GIT_COMMITTER_DATE={when} git -c user.name=x -c user.email=x@x "
              "commit -qm x")
    words = " ".join(f"{name}={value}" for name, value in who.items())
    status = in_chroot(root, f"cd /checkout && {commit} && {words} python3 /bundle/autograder.py").returncode
    path = os.path.join(checkout, "result.json")
    said = json.loads(synthetic.read(path)) if os.path.exists(path) else None
    problems = formats.classroom50(said) if said else ["no result.json"]
    if said and said["datetime"] != "2026-12-03T18:00:00Z":
        problems.append(f"datetime is {said['datetime']}")
    got = [test["score"] for test in said["tests"]] if said else None
    return told("Classroom 50", status, problems, got, scores)


def pack(assignment, to, kind):
    if os.path.exists(to):
        os.remove(to)
    subprocess.run([os.path.join(synthetic.ROOT, "grade"), "class", "pack", assignment, to, kind], check=True)


def main(folder):
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        print("SKIPPED: needs root and debootstrap")
        return 0
    folder = os.path.abspath(folder)
    root = os.path.join(folder, "root")
    os.makedirs(folder, exist_ok=True)
    make_system(root)
    assignment = os.path.join(folder, "assignment.json")
    data = {"title": "Homework", "due": "2026-12-02T00:00+00:00", "late": {"per_day": 0.25, "days": 2},
            "exercises": [{"id": part, "points": 10} for part in EXERCISES]}
    with open(assignment, "w", encoding="utf-8") as file:
        json.dump(data, file)
    good = [try_gradescope(folder, root, assignment), try_classroom50(folder, root, assignment)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

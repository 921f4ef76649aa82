"""A real Slurm of two nodes runs the job array that ./grade class writes; a machine vanishes, a worker is killed.

    python3 grader/tests/classroom/slurm_test.py [STUDENTS]

Needs Slurm and MUNGE (Debian: slurm-wlm, munge), and says so where they lack. Everything lies in a temporary
folder, listens on 127.0.0.1 alone and ends with the test; an installed Slurm is neither used nor changed.
Each node is a pid namespace, so that all of a machine can be gone from one moment to the next.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import synthetic  # puts grader/classroom into the path

import workshop

EXERCISE = "02_vector_add/01_vector_add"
STUDENTS = 10
TASKS = 4
LONGEST = 500  # seconds until everything is graded
# Debian keeps the daemons where only root looks.
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
NODE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
if os.geteuid() != 0:
    NODE = [NODE[0], "--user", "--map-current-user", *NODE[1:]]

CONFIGURATION = """
ClusterName=warplings
SlurmctldHost={host}(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=15
SlurmctldPort={ports[0]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
StateSaveLocation={folder}/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdTimeout=10
KillWait=2
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 RealMemory=16000
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=16000
PartitionName=class Nodes=one,two Default=YES State=UP
"""


def why_not():
    missing = [name for name in ("slurmctld", "slurmd", "sbatch", "munged", "unshare")
               if shutil.which(name, path=PATH) is None]
    if missing:
        return f"{', '.join(missing)} not found (Debian: slurm-wlm and munge)"
    ran = subprocess.run([*NODE, "true"], capture_output=True, text=True)
    return f"no pid namespaces here: {ran.stderr.strip()}" if ran.returncode else workshop.why_no_jail()


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Cluster:
    """munged, slurmctld and two nodes, with all their files in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.running = {}
        os.mkdir(self.path("state"))
        with open(self.path("munge.key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(self.path("munge.key"), 0o400)
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        with open(self.path("slurm.conf"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname().split(".")[0], user=user, folder=folder,
                                            ports=free_ports(3)))
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": self.path("slurm.conf")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        files = [f"--{what}={self.path('munge.' + end)}" for what, end in [
            ("socket", "socket"), ("key-file", "key"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed")]]
        self.daemon("munged", ["munged", "--foreground", "--force", *files])
        wait(lambda: os.path.exists(self.path("munge.socket")), "munged listens")
        self.daemon("slurmctld", ["slurmctld", "-D", "-i"])
        for node in ("one", "two"):
            self.start_node(node)
        wait(lambda: self.said("sinfo", "-h", "-o", "%t %D") == "idle 2", "both nodes are there", self.logs)

    def start_node(self, node):
        os.makedirs(self.path("spool." + node), exist_ok=True)
        self.daemon(node, [*NODE, "slurmd", "-D", "-N", node])

    def daemon(self, name, argv):
        with open(self.path(name + ".out"), "ab") as out:
            self.running[name] = subprocess.Popen(argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                                                  stderr=out, start_new_session=True)

    def vanish(self, node):
        """The machine is gone with all that ran on it; nobody has said goodbye."""
        self.running[node].kill()
        self.running.pop(node).wait()

    def said(self, *argv):
        return subprocess.run(argv, env=self.environment, capture_output=True, text=True, check=True,
                              cwd=self.folder).stdout.strip()

    def tasks(self):
        """task: (state, node) of what is queued or runs."""
        lines = self.said("squeue", "-h", "-r", "-o", "%i %T %N").splitlines()
        return {words[0]: (words[1], words[2] if len(words) > 2 else "") for words in map(str.split, lines)}

    def logs(self):
        found = [self.said("squeue"), self.said("sinfo", "-N", "-l")]
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".log", ".out")):
                found.append(f"--- {name}\n" + synthetic.read(self.path(name))[-1500:])
        return "\n".join(found)

    def stop(self):
        if "slurmctld" in self.running:
            subprocess.run(["scancel", "--signal=KILL", "--user", str(os.geteuid())], env=self.environment,
                           capture_output=True)
        for name in reversed(list(self.running)):
            self.running[name].kill()
            self.running.pop(name).wait()


def wait(holds, what, explain=lambda: "", seconds=90):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}\n{explain()}")
        time.sleep(0.25)


def kill_worker(folder, node):
    """The Python of one task on `node`, as if memory had run out."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                command = file.read().split(b"\0")
            with open(f"/proc/{number}/environ", "rb") as file:
                environment = file.read().split(b"\0")
        except OSError:
            continue
        if (f"SLURMD_NODENAME={node}".encode() in environment and b"--share" in command
                and any(folder.encode() in word for word in command) and b"python" in command[0]):
            os.kill(int(number), signal.SIGKILL)
            return True
    return False


class Slurm(unittest.TestCase):
    def setUp(self):
        why = why_not()
        if why:
            self.skipTest(why)
        self.folder = tempfile.mkdtemp(prefix="warplings_slurm_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.expected = synthetic.make(os.path.join(self.folder, "class"), STUDENTS, [EXERCISE])
        self.assignment = os.path.join(self.folder, "class/assignment.json")
        os.mkdir(os.path.join(self.folder, "slurm"))
        self.cluster = Cluster(os.path.join(self.folder, "slurm"))
        self.addCleanup(self.cluster.stop)
        self.cluster.start()

    def grade(self, *arguments):
        ran = subprocess.run([os.path.join(synthetic.ROOT, "grade"), "class", *arguments], capture_output=True,
                             text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def verdicts(self):
        """(student, moment): outcome. Written once, a verdict stays as it is."""
        found = {}
        for where, _, names in os.walk(os.path.join(self.folder, "class/assignment.graded/verdicts")):
            for name in names:
                if name.endswith(".json"):
                    record = json.loads(synthetic.read(os.path.join(where, name)))
                    found[record["student"]] = (record["outcome"], os.stat(os.path.join(where, name)).st_mtime_ns)
        return found

    def submit(self):
        said = self.cluster.said("sbatch", "--parsable", "--output", self.cluster.path("task.%A_%a.out"),
                                 os.path.join(self.folder, "class/assignment.sbatch"))
        return said.split(";")[0]

    def wait_for_tasks(self):
        wait(lambda: not self.cluster.tasks(), "no task is left", self.cluster.logs, LONGEST)

    def running_on(self, node):
        return [task for task, (state, where) in self.cluster.tasks().items() if state == "RUNNING" and where == node]

    def test_a_machine_vanishes_and_a_worker_is_killed(self):
        self.grade("run", self.assignment, os.path.join(self.folder, "class/submissions"), "--slurm", str(TASKS))
        job = self.submit()
        # Both nodes work, and somebody has a verdict.
        wait(lambda: self.running_on("one") and self.running_on("two") and self.verdicts(), "the array runs",
             self.cluster.logs)
        lost = self.running_on("two")
        self.assertEqual(len(lost), 1)
        self.cluster.vanish("two")
        wait(lambda: kill_worker(self.folder, "one"), "a worker runs on node one", self.cluster.logs)
        # Node two is found to be down, and what it had goes back into the queue.
        wait(lambda: self.cluster.tasks().get(lost[0], ("",))[0] == "PENDING" or self.running_on("one") == lost,
             "the lost task is queued again", self.cluster.logs)
        self.wait_for_tasks()
        before = self.verdicts()
        outcomes = {student: by_exercise[EXERCISE] for student, by_exercise in self.expected.items()}
        for student, (outcome, _) in before.items():
            self.assertEqual(outcome, outcomes[student], student)
        self.assertLess(len(before), len(outcomes), "the killed worker's share was graded by nobody else")
        # The teacher's part: the machine is back, and the array is started once more.
        self.cluster.start_node("two")
        self.submit()
        self.wait_for_tasks()
        after = self.verdicts()
        self.assertEqual({student: outcome for student, (outcome, _) in after.items()}, outcomes, self.cluster.logs())
        self.assertEqual({student: after[student] for student in before}, before)  # nothing was graded twice
        self.assertIn(f"{len(outcomes)} students, {len(outcomes)} verdicts, 0 open",
                      self.grade("report", self.assignment))
        print(f"job {job}: node two vanished with {lost[0]}, {len(before)} of {len(outcomes)} verdicts, then all")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        STUDENTS = int(sys.argv.pop())
    if why_not():
        print(f"SKIPPED: {why_not()}")
    else:
        unittest.main()

"""Runs of `grade view` for the tests beside it: the page, and the data in it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(os.environ["GRADE_ROOT"])
GRADE = os.environ["GRADE_PROGRAM"]
QUESTIONS = ROOT / "grader" / "tests" / "view" / "programs" / "questions.cu"
PRODUCT = QUESTIONS.with_name("product.cu")

# One exercise of each chapter whose kernels the simulator runs.
EXERCISES = ["01_hello_indexing/03_index_2d", "02_vector_add/01_vector_add",
             "03_memory_model/05_transpose_tile", "04_atomics/02_histogram_global",
             "05_warps/03_block_reduce", "06_streams_and_profiling/02_overlap",
             "07_tiled_matmul/04_matmul_shared", "08_fft_convolution/03_fft_radix2",
             "09_cuda_libraries/14_cub_block", "10_nccl/04_ring_all_reduce",
             "11_frameworks/03_ctypes_kernel", "12_mnist_cnn/09_batch_norm"]


def grade(*arguments, root=ROOT, columns=80):
    """What `grade ARGUMENTS` printed; its status must be 0, or 99 where the program has findings."""
    done = subprocess.run([GRADE, *arguments], capture_output=True, text=True, check=False,
                          cwd=root, timeout=300, env={**os.environ, "GRADE_ROOT": str(root),
                                                      "COLUMNS": str(columns)})
    if done.returncode not in (0, 99):
        raise AssertionError(f"grade {' '.join(arguments)} ended with {done.returncode}:\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout


def page(*arguments, root=ROOT):
    """The file that `grade view ARGUMENTS` writes."""
    return pathlib.Path(grade("view", *arguments, root=root).strip().splitlines()[-1])


def data_of(path):
    """What the page carries."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found.group(1))


def question(which):
    """The page of one kernel of programs/questions.cu, under a name of its own."""
    made = page("--", str(QUESTIONS), which)
    kept = made.with_name(f"question_{which}.html")
    made.replace(kept)
    return kept


class Course:
    """A course of its own with one exercise, whose file a test may change: the commands with which
    the clone builds it, under other names."""
    ID = "02_vector_add/01_vector_add"
    TARGET = ID.replace("/", ".")
    BUILD = ROOT / "build" / "sim"

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="warplings-view-"))
        (self.root / "grader").mkdir()
        (self.root / "grader" / "view").symlink_to(ROOT / "grader" / "view")
        for folder in ["chapters", "solutions"]:
            shutil.copytree(ROOT / folder / "02_vector_add", self.root / folder / "02_vector_add")
        manifest = json.loads((ROOT / "chapters" / "course.json").read_text())
        manifest["chapters"] = [c for c in manifest["chapters"] if c["id"] == "02_vector_add"]
        manifest["exercises"] = [{key: e[key] for key in ["id", "title", "minutes", "kind", "todos"]}
                                 for e in manifest["exercises"] if e["id"] == self.ID]
        (self.root / "chapters" / "course.json").write_text(json.dumps(manifest))
        self.file = self.root / "chapters" / f"{self.ID}.cu"
        self.solution = (ROOT / "solutions" / f"{self.ID}.cu").read_text()
        self.build(f"CMakeFiles/{self.TARGET}.kernels.dir/chapters/{self.ID}.cu.o")

    def build(self, object_):
        own = self.root / "build" / "sim"
        (own / "course").mkdir(parents=True)
        ninja = os.environ["GRADE_NINJA"]
        subprocess.run([ninja, "-C", self.BUILD, f"{self.TARGET}.solution", self.TARGET],
                       check=True, capture_output=True)
        commands = subprocess.run([ninja, "-C", self.BUILD, "-t", "commands", self.TARGET],
                                  check=True, capture_output=True, text=True).stdout.splitlines()
        source, program = str(ROOT / "chapters" / f"{self.ID}.cu"), f"course/{self.TARGET}"
        compile_, link = (next(c for c in commands if wanted in c)
                          for wanted in [f"{source} -o ", f"-o {program} "])
        (own / object_).parent.mkdir(parents=True)
        (own / f"{program}.solution").symlink_to(self.BUILD / f"{program}.solution")
        rules = [f"rule {name}\n  command = cd {self.BUILD} && " + command
                 .replace(source, str(self.file)).replace(object_, str(own / object_))
                 .replace(f"-o {program} ", f"-o {own / program} ").replace("$", "$$")
                 for name, command in [("compile", compile_), ("link", link)]]
        (own / "build.ninja").write_text("\n".join(
            [*rules, f"build {object_}: compile {self.file}", f"build {program}: link {object_}",
             f"build {self.TARGET}: phony {program}", f"build {self.TARGET}.solution: phony",
             "build grade.more: phony", ""]))

    def save(self, old="", new=""):
        """The solution with a change is the learner's file."""
        self.file.write_text(self.solution.replace(old, new) if old else self.solution)

    def passed(self):
        (self.root / ".progress").write_text(f"passed {self.ID} 2026-01-02T03:04:05Z\n")

    def close(self):
        shutil.rmtree(self.root)


# A version that is right and does more than it has to.
SLOWER = ("  if (i < n) {", "  __syncthreads();\n  __syncthreads();\n  if (i < n) {")

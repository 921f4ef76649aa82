"""Runs of `grade view` for the tests beside it: the page, and the data in it."""
import json
import os
import pathlib
import re
import subprocess

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
             "12_mnist_cnn/09_batch_norm"]


def grade(*arguments):
    """What `grade ARGUMENTS` printed; its status must be 0, or 99 where the program has findings."""
    done = subprocess.run([GRADE, *arguments], capture_output=True, text=True, check=False,
                          cwd=ROOT, timeout=300)
    if done.returncode not in (0, 99):
        raise AssertionError(f"grade {' '.join(arguments)} ended with {done.returncode}:\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout


def page(*arguments):
    """The file that `grade view ARGUMENTS` writes."""
    return pathlib.Path(grade("view", *arguments).strip().splitlines()[-1])


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

"""11/07: on a GPU compiled, elsewhere in Triton's interpreter on tensors of the CPU."""

import torch

import kit
import launches
import tensors

exercise = kit.exercise()


def check_grid(launch, n):
    most = -(-n // exercise.BLOCK)
    count = launch.programs({"BLOCK": exercise.BLOCK})
    kit.expect(
        count <= most,
        f"{count} programs for {n} elements: each adds {exercise.BLOCK}, so {most} would do.",
    )


@kit.todo(2)
def test_covers_sizes_that_are_not_multiples_of_the_block():
    block = exercise.BLOCK
    sizes = [1, block, block - 1, block + 1, 5 * block - 3] + (
        [(1 << 24) + 7] if kit.on_gpu else []
    )
    for n in kit.cases("n", sizes):
        a, b = tensors.tensor(n), tensors.tensor(n)
        kept = a.clone(), b.clone()
        c, whole = tensors.fenced(n)
        with launches.watched(exercise, "vector_add", lambda launch: check_grid(launch, n)) as seen:
            exercise.launch_vector_add(a, b, c)
        kit.expect(
            len(seen) == 1,
            f"vector_add was launched {len(seen)} times; expected once, with enough programs of "
            f"{exercise.BLOCK} elements for {n}.",
        )
        kit.check_findings()
        tensors.expect_same("c", c, kept[0] + kept[1])
        tensors.expect_fence("c", whole)
        kit.expect(torch.equal(a, kept[0]) and torch.equal(b, kept[1]), "the inputs were changed.")


@kit.todo(1)
def test_adds_one_block():
    n = exercise.BLOCK
    a, b = tensors.tensor(n), tensors.tensor(n)
    c, whole = tensors.fenced(n)
    exercise.vector_add[(1,)](a, b, c, n, n)
    tensors.expect_same("c", c, a + b)
    tensors.expect_fence("c", whole)


@kit.todo(1)
def test_adds_blocks_of_the_size_that_is_given():
    n = 150
    for block in kit.cases("BLOCK", [32, 64, 128]):
        a, b = tensors.tensor(n), tensors.tensor(n)
        c, whole = tensors.fenced(n)
        exercise.vector_add[(-(-n // block),)](a, b, c, n, block)
        tensors.expect_same("c", c, a + b)
        tensors.expect_fence("c", whole)


@kit.todo(1)
def test_a_program_that_lies_past_the_end_stores_nothing():
    n = 3
    a, b = tensors.tensor(n), tensors.tensor(n)
    c, whole = tensors.fenced(n)
    exercise.vector_add[(2,)](a, b, c, n, exercise.BLOCK)
    tensors.expect_same("c", c, a + b)
    tensors.expect_fence("c", whole)


@kit.todo(2)
def test_takes_an_empty_tensor():
    c, whole = tensors.fenced(0)
    exercise.launch_vector_add(tensors.tensor(0), tensors.tensor(0), c)
    tensors.expect_fence("c", whole)

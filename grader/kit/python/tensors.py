"""Tensors for tests: inputs from a seed, outputs between fences, comparison. Needs PyTorch."""

import torch

import kit

DEVICE = "cuda" if kit.on_gpu else "cpu"
FENCE = 1 << 14  # elements on either side of an output: more than two blocks
_PATTERN = -777.25


def tensor(*shape, dtype=torch.float32):
    """Random numbers in [-1, 1), other ones at each call."""
    seed = torch.Generator().manual_seed(kit.next_seed())
    return (2 * torch.rand(*shape, generator=seed, dtype=torch.float64) - 1).to(DEVICE, dtype)


def large(*shape, dtype=torch.float32):
    """The same, made on the device: for sizes that the CPU would take long to draw."""
    seed = torch.Generator(DEVICE).manual_seed(kit.next_seed())
    return 2 * torch.rand(*shape, generator=seed, device=DEVICE, dtype=dtype) - 1


def fenced(*shape, dtype=torch.float32):
    """(output, whole): an output full of NaN in the middle of a tensor with a pattern around it."""
    size = torch.Size(shape).numel()
    whole = torch.full((size + 2 * FENCE,), _PATTERN, device=DEVICE, dtype=dtype)
    output = whole[FENCE : FENCE + size]
    output.fill_(float("nan"))
    return output.view(shape), whole


def expect_fence(what, whole):
    before = int((whole[:FENCE] != _PATTERN).sum())
    behind = (whole[-FENCE:] != _PATTERN).nonzero().flatten()
    kit.expect(before == 0, f"{before} elements before the beginning of {what} were overwritten.")
    kit.expect(
        behind.numel() == 0,
        f"{behind.numel()} elements behind the end of {what} were "
        "overwritten: a mask is missing, or it compares with the wrong length.",
    )


def expect_same(what, got, expected):
    kit.expect(
        got.shape == expected.shape,
        f"{what} has the shape {tuple(got.shape)}, expected {tuple(expected.shape)}.",
    )
    _report(what, got, expected, got != expected)


def expect_close(what, got, expected, tolerance):
    """`expected` and `tolerance` in double; a NaN is never close."""
    _report(what, got, expected, ~((got.double() - expected).abs() <= tolerance))


def _report(what, got, expected, wrong):
    count = int(wrong.sum())
    if count == 0:
        return
    lines = []
    for position in wrong.nonzero()[:5].tolist():
        at = "".join(f"[{i}]" for i in position)
        lines.append(
            f"{what}{at} is {float(got[tuple(position)]):.7g}, expected "
            f"{float(expected[tuple(position)]):.7g}"
        )
    never = int(got.isnan().sum())
    guess = f" {never} were never written, or made from a NaN." if never else ""
    kit.fail("\n".join(lines) + f"\n{count} of {wrong.numel()} elements are wrong.{guess}")

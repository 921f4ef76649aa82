"""11/04: both builds run at once, since they take longest; then values, gradients, streams."""

import functools
import os
import subprocess
import sys

import torch

import kit
import tensors

exercise = kit.exercise()
FOLDER = kit.temporary_folder()
# For this card alone, in a folder that nobody else uses.
os.environ["TORCH_CUDA_ARCH_LIST"] = "{}.{}".format(*torch.cuda.get_device_capability())
os.environ["TORCH_EXTENSIONS_DIR"] = str(FOLDER / "inline")


@functools.lru_cache
def package_build():
    """The package, on its way into FOLDER/installed; None where its sources are not there."""
    source = FOLDER / "source"
    source.mkdir()
    exercise.write_package(source)
    if not (source / "setup.py").exists():
        return None
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--no-build-isolation",
            "--no-deps",
            "--no-index",
            "--quiet",
            "--target",
            str(FOLDER / "installed"),
            str(source),
        ],
        stdout=subprocess.DEVNULL,
        stderr=(FOLDER / "errors").open("w"),
    )


@functools.lru_cache
def module():
    package_build()
    try:
        return exercise.build_inline()
    except Exception as error:
        errors = [line for line in str(error).splitlines() if "error" in line]
        kit.fail("the extension does not compile: " + "\n".join(errors[:3] or [str(error)[:400]]))


def operator():
    return exercise.operator(module())


# x^2 + x + 1 in double, and three roundings of its terms.
def poly_on_cpu(x):
    x = x.double()
    return x * x + x + 1, 3 * 2.0**-24 * (x * x + x.abs() + 1)


@kit.todo(2)
def test_computes_the_polynomial():
    for shape in kit.cases("shape", [(1,), (255,), (257,), (3, 5, 7), (1000, 33)]):
        x = 4 * tensors.tensor(*shape)
        tensors.expect_close("y", module().forward(x), *poly_on_cpu(x))
    double = tensors.tensor(100, dtype=torch.float64)
    y = module().forward(double)
    kit.expect(y.dtype == torch.float64, f"y of a float64 tensor is {y.dtype}.")
    tensors.expect_close("y of float64", y, double * double + double + 1, 1e-14)


@kit.todo(2)
def test_takes_views_with_steps():
    x = tensors.tensor(40, 50)
    views = {"transposed": x.t(), "every third": x[:, ::3], "a column": x[:, 7]}
    for name in kit.cases("x", views):
        tensors.expect_close("y", module().forward(views[name]), *poly_on_cpu(views[name]))


@kit.todo(2)
def test_runs_in_the_current_stream():
    forward = module().forward
    x, other = tensors.tensor(1000), tensors.tensor(1000)
    forward(x)  # loads the kernel, which may wait for the device
    torch.cuda.synchronize()
    # A graph holds what its stream was given and nothing else. Beside a busy stream a kernel of
    # another one may still come late enough: both may share a queue of the card.
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = forward(x)
    x.copy_(other)
    graph.replay()
    torch.cuda.synchronize()
    expected, tolerance = poly_on_cpu(other)
    kit.expect(
        bool(((y.double() - expected).abs() <= tolerance).all()),
        "a graph captured the current stream, and its replay with another x does not compute y "
        "again: the kernel went to another stream.",
    )


@kit.todo(2)
def test_does_not_wait_for_the_device():
    forward = module().forward
    stream = torch.cuda.Stream()
    x = tensors.tensor(1 << 20)
    expected = poly_on_cpu(x)
    late = torch.zeros_like(x)
    forward(late)  # loads the kernel, which may wait for the device
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)  # cycles: x arrives late in this stream
        late.copy_(x)
        y = forward(late)
    waited = stream.query()
    stream.synchronize()
    tensors.expect_close("y, from an x that another kernel of its stream writes,", y, *expected)
    kit.expect(
        not waited,
        "forward() returned when its kernel had ended: the call waits for the device. "
        "Streams keep the order; the host goes on.",
    )


@kit.todo(1)
def test_gradient_agrees_with_differences():
    x = (3 * tensors.tensor(5, 7, dtype=torch.float64)).requires_grad_()
    grad = torch.autograd.grad(operator()(x).sum(), x)[0]
    tensors.expect_close("the gradient of sum(y)", grad, 2 * x.detach() + 1, 1e-12)


@kit.todo(4)
def test_gradcheck_accepts_it():
    x = (3 * tensors.tensor(4, 6, dtype=torch.float64)).requires_grad_()
    for name, values in {"contiguous": x, "transposed": x.t(), "every second": x[:, ::2]}.items():
        try:
            torch.autograd.gradcheck(operator(), (values,))
        except RuntimeError as error:  # and GradcheckError, which is one
            kit.fail(f"gradcheck, {name}: {str(error)[:300]}")


@kit.todo(4)
def test_trains_through_it():
    x = tensors.tensor(1000).requires_grad_()
    y = operator()(x)
    kit.expect(y.requires_grad, "y has no gradient: call the class by its apply.")
    (y * torch.arange(1000.0, device=x.device)).sum().backward()
    expected = torch.arange(1000.0, dtype=torch.float64, device=x.device) * (
        2 * x.detach().double() + 1
    )
    tensors.expect_close("x.grad", x.grad, expected, 1e-6 * expected.abs() + 1e-6)


@kit.todo(3)
def test_installs_as_a_package():
    build = package_build()
    kit.expect(build is not None, "write_package() writes no setup.py.")
    module()  # compiles meanwhile
    build.wait()
    if build.returncode != 0:
        errors = [line for line in (FOLDER / "errors").read_text().splitlines() if "rror" in line]
        kit.fail("pip cannot install the package:\n" + "\n".join(errors[:4]))
    script = (
        "import torch, poly_activation\n"
        "x = torch.arange(6.0, device='cuda')\n"
        "print(poly_activation.forward(x).tolist(), poly_activation.backward(x, x).tolist())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(FOLDER / "installed")},
    )
    said = ran.stdout.strip() or ran.stderr.strip()[-300:]
    wanted = "[1.0, 3.0, 7.0, 13.0, 21.0, 31.0] [0.0, 3.0, 10.0, 21.0, 36.0, 55.0]"
    kit.expect(
        said == wanted, f"import poly_activation in a new Python gives {said}, expected {wanted}."
    )

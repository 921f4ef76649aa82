# Another correct solution: a fixed number of programs, each of which takes every so many-th block.
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def vector_add(a, b, c, n, BLOCK: tl.constexpr):
    begin = tl.program_id(0) * BLOCK
    while begin < n:
        i = begin + tl.arange(0, BLOCK)
        x = tl.load(a + i, mask=i < n, other=0.0)
        y = tl.load(b + i, mask=i < n, other=0.0)
        tl.store(c + i, y + x, mask=i < n)
        begin += tl.num_programs(0) * BLOCK


def launch_vector_add(a, b, c):
    programs = min(3, triton.cdiv(a.numel(), BLOCK))
    if programs > 0:
        vector_add[(programs,)](a, b, c, a.numel(), BLOCK, num_warps=2)

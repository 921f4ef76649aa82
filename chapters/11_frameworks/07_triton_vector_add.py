# 11/07 Triton vector add: a program adds BLOCK elements; which thread adds which, Triton decides.
#   a, b, c  tensors of n float32, contiguous, on one device; 0 <= n < 2^31 - BLOCK
#   TODOs    2
import triton
import triton.language as tl

BLOCK = 1024  # elements of one program; a power of two


@triton.jit
def vector_add(a, b, c, n, BLOCK: tl.constexpr):
    pass  # TODO(1): Make the BLOCK indices of this program, load both operands, store the sums.
    # A mask keeps the last program from what lies past n (about 4 lines).


def launch_vector_add(a, b, c):
    n = a.numel()
    programs = 0  # TODO(2): As many as cover n, rounding up.
    if programs > 0:
        vector_add[(programs,)](a, b, c, n, BLOCK)

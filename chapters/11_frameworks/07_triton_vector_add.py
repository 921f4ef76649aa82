# 11/07 Triton vector add: a program adds BLOCK elements; which thread adds which, Triton decides.
#   a, b, c  tensors of n float32, contiguous, on the current device; 0 <= n < 2^31 - BLOCK
#   TODOs    2
import triton
import triton.language as tl

BLOCK = 1024  # elements of one program; a power of two


@triton.jit
def vector_add(a, b, c, n, BLOCK: tl.constexpr):
    pass  # TODO(1): The sums of this program's BLOCK elements, as far as n has them (about 4 lines).


def launch_vector_add(a, b, c):
    pass  # TODO(2): As many programs as cover n, and none where n is 0 (about 4 lines).

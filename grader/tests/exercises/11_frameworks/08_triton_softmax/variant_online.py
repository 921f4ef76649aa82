# Another correct solution: a row in pieces, with a running maximum and a sum that follows it; then
# once more over the row.
import triton
import triton.language as tl

PIECE = 4096


@triton.jit
def softmax_rows(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * cols
    y += row * cols
    largest = -float("inf")
    total = 0.0
    for begin in range(0, cols, BLOCK):
        col = begin + tl.arange(0, BLOCK)
        value = tl.load(x + col, mask=col < cols, other=-float("inf"))
        larger = tl.maximum(largest, tl.max(value, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(value - larger), axis=0)
        largest = larger
    for begin in range(0, cols, BLOCK):
        col = begin + tl.arange(0, BLOCK)
        value = tl.load(x + col, mask=col < cols, other=0.0)
        tl.store(y + col, tl.exp(value - largest) / total, mask=col < cols)


def launch_softmax_rows(x, y):
    rows, cols = x.shape
    block = min(triton.next_power_of_2(cols), PIECE)
    softmax_rows[(rows,)](x, y, cols, block, num_warps=8 if block > 1024 else 4)

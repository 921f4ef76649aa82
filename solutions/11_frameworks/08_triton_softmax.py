# 11/08 Triton softmax: one program normalises a row, which it holds in registers.
#   x, y   rows x cols float32, contiguous, on the current device; 1 <= cols <= 32768
#          y = exp(x - max) / sum(exp(x - max)) of each row, finite for any finite x
#   TODOs  2
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, cols, BLOCK: tl.constexpr):
    #~ pass  # TODO(1): The softmax of row number tl.program_id(0), stable for large values. BLOCK is a
    #~ # power of two, at least cols; nothing is read or written past the row (about 6 lines).
    #~begin 1
    # A row number of 64 bits: row * cols may pass 2^31.
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)  # BLOCK >= cols, and a power of two
    value = tl.load(x + row * cols + col, mask=col < cols, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    result = power / tl.sum(power, axis=0)
    tl.store(y + row * cols + col, result, mask=col < cols)
    #~end


def launch_softmax_rows(x, y):
    #~ pass  # TODO(2): A program per row, in a block that holds it, with more warps for longer rows, at
    #~ # most 16 (about 4 lines).
    #~begin 2
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    warps = min(max(block // 256, 1), 16)  # 8 values per thread, until the warps are used up
    softmax_rows[(rows,)](x, y, cols, block, num_warps=warps)
    #~end

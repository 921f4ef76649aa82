#!/usr/bin/env python3
"""Writes fixtures of wgmma: PTX whose comments say what it must compute.

    wgmma_fixtures.py FOLDER                        those that belong to grader/tests/fixtures
    wgmma_fixtures.py FOLDER --random N [--seed S] [--sparse]  N others, of random forms

`ptx_run FOLDER` runs them in the simulator, `grade exec --ptx FOLDER --device gpu` on a card of compute
capability 9.0. Shared memory is filled with words that fit the types; which of them a matrix has
follows from the figures of the PTX ISA (Asynchronous Warpgroup Level Matrix Shared Memory Layout),
drawn here atom by atom and row by row, not computed from the bits of addresses as in the simulator.
All sums are exact, so that no rounding of a tensor core can show. Python 3, standard library only.
"""

import argparse
import os
import random
import struct

WORDS = 64  # of the input, per table
GROUP = 128  # threads


def bits_of_float(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def float_of_bits(b):
    return struct.unpack("<f", struct.pack("<I", b))[0]


def half(b):
    return struct.unpack("<e", struct.pack("<H", b))[0]


def bits_of_half(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]


def e4m3(b):
    exponent, mantissa = b >> 3 & 15, b & 7
    value = mantissa * 2.0**-9 if exponent == 0 else (1 + mantissa / 8) * 2.0**(exponent - 7)
    return -value if b >> 7 else value


BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
DECODE = {
    "f16": half,
    "bf16": lambda b: float_of_bits(b << 16),
    "tf32": lambda b: float_of_bits(b & 0xFFFFE000),
    "e4m3": e4m3,
    "e5m2": lambda b: half(b << 8),
    "s8": lambda b: b - 256 if b > 127 else b,
    "u8": lambda b: b,
    "b1": lambda b: b,
}
FLOATS = [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3]
SMALL = {t: {DECODE[t](b): b for b in range(256) if b & 0x7F < 0x7C} for t in ("e4m3", "e5m2")}


def random_element(t, rng):
    if t in ("b1", "s8", "u8"):
        return rng.getrandbits(BITS[t])
    value = rng.choice(FLOATS)
    if t == "f16":
        return bits_of_half(value)
    if t == "bf16":
        return bits_of_float(value) >> 16
    if t == "tf32":
        return bits_of_float(value) | rng.getrandbits(13)  # bits that are not looked at
    return SMALL[t][value]


def table_of(t, rng):
    per_word = 32 // BITS[t]
    return [sum(random_element(t, rng) << i * BITS[t] for i in range(per_word)) for _ in range(WORDS)]


def pick(i):
    """Which word of the table word i of shared memory is."""
    return (i * 2654435761 & 0xFFFFFFFF) >> 26


class Matrix:
    """Rows of A or columns of B ("mn") by k in shared memory, from byte `base` on."""

    def __init__(self, t, swizzle, major, mn, k, base, spread, part):
        self.bits, self.major, self.base, self.swizzle = BITS[t], major, base, swizzle
        self.units = max(1, swizzle // 16)  # of 16 bytes, in a row of an atom
        self.per_unit = 128 // self.bits  # elements
        self.part = part if major == "k" and swizzle == 128 else 0
        atom, groups = 128 * self.units, mn // 8
        deep = k // 8 if major != "k" else k * self.bits // 128  # atoms or units along k
        if major == "k" and swizzle:
            self.stride, self.leading = atom * spread, 16
            self.size = groups * self.stride
        elif major == "k":
            self.leading, self.stride = (128, 128 * deep) if spread == 1 else (128 * groups, 128)
            self.size = groups * self.stride + deep * self.leading
        else:
            wide = -(-mn // (self.units * self.per_unit))
            near, far = atom, atom * (deep if spread == 1 else wide)
            # What is next to an atom: the next k, or the next m or n.
            along_k, along_mn = (near, far) if spread == 1 else (far, near)
            self.stride, self.leading = (along_k, along_mn) if swizzle else (along_mn, along_k)
            self.size = deep * wide * atom

    def unit(self, atom, row, unit):
        rows_per_step = 8 // self.units
        return atom + row * self.units * 16 + (unit ^ row // rows_per_step % self.units) * 16

    def place(self, mn, k):
        """Byte and bit of an element."""
        along, across = (k, mn) if self.major == "k" else (mn, k)
        unit, within = divmod(along, self.per_unit)
        group, row = divmod(across, 8)
        if self.major == "k" and self.swizzle:
            at = self.unit(self.base + group * self.stride, row, unit + 2 * self.part)
        elif self.major == "k":
            at = self.base + group * self.stride + unit * self.leading + row * 16
        elif self.swizzle:
            atom = self.base + unit // self.units * self.leading + group * self.stride
            at = self.unit(atom, row, unit % self.units)
        else:
            at = self.base + unit * self.stride + group * self.leading + row * 16
        return at, within * self.bits

    def start(self):
        return self.base + 32 * self.part

    def upper_descriptor(self):
        mode = {0: 0, 128: 1, 64: 2, 32: 3}[self.swizzle]
        return self.leading >> 4 << 16 | self.stride >> 4 << 32 | mode << 62


class Form:
    """One instruction and where its operands are."""

    def __init__(self, name, note, n, d, a, b, swizzle=128, major="kk", registers=False, adds=True,
                 scale=(1, 1), saturates=False, spread=1, part=0, b_swizzle=None, sparse=None):
        rng = random.Random(name)
        self.name, self.note, self.n, self.d, self.a, self.b = name, note, n, d, a, b
        self.registers, self.adds, self.scale, self.saturates = registers, adds, scale, saturates
        self.sparse = sparse  # None, or which threads of each four hold the metadata
        self.stored = 256 // BITS[a]  # of k, of A
        self.k = self.stored if sparse is None else 2 * self.stored
        majors = ["k" if letter == "k" else "mn" for letter in major]
        self.of_a, end = None, 0
        if not registers:
            self.of_a = Matrix(a, swizzle, majors[0], 64, self.stored, 0, spread, part)
            end = -(-self.of_a.size // 1024) * 1024
        b_swizzle = swizzle if b_swizzle is None else b_swizzle
        if sparse is not None:  # its k is 64 bytes: half a row of the widest pattern, two of the smallest
            part = part // 2 * 2
            b_swizzle = 64 if b_swizzle == 32 and majors[1] == "k" else b_swizzle
        self.of_b = Matrix(b, b_swizzle, majors[1], n, self.k, end, spread, part)
        self.split = end // 4  # the words from here on are of the type of B
        self.bytes = end + -(-self.of_b.size // 1024) * 1024
        self.tables = [table_of(a, rng)] + ([table_of(b, rng)] if a != b else [])
        pairs = [0b0100, 0b1110] if a == "tf32" else [x | y << 2 for x in range(4) for y in range(x + 1, 4)]
        self.chunks = [sum(rng.choice(pairs) << 4 * i for i in range(8)) for _ in range(WORDS)]
        self.majors = majors

    def word(self, i):
        return self.tables[-1 if i >= self.split else 0][pick(i)]

    def element(self, matrix, t, mn, k):
        byte, bit = matrix.place(mn, k)
        bit += byte % 4 * 8
        return DECODE[t](self.word(byte // 4 + bit // 32) >> bit % 32 & (1 << BITS[t]) - 1)

    def register_of_a(self, thread, r):
        return self.tables[0][pick(100000 + 4 * thread + r)]

    def metadata(self, thread):
        return self.chunks[pick(500000 + thread)]

    def kept(self, row, chunk):
        """Where in its chunk the two elements of A (of tf32 the one) stand: the figures of the PTX ISA, in which
        a thread has eight times four bits."""
        quad, lower = row // 16 * 32 + row % 8 * 4, row % 16 // 8
        if BITS[self.a] == 8:  # each thread one row: eight chunks of the left or the right half
            thread, bits = quad + 2 * (chunk // 8) + lower, 4 * (chunk % 8)
        else:  # each thread two rows, four chunks of each
            thread, bits = quad + 2 * self.sparse + chunk // 4, 16 * lower + 4 * (chunk % 4)
        four = self.metadata(thread) >> bits & 15
        return [{0b0100: 0, 0b1110: 1}[four]] if self.a == "tf32" else [four & 3, four >> 2]

    def filled_up(self, rows):
        if self.sparse is None:
            return rows
        width = 2 if self.a == "tf32" else 4  # of a chunk
        full = [[0] * self.k for _ in range(64)]
        for m, row in enumerate(rows):
            stored = iter(row)
            for chunk in range(self.k // width):
                for place in self.kept(m, chunk):
                    full[m][chunk * width + place] = next(stored)
        return full

    def rows_of_a(self):
        if not self.registers:
            return [[self.element(self.of_a, self.a, m, k) for k in range(self.stored)] for m in range(64)]
        rows, per = [[0] * self.stored for _ in range(64)], 32 // BITS[self.a]
        for thread in range(GROUP):
            for r in range(4):
                row = thread // 32 * 16 + thread % 32 // 4 + 8 * (r % 2)
                for e in range(per):
                    k = r // 2 * (self.stored // 2) + thread % 4 * per + e
                    bits = self.register_of_a(thread, r) >> e * BITS[self.a]
                    rows[row][k] = DECODE[self.a](bits & (1 << BITS[self.a]) - 1)
        return rows

    def first_sum(self):
        return 0x7FFFFFF0 if self.saturates else 0

    def expected(self):
        a = self.filled_up(self.rows_of_a())
        b = [[self.element(self.of_b, self.b, j, k) for k in range(self.k)] for j in range(self.n)]
        sign = self.scale[0] * self.scale[1]
        out = []
        for thread in range(GROUP):
            total = 0
            for i in range(self.n // 2):
                row = thread // 32 * 16 + thread % 32 // 4 + 8 * (i // 2 % 2)
                column = i // 4 * 8 + thread % 4 * 2 + i % 2
                value = sign * sum(x * y for x, y in zip(a[row], b[column]))
                if self.adds:
                    value += self.first_sum() + (thread + i) % 5
                if self.saturates:
                    value = max(-2**31, min(2**31 - 1, value))
                if self.d == "f16":
                    assert half(bits_of_half(value)) == value, self.name
                total += value * (i + 1)
            if self.d == "s32":
                out.append(total % 2**32)
            else:
                assert abs(total) < 2**22 and total * 4 == int(total * 4), self.name
                out.append(bits_of_float(total))
        return out

    # ---- the text

    def fill(self):
        second = [f"  setp.ge.u32 %p1, %r3, {self.split};", f"  @%p1 add.u32 %r4, %r4, {WORDS};"]
        return [
            "  mov.u32 %r1, %tid.x;", "  mov.u32 %r2, tiles;", "  mov.u32 %r3, %r1;", "fill:",
            "  mul.lo.u32 %r4, %r3, 2654435761;", "  shr.u32 %r4, %r4, 26;",
            *(second if len(self.tables) > 1 else []), "  mul.wide.u32 %rd3, %r4, 4;",
            "  add.u64 %rd3, %rd1, %rd3;", "  ld.global.b32 %r5, [%rd3];", "  shl.b32 %r6, %r3, 2;",
            "  add.u32 %r6, %r2, %r6;", "  st.shared.b32 [%r6], %r5;", f"  add.u32 %r3, %r3, {GROUP};",
            f"  setp.lt.u32 %p1, %r3, {self.bytes // 4};", "  @%p1 bra fill;"
        ]

    def load_registers_of_a(self):
        lines = ["  shl.b32 %r7, %r1, 2;", "  add.u32 %r7, %r7, 100000;"]
        for r in range(4):
            lines += [
                f"  add.u32 %r8, %r7, {r};", "  mul.lo.u32 %r8, %r8, 2654435761;", "  shr.u32 %r8, %r8, 26;",
                "  mul.wide.u32 %rd3, %r8, 4;", "  add.u64 %rd3, %rd1, %rd3;",
                f"  ld.global.b32 %r{10 + r}, [%rd3];"
            ]
        return lines

    def load_metadata(self):
        first = WORDS * len(self.tables)
        return [
            "  add.u32 %r8, %r1, 500000;", "  mul.lo.u32 %r8, %r8, 2654435761;", "  shr.u32 %r8, %r8, 26;",
            f"  add.u32 %r8, %r8, {first};", "  mul.wide.u32 %rd3, %r8, 4;", "  add.u64 %rd3, %rd1, %rd3;",
            "  ld.global.b32 %r14, [%rd3];"
        ]

    def first_sums(self):
        lines = []
        for i in range(self.n // 2):
            lines += [f"  add.u32 %r8, %r1, {i};", "  rem.u32 %r8, %r8, 5;"]
            if self.d == "s32":
                lines.append(f"  add.s32 %r{20 + i}, %r8, {self.first_sum()};")
            elif self.d == "f32":
                lines.append(f"  cvt.rn.f32.u32 %f{20 + i}, %r8;")
            else:
                lines.append(f"  cvt.rn.f16.u32 %h{i % 2}, %r8;")
                if i % 2:
                    lines.append(f"  mov.b32 %r{20 + i // 2}, {{%h0, %h1}};")
        return lines

    @staticmethod
    def descriptor(register, matrix):
        return [
            f"  add.u32 %r9, %r2, {matrix.start()};", "  and.b32 %r9, %r9, 0x3ffff;",
            "  shr.u32 %r9, %r9, 4;", f"  cvt.u64.u32 {register}, %r9;",
            f"  or.b64 {register}, {register}, 0x{matrix.upper_descriptor():x};"
        ]

    def product(self):
        count = self.n // 4 if self.d == "f16" else self.n // 2
        sums = ", ".join(f"%{'f' if self.d == 'f32' else 'r'}{20 + i}" for i in range(count))
        of_a = "{%r10, %r11, %r12, %r13}" if self.registers else "%rd4"
        tail = "" if self.d == "s32" else f", {self.scale[0]}, {self.scale[1]}"
        if BITS[self.a] == 16:
            orders = self.majors[1:] if self.registers else self.majors
            tail += "".join(f", {int(order == 'mn')}" for order in orders)
        end = (".and.popc" if self.a == "b1" else "") + (".satfinite" if self.saturates else "")
        name = f"m64n{self.n}k{self.k}.{self.d}.{self.a}.{self.b}{end}"
        kind, metadata = ("", "") if self.sparse is None else (".sp", f"%r14, {self.sparse}, ")
        return [
            f"  wgmma.mma_async{kind}.sync.aligned.{name}", f"    {{{sums}}},",
            f"    {of_a}, %rd5, {metadata}%p2{tail};"
        ]

    def add_up(self):
        if self.d == "s32":
            return ["  mov.u32 %r4, 0;"] + [
                f"  mad.lo.s32 %r4, %r{20 + i}, {i + 1}, %r4;" for i in range(self.n // 2)
            ]
        lines = ["  mov.f32 %f1, 0f00000000;"]
        for i in range(self.n // 2):
            value = f"%f{20 + i}"
            if self.d == "f16":
                if i % 2 == 0:
                    lines.append(f"  mov.b32 {{%h0, %h1}}, %r{20 + i // 2};")
                lines.append(f"  cvt.f32.f16 %f2, %h{i % 2};")
                value = "%f2"
            lines.append(f"  fma.rn.f32 %f1, {value}, 0f{bits_of_float(i + 1.0):08X}, %f1;")
        return lines

    def input(self):
        return sum(self.tables, []) + ([] if self.sparse is None else self.chunks)

    def text(self):
        rows = lambda word, values: [
            f"// {word}: b32 " + ", ".join(f"0x{x:08x}" for x in values[i:i + 8])
            for i in range(0, len(values), 8)
        ]
        result = "%r4" if self.d == "s32" else "%f1"
        lines = [
            f"// wgmma.mma_async{'' if self.sparse is None else '.sp'} m64n{self.n}k{self.k}.{self.d}.{self.a}.{self.b}: {self.note}",
            "// Word i of shared memory is one of the input, by a hash of i. Each thread adds up its sums,",
            "// the i-th of them i + 1 times. By grader/tests/simulator/wgmma/wgmma_fixtures.py.",
            f"// launch: grid 1 block {GROUP}", *rows("input", self.input()),
            *rows("expect", self.expected()), ".version 8.4", ".target sm_90a", ".address_size 64", "",
            ".visible .entry product(.param .u64 product_in, .param .u64 product_out)",
            f".maxntid {GROUP}, 1, 1", "{", f"  .shared .align 1024 .b8 tiles[{self.bytes}];",
            "  .reg .pred %p<3>;", "  .reg .b32 %r<160>;", "  .reg .f32 %f<160>;", "  .reg .f16 %h<2>;",
            "  .reg .b64 %rd<6>;", "  ld.param.u64 %rd1, [product_in];", "  ld.param.u64 %rd2, [product_out];",
            "  cvta.to.global.u64 %rd1, %rd1;", "  cvta.to.global.u64 %rd2, %rd2;", *self.fill(),
            *(self.load_registers_of_a() if self.registers else []),
            *(self.load_metadata() if self.sparse is not None else []), *self.first_sums(),
            "  fence.proxy.async.shared::cta;", "  bar.sync 0;",
            *([] if self.registers else self.descriptor("%rd4", self.of_a)),
            *self.descriptor("%rd5", self.of_b), f"  setp.eq.u32 %p2, 0, {0 if self.adds else 1};",
            "  wgmma.fence.sync.aligned;", *self.product(), "  wgmma.commit_group.sync.aligned;",
            "  wgmma.wait_group.sync.aligned 0;", *self.add_up(), "  mul.wide.u32 %rd3, %r1, 4;",
            "  add.u64 %rd3, %rd2, %rd3;", f"  st.global.b32 [%rd3], {result};", "  ret;", "}"
        ]
        return "\n".join(lines) + "\n"


def listed_forms():
    f = Form
    for s in (0, 32, 64, 128):
        yield f(f"f32_f16_k_swizzle{s}", f"A and B k-major, swizzle {s}.", 24, "f32", "f16", "f16", s)
        yield f(f"f32_f16_mn_swizzle{s}", f"A m-major, B n-major, swizzle {s}.", 72, "f32", "f16", "f16", s, "mm")
        yield f(f"f32_bf16_spread_swizzle{s}", f"A k-major, B n-major, other strides, swizzle {s}.", 40, "f32",
                "bf16", "bf16", s, "km", spread=2)
        yield f(f"f32_f16_spread_m_swizzle{s}", f"A m-major, B k-major, other strides, swizzle {s}.", 16, "f32",
                "f16", "f16", s, "mk", spread=2)
    yield f("f32_f16_n8", "the smallest n, from the second 32 bytes of a row.", 8, "f32", "f16", "f16", part=1)
    yield f("f32_bf16_n256", "the largest n.", 256, "f32", "bf16", "bf16", major="km")
    yield f("f32_bf16_n248", "n that is no multiple of 16.", 248, "f32", "bf16", "bf16", 64)
    yield f("f32_bf16_part3", "the last 32 bytes of each row.", 64, "f32", "bf16", "bf16", part=3)
    yield f("f32_f16_two_swizzles", "A with swizzle 128, B with 32.", 32, "f32", "f16", "f16", major="km", b_swizzle=32)
    yield f("f32_bf16_registers", "A in registers, B n-major.", 48, "f32", "bf16", "bf16", major="km", registers=True)
    yield f("f32_f16_registers", "A in registers, B k-major.", 128, "f32", "f16", "f16", 64, registers=True)
    yield f("f16_f16", "sums in f16.", 56, "f16", "f16", "f16")
    yield f("f16_f16_registers", "sums in f16, A in registers.", 16, "f16", "f16", "f16", 32, registers=True)
    yield f("f32_f16_not_added", "D is not added to.", 16, "f32", "f16", "f16", adds=False)
    yield f("f32_f16_negated_a", "A is negated.", 16, "f32", "f16", "f16", scale=(-1, 1))
    yield f("f32_f16_negated_b", "A in registers, B is negated.", 16, "f32", "f16", "f16", scale=(1, -1), registers=True)
    yield f("f32_bf16_negated_both", "both are negated.", 16, "f32", "bf16", "bf16", scale=(-1, -1), registers=True)
    yield f("f32_tf32", "both in shared memory.", 24, "f32", "tf32", "tf32", part=2)
    yield f("f32_tf32_registers", "A in registers, negated; no swizzle.", 96, "f32", "tf32", "tf32", 0, scale=(-1, 1),
            registers=True)
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield f(f"f32_{a}_{b}", "both in shared memory.", 32, "f32", a, b, part=1)
    yield f("f16_e4m3_e4m3", "sums in f16.", 24, "f16", "e4m3", "e4m3", 64)
    yield f("f16_e5m2_e4m3_registers", "sums in f16, A in registers.", 24, "f16", "e5m2", "e4m3", 64, registers=True)
    yield f("f32_e4m3_e4m3_registers", "A in registers, B negated.", 64, "f32", "e4m3", "e4m3", 32, scale=(1, -1),
            registers=True)
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            yield f(f"s32_{a}_{b}", "both in shared memory.", 32, "s32", a, b, part=2)
    yield f("s32_s8_u8_registers", "A in registers.", 48, "s32", "s8", "u8", 32, registers=True)
    yield f("s32_u8_u8_satfinite", "sums that would overflow.", 16, "s32", "u8", "u8", saturates=True)
    yield f("sparse_f32_f16", "sparse A in shared memory.", 32, "f32", "f16", "f16", sparse=0)
    yield f("sparse_f32_bf16_registers", "sparse A in registers, metadata in the other threads, B n-major.", 64, "f32",
            "bf16", "bf16", major="km", registers=True, sparse=1)
    yield f("sparse_f16_f16_m", "sparse A m-major, sums in f16.", 16, "f16", "f16", "f16", 64, "mk", sparse=1)
    yield f("sparse_f32_tf32", "sparse A in shared memory.", 24, "f32", "tf32", "tf32", sparse=0)
    yield f("sparse_f32_tf32_registers", "sparse A in registers, negated.", 40, "f32", "tf32", "tf32", 64,
            scale=(-1, 1), registers=True, sparse=1)
    yield f("sparse_f32_e4m3_e5m2", "sparse A in shared memory.", 32, "f32", "e4m3", "e5m2", sparse=0)
    yield f("sparse_s32_s8_u8", "sparse A in shared memory.", 48, "s32", "s8", "u8", 0, sparse=0)
    yield f("sparse_s32_u8_s8_registers", "sparse A in registers.", 16, "s32", "u8", "s8", registers=True, sparse=0)
    yield f("s32_b1_b1", "bits.", 24, "s32", "b1", "b1", part=1)
    yield f("s32_b1_b1_registers", "bits, A in registers.", 16, "s32", "b1", "b1", 0, registers=True)


def random_form(number, rng, sparse_too):
    pairs = [("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"),
             ("s32", "b1", "b1")]
    pairs += [("f32", a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
    pairs += [("f16", a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
    pairs += [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
    d, a, b = rng.choice(pairs)
    n = rng.choice(range(8, 257, 8) if d != "s32" else [8, 16, 24, 32] + list(range(48, 257, 16)))
    sparse = rng.choice((0, 0 if BITS[a] == 8 else 1)) if a != "b1" and sparse_too and rng.random() < 0.4 else None
    while True:
        form = Form(f"random_{number:04}", "a random form.", n, d, a, b, rng.choice((0, 32, 64, 128)),
                    rng.choice(("kk", "km", "mk", "mm")) if BITS[a] == 16 else "kk", rng.random() < 0.4,
                    rng.random() < 0.8, (1, 1) if d == "s32" else (rng.choice((1, -1)), rng.choice((1, -1))),
                    d == "s32" and a != "b1" and rng.random() < 0.3, rng.choice((1, 2)), rng.randrange(4),
                    rng.choice((None, 0, 32, 64, 128)), sparse)
        if form.bytes <= 48 * 1024:
            return form
        n = max(8, n // 32 * 16)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sparse", action="store_true", help="sparse ones among the random forms")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    forms = (random_form(i, rng, arguments.sparse) for i in range(arguments.random)) if arguments.random else listed_forms()
    os.makedirs(arguments.folder, exist_ok=True)
    for form in forms:
        with open(os.path.join(arguments.folder, f"wgmma_{form.name}.ptx"), "w") as file:
            file.write(form.text())


if __name__ == "__main__":
    main()

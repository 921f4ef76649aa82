#!/usr/bin/env python3
"""Writes random kernels of clusters: PTX whose comments say what it must compute.

    cluster_kernels.py FOLDER [--count N] [--seed S]

`ptx_run FOLDER` runs them in the simulator, `grade exec --ptx FOLDER --device gpu` on a card of compute
capability 9.0. A kernel is a sequence of random steps on two buffers of each block and a sum of each
thread: loads, stores and atomics on the shared memory of other blocks, st.async and red.async, bulk
copies and reductions between blocks and from global memory, multicast, remote arrivals at mbarriers,
with each form of the barrier of the cluster between them. What must come out is reckoned here, step by
step, from what the PTX ISA says. Python 3, standard library only.
"""

import argparse
import os
import random

WORD = 0xFFFFFFFF
REDUCTIONS = {
    "add": lambda old, x: old + x & WORD,
    "min": min,
    "max": max,
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "inc": lambda old, x: 0 if old >= x else old + 1,
    "dec": lambda old, x: x if old == 0 or old > x else old - 1,
}
BUFFERS = ["%one", "%two"]
COMMUTATIVE = ["add", "min", "max", "and", "or", "xor"]


def typed(op):
    return f"{op}.b32" if op in ("and", "or", "xor") else f"{op}.u32"


class Kernel:
    def __init__(self, number, rng):
        self.name = f"cluster_{number:04}"
        self.rng = rng
        self.size = rng.choice((1, 2, 2, 3, 4, 4, 8))  # blocks of a cluster
        self.clusters = rng.choice((1, 2))
        self.threads = rng.choice((32, 64))
        self.input = [rng.getrandbits(32) for _ in range(4 * self.threads)]
        self.blocks = range(self.size * self.clusters)
        self.shared = [[[0] * self.threads for _ in range(2)] for _ in self.blocks]
        self.sums = [[0] * self.threads for _ in self.blocks]
        self.code = []
        self.labels = 0

    # ---- of the text

    def say(self, *lines):
        self.code += ["  " + line for line in lines]

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def meet(self):
        """The barrier of the cluster: what was done before is seen behind it."""
        form = self.rng.randrange(4)
        if form == 0:
            self.say("barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;")
        elif form == 1:
            self.say("barrier.cluster.arrive.release;", "barrier.cluster.wait.acquire;")
        elif form == 2:
            self.say("fence.acq_rel.cluster;", "barrier.cluster.arrive.relaxed.aligned;",
                     "barrier.cluster.wait.acquire.aligned;")
        else:
            self.say("barrier.cluster.arrive.release.aligned;", f"add.u32 %sum, %sum, {self.labels};",
                     "barrier.cluster.wait.aligned;")
            for block in self.blocks:
                self.sums[block] = [s + self.labels & WORD for s in self.sums[block]]

    def wait(self, barrier="full", phase="%phase"):
        label = self.label()
        self.say(f"{label}:", f"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [{barrier}], {phase};",
                 f"@!%q bra {label};", f"xor.b32 {phase}, {phase}, 1;")

    def expect(self, count):
        self.say(f"@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {count};")

    def other(self, shift):
        """%rank -> %to: the block that many ranks further."""
        self.say(f"add.u32 %to, %rank, {shift};", f"rem.u32 %to, %to, {self.size};")

    def peer(self, block, shift):
        return block // self.size * self.size + (block % self.size + shift) % self.size

    def at(self, buffer, shift=0):
        """%at: the word of this thread, some words further; the same in Python."""
        self.say(f"add.u32 %at, %thread, {shift};", f"and.b32 %at, %at, {self.threads - 1};",
                 f"mad.lo.u32 %at, %at, 4, {BUFFERS[buffer]};")
        return lambda t: (t + shift) % self.threads

    def shifts(self):
        return self.rng.randrange(self.size), self.rng.randrange(self.threads)

    # ---- steps: what is written, and what happens

    def mix(self):
        buffer, factor, more = self.rng.randrange(2), self.rng.randrange(1 << 16) | 1, self.rng.getrandbits(31)
        self.at(buffer)
        self.say("ld.shared.u32 %x, [%at];", f"mad.lo.u32 %x, %x, {factor}, {more};", "mad.lo.u32 %x, %global, 7, %x;",
                 "add.u32 %x, %x, %sum;", "st.shared.u32 [%at], %x;")
        for b in self.blocks:
            for t in range(self.threads):
                old = self.shared[b][buffer][t]
                index = b * self.threads + t
                self.shared[b][buffer][t] = old * factor + more + 7 * index + self.sums[b][t] & WORD

    def remote_store(self):
        buffer, (k, s) = self.rng.randrange(2), self.shifts()
        self.other(k)
        word = self.at(buffer, s)
        self.say("mapa.shared::cluster.u32 %r, %at, %to;", "add.u32 %x, %sum, %global;", "st.shared::cluster.u32 [%r], %x;")
        new = {(self.peer(b, k), word(t)): self.sums[b][t] + b * self.threads + t & WORD
               for b in self.blocks for t in range(self.threads)}
        for (b, t), value in new.items():
            self.shared[b][buffer][t] = value

    def remote_load(self):
        buffer, (k, s) = self.rng.randrange(2), self.shifts()
        self.other(k)
        word = self.at(buffer, s)
        if self.rng.random() < 0.5:
            self.say("mapa.shared::cluster.u32 %r, %at, %to;", "ld.shared::cluster.u32 %x, [%r];")
        else:
            self.say("cvt.u64.u32 %rd1, %at;", "cvta.shared.u64 %rd1, %rd1;", "mapa.u64 %rd1, %rd1, %to;", "ld.u32 %x, [%rd1];",
                     "getctarank.u64 %y, %rd1;", "add.u32 %x, %x, %y;", "sub.u32 %x, %x, %to;")
        self.say("mad.lo.u32 %sum, %sum, 3, %x;")
        for b in self.blocks:
            for t in range(self.threads):
                x = self.shared[self.peer(b, k)][buffer][word(t)]
                self.sums[b][t] = self.sums[b][t] * 3 + x & WORD

    def remote_atomic(self):
        buffer, (k, s), op = self.rng.randrange(2), self.shifts(), self.rng.choice(COMMUTATIVE)
        mask = self.rng.choice((0, 3, self.threads - 1))  # how many threads meet at a word
        to_first = self.rng.random() < 0.3
        if to_first:
            self.say("mov.u32 %to, 0;")
        else:
            self.other(k)
        self.say(f"add.u32 %at, %thread, {s};", f"and.b32 %at, %at, {mask};",
                 f"mad.lo.u32 %at, %at, 4, {BUFFERS[buffer]};", "mapa.shared::cluster.u32 %r, %at, %to;",
                 "add.u32 %x, %global, 3;", f"red.relaxed.cluster.shared::cluster.{typed(op)} [%r], %x;")
        for b in self.blocks:
            home = b // self.size * self.size if to_first else self.peer(b, k)
            for t in range(self.threads):
                words = self.shared[home][buffer]
                i = t + s & mask
                words[i] = REDUCTIONS[op](words[i], b * self.threads + t + 3)

    def store_async(self):
        buffer, (k, s), vector = self.rng.randrange(2), self.shifts(), self.rng.choice((1, 2, 4))
        self.expect(4 * self.threads)
        self.other(k)
        if vector == 1:
            word = self.at(buffer, s)
            self.say("mapa.shared::cluster.u32 %r, %at, %to;", "mapa.shared::cluster.u32 %bar, %full, %to;", "add.u32 %x, %sum, 11;",
                     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r], %x, [%bar];")
            parts = lambda t: [(word(t), 0)]
        else:
            active = self.threads // vector
            self.say(f"mad.lo.u32 %at, %thread, {4 * vector}, {BUFFERS[buffer]};",
                     "mapa.shared::cluster.u32 %r, %at, %to;", "mapa.shared::cluster.u32 %bar, %full, %to;", "add.u32 %x, %sum, 11;",
                     "add.u32 %y, %x, 1;", "add.u32 %z, %x, 2;", "add.u32 %w, %x, 3;", f"setp.lt.u32 %p, %thread, {active};",
                     f"@%p st.async.shared::cluster.mbarrier::complete_tx::bytes.v{vector}.b32 [%r], "
                     f"{{{', '.join(('%x', '%y', '%z', '%w')[:vector])}}}, [%bar];")
            parts = lambda t: [(vector * t + i, i) for i in range(vector)] if t < active else []
        self.wait()
        new = {(self.peer(b, k), i): self.sums[b][t] + 11 + more & WORD
               for b in self.blocks for t in range(self.threads) for i, more in parts(t)}
        for (b, i), value in new.items():
            self.shared[b][buffer][i] = value

    def reduce_async(self):
        buffer, (k, s), op = self.rng.randrange(2), self.shifts(), self.rng.choice(list(REDUCTIONS))
        self.expect(4 * self.threads)
        self.other(k)
        word = self.at(buffer, s)
        self.say("mapa.shared::cluster.u32 %r, %at, %to;", "mapa.shared::cluster.u32 %bar, %full, %to;", "add.u32 %x, %sum, %thread;",
                 f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{typed(op)} [%r], %x, [%bar];")
        self.wait()
        values = {(self.peer(b, k), word(t)): self.sums[b][t] + t & WORD
                  for b in self.blocks for t in range(self.threads)}
        for (b, i), value in values.items():
            self.shared[b][buffer][i] = REDUCTIONS[op](self.shared[b][buffer][i], value)

    def bulk_between(self):
        source, k = self.rng.randrange(2), self.rng.randrange(self.size)
        words = 4 * self.rng.randint(1, self.threads // 4)
        begin = 4 * self.rng.randint(0, (self.threads - words) // 4)
        op = self.rng.choice(list(REDUCTIONS) + [None] * 4)
        self.say("fence.proxy.async;")
        self.meet()
        before = [list(self.shared[b][source]) for b in self.blocks]
        self.expect(4 * words)
        self.other(k)
        here, there = BUFFERS[source], BUFFERS[1 - source]
        name = "cp.async.bulk" if op is None else "cp.reduce.async.bulk"
        end = "" if op is None else "." + typed(op)
        self.say(f"add.u32 %at, {there}, {4 * begin};", "mapa.shared::cluster.u32 %r, %at, %to;",
                 "mapa.shared::cluster.u32 %bar, %full, %to;", f"add.u32 %at, {here}, {4 * begin};",
                 f"@%first {name}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes{end} [%r], [%at], {4 * words}, [%bar];")
        self.wait()
        for b in self.blocks:
            target = self.shared[self.peer(b, k)][1 - source]
            for i in range(begin, begin + words):
                x = before[b][i]
                target[i] = x if op is None else REDUCTIONS[op](target[i], x)

    def bulk_load(self):
        buffer, words = self.rng.randrange(2), 4 * self.rng.randint(1, self.threads // 4)
        begin = 4 * self.rng.randint(0, (self.threads - words) // 4)
        first = 4 * self.rng.randint(0, (len(self.input) - words) // 4)
        mask = self.rng.randrange(1, 1 << self.size) if self.rng.random() < 0.6 else 0
        issuer = self.rng.randrange(self.size)
        self.say("fence.proxy.async;")
        self.meet()
        self.say(f"add.u32 %at, {BUFFERS[buffer]}, {4 * begin};", f"add.u64 %rd1, %in, {4 * first};")
        end = self.label()
        if mask:
            self.say(f"shr.u32 %x, {mask}, %rank;", "and.b32 %x, %x, 1;", "setp.ne.u32 %member, %x, 0;",
                     f"setp.eq.and.u32 %p, %rank, {issuer}, %first;", f"mov.b16 %mask, {mask};",
                     f"@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%at], [%rd1], "
                     f"{4 * words}, [%full], %mask;", f"@!%member bra {end};")
            self.expect(4 * words)
        else:
            self.expect(4 * words)
            self.say(f"@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%at], [%rd1], {4 * words}, [%full];")
        self.wait()
        self.code.append(f"{end}:")
        for b in self.blocks:
            if not mask or mask >> b % self.size & 1:
                self.shared[b][buffer][begin:begin + words] = self.input[first:first + words]

    def arrive_elsewhere(self):
        """Words for another block, whose mbarrier is told by each thread."""
        buffer, (k, s) = self.rng.randrange(2), self.shifts()
        self.other(k)
        word = self.at(buffer, s)
        self.say("mapa.shared::cluster.u32 %r, %at, %to;", "mapa.shared::cluster.u32 %bar, %told, %to;", "xor.b32 %x, %sum, %global;",
                 "st.shared::cluster.u32 [%r], %x;", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%bar];")
        self.wait("told", "%heard")
        new = {(self.peer(b, k), word(t)): self.sums[b][t] ^ b * self.threads + t
               for b in self.blocks for t in range(self.threads)}
        for (b, i), value in new.items():
            self.shared[b][buffer][i] = value
        own = self.at(buffer)
        self.say("ld.shared.u32 %x, [%at];", "add.u32 %sum, %sum, %x;")
        for b in self.blocks:
            for t in range(self.threads):
                self.sums[b][t] = self.sums[b][t] + self.shared[b][buffer][own(t)] & WORD

    # ---- the whole

    def build(self):
        steps = [self.mix, self.remote_store, self.remote_load, self.remote_atomic, self.store_async,
                 self.reduce_async, self.bulk_between, self.bulk_load, self.arrive_elsewhere]
        for step in [self.mix] + self.rng.choices(steps, k=self.rng.randint(4, 12)):
            step()
            self.meet()
        return self

    def text(self):
        rows = lambda word, values: [f"// {word}: u32 " + ", ".join(map(str, values[i:i + 16]))
                                     for i in range(0, len(values), 16)]
        expected = [x for b in self.blocks for x in self.shared[b][0] + self.shared[b][1] + self.sums[b]]
        n = self.threads
        head = ["// A random kernel of clusters. By grader/tests/simulator/clusters/cluster_kernels.py.",
                f"// launch: grid {len(self.blocks)} block {n}", *rows("input", self.input), *rows("expect", expected),
                ".version 8.6", ".target sm_90a", ".address_size 64", "",
                f".visible .entry {self.name}(.param .u64 input, .param .u64 output)", ".explicitcluster",
                f".reqnctapercluster {self.size}, 1, 1", "{", "  .reg .pred %p, %q, %first, %member;", "  .reg .b16 %mask;",
                "  .reg .b32 %thread, %global, %rank, %one, %two, %full, %told, %phase, %heard, %sum, %at, %to, %r, %bar;",
                "  .reg .b32 %x, %y, %z, %w;", "  .reg .b64 %in, %out, %rd1;", "  .shared .align 8 .b64 full;",
                "  .shared .align 8 .b64 told;", f"  .shared .align 16 .b8 a[{4 * n}];", f"  .shared .align 16 .b8 b[{4 * n}];",
                "  ld.param.u64 %in, [input];", "  ld.param.u64 %out, [output];", "  cvta.to.global.u64 %in, %in;",
                "  cvta.to.global.u64 %out, %out;", "  mov.u32 %thread, %tid.x;", "  mov.u32 %x, %ctaid.x;",
                f"  mad.lo.u32 %global, %x, {n}, %thread;", "  mov.u32 %rank, %cluster_ctarank;", "  mov.u32 %one, a;",
                "  mov.u32 %two, b;", "  mov.u32 %full, full;", "  mov.u32 %told, told;", "  mov.u32 %phase, 0;",
                "  mov.u32 %heard, 0;", "  mov.u32 %sum, 0;", "  setp.eq.u32 %first, %thread, 0;",
                "  @%first mbarrier.init.shared::cta.b64 [full], 1;", f"  @%first mbarrier.init.shared::cta.b64 [told], {n};",
                "  @%first fence.mbarrier_init.release.cluster;", "  mad.lo.u32 %at, %thread, 4, %one;",
                "  st.shared.u32 [%at], 0;", f"  st.shared.u32 [%at+{4 * n}], 0;", "  barrier.cluster.arrive.aligned;",
                "  barrier.cluster.wait.aligned;"]
        tail = ["  mov.u32 %x, %ctaid.x;", f"  mad.lo.u32 %x, %x, {3 * n}, %thread;", "  mad.wide.u32 %rd1, %x, 4, %out;",
                "  mad.lo.u32 %at, %thread, 4, %one;", "  ld.shared.u32 %y, [%at];", "  st.global.u32 [%rd1], %y;",
                "  mad.lo.u32 %at, %thread, 4, %two;", "  ld.shared.u32 %y, [%at];", f"  st.global.u32 [%rd1+{4 * n}], %y;",
                f"  st.global.u32 [%rd1+{8 * n}], %sum;", "  ret;", "}"]
        return "\n".join(head + self.code + tail) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    for number in range(arguments.count):
        kernel = Kernel(number, random.Random(f"{arguments.seed} {number}")).build()
        with open(os.path.join(arguments.folder, kernel.name + ".ptx"), "w") as file:
            file.write(kernel.text())


if __name__ == "__main__":
    main()

"""Speed on a GPU: the learner's call beside others, in pairs, in one process, on cold caches.

As kit/speed/speed.h of C++: poisoned outputs, L2 flushed before each sample, pairs in the order
ABBA until the 98 % interval of the median ratio is narrow; a spread too wide decides nothing.
"""

import dataclasses
import math
import statistics

import torch

import kit

GUARD_BAND = 0.03  # a bar missed by less is let pass
MOST_SPREAD = 0.15  # half of the interval; above, something else used the card
NARROW = 0.015
LEAST_PAIRS, MOST_PAIRS, LONGEST_MS = 15, 200, 2000


@dataclasses.dataclass
class Other:
    """What the call is compared with: a name, a call, and the least ratios (0: no such bar)."""

    kind: str  # "stage" or "library"
    name: str
    call: object
    reach: float  # for a pass
    gold: float = 0
    reference: float = 0


class _Clock:
    def __init__(self):
        size = 2 * torch.cuda.get_device_properties(0).L2_cache_size
        self.flushing = torch.zeros(size // 4, device="cuda")
        self.sink = torch.zeros((), device="cuda")

    def milliseconds(self, call, poison):
        poison()
        torch.sum(self.flushing, dim=0, out=self.sink)  # reads: a write would leave dirty lines
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)


def _interval(values):
    """(low, median, high): the order statistics between which the median lies with 98 %."""
    ordered = sorted(values)
    n = len(ordered)
    reach = math.ceil(2.33 * math.sqrt(n) / 2)
    return (
        ordered[max(0, n // 2 - reach)],
        statistics.median(ordered),
        ordered[min(n - 1, n // 2 + reach)],
    )


def _pairs(clock, call, other, poison):
    """Milliseconds of both, pair by pair."""
    clock.milliseconds(call, poison)
    clock.milliseconds(other, poison)
    mine, theirs, spent = [], [], 0
    while len(mine) < MOST_PAIRS and (len(mine) < LEAST_PAIRS or spent < LONGEST_MS):
        first_is_mine = len(mine) % 2 == 0
        times = [
            clock.milliseconds(f, poison)
            for f in ((call, other) if first_is_mine else (other, call))
        ]
        mine.append(times[0 if first_is_mine else 1])
        theirs.append(times[1 if first_is_mine else 0])
        spent += sum(times)
        if len(mine) >= LEAST_PAIRS:
            low, middle, high = _interval([b / a for a, b in zip(mine, theirs)])
            if high - low < 2 * NARROW * middle:
                break
    return mine, theirs


def _level(ratio, other):
    level = "none"
    for name, bar in (("pass", other.reach), ("gold", other.gold), ("reference", other.reference)):
        if bar > 0 and ratio >= bar * (1 - GUARD_BAND):
            level = name
    return level


def against(call, outputs, others, check, bytes_moved=0, flops=0):
    """Grades call(): one reached bar of `others` is enough. `outputs` are poisoned before every
    sample, check() looks at what the last one left."""

    def poison():
        for output in outputs:
            output.fill_(float("nan"))

    clock = _Clock()
    ratios, levels, undecided = [], [], []
    for other in others:
        mine, theirs = _pairs(clock, call, other.call, poison)
        low, middle, high = _interval([b / a for a, b in zip(mine, theirs)])
        if high - low > 2 * MOST_SPREAD * middle:
            undecided.append(
                f"the ratio to {other.name} lies anywhere from {low:.2f} to {high:.2f}."
            )
        levels.append(_level(middle, other))
        ratios.append(
            dict(
                kind=other.kind,
                name=other.name,
                ratio=middle,
                low=low,
                high=high,
                reference=other.reference,
                gold=other.gold,
                level=levels[-1],
                seconds=statistics.median(theirs) / 1000,
                amount=1,
                **{"pass": other.reach},
            )
        )
    clock.milliseconds(call, poison)
    check()
    order = ["none", "pass", "gold", "reference"]
    level = max(levels, key=order.index)
    verdict = "inconclusive" if undecided else "fail" if level == "none" else "pass"
    device = torch.cuda.get_device_name()
    kit.report_speed(
        device=device,
        modelled=False,
        seconds=statistics.median(mine) / 1000,
        bytes=bytes_moved,
        flops=flops,
        slice=1,
        rounds=len(mine),
        verdict=verdict,
        level=level,
        reason=" ".join(undecided),
        left_out="",
        ratios=ratios,
    )
    if verdict == "fail":
        said = "; ".join(
            f"{r['ratio']:.2f} times the speed of {r['name']} (a pass needs {r['pass']})"
            for r in ratios
        )
        kit.fail(
            f"Right, but too slow on {device}: {said}."
            + (" One of them is enough." if len(ratios) > 1 else "")
        )

"""The private channel to the grader: one sealed JSON line per event (kit/seal.h).

What a learner prints cannot pass for a result: the grader reads no output. Without a grader
(GRADE_CHANNEL is not set) nothing is sent.
"""

import json
import os
import sys

_MASK = (1 << 64) - 1


def _turned(x, bits):
    return (x << bits | x >> (64 - bits)) & _MASK


def _round(a, b, c, d):
    a, c = (a + b) & _MASK, (c + d) & _MASK
    b, d = _turned(b, 13) ^ a, _turned(d, 16) ^ c
    a = _turned(a, 32)
    c, a = (c + b) & _MASK, (a + d) & _MASK
    b, d = _turned(b, 17) ^ c, _turned(d, 21) ^ a
    return a, b, _turned(c, 32), d


def seal_of(key, number, text):
    """SipHash-2-4 of the line's number and its bytes, as 16 hex digits. `key` has 32 of them."""
    high, low = int(key[:16], 16), int(key[16:], 16)
    state = (
        low ^ 0x736F6D6570736575,
        high ^ 0x646F72616E646F6D,
        low ^ 0x6C7967656E657261,
        high ^ 0x7465646279746573,
    )
    data = number.to_bytes(8, "little") + text
    data += bytes(-(len(data) + 1) % 8) + bytes([len(data) & 0xFF])
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at : at + 8], "little")
        a, b, c, d = state
        a, b, c, d = _round(*_round(a, b, c, d ^ word))
        state = a ^ word, b, c, d
    a, b, c, d = state
    a, b, c, d = _round(*_round(*_round(*_round(a, b, c ^ 0xFF, d))))
    return f"{a ^ b ^ c ^ d:016x}"


class Channel:
    def __init__(self):
        setting = os.environ.pop("GRADE_CHANNEL", "")
        self._descriptor, key = None, ""
        if setting.isdigit():  # a socket, in which the key lies
            self._descriptor = int(setting)
            key = os.read(self._descriptor, 32).decode()
        self._key = key
        self._sent = 0
        if self.open:
            os.set_inheritable(self._descriptor, False)

    @property
    def open(self):
        return self._descriptor is not None

    def send(self, event, **fields):
        if not self.open:
            return
        line = json.dumps({"event": event, **fields}, separators=(",", ":")).encode() + b"\n"
        data = seal_of(self._key, self._sent, line).encode() + b" " + line
        self._sent += 1
        sys.stdout.flush()
        while data:
            data = data[os.write(self._descriptor, data) :]

"""The private channel to the grader: one JSON line per event, each with the nonce of this run.

What a learner prints cannot pass for a result: the grader reads no output. Without a grader
(GRADE_CHANNEL is not set) nothing is sent.
"""

import json
import os
import sys


class Channel:
    def __init__(self):
        # Taken out of the environment: programs that the learner's code starts do not get it.
        descriptor, _, nonce = os.environ.pop("GRADE_CHANNEL", "").partition(":")
        self._descriptor = int(descriptor) if descriptor.isdigit() and nonce else None
        self._nonce = (
            int(nonce) if nonce.isdigit() and len(nonce) < 16 and nonce[0] != "0" else nonce
        )
        if self.open:
            os.set_inheritable(self._descriptor, False)

    @property
    def open(self):
        return self._descriptor is not None

    def send(self, event, **fields):
        if not self.open:
            return
        line = json.dumps({"nonce": self._nonce, "event": event, **fields}, separators=(",", ":"))
        data = line.encode() + b"\n"
        sys.stdout.flush()
        while data:
            data = data[os.write(self._descriptor, data) :]

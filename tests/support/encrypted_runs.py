"""Runs of two parties under Paillier's encryption, watched from the side of the key's owner."""

from __future__ import annotations

import asyncio
import itertools

import numpy as np
from scipy import stats

from unspoken.joint.museum.paillier import Scheme
from unspoken.joint.session.play import in_memory
from unspoken.joint.wire.endpoint import Roles
from unspoken.joint.wire.frames import HEADER_BYTES, parse

BITS = 1024
PAIR = Roles(("p0", "p1"), ("p0", "p1"), ("p0", "p1"), mode="two-party")
COLUMNS = 24


def decrypted_by_the_first(monkeypatch, program, given_):
    """Return all numbers that the owner of the key decrypts, and the modulus of each."""
    seen = []
    real = Scheme.decrypt

    def decrypt(self, ciphertext):
        seen.append((real(self, ciphertext), self.n))
        return seen[-1][0]

    with monkeypatch.context() as patch:
        patch.setattr(Scheme, "decrypt", decrypt)
        # What is decrypted does not depend on it, and it takes half of the time.
        patch.setattr(Scheme, "rerandomised", lambda self, ciphertext: ciphertext)
        outcomes = asyncio.run(in_memory(program, given_, PAIR))
    assert [outcome.error for outcome in outcomes] == [None] * 2
    return seen


def uniform(numbers, bits):
    """Return the p-value of numbers, and of their differences, against uniform ones."""
    size = 1 << bits
    steps = [(b - a) % size for a, b in itertools.pairwise(numbers)]
    return min(stats.kstest([n / size for n in row], "uniform").pvalue
               for row in (numbers, steps))


def in_full(seen):
    """Return the p-value of numbers against uniform ones below their modulus."""
    return uniform([(number << 104) // n for number, n in seen], 104)


def frames_between(program, given_):
    """Run once; return payloads by label as lists of ciphertexts, and outputs."""
    got = {}

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label.startswith("paillier"):
            rows = np.frombuffer(frame[HEADER_BYTES:], np.uint8).reshape(
                -1, header.shape[-1])
            got[header.label] = [int.from_bytes(row.tobytes(), "little") for row in rows]
        return frame

    outcomes = asyncio.run(in_memory(program, given_, PAIR, tap=tap))
    assert [outcome.error for outcome in outcomes] == [None] * 2
    return got, [outcome.output for outcome in outcomes]

"""Secrets come from the operating system, each for itself, at full width; mutants are noticed."""

from __future__ import annotations

import asyncio
import hashlib
from itertools import pairwise

import numpy as np
import pytest

from support.entropy import watched_entropy
from support.view_programs import ONE, products
from unspoken.joint.mpc import party as party_module
from unspoken.joint.mpc import ristretto
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, parse


def frames(mode, *labels):
    """Run once; return what was sent under some labels, once for each sender and receiver."""
    sent = {}

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label in labels:
            sent[source, target, header.label] = frame[HEADER_BYTES:]
        return frame

    outcomes = asyncio.run(in_memory(products, ONE, roles_for(["p0", "p1"], mode), tap=tap))
    assert [outcome.error for outcome in outcomes] == [None] * len(outcomes)
    return sent


def seeds_are_fresh():
    """Say whether every seed that the dealer sends was drawn for itself."""
    with watched_entropy() as drawn:
        seeds = list(frames("dealer", sources.SEED).values())
    return len(seeds) == 2 and len(set(seeds)) == 2 and set(seeds) <= set(drawn)


def test_every_holder_has_a_seed_of_its_own():
    assert seeds_are_fresh()


def test_a_seed_derived_from_another_is_caught(monkeypatch):
    init = sources.Dealer.__init__

    def derived(self, *args):
        init(self, *args)
        self._seeds[1] = hashlib.sha256(self._seeds[0]).digest()

    monkeypatch.setattr(sources.Dealer, "__init__", derived)
    assert not seeds_are_fresh()


def scalars_are_wide():
    """Say whether the point of the base transfers comes from 64 bytes of the system's source."""
    sodium = ristretto._sodium()
    with watched_entropy() as drawn:
        points = list(frames("two-party", "ot.base").values())
    seeds = [one for one in drawn if len(one) == 32]
    known = {bytes(sodium.crypto_scalarmult_ristretto255_base(
        sodium.crypto_core_ristretto255_scalar_reduce(one + other)))
        for one, other in pairwise(seeds)}
    return bool(points) and set(points) <= known


@pytest.mark.slow
def test_transfers_use_secrets_of_full_width():
    assert scalars_are_wide()


@pytest.mark.slow
def test_a_transfer_secret_of_32_bits_is_caught(monkeypatch):
    def narrow():
        return np.frombuffer(ristretto.fresh_seed(), np.uint8)[:4].tobytes() + bytes(28)

    monkeypatch.setattr(ristretto, "fresh_scalar", narrow)
    assert not scalars_are_wide()


def keys_are_generated(monkeypatch):
    """Say whether the public keys that parties send belong to freshly generated pairs."""
    made, real = [], party_module.X25519PrivateKey

    class Watched:
        @staticmethod
        def generate():
            made.append(real.generate())
            return made[-1]

        from_private_bytes = real.from_private_bytes

    with monkeypatch.context() as patch:
        if party_module.X25519PrivateKey is real:
            patch.setattr(party_module, "X25519PrivateKey", Watched)
        sent = set(frames("dealer", "agree").values())
    return len(sent) == 2 and sent <= {key.public_key().public_bytes_raw() for key in made}


def test_key_pairs_are_generated(monkeypatch):
    assert keys_are_generated(monkeypatch)


def test_predictable_key_pairs_are_caught(monkeypatch):
    real = party_module.Party.agree

    async def agree(self):
        private = party_module.X25519PrivateKey
        secret = private.from_private_bytes(hashlib.sha256(self.name.encode()).digest())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(private, "generate", staticmethod(lambda: secret))
            await real(self)

    monkeypatch.setattr(party_module.Party, "agree", agree)
    assert not keys_are_generated(monkeypatch)

"""How well records would be linked, and what a linkage unit could guess, on an owner's own table.

Two thirds of the people are linked with two thirds, half of them the same, whose values have typing
errors: which links are right is known here. The attack (`linkage_attack`) is on the encodings of
one half of the people, by somebody who knows how frequent values are among the other half.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.audit.linkage_attack import Guessed, guess_values
from unspoken.audit.typing_errors import mistyped
from unspoken.joint.mpc.linkage.field_tokens import LinkColumn
from unspoken.joint.mpc.linkage.pair_assignment import linked
from unspoken.joint.mpc.linkage.record_encodings import EncodingRules, encode_records

ATTACKED = 10_000
"""People whose encodings are attacked, at most; the attack's matrices grow with them."""


@dataclass(frozen=True)
class LinkageQuality:
    """How many links are right, how many partners were found, and what the unit expects itself."""

    precision: float
    recall: float
    expected: float
    threshold: float


def linkage_quality(columns: Sequence[LinkColumn], values: Sequence[Sequence[Any]],
                    rules: EncodingRules, errors: float, precision: float = 0.98,
                    seed: int | None = None) -> LinkageQuality:
    """Link a table with a copy that has typing errors in a share of each column's values."""
    draw = np.random.default_rng(seed)
    order, third = draw.permutation(len(values[0])), len(values[0]) // 3
    here, there = order[:2 * third], draw.permutation(order[third:3 * third])
    mine = [[column[place] for place in here] for column in values]
    theirs = [mistyped([column[place] for place in there], errors, draw) for column in values]
    key = secrets.token_bytes(32)
    rows = [encode_records(columns, part, key, rules) for part in (mine, theirs)]
    result = linked(rows[0], rows[1], rules.kind, precision)
    right = int((here[result.pairs.first] == there[result.pairs.second]).sum())
    return LinkageQuality(right / max(1, len(result.pairs.first)), right / max(1, third),
                          result.precision, result.threshold)


def guessed_by_unit(columns: Sequence[LinkColumn], values: Sequence[Sequence[Any]],
                    rules: EncodingRules, known: int, seed: int | None = None) -> list[Guessed]:
    """Attack the encodings of half of the people, knowing how frequent values are in the others."""
    order = np.random.default_rng(seed).permutation(len(values[0]))
    half = min(ATTACKED, len(order) // 2)
    mine, others = ([[column[place] for place in part] for column in values]
                    for part in (order[:half], order[half:]))
    encodings = encode_records(columns, mine, secrets.token_bytes(32), rules)
    return guess_values(columns, (mine, encodings), others, named(rules), min(known, half // 2))


def named(rules: EncodingRules) -> str:
    """Return an encoding in words."""
    salted = f", salted by {rules.salt}" if rules.salt else ""
    return (f"minhash {rules.bits}" if rules.kind == "minhash" else rules.kind) + salted

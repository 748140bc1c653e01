"""The museum, run: protocols of the book on invented data, recorded, and attacked.

Every exhibit plays a protocol in memory with invented values, takes the view of one party or of two
that collude, and works out of the messages what it can (the analysis of transcripts of vcz2006
section 2.2): how many of a victim's values are known for certain, beside guessing. Nobody's data is
involved; real runs never keep a transcript.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Words
from unspoken.errors import InputError, explain, unknown
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops.oblivious_polynomial import Side, evaluate_to, plain_polynomial
from unspoken.joint.mpc.ops.secure_sum import secure_sum
from unspoken.joint.museum.cycle_sum import cycle_sum
from unspoken.joint.museum.message_equations import recover
from unspoken.joint.museum.message_leaks import Totals, moved_points
from unspoken.joint.museum.ring_sum import ring_sum
from unspoken.joint.museum.weak_products import WEAK, matrix_product
from unspoken.joint.session.recorded_run import run_recorded
from unspoken.joint.wire.transports.recording import Received, Transcript

MOST_VALUES = 500
OWNERS = 5
_LEFT, _VICTIM, _RIGHT = "p1", "p2", "p3"


@dataclass(frozen=True)
class Exhibit:
    """What was played and by whom it was watched, and how many of the victim's values came out."""

    name: str
    section: str
    watched_by: str
    values: int
    recovered: int
    note: str

    def to_json(self) -> dict[str, Any]:
        """Return the exhibit as plain data."""
        return dict(vars(self))


def exhibits(name: str | None = None, values: int = 40, seed: int = 0) -> list[Exhibit]:
    """Play one exhibit, or all of them, with that many invented values an owner."""
    if name is not None and name not in EXHIBITS:
        raise InputError(unknown("An exhibit", name, tuple(EXHIBITS)))
    if not 4 <= values <= MOST_VALUES:
        raise InputError(explain("'values'", f"from 4 to {MOST_VALUES}", values))
    rng = np.random.default_rng(seed)
    return [EXHIBITS[one](values, rng) for one in ([name] if name else EXHIBITS)]


def _watched(program: Any, inputs: list[Any]) -> dict[str, Transcript]:
    outcomes, views = run_recorded(program, inputs)
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return views


Sum = Callable[..., Awaitable[Any]]


def _summed(way: Sum, values: int, rng: np.random.Generator) -> int:
    """Return how many values the two neighbours of an owner on the ring find together."""
    @declares("total")
    async def program(party: Any, data: Any) -> Any:
        return await way(party, data, because="total")

    inputs = [rng.integers(0, 1000, values) for _ in range(OWNERS)]
    views = _watched(program, inputs)
    before = [one for one in views[_LEFT].received if one.label.startswith("sum.")]
    after = [one for one in views[_RIGHT].received if one.source == _VICTIM]
    guesses = [(_words(late) - _words(early)).astype(np.int64) - inputs[1]
               for early in before for late in after
               if early.array.shape == late.array.shape and early.label == late.label]
    return max((int((guess == inputs[2]).sum()) for guess in guesses), default=0)


def _words(message: Received) -> Words:
    return np.asarray(message.array, np.uint64)


def _ring(values: int, rng: np.random.Generator) -> Exhibit:
    return Exhibit("ring-sum", "3.3.2", f"{_LEFT} and {_RIGHT}, the neighbours of {_VICTIM}",
                   values, _summed(ring_sum, values, rng),
                   "what goes in less what comes out is the owner's own; use the task 'sum'")


def _cycles(values: int, rng: np.random.Generator) -> Exhibit:
    return Exhibit("cycle-sum", "3.3.2", f"{_LEFT} and {_RIGHT}, neighbours of {_VICTIM}",
                   values, _summed(cycle_sum, values, rng),
                   "two neighbours see one share of several; all neighbours on all cycles see all")


def _masks(values: int, rng: np.random.Generator) -> Exhibit:
    return Exhibit("masked-sum", "3.3.2", f"{_LEFT} and {_RIGHT}", values,
                   _summed(secure_sum, values, rng),
                   "the sum that studies use: everybody but one has to collude")


def _product(method: str, section: str, times: int) -> Callable[..., Exhibit]:
    def play(values: int, rng: np.random.Generator) -> Exhibit:
        columns: list[Floats] = [rng.normal(size=(values, 2)) for _ in range(2)]

        @declares(WEAK)
        async def program(party: Any, data: Any) -> None:
            for _ in range(times):
                await matrix_product(party, data, ["p0", "p1"], values, (2, 2), method=method)

        out = recover(_watched(program, list(columns))["p0"])[0]
        certain = int(out.certain.sum()) * values
        return Exhibit(f"{method}, run {'once' if times == 1 else 'twice'}", section, "p0",
                       2 * values, certain,
                       f"{out.bits_left / max(out.bits_before, 1):.0%} of the bits are left")
    return play


def _polynomial(values: int, rng: np.random.Generator) -> Exhibit:
    coefficients, points = rng.integers(-9, 10, 4), rng.integers(-9, 10, 3)
    sides = Side("p0", 4, -9, 9), Side("p1", 3, -9, 9)

    @declares("values")
    async def program(party: Any, data: Any) -> Any:
        return await evaluate_to(party, data, *sides, because="values")

    outcomes, _ = run_recorded(program, [coefficients, points])
    right = np.array_equal(outcomes[1].output, plain_polynomial(coefficients, points))
    return Exhibit("polynomial", "4.3", "p1, who has the points", 4, 0,
                   "not weak: as many points as the degree leave the polynomial open"
                   if right else "the values are wrong")


def _moved(values: int, rng: np.random.Generator) -> Exhibit:
    points = rng.normal(size=(values, 3)).round(3)
    before, after = (Totals(len(some), some.sum(axis=0)) for some in (points[1:], points))
    found = moved_points(before, after)
    right = 0 if found is None else int(np.isclose(found, points[:1]).sum())
    return Exhibit("published-means", "7.2.1", "whoever sees two iterations", 3, right,
                   "one point that changes its cluster is the difference of two published sums")


EXHIBITS: dict[str, Callable[[int, np.random.Generator], Exhibit]] = {
    "ring-sum": _ring, "cycle-sum": _cycles, "masked-sum": _masks,
    "protocol-1": _product("protocol-1", "5.2.1", 1),
    "protocol-1-twice": _product("protocol-1", "5.2.1", 2),
    "protocol-2": _product("protocol-2", "5.2.1", 1),
    "polynomial": _polynomial, "published-means": _moved,
}

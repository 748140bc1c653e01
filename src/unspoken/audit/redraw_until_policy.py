"""Drawing codes again until a policy holds: bounded tries, each of them reported.

How much a few knowledge points give depends on the draw, so another draw can help against them.
It cannot help against what only order decides (rank, samples, histograms): those numbers are the
same for every key, and `redraw` stops early when nothing that fails depends on the draw.

Choosing among draws discloses a little about the key: it is one for which the policy holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from unspoken.audit.run_audit import audit
from unspoken.disclosure.adversary import Adversary
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Judgement
from unspoken.disclosure.knowledge import PRESETS
from unspoken.disclosure.plain_language import level
from unspoken.disclosure.policy import Policy
from unspoken.numerics.random import derive, seed_from
from unspoken.release.key import Key
from unspoken.release.parameters import Whole, check
from unspoken.release.release import Release
from unspoken.table.table import Table


@dataclass(frozen=True)
class Redrawn:
    """The draw that passed, or the best one, and the judgement of every try.

    Attributes
    ----------
    release : Release
        The release of that draw.
    key : Key
        Its key.
    audit : Audit
        Its audit.
    judgement : Judgement
        What the policy says of it.
    tries : tuple of Judgement
        What the policy says of every draw.
    """

    release: Release
    key: Key
    audit: Audit
    judgement: Judgement
    tries: tuple[Judgement, ...]

    @property
    def passed(self) -> bool:
        """Return True if the policy holds for the release."""
        return self.judgement.passed

    def summary(self) -> str:
        """Return how many draws it took and how it ended."""
        held = "holds" if self.passed else "does not hold; this is the draw with fewest reasons"
        return "\n".join([f"{len(self.tries)} draws: the policy {held}.", self.judgement.summary()])


def redraw(
    encoder: Any,
    table: Table,
    policy: Policy,
    tries: int = 10,
    trials: int = 100,
    random_state: Any = None,
    *,
    adversaries: Iterable[str | Adversary] | None = None,
    **options: Any,
) -> Redrawn:
    """Protect a table repeatedly until the policy holds, at most `tries` times.

    Parameters
    ----------
    encoder : PiecewiseEncoder
        The method; it is cloned, never changed, and each try gets its own seed.
    table : Table
        The original.
    policy : Policy
        What must hold.
    tries : int, default 10
        The most draws.
    trials : int, default 100
        Trials per audit.
    random_state : int, default None
        Repeats the run; None takes seeds from the operating system.
    adversaries : iterable of str or Adversary, default None
        As in `audit`.
    **options
        Further options of `audit`.

    Returns
    -------
    Redrawn

    Notes
    -----
    Stops early if nothing that fails depends on the draw. Choosing among draws discloses a little
    about the key: it is one for which the policy holds.

    Examples
    --------
    >>> redraw(PiecewiseEncoder(), table, policy).summary()  # doctest: +SKIP
    """
    check("redraw", {"tries": (Whole(1), "Use 10.")}, {"tries": tries})
    chosen = None if adversaries is None else list(adversaries)
    seed = None if random_state is None else seed_from(random_state)
    done: list[Judgement] = []
    best: Redrawn | None = None
    for number in range(tries):
        one = _one_try(encoder, table, policy, trials, seed, number, chosen, options)
        done.append(one.judgement)
        if best is None or len(one.judgement.reasons) < len(best.judgement.reasons):
            best = one
        if one.passed or not _may_help(one.judgement):
            break
    assert best is not None
    return Redrawn(best.release, best.key, best.audit, best.judgement, tuple(done))


def _one_try(encoder: Any, table: Table, policy: Policy, trials: int, seed: bytes | None,
             number: int, adversaries: Any, options: dict[str, Any]) -> Redrawn:
    fresh = clone(encoder)
    fresh.set_params(random_state=None if seed is None else _number(derive(seed, "try", number)))
    release, key = fresh.protect(table)
    same = None if seed is None else _number(derive(seed, "audit"))
    result = audit(table, release, key, trials=trials, random_state=same, policy=policy,
                   adversaries=adversaries, **options)
    assert result.judgement is not None
    return Redrawn(release, key, result, result.judgement, (result.judgement,))


def _number(seed: bytes) -> int:
    return int.from_bytes(seed[:8], "little")


def _may_help(judgement: Judgement) -> bool:
    """Return True if some broken limit depends on the draw: few points do, order does not."""
    return any(level(knowledge) in PRESETS for knowledge in judgement.broken)

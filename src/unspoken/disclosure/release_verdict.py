"""The verdict of an audit: the worst of naming and inferring, as a word beside a colour.

Naming is finding the record of a person: singling out, linking, re-identifying. Inferring is
learning a value. Both count beyond what people outside the release, or a guess without it, give.
A policy can only make a verdict worse, and so can what was not measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unspoken.disclosure.people_risk import DONE, INFERRED, LINKED, MEMBER, SINGLED
from unspoken.disclosure.plain_language import HIGH, percent

if TYPE_CHECKING:
    from unspoken.disclosure.audit_result import Audit

LOW = 0.05
"""Below this share a risk is called low."""
_IDENTIFIED = ("identified", "confident")
SMALL_LEAVES = "small leaves"
"""A share of people that is read off a published model itself."""
WORDS = {
    "low": ("Low risk", "may be released"),
    "raised": ("Raised risk", "release only to named recipients, under contract"),
    "high": ("High risk", "do not release"),
    "policy": ("Against the policy", "do not release"),
    "unknown": ("Not assessed", "do not release before it is"),
}


@dataclass(frozen=True)
class Finding:
    """The worst of one side of the verdict: what, how much beyond a guess, by whom, on what."""

    share: float
    words: str


@dataclass(frozen=True)
class Verdict:
    """What a privacy officer reads first.

    Attributes
    ----------
    level : str
        "low", "raised", "high", "policy" (it does not hold) or "unknown" (not assessed).
    naming, inferring : Finding or None
        The worst of each; None if it was not measured.
    reasons : tuple of str
        Why a policy does not hold, or what was not measured.
    upper_bound : bool
        True if there was no control group.
    """

    level: str
    naming: Finding | None
    inferring: Finding | None
    reasons: tuple[str, ...]
    upper_bound: bool

    @property
    def word(self) -> str:
        """Return the verdict in two words."""
        return WORDS[self.level][0]

    @property
    def advice(self) -> str:
        """Return what to do."""
        return WORDS[self.level][1]

    @property
    def release(self) -> bool:
        """Return False where the answer is "do not release"."""
        return self.level in ("low", "raised")

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        parts = {name: None if one is None else {"share": one.share, "words": one.words}
                 for name, one in (("naming", self.naming), ("inferring", self.inferring))}
        return {"level": self.level, "word": self.word, "advice": self.advice,
                "reasons": list(self.reasons), "upper_bound": self.upper_bound, **parts}


def verdict_of(audit: Audit) -> Verdict:
    """Return the verdict of an audit."""
    naming = max(_naming(audit), key=lambda one: one.share, default=None)
    inferring = max(_inferring(audit), key=lambda one: one.share, default=None)
    open_ended = audit.people is None or not audit.people.controlled
    reasons = [*audit.faults, *([] if audit.judgement is None else audit.judgement.reasons)]
    reasons += [f"'{name}' was not scored: {why}" for name, why in audit.unscored.items()]
    reasons += [f"{what} was not measured" for what, one in
                (("naming", naming), ("inferring", inferring)) if one is None]
    return Verdict(_level(audit, naming, inferring), naming, inferring, tuple(reasons), open_ended)


def may_leave(audit: Audit, verdict: Verdict) -> bool:
    """Return True if a release may be given away: by its policy, or without one by the verdict."""
    return not audit.failed and (audit.judgement is not None or verdict.release)


def _level(audit: Audit, naming: Finding | None, inferring: Finding | None) -> str:
    if audit.judgement is not None and not audit.judgement.passed:
        return "policy"
    if audit.faults:
        return "high"
    if naming is None or inferring is None or not audit.assessed:
        return "unknown" if max(_share(naming), _share(inferring)) < HIGH else "high"
    worst = max(naming.share, inferring.share)
    return "high" if worst >= HIGH else "raised" if worst >= LOW else "low"


def _share(one: Finding | None) -> float:
    return 0.0 if one is None else one.share


def _naming(audit: Audit) -> Iterator[Finding]:
    for risk in audit.people.risks if audit.people is not None else ():
        if risk.kind in _named_by(audit) and risk.people:
            yield Finding(risk.excess, f"{percent(risk.value)} of the people attacked are "
                          f"{DONE[risk.kind]} ({risk.adversary}, {risk.knowledge}); {risk.beside}")
    for row in audit.rows:
        if row.measure in _IDENTIFIED:
            yield Finding(_beyond(row.value, row.baseline), f"{percent(row.value)} of the people "
                          f"are re-identified ({row.adversary}, {row.knowledge}); by chance "
                          f"{percent(row.baseline)}")


def _named_by(audit: Audit) -> tuple[str, ...]:
    """Return what names people: of a model, which has no records, that they were its members."""
    return (MEMBER,) if "model" in audit.release else (SINGLED, LINKED)


def _inferring(audit: Audit) -> Iterator[Finding]:
    for risk in audit.people.risks if audit.people is not None else ():
        if risk.kind == INFERRED and risk.people:
            yield Finding(risk.excess, f"'{risk.column}' is guessed for {percent(risk.value)} of "
                          f"the people ({risk.adversary}, {risk.knowledge}); {risk.beside}")
    for row in audit.select(measure=SMALL_LEAVES):
        yield Finding(row.value, f"{percent(row.value)} of the people stand in a leaf of few, "
                      "which tells their target to whoever knows the questions on the way")
    for row in audit.select(measure="records"):
        if audit.people is None or row.column not in audit.people.read or row.adversary not in \
                {risk.adversary for risk in audit.people.risks}:
            yield Finding(_beyond(row.value, row.baseline), f"'{row.column}' is guessed for "
                          f"{percent(row.value)} of the people ({row.adversary}, "
                          f"{row.knowledge}); without the release {percent(row.baseline)}")


def _beyond(value: float, baseline: float) -> float:
    return max(0.0, (value - baseline) / (1.0 - baseline)) if baseline < 1 else 0.0

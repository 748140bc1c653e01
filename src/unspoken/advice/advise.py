"""From three answers to a recommendation, with its promise, its weakness and what was ruled out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unspoken.advice.ways import Way, ways
from unspoken.errors import InputError, unknown
from unspoken.release.uses import FIDELITIES, KNOWLEDGE, PURPOSES, RECIPIENTS, Use
from unspoken.table.table import Table

_MISSING = {
    "target": "it needs a target column",
    "numbers": "it needs columns of numbers",
    "categories": "it needs columns of categories",
    "quasi": "it needs to know the quasi-identifiers",
    "baskets": "it is for baskets",
    "no baskets": "it is for tables, not for baskets",
}
NO_ADVICE = ("Do not release: no way here serves that purpose against somebody who knows that "
             "much.")


@dataclass(frozen=True)
class Candidate:
    """A way that is meant for this, and why it was ruled out, if it was."""

    way: Way
    use: Use
    ruled_out: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"way": self.way.name, "summary": self.way.summary, "promise": self.way.promise,
                "keeps": self.use.keeps, "withstands": self.use.withstands,
                "breaks": self.use.breaks, "parameters": dict(self.way.parameters),
                "commands": list(self.way.commands), "ruled_out": self.ruled_out}


@dataclass(frozen=True)
class Advice:
    """The answers, every way that is meant for them, the best first.

    Attributes
    ----------
    recipient, purpose, knowledge : str
        The three answers.
    candidates : tuple of Candidate
        What serves the purpose for the recipient; those that were ruled out come last.
    """

    recipient: str
    purpose: str
    knowledge: str
    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate | None:
        """Return the recommended way; None where nothing should be released."""
        open_ones = [one for one in self.candidates if not one.ruled_out]
        return open_ones[0] if open_ones else None

    def summary(self) -> str:
        """Return the recommendation in words."""
        lines = [f"Who gets it:        {RECIPIENTS[self.recipient]}",
                 f"What for:           {PURPOSES[self.purpose]}",
                 f"What they may know: {KNOWLEDGE[self.knowledge]}", ""]
        lines += [NO_ADVICE] if self.best is None else _in_words(self.best)
        others = [one for one in self.candidates if one is not self.best]
        lines += ["", "Also looked at:"] * bool(others)
        lines += [f"  {one.way.name}: {one.ruled_out or _also(one)}" for one in others]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"recipient": self.recipient, "purpose": self.purpose, "knowledge": self.knowledge,
                "release": self.best is not None,
                "recommended": None if self.best is None else self.best.to_json(),
                "considered": [one.to_json() for one in self.candidates]}


def advise(recipient: str, purpose: str, knowledge: str, table: Table | None = None) -> Advice:
    """Recommend a way of sharing.

    Parameters
    ----------
    recipient : {"miner", "public", "analysts", "owners", "collector"}
        Who gets it.
    purpose : {"model", "prediction", "clusters", "statistics", "rules", "anything"}
        What for.
    knowledge : {"nothing", "facts", "records", "population", "anything"}
        What they might know.
    table : Table, default None
        What is to be shared; ways that cannot take it are ruled out.

    Returns
    -------
    Advice
        `best` is None where nothing should be released.

    Examples
    --------
    >>> advise("miner", "model", "nothing").best.way.name
    'piecewise'
    >>> advise("miner", "clusters", "records").best is None
    True
    """
    for question, answer, known in (("A recipient", recipient, RECIPIENTS),
                                    ("A purpose", purpose, PURPOSES),
                                    ("Knowledge", knowledge, KNOWLEDGE)):
        if answer not in known:
            raise InputError(unknown(question, answer, known))
    candidates = [Candidate(way, use, _ruled_out(way, use, knowledge, table))
                  for way in ways() for use in way.uses if use.serves(recipient, purpose)]
    candidates.sort(key=lambda one: (bool(one.ruled_out), FIDELITIES.index(one.use.keeps)))
    return Advice(recipient, purpose, knowledge, tuple(candidates))


def _ruled_out(way: Way, use: Use, knowledge: str, table: Table | None) -> str:
    lacking = [] if table is None else _lacking(way, table)
    if lacking:
        return f"Ruled out: {' and '.join(_MISSING[one] for one in lacking)}."
    if not use.protects_against(knowledge):
        return ("Ruled out: it protects people only from somebody who knows "
                f"{KNOWLEDGE[use.withstands]}. {use.breaks}")
    return ""


def _lacking(way: Way, table: Table) -> list[str]:
    """Return what a table does not have that a way needs."""
    schema = table.schema
    baskets = bool(schema.of_kind("basket"))
    has: Mapping[str, bool] = {
        "target": schema.target is not None, "baskets": baskets,
        "quasi": bool(schema.with_role("quasi")),
        "numbers": bool({*schema.features} & {*schema.of_kind("numeric", "ordinal")}),
        "categories": bool({*schema.features} & {*schema.of_kind("categorical")}),
    }
    lacking = [need for need in way.needs if not has[need]]
    takes_both = way.method is None
    return lacking + (["no baskets"] if baskets and "baskets" not in way.needs
                      and not takes_both else [])


def _in_words(one: Candidate) -> list[str]:
    return [f"Recommended: {one.way.name}. {one.way.summary}",
            f"It promises: {one.way.promise}",
            f"It serves the purpose {one.use.keeps}.",
            f"What breaks it: {one.use.breaks}"]


def _also(one: Candidate) -> str:
    return f"Would do, and serves the purpose {one.use.keeps}. {one.way.summary}"

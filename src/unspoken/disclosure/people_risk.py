"""Risks to people: an attack on those in a release, on people who are not, and a blind guess.

What the attack gets of people who are not in the release (the control group) the population tells,
not the release. `Risk.beyond` is what is left: (attack - control) / (1 - control), with Wilson's
intervals carried over, as in Giomi et al. (2023), whose three risks are those of the European
guidance on anonymisation (WP 216): singling out, linking and inferring.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unspoken.disclosure.attribute_disclosure import wilson
from unspoken.disclosure.audit_rows import Row

SINGLED, LINKED, INFERRED, MEMBER = "singling out", "linking", "inferring", "membership"
RISKS = (SINGLED, LINKED, INFERRED, MEMBER)
BEYOND = "beyond control"
DONE = {SINGLED: "singled out", LINKED: "linked", MEMBER: "recognised as members",
        INFERRED: "inferred"}
NO_CONTROL = ("no control group: what the population tells cannot be separated from what the "
              "release tells, so these risks are upper bounds; pass people who are not in the "
              "release as control")


@dataclass(frozen=True)
class Risk:
    """How often one attack succeeds, beside people who are not in the release and a blind guess.

    Attributes
    ----------
    kind : str
        "singling out", "linking", "inferring" or "membership".
    column : str
        What is inferred, or "(people)".
    adversary, knowledge : str
        What the attack does, and what it knows of a person.
    hits, people : int
        Successes among people in the release.
    baseline : float
        The best guess without the release.
    control_hits : int or None
        Successes among people who are not in the release; None: there was no such group.
    control_people : int
        How many of them there were.
    """

    kind: str
    column: str
    adversary: str
    knowledge: str
    hits: int
    people: int
    baseline: float
    control_hits: int | None = None
    control_people: int = 0

    @property
    def value(self) -> float:
        """Return the share of people against whom the attack succeeds."""
        return self.hits / max(self.people, 1)

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95% interval of the share (Wilson)."""
        if not self.people:
            return 0.0, 1.0
        low, high = wilson(self.hits, self.people)
        # Rounding must not put the share outside its own interval.
        return min(low, self.value), max(high, self.value)

    @property
    def control(self) -> float | None:
        """Return the share of the control group, None without one."""
        if self.control_hits is None:
            return None
        return self.control_hits / max(self.control_people, 1)

    @property
    def upper_bound(self) -> bool:
        """Return True if there was no control group to tell the population apart."""
        return self.control_hits is None

    @property
    def beyond(self) -> tuple[float, float, float]:
        """Return what the release adds, with its 95% interval; without control the whole share."""
        if self.control_hits is None or not self.control_people:
            return (self.value, *self.interval)
        attack, error = _centre(self.hits, self.people)
        control, other = _centre(self.control_hits, self.control_people)
        room = 1.0 - control
        left = (attack - control) / room
        spread = float(np.hypot(error / room, other * (attack - 1.0) / room**2))
        value = _bound(left)
        return value, min(_bound(left - spread), value), max(_bound(left + spread), value)

    @property
    def excess(self) -> float:
        """Return what the release adds to control, or without one to the best blind guess."""
        if not self.upper_bound:
            return self.beyond[0]
        return _bound((self.value - self.baseline) / (1.0 - self.baseline)) \
            if self.baseline < 1 else 0.0

    @property
    def beside(self) -> str:
        """Return in words what control group and guess give."""
        guess = f"without the release {100 * self.baseline:.1f}%"
        if self.control is None:
            return f"{guess}, no control group"
        low, high = self.beyond[1:]
        return (f"of people outside the release {100 * self.control:.1f}%, {guess}; beyond control "
                f"{100 * low:.1f}% to {100 * high:.1f}%")

    def rows(self) -> Iterator[Row]:
        """Yield the risk as rows of an audit; the baseline is the better of guess and control."""
        least = max(self.baseline, self.control or 0.0)
        yield Row(self.adversary, self.knowledge, self.column, self.kind, self.value,
                  *self.interval, least, 1)
        if not self.upper_bound:
            yield Row(self.adversary, self.knowledge, self.column, f"{self.kind} {BEYOND}",
                      *self.beyond, 0.0, 1)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def _centre(hits: int, people: int) -> tuple[float, float]:
    low, high = wilson(hits, people)
    return (low + high) / 2, (high - low) / 2


def _bound(value: float) -> float:
    return float(min(max(value, 0.0), 1.0))


@dataclass(frozen=True)
class PersonRisks:
    """How likely each person is found by what is known of people.

    Prosecutor: the adversary knows that the person is in the release. Journalist: it does not, and
    everybody of the population who fits as well could be meant. Marketer: the expected share of
    all people who are found.

    Attributes
    ----------
    known : tuple of str
        The columns that are known of people.
    records : array of int
        The row of each person in the original; for the custodian only, in no report.
    prosecutor, journalist : array of float
        The chance that each person is found.
    """

    known: tuple[str, ...]
    records: Any
    prosecutor: Any
    journalist: Any

    @property
    def marketer(self) -> float:
        """Return the expected share of people who are found."""
        return float(np.mean(self.prosecutor)) if len(self.prosecutor) else 0.0

    def spread(self) -> dict[str, float]:
        """Return the distribution of the prosecutor's chance over people."""
        if not len(self.prosecutor):
            return {}
        found = np.asarray(self.prosecutor)
        worst = np.sort(found)[-max(1, found.size // 100):]
        points = {f"{q}%": float(np.percentile(found, q)) for q in (10, 25, 50, 75, 90, 99)}
        return {**points, "worst 1% on average": float(worst.mean()), "highest": float(found.max())}

    def chances(self) -> dict[str, float]:
        """Return what a policy can limit; nothing if nobody was looked at."""
        if not len(self.prosecutor):
            return {}
        spread = self.spread()
        return {"max_prosecutor": spread["highest"],
                "max_worst_percent": spread["worst 1% on average"],
                "max_journalist": float(np.max(self.journalist)), "max_marketer": self.marketer}

    def lines(self) -> list[str]:
        """Return the chances in a sentence."""
        if not len(self.prosecutor):
            return []
        found = self.spread()
        return [f"Who knows {', '.join(self.known)} of a person finds the record with a chance of "
                f"{100 * found['highest']:.1f}% at worst (prosecutor), "
                f"{100 * found['worst 1% on average']:.1f}% for the worst 1%, "
                f"{100 * self.marketer:.1f}% on average (marketer); not knowing that the person is "
                f"in the release {100 * float(np.max(self.journalist)):.1f}% at worst "
                "(journalist)."]

    def exposed(self, most: int = 100) -> list[tuple[int, float, float]]:
        """Return the rows of those who are most exposed, with both chances, the worst first."""
        order = np.lexsort((-np.asarray(self.journalist), -np.asarray(self.prosecutor)))[:most]
        return [(int(self.records[i]), float(self.prosecutor[i]), float(self.journalist[i]))
                for i in order if self.prosecutor[i] > 0]

    def to_json(self) -> dict[str, Any]:
        """Return plain data without a single person's result."""
        top = float(np.max(self.journalist)) if len(self.journalist) else 0.0
        return {"known": list(self.known), "people": len(self.prosecutor),
                "prosecutor": self.spread(), "journalist_highest": top,
                "journalist_mean": float(np.mean(self.journalist)) if len(self.journalist) else 0.0,
                "marketer": self.marketer}


@dataclass(frozen=True)
class PeopleAudit:
    """The risks to people of one release.

    Attributes
    ----------
    risks : tuple of Risk
        Every attack, on every column it infers.
    persons : PersonRisks or None
        How likely each person is found.
    read : mapping of str to str
        How each released column was read: as it is, by intervals, by rank, by frequency.
    utility : mapping of str to float
        What is left of the table's use: shares kept of single columns and of pairs.
    """

    risks: tuple[Risk, ...]
    persons: PersonRisks | None
    read: Mapping[str, str]
    utility: Mapping[str, float]

    def worst(self, *kinds: str) -> Risk | None:
        """Return the risk that is highest beyond control, among some kinds or all."""
        chosen = [one for one in self.risks if one.kind in (kinds or RISKS)]
        return max((one for one in chosen if one.people),
                   key=lambda one: (one.excess, one.value), default=None)

    def lines(self) -> list[str]:
        """Return the worst of each risk in a sentence, and who is most exposed."""
        out = []
        for kind in RISKS:
            one = self.worst(kind)
            if one is not None:
                what = f" '{one.column}'" if one.kind == INFERRED else ""
                low, high = one.interval
                out.append(f"{kind.capitalize()}{what}: {one.hits:,} of {one.people:,} people, "
                           f"{100 * one.value:.1f}% ({100 * low:.1f}% - {100 * high:.1f}%), by "
                           f"{one.adversary} ({one.knowledge}); {one.beside}.")
        return out + ([] if self.persons is None else self.persons.lines())

    @property
    def controlled(self) -> bool:
        """Return True if there was a control group."""
        return any(not one.upper_bound for one in self.risks)

    def to_json(self) -> dict[str, Any]:
        """Return plain data without a single person's result."""
        return {"risks": [one.to_json() for one in self.risks], "read": dict(self.read),
                "persons": None if self.persons is None else self.persons.to_json(),
                "utility": dict(self.utility)}

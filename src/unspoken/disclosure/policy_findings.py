"""What a judgement collects on its way: every measure of an audit, by name, beside its limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import NOTICEABLE, Row
from unspoken.disclosure.knowledge import PRESETS
from unspoken.disclosure.plain_language import level, percent
from unspoken.disclosure.policy_rules import ANYBODY, LIMIT, PEOPLE, PERSONS
from unspoken.release.method import name_in

BEYOND = "beyond control"
_KINDS = {"k": ("K", min), "l": ("L", min), "t": ("t", max)}


class Findings:
    """Reasons against a release, levels of knowledge at which a limit broke, numbers compared."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.broken: list[str] = []
        self.checked = 0

    def compare(self, rows: Iterable[Row], rule: Mapping[str, Any], what: str) -> None:
        """Compare the highest median among the levels that count with the limit."""
        against, limit = str(rule.get("against", ANYBODY)), float(rule[LIMIT])
        chosen = [row for row in rows if _within(row.knowledge, against)]
        self.checked += len(chosen)
        if not chosen:
            self.reasons.append(f"{what}: nothing was measured against '{against}', so the limit "
                                f"of {percent(limit)} cannot be confirmed")
            return
        worst = max(chosen, key=lambda row: row.value)
        if worst.value > limit:
            shown = what if worst.column in what else f"{what} ({worst.column})"
            self.broken += [row.knowledge for row in chosen if row.value > limit]
            self.reasons.append(
                f"{shown}: {percent(worst.value)} recovered by '{worst.adversary}' "
                f"({worst.knowledge}), at most {percent(limit)} allowed against {against}")

    def people(self, audit: Audit, limits: Mapping[str, float]) -> None:
        """Compare the risks to people, beyond the control group where there was one."""
        self.persons(audit, {name: limits[name] for name in limits if name in PERSONS})
        for name, limit in ((name, limits[name]) for name in limits if name in PEOPLE):
            rows = [row for measure in PEOPLE[name] for row in people_rows(audit, measure)]
            self.checked += len(rows)
            worst = max(rows, key=lambda row: row.value, default=None)
            if worst is None:
                self.reasons.append(f"people: '{PEOPLE[name][0]}' was not measured, so the limit "
                                    f"of {percent(limit)} cannot be confirmed")
            elif worst.value > limit:
                self.broken.append(worst.knowledge)
                self.reasons.append(
                    f"people: {percent(worst.value)} {worst.measure} by '{worst.adversary}' "
                    f"({worst.knowledge}), at most {percent(limit)} allowed")

    def persons(self, audit: Audit, limits: Mapping[str, float]) -> None:
        """Compare the chances of single persons; what was not measured holds no limit."""
        persons = None if audit.people is None else audit.people.persons
        chances = {} if persons is None else persons.chances()
        for name, limit in limits.items():
            self.checked += name in chances
            if name not in chances:
                self.reasons.append(f"people: {PERSONS[name]} was not measured, so the limit of "
                                    f"{percent(limit)} cannot be confirmed")
            elif chances[name] > limit:
                self.reasons.append(f"people: {PERSONS[name]} is {percent(chances[name])}, at most "
                                    f"{percent(limit)} allowed")

    def anonymity(self, audit: Audit, limits: Mapping[str, float]) -> None:
        """Compare K, L and t, where the release has them."""
        for name, limit in limits.items():
            shown, worst_of = _KINDS[name]
            rows = audit.select(measure=name)
            self.checked += len(rows)
            bound = "at most" if name == "t" else "at least"
            if not rows:
                kind = name_in(audit.release.get("mechanism", {}))
                self.reasons.append(
                    f"{shown} of {bound} {limit:g} cannot be confirmed: a '{kind}' release keeps "
                    f"every record apart and makes no promise about {shown}, or has no column "
                    "that is declared sensitive")
                continue
            value = worst_of(row.value for row in rows)
            if (value > limit) if name == "t" else (value < limit):
                self.reasons.append(f"{shown} is {value:g}, {bound} {limit:g} required")

    def epsilon(self, audit: Audit, limit: float) -> None:
        """Compare the stated epsilon."""
        stated = audit.release.get("epsilon")
        self.checked += stated is not None
        if stated is None:
            self.reasons.append(f"an epsilon of at most {limit:g} cannot be confirmed: the release "
                                "states none")
        elif float(stated) > limit:
            self.reasons.append(f"epsilon is {float(stated):g}, at most {limit:g} allowed")

    def register(self, rows: Sequence[Row], limit: float | None) -> None:
        """Compare what a release adds to earlier ones of the same people."""
        self.checked += len(rows)
        if limit is not None and not rows:
            self.reasons.append("what earlier releases add was not measured: audit with a register")
        allowed = NOTICEABLE if limit is None else limit
        for row in rows:
            if row.value - row.baseline > allowed:
                self.broken.append(row.knowledge)
                self.reasons.append(
                    f"'{row.column}': together with {row.knowledge} {percent(row.value)} are "
                    f"disclosed, {percent(row.baseline)} by the better of them alone; at most "
                    f"{percent(allowed)} more allowed")


def people_rows(audit: Audit, measure: str) -> tuple[Row, ...]:
    """Return the rows of a risk to people; beyond the control group where that was measured."""
    beyond = audit.select(measure=f"{measure} {BEYOND}")
    return beyond or audit.select(measure=measure)


def _within(knowledge: str, against: str) -> bool:
    """Return True if a level is covered: presets include everybody who knows fewer points."""
    if against == ANYBODY:
        return True
    found = level(knowledge)
    if against in PRESETS and found in PRESETS:
        return PRESETS[found] <= PRESETS[against]
    return found == against

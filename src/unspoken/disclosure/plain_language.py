"""An audit in plain words: who gets what, what they must know, what would lower it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unspoken.disclosure.audit_rows import Row

if TYPE_CHECKING:
    from unspoken.disclosure.audit_result import Audit

MUST_KNOW = {
    "ignorant": "nothing",
    "knowledgeable": "2 values, each within the radius",
    "expert": "4 values, each within the radius",
    "expert, one bad point": "4 values, of which one is wrong by more than five radii",
    "insider": "8 values, each within the radius",
    "bounds": "the true minimum and maximum",
    "published": "the published minimum, maximum, median and three most frequent values",
    "family": "the form and parameters of the distribution",
    "sample": "a sample of similar data",
    "histogram": "how often each value occurs",
    "records": "some records in full",
    "quasi": "every quasi-identifier of a person",
    "quasi errors": "the quasi-identifiers of a person, with errors",
    "quasi never": "every quasi-identifier of a person, and a value that it does not have",
    "pool": "who is likely in the sample, the pool it comes from, and all values within 10%",
    "order": "where a person stands in the order of an attribute",
    "names": "the names of the categories",
    "facts": "a few plain facts about a person, and a sample of similar data",
    "missing": "which values of a person are missing",
    "row": "the order of the records in the original table",
}
"""What the levels of knowledge stand for, by the first word of their label."""
UNITS = {"records": "people's values", "domain": "distinct values"}
"""What the two measures of a column count."""
_TITLES = {"records": ("column", "people", "interval", "baseline", "values"),
           "domain": ("column", "values", "interval", "baseline", "people")}
_BESIDE = {"records": "domain", "domain": "records"}
HIGH = 0.20
"""From this share on a column is called at risk where no policy says otherwise."""


def level(knowledge: str) -> str:
    """Return the first word of a level of knowledge, which policies name."""
    return knowledge.split()[0].rstrip(",")


def must_know(knowledge: str) -> str:
    """Return what an adversary of that level must know."""
    if knowledge in MUST_KNOW:
        return MUST_KNOW[knowledge]
    return " and ".join(MUST_KNOW.get(level(part), part) for part in knowledge.split("+"))


def percent(value: float) -> str:
    """Return a share as a percentage with one digit."""
    return f"{100 * value:.1f}%"


def first_few(columns: list[str]) -> str:
    """Return at most five names as text, and how many more there are."""
    return ", ".join(columns[:5]) + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")


def summary(audit: Audit) -> str:
    """Return the whole audit as text."""
    parts = [_head(audit), *_faults(audit), *_verdict(audit), *_in_clear(audit), _table(audit),
             *_worst(audit), *_people(audit), *_risks(audit)]
    parts += _listed("What would lower it:", [str(one) for one in audit.suggestions])
    parts += _listed("Not scored:", [f"{c}: {why}" for c, why in audit.unscored.items()])
    parts += _listed("Limits of this audit:", list(audit.limits))
    if audit.judgement is not None:
        parts.append(audit.judgement.summary())
    return "\n".join(part for part in parts if part)


def _head(audit: Audit) -> str:
    kind = audit.release.get("mechanism", {})
    return (f"Audit of release {str(audit.release.get('fingerprint'))[:12]} "
            f"({kind.get('name')}, {kind.get('mode', '-')}): {audit.release.get('rows'):,} rows. "
            f"{_radius(audit)}{_trials(audit)}")


def _radius(audit: Audit) -> str:
    """Return what counts as recovered; audits without a range of values have no radius."""
    if audit.radius == 0:
        return ""
    return f"A guess within {percent(audit.radius)} of the range counts as recovered. "


def _trials(audit: Audit) -> str:
    if audit.trials == 1:
        return "One trial."
    return f"Medians of {audit.trials} trials; the interval holds 95% of them."


def _faults(audit: Audit) -> list[str]:
    """Return before all numbers that the release is not what it says it is."""
    if not audit.faults:
        return []
    return _listed(f"Verdict: {audit.verdict}. Do not release it.", list(audit.faults))


def _verdict(audit: Audit) -> list[str]:
    """Return first that something was not scored, because no number below covers it."""
    if audit.assessed or audit.faults:
        return []
    names = first_few(list(audit.unscored)) or "everything"
    return [f"Verdict: {audit.verdict}. Not scored: {names}."]


def _in_clear(audit: Audit) -> list[str]:
    names = [row.column for row in audit.select(measure="target") if row.value == 1.0]
    names += [str(name) for name in [audit.release.get("target_in_clear")] if name is not None]
    return [f"The target '{name}' is released as it is: anyone with the release can read it."
            for name in dict.fromkeys(names)]


def _table(audit: Audit) -> str:
    ranked = audit.ranking()
    if not ranked:
        return "No column could be scored."
    rows: list[tuple[str, ...]] = [(*_TITLES[audit.measure], "adversary", "knowledge")]
    rows += [_line(audit, row) for row in ranked]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                     .rstrip() for row in rows)


def _line(audit: Audit, row: Row) -> tuple[str, ...]:
    same = audit.select(column=row.column, measure=_BESIDE[audit.measure],
                        adversary=row.adversary, knowledge=row.knowledge)
    return (row.column, percent(row.value), f"{percent(row.low)} - {percent(row.high)}",
            percent(row.baseline), percent(same[0].value) if same else "-", row.adversary,
            row.knowledge)


def _worst(audit: Audit) -> list[str]:
    row = audit.worst()
    if row is None:
        return []
    does = audit.words.get(row.adversary, row.adversary)
    return [f"The worst: an adversary who {does} recovers {percent(row.value)} of the "
            f"{UNITS[audit.measure]} of '{row.column}'. It must know {must_know(row.knowledge)}"
            f"{_label(row)}; without the release the same knowledge recovers "
            f"{percent(row.baseline)}."]


def _people(audit: Audit) -> list[str]:
    """Return K and how many people are re-identified, where an audit looked for them."""
    k, named = audit.worst(measure="k"), audit.worst(measure="identified")
    lines = [] if k is None else [f"K is {k.value:g}: at least {k.value:g} records share the same "
                                  "published quasi-identifiers."]
    if named is not None:
        lines.append(f"{percent(named.value)} of the people looked for are re-identified by an "
                     f"adversary who {audit.words.get(named.adversary, named.adversary)} "
                     f"({named.knowledge}); guessing re-identifies {100 * named.baseline:.2g}%.")
    return lines + _claims(audit)


def _claims(audit: Audit) -> list[str]:
    """Return how often people are singled out, and how often people who are not there are."""
    out = audit.worst(measure="singled out")
    if out is None:
        return []
    right = audit.select(measure="claims right", knowledge=out.knowledge)
    correct = "".join(f", {percent(row.value)} of them correctly ({percent(row.low)} - "
                      f"{percent(row.high)})" for row in right)
    return [f"{percent(out.value)} of the people looked for are singled out by "
            f"{must_know(out.knowledge)} ({out.knowledge}){correct}; of people who are not in the "
            f"release {percent(out.baseline)}."]


def _label(row: Row) -> str:
    return "" if must_know(row.knowledge) == row.knowledge else f" ({row.knowledge})"


def _risks(audit: Audit) -> list[str]:
    """Return the risks to people, each beside control group and guess."""
    if audit.people is None:
        return []
    return _listed("Risks to people:", [*audit.people.lines(), *memorised(audit)])


def memorised(audit: Audit) -> list[str]:
    """Return what stands in a model that few people have, and how many are in small leaves."""
    shown = [row for row in audit.select(measure="memorised") if row.value > 0]
    lines = [] if not shown else [
        f"Memorised: {sum(round(row.value * row.trials) for row in shown):,} numbers of the model "
        f"are values that few people have, in {first_few([row.column for row in shown])}."]
    return lines + [f"Small leaves: {percent(row.value)} of the people stand in a leaf that hardly "
                    "anybody else reaches." for row in audit.select(measure="small leaves")
                    if row.value > 0]


def _listed(title: str, lines: list[str]) -> list[str]:
    return [title, *(f"  - {line}" for line in lines)] if lines else []

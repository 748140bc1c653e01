"""What the report says in words and tables, taken from an audit and a manifest."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from unspoken._version import __version__
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.plain_language import HIGH, UNITS, must_know
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.report.drawing import percent

Cells = list[list[Any]]
LIBRARIES = ("numpy", "pyarrow", "duckdb", "scikit-learn", "cryptography", "randomgen",
             "matplotlib")
NOT_SHOWN = "–"
TREE = "(tree)"


FORMULAS = {"sorting formula": "Worst case of sorting by formula (bu2007 Figure 11); no guess is "
            "made."}


def brief(name: str, longest: int = 40) -> str:
    """Return a column's name for use in a sentence; tables show it whole."""
    if len(name) <= longest:
        return name
    return f"{name[: longest // 2]}…{name[-((longest - 1) // 2):]}"


def headline(audit: Audit) -> str:
    """Return in one sentence what the worst adversary gets."""
    worst = audit.worst()
    if worst is None:
        return "No column could be scored by itself." if _known(audit) else (
            "No column could be scored, so nothing is known about the risk of this release.")
    return (f"At worst {percent(worst.value)} of the {UNITS[audit.measure]} of "
            f"'{brief(worst.column)}' can be recovered to within {100 * audit.radius:g}% of its "
            "range.")


def plain_words(audit: Audit, secret: bool = False) -> list[str]:
    """Return the lines of the summary box, the headline first."""
    lines = [headline(audit), *_first(audit)]
    worst = audit.worst()
    if worst is not None:
        does = audit.words.get(worst.adversary, f"uses '{worst.adversary}'")
        lines.append(f"That takes an adversary who {does}. It must know "
                     f"{must_know(worst.knowledge)} ({worst.knowledge}). With the same knowledge "
                     f"and without the release it would be {percent(worst.baseline)}.")
        lines.append(_how_many(audit))
    if audit.judgement is not None:
        lines.append(verdict(audit))
    if secret:
        lines.append("This page shows original values beside their codes. Keep it where the key "
                     "is kept, and do not send it out with the release.")
    return lines


def _first(audit: Audit) -> list[str]:
    """Return what must not be overlooked: what was not scored, and a target in clear."""
    said = "Not everything was scored" if _known(audit) else f"Verdict: {audit.verdict}"
    lines = [] if audit.assessed else [f"{said}; what was not scored is listed below."]
    return lines + [f"The target '{brief(row.column)}' is released as it is."
                    for row in audit.select(measure="target") if row.value == 1.0]


def _known(audit: Audit) -> bool:
    """Return whether people were attacked and the verdict above says what came of it."""
    return audit.people is not None and verdict_of(audit).level != "unknown"


def _how_many(audit: Audit) -> str:
    ranked = audit.ranking()
    above = [row.column for row in ranked if row.value > HIGH]
    return (f"{len(above)} of {len(ranked)} columns are above {percent(HIGH)} against the worst "
            "adversary tried.")


def verdict(audit: Audit) -> str:
    """Return a sentence that says whether the policy holds."""
    assert audit.judgement is not None
    if audit.judgement.passed:
        checks = audit.judgement.checked
        return f"The policy holds ({checks} check{'s' * (checks != 1)})."
    reasons = len(audit.judgement.reasons)
    return f"The policy does not hold, for {reasons} reason{'s' * (reasons != 1)}."


def interval(row: Row) -> str:
    """Return the interval of a row."""
    return f"{percent(row.low)} to {percent(row.high)}"


def by_column(audit: Audit) -> Cells:
    """Return the worst of every column, riskiest first."""
    return [[row.column, percent(row.value), interval(row), percent(row.baseline),
             _beside(audit, row), row.adversary, row.knowledge] for row in audit.ranking()]


def _beside(audit: Audit, row: Row) -> str:
    other = "domain" if audit.measure == "records" else "records"
    same = audit.select(column=row.column, measure=other, adversary=row.adversary,
                        knowledge=row.knowledge)
    return percent(same[0].value) if same else NOT_SHOWN


def strongest(audit: Audit, most: int) -> list[Row]:
    """Return the strongest attacks by result: those that win columns first, then by value."""
    wins = Counter((row.adversary, row.knowledge) for row in audit.ranking())
    rows = by_attack(audit)
    return sorted(rows, key=lambda row: (-wins[row.adversary, row.knowledge], -row.value))[:most]


def by_attack(audit: Audit, measure: str | None = None) -> list[Row]:
    """Return for every adversary and knowledge the column that it hurts most.

    Adversaries stay together; inside, knowledge is in the order in which it was tried.
    """
    worst: dict[tuple[str, str], Row] = {}
    for row in audit.select(measure=measure or audit.measure):
        known = worst.get((row.adversary, row.knowledge))
        if known is None or row.value > known.value:
            worst[row.adversary, row.knowledge] = row
    order = list(dict.fromkeys(row.adversary for row in worst.values()))
    return sorted(worst.values(), key=lambda row: order.index(row.adversary))


def together(audit: Audit, most: int) -> Cells:
    """Return the worst of every set of columns, the riskiest first."""
    return [[row.column, percent(row.value), interval(row), percent(row.baseline), row.adversary,
             row.knowledge] for row in audit.ranking("subspace")[:most]]


def path_rows(audit: Audit) -> list[Row]:
    """Return the paths by length against the attack that gets most of the tree."""
    rows = audit.select(measure="paths")
    if not rows:
        return []
    most = max(rows, key=lambda row: (row.column == TREE, row.value, row.high))
    return [row for row in rows
            if (row.adversary, row.knowledge) == (most.adversary, most.knowledge)]


def shown(row: Row, value: float) -> str:
    """Return a number of a row: K is a count, everything else a share."""
    return f"{value:g}" if row.measure == "k" else percent(value)


def knowledge_words(audit: Audit) -> Cells:
    """Return what every level of knowledge stands for."""
    return [[name, must_know(name)] for name in dict.fromkeys(row.knowledge for row in audit.rows)]


def adversary_words(audit: Audit) -> Cells:
    """Return what every adversary does."""
    names = dict.fromkeys(row.adversary for row in audit.rows)
    known = {name: f"An adversary who {words}." for name, words in audit.words.items()}
    return [[name, known.get(name, FORMULAS.get(name, NOT_SHOWN))] for name in names]


def versions() -> Cells:
    """Return the versions of what this report was made with."""
    rows = [["unspoken", __version__], ["Python", platform.python_version()]]
    for name in LIBRARIES:
        try:
            rows.append([name, version(name)])
        except PackageNotFoundError:
            rows.append([name, "not installed"])
    return rows


def flat(data: Mapping[str, Any], before: str = "") -> Cells:
    """Return nested plain data as rows of name and value."""
    rows: Cells = []
    for name, value in data.items():
        path = f"{before}{name}"
        if isinstance(value, Mapping):
            rows += flat(value, f"{path}.")
        else:
            rows.append([path, _shown(value)])
    return rows


def _shown(value: Any) -> str:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return NOT_SHOWN if value is None else str(value)
    shown = ", ".join(str(part) for part in value[:20])
    return shown + (f" and {len(value) - 20} more" if len(value) > 20 else "")

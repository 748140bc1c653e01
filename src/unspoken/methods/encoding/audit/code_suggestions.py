"""Which defences would help against what an audit of codes found, and which would not."""

from __future__ import annotations

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Suggestion
from unspoken.disclosure.plain_language import HIGH, UNITS, first_few, level, percent
from unspoken.methods.encoding.adversaries.category_frequencies import (
    CategoryFrequencies,
    CategoryRecords,
    LabelOrder,
)
from unspoken.methods.encoding.adversaries.category_pairs import CategoryPairs
from unspoken.methods.encoding.adversaries.curve_combination import Combination
from unspoken.methods.encoding.adversaries.curve_fitting import Polyline, RegressionLine, Spline
from unspoken.methods.encoding.adversaries.unchanged_values import UnchangedValues


def suggestions(audit: Audit, high: float = HIGH) -> tuple[Suggestion, ...]:
    """Return which defences would help against what was found, and which would not."""
    advice = [*_against_points(audit, high), *_against_order(audit, high)]
    return (*advice, *_against_samples(audit, high), *_unchanged(audit, high))


_LABELS = tuple(kind.name for kind in (CategoryFrequencies, CategoryPairs, CategoryRecords,
                                       LabelOrder, UnchangedValues))
_CURVES = tuple(kind.name for kind in (RegressionLine, Polyline, Spline, Combination))


def _columns(audit: Audit, levels: tuple[str, ...], high: float, curves: bool = True) -> list[str]:
    """Return the columns recovered at some levels, by curves over codes or by anything else."""
    rows = [row for row in audit.select(measure=audit.measure)
            if level(row.knowledge) in levels and (row.adversary in _CURVES) == curves
            and (row.adversary not in _LABELS or "sample" in levels)]
    best = {row.column: max(r.value for r in rows if r.column == row.column) for row in rows}
    return sorted((c for c, value in best.items() if value > high), key=lambda c: -best[c])


def _against_points(audit: Audit, high: float) -> list[Suggestion]:
    columns = _columns(audit, ("knowledgeable", "expert"), high)
    if not columns:
        return []
    why = f"curves through few points recover more than {percent(high)} of {first_few(columns)}"
    return [
        Suggestion(None, "Draw the codes again until the policy holds", why),
        Suggestion(None, "Use heavier-tailed widths (a smaller 'tail') and more breakpoints",
                   "lighter tails average out to a straight line; this helps against curves over "
                   "codes only, not against an adversary who counts ranks"),
    ]


def _against_order(audit: Audit, high: float) -> list[Suggestion]:
    columns = _columns(audit, ("bounds", "histogram", "published", "knowledgeable", "expert"),
                       high, curves=False)
    kind = audit.release["mechanism"]
    blurred = kind.get("monochromatic") == "record" and kind.get("mode") == "max-mono"
    if not columns or blurred:
        return []
    why = f"order and frequency recover {first_few(columns)}; only codes per record blur both"
    return [Suggestion(None, "Use mode 'max-mono' with monochromatic='record' if the miner is "
                             "covered and classes leave wide monochromatic pieces", why)]


def _against_samples(audit: Audit, high: float) -> list[Suggestion]:
    columns = _columns(audit, ("sample", "records"), high, curves=False)
    return [Suggestion(column, f"Drop, round or coarsen '{column}'",
                       "a sample of similar data or known records recover it, and no encoding "
                       "of this family stops them")
            for column in columns[:5]]


def _unchanged(audit: Audit, high: float) -> list[Suggestion]:
    rows = audit.select(measure=audit.measure, adversary=UnchangedValues.name)
    return [Suggestion(row.column, f"Recode '{row.column}', or use keep_zero=False",
                       f"{percent(row.value)} of its {UNITS[audit.measure]} are released "
                       "unchanged; without keep_zero LightGBM is not covered")
            for row in rows if row.value > high]

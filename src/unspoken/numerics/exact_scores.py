"""Scores of splits without rounding, so that equally good splits are found to be equal.

Gini and variance are ratios of whole numbers, computed as such. Entropy is a sum of logarithms,
computed to 50 digits. Each is rounded once, to float64: two splits are equally good if what comes
out is the same number, on every machine and in every language.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

Parts = Sequence[int]
"""The classes of a node counted, or its records and their sum in whole steps."""

DIGITS = 50


def exact_score(name: str, total: Parts, children: Sequence[Parts]) -> float:
    """Return what a split gains: its score by "gini", "variance", "entropy" or "gain-ratio"."""
    if name == "gini":
        return float(sum(map(_gini, children), -_gini(total)))
    if name == "variance":
        return float(sum(map(_variance, children), -_variance(total)))
    with localcontext() as context:
        context.prec = DIGITS
        gain = sum(map(_entropy, children), -_entropy(total))
        if name == "gain-ratio":
            inside = sum((_log(sum(child)) for child in children), Decimal(0))
            gain /= _log(sum(total)) - inside
        return float(gain)


def _gini(parts: Parts) -> Fraction:
    return Fraction(sum(count * count for count in parts), sum(parts))


def _variance(parts: Parts) -> Fraction:
    return Fraction(parts[1] * parts[1], parts[0])


def _entropy(parts: Parts) -> Decimal:
    return sum((_log(count) for count in parts), -_log(sum(parts)))


@lru_cache(maxsize=1 << 16)
def _log(count: int) -> Decimal:
    """Return n log2 n; the context of the caller has the digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return count * Decimal(count).ln() / Decimal(2).ln() if count > 0 else Decimal(0)

"""The amplification below which a privacy breach is excluded (vcz2006 section 6.1.3, (6.13))."""

from __future__ import annotations

from unspoken.errors import InputError, explain


def largest_gamma(before: float, after: float) -> float:
    """Return the gamma below which no breach from `before` to `after` can happen (6.13)."""
    if not 0 < before < after < 1:
        raise InputError(explain("'before' and 'after'", "0 < before < after < 1",
                                 f"{before} and {after}"))
    return after / before * (1 - before) / (1 - after)

"""vcz2006 section 6.1: support error against privacy on two files of baskets.

    python -m unspoken_experiments.vcz2006.baskets DATA.dat.gz ... [--out FILE]

Every operator is set so that an item which one in twenty has is believed with even odds at most
when it is seen (a breach from 5% to 50% of single items); the designed operators
exclude that breach for every property of a basket. Itemsets found in the release are compared with
those of the original.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import unspoken
from unspoken import mine, protect, risk
from unspoken.errors import DataError

RATIO = 19.0
"""5% to 50%: by which factor the odds may change."""
SIZES = (1, 2, 3)
LEVELS = (0.2, 0.5, 0.9, 0.99, 0.999, 0.99999)


def commonest(baskets: unspoken.Baskets, count: int) -> unspoken.Baskets:
    """Return the baskets with their `count` commonest items only."""
    order = np.argsort(-baskets.frequencies(), kind="stable")[:count]
    kept = np.isin(baskets.codes, order)
    place = np.full(len(baskets.items), -1)
    chosen = np.sort(order)
    place[chosen] = np.arange(chosen.size)
    return unspoken.Baskets.from_rows(baskets.rows[kept], place[baskets.codes[kept]], len(baskets),
                                   tuple(baskets.items[i] for i in chosen.tolist()))


def methods(baskets: unspoken.Baskets, seed: int) -> dict[str, Any]:
    """Return the operators at the breach level, by what the table calls them."""
    return {
        "select-a-size, keep 50%": protect.SelectASize(0.5 / RATIO, keep=0.5, random_state=seed),
        "select-a-size, keep 90%": protect.SelectASize(0.9 / RATIO, keep=0.9, random_state=seed),
        "cut-and-paste, cutoff 3": _cut(baskets, 3, seed),
        "cut-and-paste, cutoff 7": _cut(baskets, 7, seed),
        "uniform": _uniform(baskets, seed),
        "MASK": protect.Mask(RATIO / (1 + RATIO), random_state=seed),
        "designed for 2, sizes public": protect.SelectASize(
            rho1=0.05, rho2=0.5, design_for=2, public_sizes=True, random_state=seed),
        "designed for 2, sizes hidden": protect.SelectASize(
            rho1=0.05, rho2=0.5, design_for=2, random_state=seed),
    }


def worst(operator: Any, baskets: unspoken.Baskets) -> float:
    """Return the largest belief in a seen item of which one in twenty has bought it."""
    found = risk.item_breaches(operator, baskets)
    have = found.before > 0
    odds = found.after[have] / (1 - found.after[have])
    ratio = float(np.max(odds * (1 - found.before[have]) / found.before[have]))
    return ratio / (ratio + RATIO)


def _at_level(make: Any, low: float, high: float, baskets: unspoken.Baskets) -> Any:
    """Return the method whose parameter, between two ends, reaches the breach level."""
    for _ in range(40):
        middle = (low + high) / 2
        over = worst(make(middle).fit(baskets).operator_, baskets) > 0.5
        low, high = (middle, high) if over else (low, middle)
    return make(high)


def _cut(baskets: unspoken.Baskets, cutoff: int, seed: int) -> Any:
    return _at_level(lambda rho: protect.CutAndPaste(cutoff, rho, random_state=seed), 1e-4, 0.5,
                     baskets)


def _uniform(baskets: unspoken.Baskets, seed: int) -> Any:
    return _at_level(lambda p: protect.UniformOperator(p, random_state=seed), 0.01, 0.9999,
                     baskets)


@dataclass(frozen=True)
class Result:
    """What one operator does to the itemsets of one size."""

    true: int
    found: int
    wrong: int
    dropped: int
    deviation: float


def compare(original: unspoken.Itemsets, release: Any, least: float) -> dict[int, Result | None]:
    """Mine a release and count hits, false positives and false drops by size."""
    found, longest = mined(release, least)
    out: dict[int, Result | None] = dict.fromkeys(SIZES)
    for k in SIZES[:longest]:
        here = {one for one in found.sets if len(one) == k}
        true = {one for one, s in zip(original.sets, original.supports, strict=True)
                if len(one) == k and s >= least}
        spread = found.deviations[[len(one) == k for one in found.sets]] \
            if found.deviations is not None else np.zeros(0)
        out[k] = Result(len(true), len(true & here), len(here - true), len(true - here),
                        float(np.median(spread)) if spread.size else 0.0)
    return out


def mined(release: Any, least: float) -> tuple[unspoken.Itemsets, int]:
    """Return the itemsets of a release, and up to which size they could be estimated."""
    for longest in (3, 2):
        try:
            return mine.itemsets(release, least, longest=longest, slack=1.0,
                                 false_discovery=1.0), longest
        except (DataError, ValueError):
            continue
    return mine.itemsets(release, least, longest=1, false_discovery=1.0), 1


def table(baskets: unspoken.Baskets, least: float, seed: int = 1) -> Iterator[str]:
    """Yield the lines of the table of one file."""
    yield ("| operator | gamma | guessed correctly | "
           + " | ".join(f"{k} item{'s' * (k > 1)}: true, found, false, dropped (deviation)"
                        for k in SIZES) + " |")
    yield "|" + " --- |" * (3 + len(SIZES))
    original = mine.itemsets(baskets, least, longest=max(SIZES))
    for name, method in methods(baskets, seed).items():
        release, key = method.protect(baskets)
        gamma = release.guarantee.facts["gamma"]
        seen = risk.audit(baskets, release, key, random_state=seed).select(measure="records")[0]
        cells = [_cell(one) for one in compare(original, release, least).values()]
        shown = "none" if gamma is None else f"{gamma:.3g}"
        yield (f"| {name} | {shown} | {seen.value:.1%} (guess {seen.baseline:.1%}) | "
               + " | ".join(cells) + " |")


def _cell(one: Result | None) -> str:
    if one is None:
        return "cannot be estimated"
    return f"{one.true}, {one.found}, {one.wrong}, {one.dropped} ({one.deviation:.2%})"


def guided(baskets: unspoken.Baskets, least: float, ranks: Sequence[int] = (100, 400),
           seed: int = 1) -> Iterator[str]:
    """Yield what is found in guided baskets, counted as they are: they have no estimator."""
    yield "| eigenvectors | items kept | " + " | ".join(
        f"{k} item{'s' * (k > 1)}: true, found, false, dropped" for k in SIZES) + " |"
    yield "|" + " --- |" * (2 + len(SIZES))
    true = set(mine.itemsets(baskets, least, longest=max(SIZES)).sets)
    for rank in ranks:
        release, _ = protect.GuidedPerturbation(rank, 0.6, 0.01, every=2000, shuffle_rows=False,
                                                random_state=seed).protect(baskets)
        sent, width = release.baskets, len(baskets.items)
        kept = np.isin(baskets.rows * width + baskets.codes, sent.rows * width + sent.codes).mean()
        found = set(mine.itemsets(sent, least, longest=max(SIZES), slack=1.0,
                                  false_discovery=1.0).sets)
        parts = [tuple(sum(len(one) == k for one in part)
                       for part in (true, true & found, found - true, true - found))
                 for k in SIZES]
        yield f"| {rank} | {kept:.1%} | " + " | ".join(
            ", ".join(map(str, part)) for part in parts) + " |"


def against_gamma(baskets: unspoken.Baskets, levels: Sequence[float] = LEVELS) -> Iterator[str]:
    """Yield how accurate designed operators are as the belief in 5% may rise to more."""
    yield "| 5% may become | gamma | sizes | " + " | ".join(
        f"deviation, {k} item{'s' * (k > 1)}" for k in SIZES) + " |"
    yield "|" + " --- |" * (3 + len(SIZES))
    for level in levels:
        for public in (True, False):
            found = risk.design_operator(baskets, 0.05, level, public_sizes=public)
            cells = " | ".join(f"{value:.2%}" for value in found.deviations.values())
            yield (f"| {level:.3%} | {found.gamma:.4g} | {'public' if public else 'hidden'} | "
                   f"{cells} |")


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--support", type=float, default=0.01)
    parser.add_argument("--items", type=int, default=1000, help="commonest items to keep")
    parser.add_argument("--guided", action="store_true", help="guided perturbation too")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(words)
    lines: list[str] = []
    for path in given.data:
        baskets = commonest(unspoken.read_baskets(path), given.items)
        baskets = baskets.take(baskets.sizes > 0)
        lines += [f"## {path.name.split('.')[0]}", "", f"{baskets!r}; sets above "
                  f"{given.support:.1%}.", "", *table(baskets, given.support), "",
                  *against_gamma(baskets), ""]
        lines += [*guided(baskets, given.support), ""] if given.guided else []
        print("\n".join(lines), flush=True)
    if given.out is not None:
        given.out.write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

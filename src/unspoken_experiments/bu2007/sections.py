"""Section 6 of bu2007 as findings: the encoder of the package, and the law that fits the paper."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from unspoken.numerics.label_runs import monochromatic_runs
from unspoken.numerics.rank_attack_bounds import recovery_probability
from unspoken_experiments.bu2007 import figure8, figure9, figure10, figure11, figure12, paths
from unspoken_experiments.bu2007.attacks import Median
from unspoken_experiments.bu2007.c45_paths import grow_c45
from unspoken_experiments.bu2007.families import PUBLISHED as FAMILY_NUMBERS
from unspoken_experiments.bu2007.families import cracks
from unspoken_experiments.bu2007.other_tables import other_tables
from unspoken_experiments.bu2007.pictures import bars, venn
from unspoken_experiments.bu2007.setting import TRIALS, Data, load
from unspoken_experiments.findings import Finding, Section, Setting

OURS, FITTED = "unspoken", "fitted"
OTHER = "under the law fitted to the paper"
POINTS = "Percent of distinct values recovered within 2% of the range."
Part = tuple[str, Any]


def parts(setting: Setting) -> list[Part]:
    """Return the parts of the paper, by name."""
    data = cache(lambda: load(setting.folder))
    trials = setting.scaled(TRIALS, 60)
    made = {"Figure 8": lambda: figure_8(data()), "Figure 9": lambda: figure_9(data(), trials),
            "section 6.2.2": lambda: table_622(data(), trials),
            "Figure 10": lambda: figure_10(data(), trials),
            "Figure 11": lambda: figure_11(data()),
            "Figure 12": lambda: figure_12(data(), setting.scaled(TRIALS, 40)),
            "section 6.4": lambda: section_64(data(), trials)}
    return [("Figure 7", example), *made.items(),
            ("census and WDBC", lambda: other_tables(setting, trials))]


def example() -> Iterator[Section]:
    """Figure 7 and the probability of section 5.4: small enough for pencil and paper."""
    values = np.array([1, 2, 15, 27, 28, 29, 42, 43, 44], np.float64)
    counts = np.array([[1, 0]] * 3 + [[0, 1]] * 2 + [[1, 1]] + [[1, 0]] * 3)
    pieces = monochromatic_runs(counts)
    yield Section("bu2007", "Figure 7", "pieces of an attribute", (
        Finding("pieces", "4", float(pieces.starts.size)),
        Finding("of which monochromatic", "3", float(pieces.mono.sum())),
        *(Finding(f"values in piece {i + 1}", str(size), float(pieces.lengths[i]))
          for i, size in enumerate((3, 2, 1, 3))),
        Finding("chance to recover 29 within 2 by rank", "0.139",
                float(recovery_probability(values, 2.0)[5]))), digits=3,
        notes=("5/36 = 0.139, both ends counted. Definition 9 lost its \"not\": a value is "
               "monochromatic if no two records with it differ in label.",))


def figure_8(data: Data) -> Iterator[Section]:
    """Fifty numbers without chance."""
    names = ("range width", "distinct values", "monochromatic pieces", "average length",
             "% of values in pieces")
    ours = figure8.statistics(data)
    found = tuple(Finding(f"{number} {data[number].name}: {name}", str(printed), float(value))
                  for number, row in ours.items()
                  for name, value, printed in zip(names, row, figure8.PUBLISHED[number],
                                                  strict=True))
    yield Section("bu2007", "Figure 8", "the attributes", found, figure8.run(data).notes,
                  tolerance=0.15)


def figure_9(data: Data, trials: int) -> Iterator[Section]:
    """The bars: what the text prints of them, and all of them as a picture."""
    found, heights = [], {}
    for attribute in data.attributes:
        for method, points in figure9.BARS:
            ours, fitted = (figure9.bar(attribute, method, points, trials, law)
                            for law in (OURS, FITTED))
            heights[attribute.number, method, points] = ours
            printed = figure9.PUBLISHED[method, points].get(attribute.number, "")
            found.append(_median(f"{attribute.number}: {method}, {points} points", printed, ours,
                                 fitted))
    bad = [figure9.bad_point(data[10], trials, law) for law in (OURS, FITTED)]
    found.append(_median("10: one of four points bad", "~10", *bad))
    found += [Finding(f"{a.number}: ignorant", "<5", figure9.ignorant(a)) for a in data.attributes]
    yield Section("bu2007", "Figure 9", "recovered by polyline", tuple(found), (
        "The figure is a bar chart; published are the numbers that the text names.",
        "The encoder of the package draws widths that do not depend on the values; the paper "
        "leaves open how widths are drawn, and the fitted law was picked to come near its "
        "numbers, so its agreement is a fit."), POINTS, 5.0, other=OTHER,
        figure=partial(bars, heights, figure9.BARS),
        caption="Median share of distinct values recovered, by attribute, with 95% intervals.")


def table_622(data: Data, trials: int) -> Iterator[Section]:
    """Three curves against three families of functions."""
    found = []
    for place, family in enumerate(("polynomial", "log", "sqrt(log)")):
        both = [cracks(data[10], family, trials, law) for law in (OURS, FITTED)]
        for name, numbers in FAMILY_NUMBERS.items():
            found.append(_median(f"{name}, {family}", f"{numbers[place]:g}",
                                 *(Median.of(one[name].mean(axis=1)) for one in both)))
    yield Section("bu2007", "Section 6.2.2", "curves by family of functions, attribute 10",
                  tuple(found), ("The spline is taken to be MATLAB's (not-a-knot); the paper does "
                                 "not say.",), POINTS, 5.0, other=OTHER)


def figure_10(data: Data, trials: int) -> Iterator[Section]:
    """The three curves together."""
    both = [figure10.counted(data, trials, law=law) for law in (OURS, FITTED)]
    named = [{"total": one.total, "two or more": one.two_or_more, "expected": one.expected,
              **figure10.regions(one.venn)} for one in both]
    found = tuple(_median(name, figure10.PUBLISHED.get(name, ""),
                          *(Median.of(one[name]) for one in named)) for name in named[0])
    yield Section("bu2007", "Figure 10", "three curves together, attribute 10", found, (
        "The published 12.5 needs the weights 1/3, 1/2 and 1 for values that one, two and three "
        "curves recover; 1/3, 2/3 and 1 cannot give it.",), POINTS, 5.0, other=OTHER,
        figure=partial(venn, named[0]), caption="Median share of each region.")


def figure_11(data: Data) -> Iterator[Section]:
    """The sorting attack: the formula behind the figure."""
    shares = figure11.worst_case(data)
    gaps = {1: 22, 2: 0, 3: 0, 4: 847, 5: 75, 6: 1333, 7: 48, 8: 70, 9: 0, 10: 1347}
    found = [Finding(f"{n}: discontinuities", str(gaps[n]), float(data[n].facts.discontinuities
                                                                  or 0)) for n in gaps]
    found += [Finding(f"{n}: worst case, %", str(figure11.PUBLISHED[n]), shares[n],
                      other=f"{100 * figure11.by_rank(data[n], data[n].values[None, :])[0]:.1f}")
              for n in gaps]
    yield Section("bu2007", "Figure 11", "sorting, the worst case", tuple(found), (
        "The published column is (100 - % of monochromatic values) x min(1, 2 round(rho) / "
        "discontinuities). It is not the worst case: a guess that spreads ranks evenly gets more "
        "where codes are monotone, as the last column shows.",),
        other="actual guess by rank, monotone codes, %")


def figure_12(data: Data, trials: int) -> Iterator[Section]:
    """Subspaces: tuples of values recovered in all their attributes."""
    masks = [figure12.masks(data, trials, law) for law in (OURS, FITTED)]
    found = []
    for subspace in figure12.SUBSPACES:
        places, counts = figure12.tuples(data, subspace)
        both = [Median.of(figure12.risk(one, subspace, places, np.ones_like(counts)))
                for one in masks]
        found.append(_median("{" + ", ".join(map(str, subspace)) + "}",
                             figure12.PUBLISHED.get(subspace, ""), *both))
    yield Section("bu2007", "Figure 12", "subspace association disclosure", tuple(found), (
        "risk(A, B) < risk(A) x risk(B), which the paper observes, is no rule: it depends on which "
        "values occur together.",), "Percent of distinct tuples.", 5.0, other=OTHER)


def section_64(data: Data, trials: int) -> Iterator[Section]:
    """The paths of the tree that C4.5 grows, and how many of them an insider recovers."""
    tree = grow_c45(data)
    depth, parent = paths.depths(tree)
    inner = (tree.children_left >= 0) & (depth > 0)
    counts = paths.by_length(depth[inner], np.ones(int(inner.sum())))
    cracked = paths.recovered_paths(data, tree, parent, trials, OURS)[inner]
    by_length = paths.by_length(depth[inner], cracked)
    found = [Finding(f"paths of length {name}", str(printed), float(ours)) for name, printed, ours
             in zip(paths.LENGTHS, paths.PUBLISHED_PATHS, counts, strict=True)]
    found.append(Finding("longest path", "40", float(depth[inner].max())))
    found += [_median(f"recovered, length {name}", str(printed), Median.of(trial / 100))
              for name, printed, trial in zip(paths.LENGTHS, paths.PUBLISHED_CRACKS, by_length,
                                              strict=True)]
    total = by_length.sum(axis=0)
    yield Section("bu2007", "Section 6.4", "paths of C4.5's tree", tuple(found), (
        "Inner nodes by depth, class Aspen against the rest, eight points, radius 5%. The "
        "published lengths cannot be depths of leaves: two leaves at depth 1 would be the whole "
        "tree.",
        f"No path at all is recovered in {100 * float((total == 0).mean()):.0f}% of the trials; "
        f"the mean is {total.mean():.1f} and the most {total.max():.0f}. 'All paths are "
        "protected' holds at the median only."), tolerance=10.0)


def _median(what: str, printed: str, ours: Median, fitted: Median | None = None) -> Finding:
    return Finding(what, printed, ours.value, ours.low, ours.high,
                   fitted.text() if fitted else "")

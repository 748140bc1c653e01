"""vcz2006 as findings: the weather tree, clusters and outliers, randomised baskets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import unspoken
from unspoken import protect, risk
from unspoken.joint import TreeParams, mine_tree_rows
from unspoken.joint.tasks.tree.params import TreeLayout, attributes_of
from unspoken_experiments.data_sets import need
from unspoken_experiments.findings import Finding, Section, Setting
from unspoken_experiments.vcz2006.baskets import commonest
from unspoken_experiments.vcz2006.joint import (
    agreement,
    draw_clusters,
    draw_outliers,
    groupings,
    three_clusters,
    two_sites,
)

NAMES = ("outlook", "temperature", "humidity", "windy", "play")
WEATHER = """sunny hot high FALSE no
sunny hot high TRUE no
overcast hot high FALSE yes
rainy mild high FALSE yes
rainy cool normal FALSE yes
rainy cool normal TRUE no
overcast cool normal TRUE yes
sunny mild high FALSE no
sunny cool normal FALSE yes
rainy mild normal FALSE yes
sunny mild normal TRUE yes
overcast mild high TRUE yes
overcast hot normal FALSE yes
rainy mild high TRUE no"""
Part = tuple[str, Any]


def parts(setting: Setting) -> list[Part]:
    """Return the parts of the book, by name."""
    return [("Figure 4.1", weather), ("Figures 7.1 to 7.3", clusters), ("Figure 7.6", outliers),
            ("section 6.1", lambda: baskets(setting))]


def weather() -> Iterator[Section]:
    """Table 4.1 at two owners: the joint tree says what the tree of Figure 4.1 says."""
    rows = np.array([line.split() for line in WEATHER.splitlines()], object)
    columns = {name: rows[:, i] for i, name in enumerate(NAMES)}
    layout = TreeLayout(attributes_of(columns, {}, NAMES[:-1]), ("no", "yes"), "play")
    halves = [{name: column[part] for name, column in columns.items()}
              for part in (slice(0, 7), slice(7, 14))]
    trees, _ = mine_tree_rows(halves, layout, TreeParams())
    predicted = np.asarray(trees[0].predict(columns))
    truth = np.array([_figure_41(*row[[0, 2, 3]]) for row in rows])
    asked = dict(zip(NAMES, (np.array([word], object) for word in
                             ("sunny", "hot", "normal", "FALSE")), strict=False))
    yield Section("vcz2006", "Figure 4.1", "the tree of the weather data, from two owners", (
        Finding("rows on which both trees say the same", "14", float((predicted == truth).sum())),
        Finding("{sunny, hot, normal, FALSE} is 'yes'", "1",
                float(np.asarray(trees[0].predict(asked))[0] == "yes"))), digits=0)


def _figure_41(outlook: str, humidity: str, windy: str) -> str:
    if outlook == "overcast":
        return "yes"
    if outlook == "sunny":
        return "yes" if humidity == "normal" else "no"
    return "no" if windy == "TRUE" else "yes"


def clusters() -> Iterator[Section]:
    """Three groups that neither owner sees alone."""
    points, truth = three_clusters()
    scores = {name: agreement(one, truth) for name, one in groupings(points).items()}
    found = tuple(Finding(f"{name}: agreement with the truth (adjusted Rand index)",
                          "1" if "together" in name else "<1", score)
                  for name, score in scores.items())
    yield Section("vcz2006", "Figures 7.1 to 7.3", "clusters seen together and alone", found, (
        "The book has no data for its figures; the points follow its words.",), digits=2,
        figure=lambda: draw_clusters(points, truth)[0],
        caption="k-means with three clusters, by both owners and by each alone.")


def outliers() -> Iterator[Section]:
    """A point that is an outlier for one site, and none for both."""
    sites = two_sites()
    _, flagged = draw_outliers(*sites)
    alone, together = flagged.values()
    yield Section("vcz2006", "Figure 7.6", "a false outlier", (
        Finding("outliers that the diamonds' site finds alone", "2", float(len(alone))),
        Finding("outliers of both sites together", "1", float(len(together)))), digits=0,
        figure=partial(_only_figure, sites), caption="Circled: outliers.")


def _only_figure(sites: Any) -> Any:
    return draw_outliers(*sites)[0]


def baskets(setting: Setting) -> Iterator[Section]:
    """Which supports can be estimated when 5% may become 50% (gamma = 19)."""
    retail = commonest(unspoken.read_baskets(need("retail.dat.gz", setting.folder)), 300)
    retail = retail.take(retail.sizes > 0)
    if setting.quick:
        retail = retail.take(slice(0, 20_000))
    designed = risk.design_operator(retail, 0.05, 0.5, public_sizes=True)
    release, _ = protect.SelectASize(0.9 / 19, keep=0.9, random_state=1).protect(retail)
    gamma = release.guarantee.facts["gamma"]
    found = [Finding("gamma when 5% may become 50%", "19", float(designed.gamma))]
    if gamma is not None:
        found.append(Finding("keep 90%, insert 4.7% (bounds single items only): log10 of gamma",
                             "", float(np.log10(gamma))))
    found += [Finding(f"standard deviation of the support of {size} items, %", "", 100 * spread)
              for size, spread in designed.deviations.items()]
    yield Section("vcz2006", "Section 6.1", "supports from randomised baskets (retail)",
                  tuple(found), (
        "The book prints no supports. Its bound: odds change by a factor of at most 19 if 5% may "
        "become 50%. An operator that bounds single items bounds no basket: its gamma is "
        "astronomical, or there is none. The deviations say which supports can be estimated.",),
        digits=2)

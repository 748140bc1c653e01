"""Boosted trees over columns, checked against plain numpy that shares no code with the program.

Every tree is followed as it came out: at each node all gains are computed from the records that the
questions above send there, and the chosen question must be the best but for the stated error; the
number of a leaf must be that of its records. Log-odds are those of the numbers that came out.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unspoken.joint.tasks.boosted_trees.boost_sites import BoostSite
from unspoken.models.asked_question import Asked

# Per record: 5 units of 2^-22 for each of at most 48 candidates, and rounded gradients.
NEAR = 2e-4
HALF_A_UNIT = 2.0**-13


@dataclass
class Column:
    """A column of a random table with its questions, and who has the first answer to each."""

    values: np.ndarray
    asked: list[Asked]
    firsts: list[np.ndarray]


def number_column(name, values, cuts):
    """Return a number with its questions; missing values are NaN."""
    missing = np.isnan(values)
    below = [np.array([not gone and value <= cut for value, gone in zip(values, missing,
                                                                       strict=True)])
             for cut in cuts]
    asked, firsts = [Asked(name, cut=cut) for cut in cuts], list(below)
    if missing.any():
        asked += [Asked(name, cut=cut, missing_first=True) for cut in cuts]
        firsts += [each | missing for each in below]
        asked.append(Asked(name, (None,), alone=True))
        firsts.append(missing)
    return Column(values, asked, firsts)


def category_column(name, values, categories):
    """Return a category with one question for each."""
    return Column(np.array(values, object), [Asked(name, (c,), alone=True) for c in categories],
                  [np.array([value == c for value in values]) for c in categories])


def random_table(seed, rows, sites=2):
    """Return columns of sites, with ties, constants, missing values and copies, and classes."""
    random = np.random.default_rng(seed)
    spread = []
    for site in range(sites):
        number = random.integers(0, 5, rows).astype(float)
        if random.random() < 0.6:
            number[random.random(rows) < 0.3] = np.nan
        columns = {f"n{site}": number_column(f"n{site}", number, [0.0, 1.5, 3.0]),
                   f"k{site}": number_column(f"k{site}", np.full(rows, 2.0), [2.0]),
                   f"c{site}": category_column(
                       f"c{site}", random.choice(["u", "v", "w"], rows).tolist(), ["u", "v", "w"])}
        spread.append(columns)
    if random.random() < 0.5:
        spread[-1]["copy"] = number_column("copy", spread[0]["n0"].values, [0.0, 1.5, 3.0])
    first = np.nan_to_num(spread[0]["n0"].values, nan=4.0)
    signal = first + 2 * (spread[-1][f"c{sites - 1}"].values == "u") + random.normal(0, 1.5, rows)
    return spread, np.where(signal > np.median(signal), "yes", "no").astype(object)


def sites_of(spread, labels, names, class_site):
    """Return the sites of a table."""
    return {name: BoostSite(tuple(a for c in columns.values() for a in c.asked),
                            {n: c.values for n, c in columns.items()},
                            labels if name == class_site else None)
            for name, columns in zip(names, spread, strict=True)}


def gain(g, h, first, here, penalty):
    """Return the second-order gain of a question in a node, exactly if numbers are fractions."""
    def worth(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + penalty)
    return worth(here & first) + worth(here & ~first) - worth(here)


def follow(parts, spread, labels, class_site, rules, boost):
    """Assert that trees are those of the table; return the log-odds of every record."""
    yes, odds = (labels == "yes").astype(float), np.zeros(labels.size)
    asked = [[a for c in columns.values() for a in c.asked] for columns in spread]
    firsts = [[f for c in columns.values() for f in c.firsts] for columns in spread]
    known = list(parts.values())
    for place, tree in enumerate(known[0].trees):
        likely = 1 / (1 + np.exp(-np.clip(odds, -6, 6)))
        g, h = likely - yes, likely * (1 - likely)
        inside = {0: np.ones(labels.size, bool)}
        depth = {0: 0}
        for node in range(tree.nodes):
            here, site = inside[node], int(tree.owner[node])
            asks = rules.max_depth > depth[node] and here.sum() >= rules.min_records
            best = max((gain(g, h, f, here, boost.penalty) for own in firsts for f in own),
                       default=0.0)
            if site < 0:
                assert not asks or best <= NEAR * here.sum()
                continue
            assert asks
            slot = asked[site].index(known[site].trees[place].asked[node])
            chosen = firsts[site][slot]
            assert gain(g, h, chosen, here, boost.penalty) >= best - NEAR * here.sum()
            assert place or first_of_equals(firsts, (site, slot), here, yes, boost.penalty)
            child = int(tree.first_child[node])
            inside |= {child: here & chosen, child + 1: here & ~chosen}
            depth |= {child: depth[node] + 1, child + 1: depth[node] + 1}
        numbers = parts[class_site].numbers[place]
        for leaf, number in zip(tree.leaf_nodes.tolist(), numbers.tolist(), strict=True):
            rows = inside[leaf]
            exact = -boost.rate * g[rows].sum() / (h[rows].sum() + boost.penalty)
            assert abs(number - exact) <= HALF_A_UNIT + 1e-4 * (place > 0) + abs(exact) * 1e-5
            odds = odds + rows * number
    return odds


def first_of_equals(firsts, chosen, here, yes, penalty):
    """Say whether no earlier question of the first tree has exactly the same gain."""
    g = np.array([Fraction(1, 2) - int(y) for y in yes], object)
    h, penalty = np.full(yes.size, Fraction(1, 4), object), Fraction(penalty)
    wanted = gain(g, h, firsts[chosen[0]][chosen[1]], here, penalty)
    return all(gain(g, h, f, here, penalty) != wanted
               for site, own in enumerate(firsts) for slot, f in enumerate(own)
               if (site, slot) < chosen)

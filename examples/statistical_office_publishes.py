"""A statistical office publishes a table of people.

    python examples/statistical_office_publishes.py

Anybody may download it, and anybody may know a few facts about a neighbour. The office tries three
ways: only names taken off, classes of ten people (Mondrian), and a table that keeps a tree. It
counts how many people a neighbour finds again, and what a researcher can still learn.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import accuracy_score
from story import bars, finish, options, promise, verdicts

import unspoken
from unspoken.report import Page

KNOWN = ["age", "town", "sex"]
QUASI = [*KNOWN, "income"]
TOWNS = ["Ahaus", "Bonn", "Celle", "Daun", "Emden", "Fulda"]


def people(rows: int, seed: int = 11) -> unspoken.Table:
    """Make up the people of a district."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    income = np.clip(rng.lognormal(7.6 + 0.006 * np.minimum(age, 55), 0.35), 500, 20_000).round(-1)
    illness = np.where(rng.random(rows) < age / 160, "chronic",
                       rng.choice(["none", "acute", "injury"], rows))
    data = {"age": age, "town": rng.choice(TOWNS, rows, p=[.3, .25, .2, .1, .1, .05]),
            "sex": rng.choice(["f", "m"], rows), "income": income, "illness": illness,
            "retired": np.where(age + rng.normal(0, 4, rows) > 64, "yes", "no")}
    return unspoken.read(data, target="retired", quasi=QUASI, sensitive=["illness"], show=False)


def unique_share(table: unspoken.Table) -> float:
    """Return the share of people whom age, town and sex single out."""
    rows = table.arrow().select(KNOWN).to_pylist()
    seen: dict[tuple[object, ...], int] = {}
    for row in rows:
        place = tuple(row.values())
        seen[place] = seen.get(place, 0) + 1
    return sum(seen[tuple(row.values())] == 1 for row in rows) / len(rows)


def main() -> None:
    """Tell the story."""
    chosen = options(__doc__, "office.html")
    table = people(chosen.rows(6_000, 1_200))
    grown = unspoken.protect.Growth(max_leaves=4)
    made = {
        "classes of ten (Mondrian)": unspoken.protect.MondrianAnonymizer(
            k=10, l=2, diversity="distinct", others="keep"),
        "a tree is kept": unspoken.protect.TreePreservingAnonymizer(k=10, tree=grown),
    }
    releases = {name: method.protect(table) for name, method in made.items()}
    others = people(chosen.rows(6_000, 1_200), seed=12)
    audits = {name: unspoken.risk.audit(table, release, key, trials=chosen.rows(20, 5),
                                        random_state=1, control=others)
              for name, (release, key) in releases.items()}
    learned = unspoken.mine.grow(table, grown)
    kept = unspoken.mine.grow(releases["a tree is kept"][0], grown)

    page = Page("A statistical office publishes", f"{table.rows:,} people of one district.")
    page.box([f"With names taken off, age, town and sex still single out {unique_share(table):.0%} "
              "of all people.",
              "In classes of ten nobody stands alone, and the table that keeps a tree gives "
              "every researcher the tree of the original. The audit tries more than a "
              "neighbour knows: its verdicts are below."])
    page.section("Who can be found again")
    names = ["names taken off", *releases]
    alone = [100 * unique_share(table), *(100 * unique_share(release.table)
                                          for release, _ in releases.values())]
    page.figure(bars(names, {"% singled out by age, town and sex": alone},
                     "% of people", 2.2), "People who are the only ones of their kind.")
    page.text("The audit tries more: people who know facts, similar people who are not in the "
              "table, and what classes say about illness.")
    verdicts(page, audits)
    page.section("What can still be learned")
    labels = table.labels()
    right = {"the original": accuracy_score(labels, learned.predict(table)),
             "the kept tree": accuracy_score(labels, kept.predict(table))}
    page.table(["tree", "people classified correctly"],
               [[name, f"{share:.1%}"] for name, share in right.items()])
    page.code(kept.to_text())
    page.section("The first records")
    for name, (release, _) in releases.items():
        rows = release.table.arrow().slice(0, 5).to_pylist()
        page.table(list(rows[0]), [[str(value) for value in row.values()] for row in rows], name)
    page.section("What is promised")
    for name, (release, _) in releases.items():
        promise(page.section(name, level=3), release.guarantee)
    finish(page, chosen)


if __name__ == "__main__":
    main()

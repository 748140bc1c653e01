"""A survey in which nobody is on record.

    python examples/survey_with_randomised_response.py

A union asks its members whether they have worked without pay, what they earn and whether they will
leave. None of them wants to be on record. Each phone throws dice before it sends anything; the
union still learns shares with error bars, the distribution of wages, and who tends to leave.
"""

from __future__ import annotations

import numpy as np
from story import bars, finish, options, promise

import unspoken
from unspoken.report import Page
from unspoken.report.distribution_figure import distribution_figure

SECTORS = ["care", "shops", "building", "offices"]
UNPAID = {"care": 0.45, "shops": 0.30, "building": 0.20, "offices": 0.10}


def answers(rows: int) -> dict[str, np.ndarray]:
    """Make up the truth, which nobody but the members ever holds."""
    rng = np.random.default_rng(7)
    sector = rng.choice(SECTORS, rows, p=[0.3, 0.3, 0.2, 0.2])
    unpaid = rng.random(rows) < np.array([UNPAID[one] for one in sector])
    wage = np.clip(rng.normal(2600 + 500 * (sector == "offices") - 300 * unpaid, 450), 1200, 5000)
    leaves = rng.random(rows) < 0.15 + 0.4 * unpaid
    return {"sector": sector, "unpaid": np.where(unpaid, "yes", "no"), "wage": wage.round(),
            "leaves": np.where(leaves, "leaves", "stays")}


def main() -> None:
    """Tell the story."""
    chosen = options(__doc__, "survey.html")
    truth = answers(chosen.rows(20_000, 3_000))
    asked = unspoken.read({name: truth[name] for name in ("sector", "unpaid", "leaves")},
                          target="leaves", kinds={"unpaid": "categorical"}, show=False)
    dice = unspoken.protect.RandomizedResponse(
        gamma=5, values={"unpaid": ["no", "yes"], "sector": SECTORS})
    release, _ = dice.protect(asked)
    wages = unspoken.read({"wage": truth["wage"], "leaves": truth["leaves"]}, target="leaves",
                          show=False)
    noise = unspoken.protect.NoiseAdder("laplace", scale=1900.0, ranges={"wage": (1200, 5000)})
    noisy, _ = noise.protect(wages)

    share = unspoken.mine.reconstruct(release, column="unpaid", confidence=0.95)
    wage = unspoken.mine.reconstruct(noisy, column="wage", bins=19)
    tree = unspoken.mine.noisy_tree(release)
    rows = asked.rows
    sent = release.table.arrow()
    same = np.mean(np.asarray(sent["unpaid"].to_pylist()) == "yes")
    real = float(np.mean(truth["unpaid"] == "yes"))
    estimate = float(share.probabilities[list(share.values).index("yes")])

    page = Page("A survey in which nobody is on record",
                f"{rows:,} members; every answer was changed at random before it was sent.")
    page.box([f"Worked without pay: {estimate:.1%} estimated, {real:.1%} in truth, "
              f"{same:.1%} among the answers as they were sent.",
              "Each answer changes the odds about a member at most fivefold, whatever else the "
              "union knows: with one in five believed before, at most five in nine after."])
    page.section("Worked without pay")
    page.figure(bars(["as sent", "estimated", "in truth"],
                     {"% yes": [100 * float(same), 100 * estimate, 100 * real]},
                     "% of members", 1.9), "One share, three ways to see it.")
    page.section("Wages")
    page.figure(distribution_figure(wage, against=truth["wage"], title="wage"),
                "Reconstructed from noisy reports (Laplace, epsilon 2); dashed: the truth.")
    page.section("Who leaves")
    page.code(tree.to_text())
    page.text("The tree was grown from randomised answers only.")
    page.section("What is promised")
    promise(page.section("Answers drawn by dice", level=3), release.guarantee)
    promise(page.section("Wages with noise", level=3), noisy.guarantee)
    finish(page, chosen)


if __name__ == "__main__":
    main()

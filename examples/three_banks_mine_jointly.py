"""Three banks find out together what fraud looks like.

    python examples/three_banks_mine_jointly.py

None may show its customers to another. They grow one decision tree over the rows of all three by
secure computation: each holds random shares, and only the tree is opened. The page shows what each
bank would have found alone, what they find together, and everything that was sent.
"""

from __future__ import annotations

import numpy as np
from story import bars, finish, options

from unspoken.joint import Attribute, TreeLayout, TreeParams, mine_tree_rows
from unspoken.report import Page

BANKS = ("alder", "birch", "cedar")
LAYOUT = TreeLayout((Attribute("country", ("home", "near", "far")),
                     Attribute("hour", ("day", "evening", "night")),
                     Attribute("amount", cuts=(100.0, 500.0, 2000.0)),
                     Attribute("card", ("old", "new"))), ("fine", "fraud"), "fraud")
RULES = TreeParams(max_depth=4, most=5000)


MIX = ((.96, .02, .02), (.60, .02, .38), (.55, .43, .02))
"""Payments at home, near and far, bank by bank."""
NEW_CARDS = (0.5, 0.02, 0.02)


def customers(bank: int, rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Make up payments; every bank sees another corner of the same fraud."""
    rng = np.random.default_rng([bank, seed])
    country = rng.choice(["home", "near", "far"], rows, p=MIX[bank])
    hour = rng.choice(["day", "evening", "night"], rows, p=[.5, .3, .2])
    amount = rng.lognormal(6.0, 1.3, rows).round(2)
    card = np.where(rng.random(rows) < NEW_CARDS[bank], "new", "old")
    caught = ((country == "far") & (hour == "night")) | ((card == "new") & (amount > 2000)) \
        | ((country == "near") & (hour == "evening") & (amount > 500))
    fraud = np.where(rng.random(rows) < np.where(caught, 0.85, 0.02), "fraud", "fine")
    return {"country": country.astype(object), "hour": hour.astype(object), "amount": amount,
            "card": card.astype(object), "fraud": fraud.astype(object)}


def recall(tree: object, payments: dict[str, np.ndarray]) -> tuple[float, float]:
    """Return the share of fraud that is found, and the share of alarms that are right."""
    said, truth = np.asarray(tree.predict(payments)) == "fraud", payments["fraud"] == "fraud"
    return float(said[truth].mean()), float(truth[said].mean()) if said.any() else 0.0


def main() -> None:
    """Tell the story."""
    chosen = options(__doc__, "banks.html")
    rows = 500
    parts = [customers(bank, rows) for bank in range(3)]
    unseen = [customers(bank, 4000, seed=1) for bank in range(3)]
    later = {name: np.concatenate([part[name] for part in unseen]) for name in unseen[0]}
    trees, ledgers = mine_tree_rows(parts, LAYOUT, RULES, names=list(BANKS))
    alone = [mine_tree_rows([part, {name: column[:0] for name, column in part.items()}],
                            LAYOUT, RULES)[0][0] for part in parts]
    scores = {bank: recall(tree, later) for bank, tree in zip(BANKS, alone, strict=True)}
    scores["all three"] = recall(trees[0], later)

    page = Page("Three banks mine jointly", f"{rows:,} payments each; no payment left its bank.")
    best = max(scores[bank] for bank in BANKS)
    page.box([f"Together they find {scores['all three'][0]:.0%} of later fraud, and "
              f"{scores['all three'][1]:.0%} of their alarms are right. The best bank alone finds "
              f"{best[0]:.0%}, and {best[1]:.0%} of its alarms are right.",
              "What each bank learned of the others is this tree, and what follows from it and its "
              "own payments, as long as all follow the protocol and the dealer of random numbers "
              "works with none of them."])
    page.section("Fraud found in later payments of all three")
    page.figure(bars(list(scores), {"fraud found": [100 * a for a, _ in scores.values()],
                                    "alarms that are right": [100 * b
                                                              for _, b in scores.values()]},
                     "%"), "Trees of single banks, and the joint one.")
    page.section("The tree")
    page.code(trees[0].to_text())
    page.section("What was sent and opened")
    page.table(["bank", "messages", "bytes", "values opened"],
               [[ledger.party, len(ledger.rows), f"{sum(row.bytes for row in ledger.rows):,}",
                 len(ledger.openings)] for ledger in ledgers if ledger.party in BANKS],
               align="lrrr")
    page.text("Reasons for which anything was opened, as the ledger of the first bank has them:")
    page.bullets(sorted({opening.because for opening in ledgers[0].openings}))
    finish(page, chosen)


if __name__ == "__main__":
    main()

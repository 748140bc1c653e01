"""vcz2006 section 6.3: what published rules tell, and what hiding some of them costs.

`python -m unspoken_experiments.vcz2006.rules groceries.csv.gz`. Four tables: the risk of rules for
somebody who knows some items of everybody; two of them hidden in three ways, with the side effects,
beside choosing baskets at random or the shortest first; what can be deduced of sets of three items
from the published pairs; and in how many of the data sets that fit the published itemsets a person
has an item, for thirty baskets.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import unspoken
from unspoken import attack, mine, protect, risk
from unspoken.methods.baskets.hiding.lost_rule_costs import Watched

TARGETS = ("butter, root vegetables -> whole milk", "curd, yogurt -> whole milk")
KNOWN = ("butter", "root vegetables", "curd", "yogurt")
SMALL = ("whole milk", "other vegetables", "rolls/buns", "soda")
WAYS = ("removal", "insertion", "unknown")


def risks(baskets: unspoken.Baskets, support: float, confidence: float) -> Iterator[str]:
    """Yield what rules tell somebody who knows a few items of everybody."""
    rules = mine.rules(mine.itemsets(baskets, support), confidence)
    yield f"Known of everybody: {', '.join(KNOWN)}."
    yield risk.rule_risks(rules, KNOWN, ["whole milk"]).summary(5)
    yield risk.people_exposed(baskets, rules, KNOWN, ["whole milk"], alert=confidence).summary()


def orders(seed: int) -> dict[str, Callable[..., Any] | None]:
    """Return ways to choose baskets: ours, the shortest first, at random."""
    rng = np.random.default_rng(seed)
    return {"least harm": None,
            "shortest": lambda self, b, rows, codes, there: np.zeros(rows.size),
            "random": lambda self, b, rows, codes, there: rng.random(rows.size)}


def hiding(baskets: unspoken.Baskets, targets: Sequence[str], support: float,
           confidence: float, seed: int = 0) -> Iterator[str]:
    """Yield the table of ways to hide rules and what they cost."""
    yield "| by | baskets chosen | cells changed | rules lost by accident | forced | ghosts |"
    yield "|" + " --- |" * 6
    for by in WAYS:
        for name, harm in orders(seed).items():
            hider = protect.RuleHider(targets, by, support, confidence, random_state=seed)
            with patch.object(Watched, "harm", harm or Watched.harm):
                found = hider.hide(baskets).effects
            yield (f"| {by} | {name} | {found.changed} | {len(found.accidents)} | "
                   f"{len(found.forced)} | {len(found.ghosts)} |")


def deduced(baskets: unspoken.Baskets, support: float, confidence: float) -> Iterator[str]:
    """Yield what singles and pairs alone say about the sets of three that were left out."""
    whole = mine.itemsets(baskets, support, longest=3)
    pairs = whole.take([i for i, one in enumerate(whole.sets) if len(one) < 3])
    triples = whole.of_size(3)
    wanted = [triples.names(one) for one in triples.sets]
    rules = mine.rules(whole, confidence)
    left_out = [f"{', '.join(rules.names(a))} -> {', '.join(rules.names(b))}"
                for a, b in zip(rules.left, rules.right, strict=True) if len(a + b) == 3]
    yield "| the list of pairs is | mean width of bounds, baskets | rules that surely hold |"
    yield "|" + " --- |" * 3
    for complete in (None, support):
        found = attack.deduce(pairs, wanted, complete_from=complete, longest=2)
        verdicts = [one.verdict for one in attack.inferred_rules(
            pairs, left_out, support, confidence, complete_from=complete, longest=2)]
        yield (f"| {'partial' if complete is None else 'complete'} | "
               f"{np.mean(found.high - found.low):.1f} (true mean {triples.counts.mean():.1f}) | "
               f"{verdicts.count('holds')} of {len(left_out)} |")


def shares(baskets: unspoken.Baskets, people: int = 30, steps: int = 40_000) -> Iterator[str]:
    """Yield in how many compatible data sets a person has an item, by what is published."""
    parts = ([name for name in one if name in SMALL] for one in baskets.lists())
    few = unspoken.Baskets.of(list(islice((one for one in parts if len(one) > 1), people)),
                           sorted(SMALL))
    person = attack.Knows(has=SMALL[1:3])
    yield (f"The first {people} with two or more of {', '.join(SMALL)}; known of one: she has "
           f"{' and '.join(SMALL[1:3])}; asked: {SMALL[0]}.")
    yield "| published | compatible data sets | share (by single items) | sampled |"
    yield "|" + " --- |" * 4
    for name, shown in lists(few).items():
        asked = attack.puzzle(shown, [person], items=few.items)
        exact = attack.disclosure(asked, SMALL[0], person)
        guess = attack.sample_disclosure(asked, SMALL[0], person, chains=32, steps=steps,
                                         random_state=0)
        word = "" if guess.mixed else ", chains disagree"
        yield (f"| {name} | {float(exact.compatible):.3g} | {float(exact.share):.1%} "
               f"({float(exact.baseline):.1%}) | "
               f"{guess.share:.1%} ({guess.low:.1%} to {guess.high:.1%}{word}) |")


def lists(few: unspoken.Baskets) -> dict[str, unspoken.Itemsets]:
    """Return what could be published: all sets, those of up to two items, all but one pair."""
    whole = mine.itemsets(few, 1 / len(few))
    pairs = [i for i, one in enumerate(whole.sets) if len(one) < 3]
    left_out = tuple(sorted(few.code_of(SMALL[0], SMALL[2])))
    return {"all sets": whole, "single items and pairs": whole.take(pairs),
            f"the same without {SMALL[0]}, {SMALL[2]}": whole.take(
                [i for i in pairs if whole.sets[i] != left_out])}


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--support", type=float, default=0.005)
    parser.add_argument("--confidence", type=float, default=0.4)
    given = parser.parse_args(words)
    baskets = unspoken.read_baskets(given.data)
    limits = given.support, given.confidence
    for lines in (risks(baskets, *limits), hiding(baskets, TARGETS, *limits),
                  deduced(baskets, *limits), shares(baskets)):
        print("\n".join(lines), "\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""`unspoken measure inverse`: what published itemsets tell about a person (vcz2006 section 6.3)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from unspoken.cli.common import names


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the measure."""
    parser.add_argument("published", type=Path, metavar="ITEMSETS",
                        help="itemsets that 'unspoken mine --learner itemsets' wrote")
    parser.add_argument("--item", required=True, metavar="ITEM", help="the item asked about")
    parser.add_argument("--has", type=names, default=(), metavar="A,B",
                        help="items that the person is known to have")
    parser.add_argument("--lacks", type=names, default=(), metavar="A,B",
                        help="items that the person is known to lack")
    parser.add_argument("--complete-from", type=float, metavar="SHARE",
                        help="every set of at least this support was published")
    parser.add_argument("--longest", type=int, metavar="N",
                        help="most items of a set for which that holds (default: any)")
    parser.add_argument("--sample", action="store_true",
                        help="estimate by random walks, where exact counting is too much")
    parser.add_argument("--steps", type=int, default=20_000, metavar="N",
                        help="steps of every walk (default: %(default)s)")


def measure(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return the share of data sets that fit in which the person has the item."""
    from unspoken.attack import Knows, disclosure, puzzle, sample_disclosure
    from unspoken.models.itemsets import Itemsets

    person = Knows(tuple(args.has), tuple(args.lacks))
    known = [person] if args.has or args.lacks else []
    asked = puzzle(Itemsets.load(args.published), known, complete_from=args.complete_from,
                   longest=args.longest, items=[args.item])
    if args.sample:
        return _sampled(sample_disclosure(asked, args.item, person, steps=args.steps), asked.people)
    found = disclosure(asked, args.item, person)
    sure = "\nEvery one of them says the same of her." if found.disclosed else ""
    return ({**found.to_json(), "people": asked.people},
            f"In {float(found.share):.1%} of the data sets of {asked.people:,} people that fit, "
            f"the person has '{found.item}' (by the counts of single items alone: "
            f"{float(found.baseline):.1%}).{sure}")


def _sampled(found: Any, people: int) -> tuple[dict[str, Any], str]:
    """Return an estimate, with what says whether it may be used."""
    said = {"item": found.item, "share": found.share, "low": found.low, "high": found.high,
            "baseline": float(found.baseline), "mixed": found.mixed, "people": people}
    return said, found.summary()

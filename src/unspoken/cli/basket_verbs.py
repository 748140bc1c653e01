"""Baskets on the command line: protect, mine and audit files of baskets."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from unspoken.cli.book_release import book_release, list_baskets
from unspoken.cli.common import emit, file_options, passphrase, saved_bytes
from unspoken.cli.enter_register import people_of, register_of, save_release, write_entered
from unspoken.cli.method_options import key_words
from unspoken.errors import InputError, explain

if TYPE_CHECKING:
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.baskets import Baskets
    from unspoken.table.formats.data_urls import Place

LEARNERS = ("itemsets", "rules")


def add_columns(parser: argparse.ArgumentParser, repeats: bool = True) -> None:
    """Add the names of the columns of a long table of baskets, and what is done with repeats."""
    parser.add_argument("--transaction", metavar="COLUMN",
                        help="of baskets in a long table: the column that numbers the baskets")
    parser.add_argument("--item", metavar="COLUMN",
                        help="of baskets in a table: the column of the items")
    if repeats:
        parser.add_argument("--repeats", choices=("refuse", "drop"),
                            help="of baskets: what to do with an item that is twice in one basket; "
                                 "drop keeps it once (default: refuse)")


def add_risk(parser: argparse.ArgumentParser) -> None:
    """Add what an adversary is assumed to know, and what nobody should learn."""
    parser.add_argument("--known", metavar="A,B=P",
                        help="of rules: items that an adversary may know of a person, with a "
                             "probability or for certain; prints what the rules disclose")
    parser.add_argument("--private", metavar="A,B",
                        help="of rules: items that nobody should learn (default: all others)")


def refuse_risk(args: argparse.Namespace) -> None:
    """Refuse the options of rules where something else is mined."""
    for name in ("known", "private"):
        if getattr(args, name) is not None and (args.learner != "rules" or args.known is None):
            raise InputError(f"'--{name}' belongs to --learner rules with --known. Got "
                             f"--learner {args.learner}.")


def _risks(args: argparse.Namespace, result: Any) -> Any:
    from unspoken.cli.common import names
    from unspoken.methods.baskets.rule_disclosure import rule_risks

    odds = {}
    for word in names(args.known):
        name, _, number = word.rpartition("=")
        try:
            odds[name or word] = float(number) if name else 1.0
        except ValueError:
            odds[word] = 1.0
    return rule_risks(result, odds, names(args.private) if args.private else None)


def refuse_columns(args: argparse.Namespace) -> None:
    """Refuse the columns of baskets where another method is used."""
    for name in ("transaction", "item", "repeats"):
        if getattr(args, name) is not None:
            raise InputError(f"The method '{args.method}' has no option '--{name}'. It belongs to "
                             "--method baskets.")


def read(args: argparse.Namespace, path: Place, repeats: str | None = None) -> Baskets:
    """Read the baskets that the command line names; `repeats` where it has no say in that."""
    from unspoken.table.basket_files import read_baskets

    return read_baskets(path, transaction=args.transaction, item=args.item,
                        repeats=repeats or args.repeats or "refuse", **file_options(args))


def protect(args: argparse.Namespace, method: Any) -> int:
    """Write a release of randomised baskets."""
    from unspoken.table.basket_tables import to_table

    baskets = read(args, args.data)
    secret = passphrase(args, new=True)
    release, key = method.protect(baskets)
    book_release(args, to_table(baskets), release, "baskets")
    release = _write(args, baskets, release, key, secret)
    facts = _deviations(release, baskets)
    emit(args, {"release": str(args.out), "key": str(args.key), "fingerprint": release.fingerprint,
                "baskets": len(baskets), "items": len(baskets.items),
                "mechanism": {k: v for k, v in release.mechanism.items() if k != "items"},
                "guarantee": release.guarantee.to_json(), "deviations": facts},
         "\n".join([repr(release.baskets), release.guarantee.summary(), *_lines(facts),
                    f"Release written to {args.out}: this directory goes to the miner.",
                    key_words(args)]))
    return 0


def _write(args: argparse.Namespace, baskets: Baskets, release: Release, key: Key,
           secret: str | None) -> Release:
    """Write key and release, or neither; enter the release into the register."""
    from unspoken.table.basket_tables import as_table

    return save_release(args, as_table(baskets, release.mechanism), release, key, secret,
                        key_file=args.key, overwrite=args.overwrite)


Ends = tuple[float, float]


def _deviations(release: Release, baskets: Baskets) -> dict[str, Ends | None]:
    """Return the standard deviations of supports of sets of 1 to 3 items: least and largest."""
    from unspoken.methods.baskets.basket_privacy import expected_deviation, largest_deviation
    from unspoken.methods.baskets.learners.frequent_itemsets import operator_of

    if "law" not in release.mechanism:
        return {}
    operator, _ = operator_of(release)
    public = bool(release.mechanism["public_sizes"])
    facts: dict[str, Ends | None] = {}
    for k in (1, 2, 3):
        try:
            facts[str(k)] = (expected_deviation(operator, k, baskets, public),
                             largest_deviation(operator, k, baskets, public))
        except InputError:
            facts[str(k)] = None
    return facts


def _lines(facts: dict[str, Ends | None]) -> list[str]:
    return [f"Sets of {k}: {_words(ends)}" for k, ends in facts.items()]


def _words(ends: Ends | None) -> str:
    from unspoken.methods.baskets.estimate_supports import TOLD_APART

    if ends is None or TOLD_APART * ends[0] >= 1:
        return "no support can be estimated"
    least, largest = ends
    return (f"supports have a standard deviation of {least:.2%} where nobody has the items, and "
            f"of at most {largest:.2%}; below {TOLD_APART * least:.2%} they cannot be "
            "distinguished from zero")


def mine(args: argparse.Namespace, wanted: dict[str, Any]) -> int:
    """Mine itemsets or rules from a file of baskets or from a release of them."""
    from unspoken.mine import itemsets, rules
    from unspoken.table.basket_tables import to_table

    confidence = wanted.pop("min_confidence", 0.5)
    strange = set(wanted) - {"min_support", "longest", "slack", "confidence",
                             "false_discovery"}
    if strange:
        raise InputError(explain(f"'--param {min(strange)}'", "one of min_support, longest, slack, "
                                 "confidence, false_discovery, min_confidence", min(strange)))
    source = _source(args)
    mined: Any = itemsets(source, wanted.pop("min_support", 0.01), **wanted)
    if args.learner == "rules":
        mined = rules(mined, confidence)
    risks = None if args.known is None else _risks(args, mined)
    if not args.release.is_dir():
        # Exact counts: nothing bounds them, so that the budget lists them.
        list_baskets(args, args.release, to_table(source), f"exact {args.learner}")
    plain = register_of(args) is not None and not args.release.is_dir()
    write_entered(args, "model", people_of(args, source) if plain else None, args.learner,
                  saved_bytes(mined))
    emit(args, {"model": str(args.out), "learner": args.learner, "found": len(mined),
                "baskets": mined.baskets, "facts": dict(mined.facts)}
         | ({} if risks is None else {"risks": risks.to_json()}),
         "\n".join([mined.summary(), *([] if risks is None else [risks.summary()]),
                    f"Written to {args.out}."]))
    return 0


def _source(args: argparse.Namespace) -> Any:
    from unspoken.release.release import Release

    return Release.load(args.release) if args.release.is_dir() else read(args, args.release)

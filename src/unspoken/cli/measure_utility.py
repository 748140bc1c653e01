"""`unspoken measure utility`: what a release kept of its original, and must not be used for."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from unspoken.cli.common import add_reading, read_table
from unspoken.cli.data_places import data_place

LEARNERS = ("boosted-trees", "forest", "tree", "linear")


def add_learner(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a learner."""
    parser.add_argument("--learner", choices=LEARNERS, default=LEARNERS[0],
                        help="what is trained on a release and tested on records that were held "
                             "back (default: %(default)s)")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the measure."""
    parser.add_argument("release", type=Path, metavar="RELEASE", help="release directory")
    parser.add_argument("--against", type=data_place, required=True, metavar="DATA",
                        help="the original table")
    parser.add_argument("--held-back", type=data_place, metavar="DATA",
                        help="original records that the release was not made of, to test a learner "
                             "on (default: none is tested)")
    add_learner(parser)
    add_reading(parser)


def measure(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return what was kept, as data and in lines."""
    from unspoken.errors import InputError
    from unspoken.methods.anonymity.utility.release_utility import release_utility
    from unspoken.release.release import Release

    release = Release.load(args.release)
    if release.schema.of_kind("basket"):
        raise InputError("The release holds baskets, whose use is measured by 'unspoken audit'.")
    target = release.schema.target
    table = read_table(args, args.against, target)
    test = None if args.held_back is None else read_table(args, args.held_back, target)
    found = release_utility(table, release, test, args.learner)
    return found.to_json(), found.summary()

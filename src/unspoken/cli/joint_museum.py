"""`unspoken joint museum`: weak protocols of the book, played on invented data and attacked."""

from __future__ import annotations

import argparse

from unspoken.cli.common import columns, emit


def museum(args: argparse.Namespace) -> int:
    """Play one exhibit or all of them, and print what the messages gave away."""
    from unspoken.joint.museum.exhibits import exhibits

    shown = exhibits(args.exhibit, args.values, args.seed)
    rows = [[one.name, one.section, f"{one.recovered} of {one.values}", one.watched_by, one.note]
            for one in shown]
    emit(args, {"exhibits": [one.to_json() for one in shown]},
         columns([["protocol", "section", "known", "to", "why"], *rows])
         + "\nKnown: values of another owner that follow from the messages for certain.")
    return 0

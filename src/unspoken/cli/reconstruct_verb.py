"""`unspoken reconstruct`: the distribution behind the distorted values of a release, as a plot."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from unspoken.cli.common import Adder, emit, must_be_new, names, save_model, verb
from unspoken.errors import InputError, explain

PICTURES = (".png", ".svg", ".pdf")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "reconstruct", run,
                  "Estimate the distribution of the original values from a release of distorted "
                  "ones (as2000 section 3). The miner learns the distribution, not anybody's "
                  "value. Needs no key.")
    parser.add_argument("release", type=Path, metavar="RELEASE", help="release directory")
    parser.add_argument("--column", type=names, required=True, metavar="A[,B]",
                        help="a distorted column; two are estimated together")
    parser.add_argument("--bins", type=int, default=50, metavar="N",
                        help="intervals of a numeric column (default: %(default)s; at most 20 for "
                             "two columns)")
    parser.add_argument("--support", type=_range, metavar="LOW,HIGH",
                        help="the range of the original values, where it is known")
    parser.add_argument("--confidence", type=float, metavar="SHARE",
                        help="error bars of this confidence, such as 0.95")
    parser.add_argument("--method", choices=("em", "bayes"), default="em",
                        help="em: the likeliest distribution; bayes: the iteration of as2000 "
                             "(default: %(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="where to write the distribution, as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE",
                        help=f"where to draw it: a file that ends in {', '.join(PICTURES)}")


def run(args: argparse.Namespace) -> int:
    """Reconstruct, print, and write what was asked for."""
    from unspoken.mine import reconstruct
    from unspoken.release.release import Release

    _check(args)
    release = Release.load(args.release)
    column = args.column[0] if len(args.column) == 1 else args.column
    estimate = reconstruct(release, column=column, bins=args.bins, support=args.support,
                           method=args.method, confidence=args.confidence)
    lines = [estimate.summary()]
    if args.out is not None:
        save_model(estimate, args.out)
        lines.append(f"Distribution written to {args.out}.")
    if args.plot is not None:
        _draw(estimate, args.plot)
        lines.append(f"Picture written to {args.plot}.")
    emit(args, {"column": list(args.column), "distribution": estimate.to_json(),
                "out": args.out, "plot": args.plot}, "\n".join(lines))
    return 0


def _check(args: argparse.Namespace) -> None:
    if len(args.column) not in (1, 2) or len(set(args.column)) < len(args.column):
        raise InputError(explain("'--column'", "one column, or two different ones with a comma "
                                 "between them", ",".join(args.column)))
    for place, what in ((args.out, "The distribution"), (args.plot, "The picture")):
        if place is not None:
            must_be_new(place, what)
    if args.plot is not None and args.out is not None \
            and args.plot.absolute() == args.out.absolute():
        raise InputError("'--plot' must be another file than '--out'. Got the same.")
    if args.plot is not None and args.plot.suffix.lower() not in PICTURES:
        raise InputError(explain("'--plot'", f"a file that ends in {', '.join(PICTURES)}",
                                 str(args.plot)))


def _range(text: str) -> tuple[float, float]:
    """Read LOW,HIGH."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not LOW,HIGH, such as 0,120") from None
    return low, high


def _draw(estimate: Any, path: Path) -> None:
    """Write the picture at once or not at all."""
    import io

    from unspoken.table.atomic_files import write_file

    drawn = io.BytesIO()
    estimate.plot().savefig(drawn, format=path.suffix.lower()[1:], dpi=150, bbox_inches="tight")
    write_file(path, drawn.getvalue(), overwrite=False)

"""`unspoken measure noise`: which noise loses least at equal privacy; needs no table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import columns
from unspoken.errors import InputError, explain

if TYPE_CHECKING:
    from unspoken.methods.distortion.noise_design import NoiseDesign


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the measure."""
    parser.add_argument("--privacy", type=float, required=True, metavar="WIDTH",
                        help="how wide the range of a value must stay, in the column's unit")
    parser.add_argument("--support", required=True, metavar="LOW,HIGH",
                        help="the range of the values")
    parser.add_argument("--by", choices=["width", "entropy"], default="width",
                        help="width: the interval that holds a value with --confidence; entropy: "
                        "the range that hides as much (default: %(default)s)")
    parser.add_argument("--confidence", type=float, default=0.95, metavar="SHARE",
                        help="of the interval (default: %(default)s)")
    parser.add_argument("--bins", type=int, default=10, metavar="N",
                        help="intervals whose shares are to be estimated (default: %(default)s)")


def measure(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return the designs as data and as a table."""
    from unspoken.methods.distortion.noise_design import design_noise

    designs = design_noise(args.privacy, _support(args.support), measure=args.by,
                           confidence=args.confidence, bins=args.bins)
    rows = [[one.noise.family, f"{one.noise.scale:.4g}", f"{one.width:.4g}", f"{one.hidden:.4g}",
             f"{one.people_for_mean:.3g}", _people(one)] for one in designs]
    head = ["law", "scale", "width", "hides", "people for the mean", "people for the shares"]
    return ({"designs": [one.to_json() for one in designs]},
            columns([head, *rows], right=[1, 2, 3, 4, 5])
            + "\nHow many people must be asked to learn as much as from one who tells the truth.")


def _people(one: NoiseDesign) -> str:
    shares = one.people_for_shares
    return f"{shares:.3g}" if shares < float("inf") else "beyond reach"


def _support(text: str) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in text.split(","))
    except ValueError:
        raise InputError(explain("'--support'", "two numbers such as 0,100", text)) from None
    return low, high

"""The release methods by the names that `unspoken protect --method` takes."""

from __future__ import annotations

import argparse
import json
from typing import Any

from unspoken.cli.common import pairs
from unspoken.errors import InputError, explain

METHODS = {
    "piecewise": "PiecewiseEncoder",
    "rotation": "Rotation",
    "pairwise-rotation": "PairwiseRotation",
    "random-projection": "RandomProjection",
    "noise": "NoiseAdder",
    "multiplicative-noise": "MultiplicativeNoise",
    "discretize": "Discretizer",
    "randomized-response": "RandomizedResponse",
    "baskets": "SelectASize",
    "anonymize": "TreePreservingAnonymizer",
    "mondrian": "MondrianAnonymizer",
    "generalize": "Generalizer",
    "top-bottom": "TopBottomCoder",
    "suppress-cells": "CellSuppressor",
    "swap": "DataSwapper",
    "sample": "SampleReleaser",
}
KEYED = ("piecewise", "rotation", "pairwise-rotation")
"""Methods that always make a key."""
PIECEWISE = ("mode", "breakpoints", "neutral_names")
"""Options of the command that only the piecewise encoding has."""
ANONYMITY = ("k", "l", "rule")
"""Options of the command for methods that count how many people look alike."""


def build(args: argparse.Namespace) -> Any:
    """Return the method with the parameters that the command line gives."""
    from unspoken import protect

    kind = getattr(protect, METHODS[args.method])
    known = set(kind().get_params()) - {"random_state"}
    chosen = {**_options(args, known), **_given(args, known)}
    return kind(**chosen)


def _given(args: argparse.Namespace, known: set[str]) -> dict[str, Any]:
    """Return the options that were given; one that the method does not have is refused."""
    found = {name: getattr(args, name) for name in (*PIECEWISE, *ANONYMITY)
             if getattr(args, name) is not None and getattr(args, name) is not False}
    found |= {"categorical": args.categorical} if args.categorical else {}
    found |= {"shuffle_rows": False} if args.no_shuffle else {}
    for name in found:
        if name not in known:
            raise InputError(f"The method '{args.method}' has no option for '{name}'. "
                             f"It has {', '.join(sorted(known))}, given as --option NAME=VALUE.")
    return found


def _options(args: argparse.Namespace, known: set[str]) -> dict[str, Any]:
    found = pairs(args.option, "--option")
    for name in found:
        if name not in known:
            raise InputError(explain(f"'--option {name}' of '{args.method}'",
                                     "one of " + ", ".join(sorted(known)), name))
    return {name: _value(text) for name, text in found.items()}


def _value(text: str) -> Any:
    """Read a value as JSON; what is not JSON is text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def check_key(args: argparse.Namespace, has_key: bool) -> None:
    """Refuse a method that makes a key without a place for it, and the other way round."""
    if has_key and args.key is None:
        raise InputError(f"The method '{args.method}' makes a key. Say where it goes: --key FILE.")
    if not has_key and args.key is not None:
        raise InputError(f"The method '{args.method}' makes no key here: the release can not be "
                         "turned back. Leave --key out.")

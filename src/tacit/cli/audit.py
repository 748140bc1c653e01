"""`tacit audit`."""
from __future__ import annotations

import argparse

from tacit.cli.common import Adder, verb


def add(verbs: Adder) -> None:
    """Add the verb."""
    verb(verbs, "audit", run, "x.")


def run(args: argparse.Namespace) -> int:
    """Audit."""
    return 0

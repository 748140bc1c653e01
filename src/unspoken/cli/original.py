"""The custodian's own table, as the key describes it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from unspoken.cli.common import read_table

if TYPE_CHECKING:
    from unspoken.release.key import Key
    from unspoken.table.formats.data_urls import Place
    from unspoken.table.table import Table


def target_of(key: Key) -> str | None:
    """Return the original name of the target, which the key knows."""
    target = key.secrets.get("target")
    return str(target[0]) if isinstance(target, list | tuple) and target else None


def read_original(args: argparse.Namespace, path: Place, key: Key) -> Table:
    """Read the original table with the target that was released."""
    return read_table(args, path, target_of(key))

"""Rows handed on as a frame of another library, and words for a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from unspoken.errors import MissingExtraError

MOST_LINES = 40
"""A repr fits a screen; what is left out is counted."""


def to_pandas(rows: Any) -> Any:
    """Return an Arrow table as a pandas frame; dates and decimals stay what they are."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtraError("A pandas frame needs pandas. Install it: pip install pandas. "
                                "Or use to_polars(), or arrow().") from None
    return rows.to_pandas()


def to_polars(rows: Any) -> Any:
    """Return an Arrow table as a polars frame."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("A polars frame needs polars. Install it: pip install polars. "
                                "Or use to_pandas(), or arrow().") from None
    return polars.from_arrow(rows)


def notebook_text(text: str) -> str:
    """Return a text for a notebook; names in it are text, never markup."""
    return f'<pre style="white-space: pre-wrap">{html.escape(text)}</pre>'


def on_a_screen(lines: Sequence[str], most: int = MOST_LINES) -> list[str]:
    """Return the lines, or the first and the last of very many."""
    if len(lines) <= most:
        return list(lines)
    last = most // 4
    first = most - last - 1
    return [*lines[:first], f"... {len(lines) - first - last:,} more ...", *lines[-last:]]

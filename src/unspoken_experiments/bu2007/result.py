"""One table with its notes, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A table of the paper: published values beside ours, and why they differ."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    before: str = ""

    def markdown(self) -> str:
        """Return the section."""
        ruler = ["---", *["---:"] * (len(self.columns) - 1)]
        lines = [_line(self.columns), _line(ruler), *(_line(row) for row in self.rows)]
        start = [f"## {self.title}", "", *([self.before, ""] if self.before else [])]
        return "\n".join([*start, *lines, "", *(f"- {note}" for note in self.notes), ""])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"

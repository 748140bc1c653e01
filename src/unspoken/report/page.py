"""Page: one self-contained HTML file that reads the same on screen, on paper and without colour.

No script, no network, system fonts. Everything that is given as text is escaped, column names
included: a release may come from somebody else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from unspoken._version import __version__
from unspoken.errors import InputError, explain
from unspoken.report.markup import breakable, cell, escape, is_number, svg_of
from unspoken.report.style import CSS
from unspoken.table.atomic_files import named_path, write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ALIGN = {"l": "left", "r": "right", "c": "center"}
# Nothing may be fetched or run, even if an escape were forgotten.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class Page:
    """A page of a report that grows from top to bottom; every method returns the page.

    Parameters
    ----------
    title : str
        The title; text is escaped.
    subtitle : str, default ""
        A line below it.

    Examples
    --------
    >>> Page("Audit").section("Columns").text("All columns were scored.").save("page.html")
    ... # doctest: +SKIP
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        self.title = title
        self.subtitle = subtitle
        self._parts: list[str] = []
        self._figures = 0
        self._sections = 0

    def box(self, lines: Iterable[str] | str) -> Page:
        """Add a framed summary; its first line stands out."""
        inside = "".join(f"<p>{escape(line)}</p>" for line in _lines(lines, "box"))
        return self._add(f'<div class="box">{inside}</div>')

    def section(self, heading: str, level: int = 2) -> Page:
        """Add a heading; level 3 stands under level 2."""
        if level not in (2, 3):
            raise InputError(explain("Page.section: 'level'", "2 or 3", level))
        self._sections += 1
        return self._add(f'<h{level} id="section-{self._sections}">{escape(heading)}</h{level}>')

    def text(self, paragraph: str) -> Page:
        """Add a paragraph; an empty line starts another one."""
        parts = [part.strip() for part in str(paragraph).split("\n\n")]
        return self._add("".join(f"<p>{escape(part)}</p>" for part in parts if part))

    def bullets(self, lines: Iterable[str]) -> Page:
        """Add a list."""
        inside = "".join(f"<li>{escape(line)}</li>" for line in _lines(lines, "bullets"))
        return self._add(f"<ul>{inside}</ul>")

    def code(self, text: str) -> Page:
        """Add text in which blanks and line ends matter."""
        return self._add(f"<pre><code>{escape(text)}</code></pre>")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "",
              align: str | Sequence[str] | None = None) -> Page:
        """Add a table whose first column names its rows.

        `align` has one of l, r, c (or left, right, center) for each column, such as "lrr"; left
        out, columns of numbers go to the right.
        """
        body = [list(row) for row in rows]
        for row in body:
            if len(row) != len(columns):
                raise InputError(explain(
                    "Page.table: every row", f"of {len(columns)} cells", row))
        sides = _sides(len(columns), body, align)
        head = "".join(f'<th scope="col" class="{side}">{breakable(name)}</th>'
                       for name, side in zip(columns, sides, strict=True))
        title = f"<caption>{escape(caption)}</caption>" if caption else ""
        label = caption or f"Table of {', '.join(columns)}"
        inside = "\n".join(_row(row, sides) for row in body)
        return self._add(
            f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">'
            f"<table>{title}<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{inside}\n</tbody></table></div>"
        )

    def figure(self, figure: Figure, caption: str, alt: str = "") -> Page:
        """Add a matplotlib figure as a drawing inside the page, and close the figure."""
        self._figures += 1
        number = self._figures
        drawing = svg_of(figure, f"figure-{number}", alt or caption)
        words = f"<figcaption>Figure {number}. {escape(caption)}</figcaption>"
        return self._add(f"<figure>{drawing}{words}</figure>")

    def markup(self, part: str) -> Page:
        """Add markup as it is: the caller has escaped everything in it."""
        return self._add(part)

    def html(self) -> str:
        """Return the whole page."""
        under = f'<p class="subtitle">{escape(self.subtitle)}</p>' if self.subtitle else ""
        body = "\n".join(self._parts)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
            f"<main>\n<h1>{escape(self.title)}</h1>\n{under}\n{body}\n</main>\n"
            f"<footer>Made by unspoken {escape(__version__)}.</footer>\n</body>\n</html>\n"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, or nothing, for its owner alone: it may hold original values."""
        write_file(named_path(path), self.html().encode(), 0o600)

    def _add(self, part: str) -> Page:
        self._parts.append(part)
        return self


def _lines(lines: Iterable[str] | str, where: str) -> list[str]:
    parts = lines.splitlines() if isinstance(lines, str) else [str(line) for line in lines]
    if not parts:
        raise InputError(f"Page.{where}: 'lines' must hold at least one line. Got none.")
    return parts


def _sides(
    count: int, rows: Sequence[Sequence[Any]], align: str | Sequence[str] | None
) -> list[str]:
    if align is None:
        return ["right" if _numeric([row[i] for row in rows]) else "left" for i in range(count)]
    sides = [_ALIGN.get(side, side) for side in align]
    if len(sides) != count or not set(sides) <= set(_ALIGN.values()):
        raise InputError(explain("Page.table: 'align'", f"{count} of l, r, c", align))
    return sides


def _numeric(cells: Sequence[Any]) -> bool:
    return any(map(is_number, cells)) and all(c is None or is_number(c) for c in cells)


def _row(row: Sequence[Any], sides: Sequence[str]) -> str:
    cells = [f'<td class="{side}">{breakable(cell(value))}</td>'
             for value, side in zip(row, sides, strict=True)]
    if cells:
        cells[0] = f'<th scope="row" class="{sides[0]}">{breakable(cell(row[0]))}</th>'
    return f"<tr>{''.join(cells)}</tr>"

"""From values and figures to markup: escaping, number cells, matplotlib figures as inline SVG."""

from __future__ import annotations

import html
import io
import re
import sys
import unicodedata
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from unspoken.report.style import FONTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KEPT = "\n\t"
_LONG = 24
_PART = re.compile(rf"[^_./-]{{1,{_LONG}}}[_./-]?|[_./-]")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.S)
_NAMESPACE = re.compile(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"')
_SIZE = re.compile(r'\s(?:width|height)="[\d.]+pt"')
_STYLE = re.compile(r"<style.*?</style>", re.S)
# Older matplotlib writes "font: bold 10px 'DejaVu Sans', ...", newer ones the parts.
_FAMILY = re.compile(r"(font-family: |font: [^;\"']*?px )[^;\"]*")
_VIEW = re.compile(r'viewBox="0 0 ([\d.]+) ')
_TOKENS = {"#000000": "var(--ink)", "#ffffff": "var(--paper)"}


def clean(value: object) -> str:
    """Return text with control and direction characters shown as escapes, so they do nothing."""
    return "".join(_shown(letter) for letter in str(value))


def _shown(letter: str) -> str:
    harmless = letter in _KEPT or unicodedata.category(letter) not in ("Cc", "Cf", "Cs")
    return letter if harmless else f"\\u{ord(letter):04x}"


def escape(value: object) -> str:
    """Return text that is safe anywhere in HTML, in attributes too."""
    return html.escape(clean(value), quote=True)


def breakable(value: object) -> str:
    """Return escaped text in which words of more than 24 letters may break, others not.

    They break after signs such as _ and, where there are none, every 24 letters.
    """
    words = re.split(r"(\s+)", clean(value))
    return "".join(_with_breaks(word) for word in words)


def _with_breaks(word: str) -> str:
    parts = _PART.findall(word) if len(word) > _LONG else [word]
    return "<wbr>".join(html.escape(part, quote=True) for part in parts)


def is_number(value: object) -> bool:
    """Return True if a cell holds a number."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def cell(value: object) -> str:
    """Return a table cell's text: four significant digits for fractions, a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, float | np.floating):
        return "–" if np.isnan(value) else f"{float(value):.4g}"
    return clean(value)


def svg_of(figure: Figure, name: str, alt: str) -> str:
    """Draw a figure as SVG for the inside of a page, then let go of the figure.

    Text stays text, in the fonts of the page. Names inside the drawing get a prefix, because all
    drawings of a page share one name space. Black and white become the page's ink and paper.
    """
    text = _drawn(figure)
    release(figure)
    for part in (_COMMENT, _METADATA, _STYLE):
        text = part.sub("", text)
    head, rest = text[text.index("<svg"):].split(">", 1)
    head = _SIZE.sub("", _NAMESPACE.sub("", head))
    view = _VIEW.search(head)
    width = float(view[1]) / 72 if view else 6.0
    head += f' role="img" aria-label="{escape(alt)}" style="width: {width:.2f}in"'
    return _coloured(_renamed(head + ">" + rest, name))


def _drawn(figure: Figure) -> str:
    from matplotlib import rc_context

    file = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with (rc_context({"svg.fonttype": "none", "svg.hashsalt": "unspoken"}),
          warnings.catch_warnings()):
        # A letter that matplotlib's own font lacks is drawn by the browser.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(file, format="svg", metadata=nothing, bbox_inches="tight", pad_inches=0.04)
    return file.getvalue()


def _renamed(svg: str, name: str) -> str:
    def within(part: re.Match[str]) -> str:
        tag = part.group(0)
        tag = re.sub(r'\sid="', f' id="{name}-', tag)
        tag = re.sub(r'\s(?:xlink:)?href="#', f' href="#{name}-', tag)
        return tag.replace("url(#", f"url(#{name}-")

    return re.sub(r"<[^>]*>", within, svg)


def _coloured(svg: str) -> str:
    def within(part: re.Match[str]) -> str:
        tag = part.group(0)
        for colour, token in _TOKENS.items():
            tag = tag.replace(colour, token)
        if tag.startswith("<text"):
            tag = _FAMILY.sub(rf"\g<1>{FONTS}", tag)
        return tag

    return re.sub(r"<[^>]*>", within, svg)


def release(figure: Any) -> None:
    """Empty a figure, and close it where somebody made it with pyplot."""
    figure.clear()
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(figure)

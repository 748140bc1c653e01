"""The page is one safe file: everything escaped, nothing fetched, nothing run."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from support.report_cases import Reader
from unspoken.errors import InputError
from unspoken.report import Page
from unspoken.report.markup import breakable, cell, clean, escape

pytestmark = pytest.mark.slow

HOSTILE = '"><script>alert(1)</script><img src=http://x.test/ onerror=alert(2)>\'&amp;$x_1^$-->'


def drawing(label: str = "x"):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 2))
    axes = figure.add_subplot()
    axes.plot([0, 1, 2], [1, 0, 2], label=label)
    axes.bar([0, 1], [1, 2], hatch="//", color="black")
    axes.set_title(label)
    axes.legend()
    return figure


def full(text: str = "plain") -> Page:
    page = Page(text, text).box([text, text]).section(text).section(text, level=3).text(text)
    page.table([text, "n"], [[text, 1.5], [None, 2]], text).bullets([text]).code(text)
    return page.figure(drawing(text.replace("$", r"\$")), text).figure(drawing(), text)


def test_hostile_text_stays_text() -> None:
    found = Reader(full(HOSTILE).html())
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert "".join(found.words).count(HOSTILE) >= 10


def test_nothing_is_fetched() -> None:
    page = full().html()
    assert "http" not in page.replace("http-equiv", "")
    found = Reader(page)
    links = [v for name, v in found.attributes if name in ("src", "href", "xlink:href", "srcset")]
    assert links
    assert all(str(link).startswith("#figure-") for link in links)
    assert not {"script", "link", "iframe", "object", "embed", "base"} & set(found.tags)
    assert "default-src 'none'" in page


def test_names_inside_drawings_do_not_clash() -> None:
    found = Reader(full().html())
    assert len(found.ids) == len(set(found.ids))
    used = {v[1:] for name, v in found.attributes if name == "href" and v}
    assert used <= set(found.ids)


def test_tables_are_accessible() -> None:
    rows = [["a", 0.123456], ["b", None]]
    page = Page("t").table(["name", "share"], rows, "what it shows").html()
    assert "<caption>what it shows</caption>" in page
    assert '<th scope="col" class="right">share</th>' in page
    assert '<th scope="row" class="left">a</th><td class="right">0.1235</td>' in page
    assert '<td class="right">–</td>' in page


def test_figures_have_words() -> None:
    page = Page("t").figure(drawing(), "A caption", alt="What is drawn").html()
    assert 'role="img" aria-label="What is drawn"' in page
    assert "<figcaption>Figure 1. A caption</figcaption>" in page


def test_ink_follows_the_colour_scheme() -> None:
    page = Page("t").figure(drawing(), "c").html()
    body = page[page.index("<figure>"):]
    assert "#000000" not in body
    assert "#ffffff" not in body
    assert "var(--ink)" in body
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


@pytest.mark.parametrize("style", [
    "font: bold 10px 'DejaVu Sans', 'Arial', sans-serif; text-anchor: middle",
    "font-size: 10px; font-family: 'DejaVu Sans', 'Arial', sans-serif; text-anchor: middle",
])
def test_text_in_drawings_has_the_fonts_of_the_page(style: str) -> None:
    from unspoken.report.markup import _coloured

    found = _coloured(f'<text style="{style}">x</text>')
    assert "DejaVu" not in found
    assert "system-ui" in found
    assert "text-anchor: middle" in found
    assert "10px" in found


def test_a_figure_is_let_go() -> None:
    figure = drawing()
    Page("t").figure(figure, "c")
    assert figure.axes == []


def test_a_figure_of_pyplot_is_closed() -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.plot([1, 2])
    Page("t").figure(figure, "c")
    assert pyplot.get_fignums() == []


def test_the_same_page_twice_is_the_same_file() -> None:
    assert full().html() == full().html()


def test_save_writes_utf8_and_no_leftovers(tmp_path) -> None:
    path = tmp_path / "page.html"
    Page("Größe 年齢").save(path)
    assert "Größe 年齢" in path.read_text(encoding="utf-8")
    Page("again").save(str(path))
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_control_and_direction_characters_are_shown() -> None:
    assert clean("a\x00b\u202ec\ud800") == "a\\u0000b\\u202ec\\ud800"
    assert clean("two\nlines\t年") == "two\nlines\t年"
    assert escape("<a href='x'>") == "&lt;a href=&#x27;x&#x27;&gt;"
    Page("\ud800").html().encode()


@pytest.mark.parametrize(("value", "text"), [
    (None, "–"), (float("nan"), "–"), (1 / 3, "0.3333"), (12345, "12345"), (True, "True"),
    (np.float64(2.5), "2.5"), (np.int64(7), "7"), ("x", "x"), (np.float32("nan"), "–"),
])
def test_cells(value: object, text: str) -> None:
    assert cell(value) == text


def test_only_long_words_break() -> None:
    assert breakable("twenty_four_letters_long x") == "twenty_four_letters_long x"
    assert breakable("<" * 25) == "&lt;" * 24 + "<wbr>" + "&lt;"
    assert breakable("Horizontal_Distance_To_Hydrology") == (
        "Horizontal_<wbr>Distance_<wbr>To_<wbr>Hydrology")
    assert breakable("_" * 26).replace("<wbr>", "") == "_" * 26
    assert breakable(" two  blanks\nand a line") == " two  blanks\nand a line"


def test_numbers_go_to_the_right_and_align_decides() -> None:
    page = Page("t").table(["a", "b", "c"], [["x", 1, "y"]]).html()
    assert '<td class="right">1</td><td class="left">y</td>' in page
    page = Page("t").table(["a", "b"], [["x", 1]], align="rc").html()
    assert '<th scope="row" class="right">x</th><td class="center">1</td>' in page
    page = Page("t").table(["a"], [["x"]], align=["center"]).html()
    assert '<th scope="row" class="center">' in page


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputError, match="every row must be of 2 cells"):
        Page("t").table(["a", "b"], [["x"]])
    with pytest.raises(InputError, match="'align' must be 2 of l, r, c"):
        Page("t").table(["a", "b"], [["x", 1]], align="lz")
    with pytest.raises(InputError, match="'level' must be 2 or 3"):
        Page("t").section("x", level=1)
    with pytest.raises(InputError, match="at least one line"):
        Page("t").box([])


def test_importing_the_room_loads_no_plotting() -> None:
    import subprocess

    code = ("import sys, unspoken.report; "
            "assert not any(name.startswith('matplotlib') for name in sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)

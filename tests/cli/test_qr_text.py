"""QR codes in a terminal: every module is where the standard's encoder puts it."""

from __future__ import annotations

import sys

import pytest

from unspoken.cli.main import main
from unspoken.cli.qr_text import qr_text
from unspoken.errors import MissingExtraError

segno = pytest.importorskip("segno")

LIGHT = {" ": (False, False), "▀": (True, False), "▄": (False, True), "█": (True, True)}


def modules(lines):
    """Return the dark modules of a printed code, read from the screen, without the quiet zone."""
    rows = []
    for line in lines:
        pairs = [LIGHT[sign] for sign in line]
        rows += [[not top for top, _ in pairs], [not bottom for _, bottom in pairs]]
    rows = rows[:len(rows[0])]
    return [row[2:-2] for row in rows[2:-2]]


@pytest.mark.parametrize("text", ["7KQM-2XPD", "4KQM-2XPD-M4RT-9WCA",
                                  "unspoken:[2001:db8::5]:7700#Yp3abcdefghijklmnopqrs"])
def test_a_screen_shows_the_modules_of_the_code(text):
    shown = modules(qr_text(text).splitlines())
    assert shown == [[bool(dark) for dark in row] for row in segno.make(text, micro=False).matrix]
    # The three corners by which a camera finds a code; the fourth has none.
    finder = [[row == 0 or row == 6 or column in (0, 6) or (2 <= row <= 4 and 2 <= column <= 4)
               for column in range(7)] for row in range(7)]
    for rows, columns in ((shown[:7], slice(7)), (shown[:7], slice(-7, None)),
                          (shown[-7:], slice(7))):
        assert [row[columns] for row in rows] == finder


def test_the_light_margin_stands_out_on_a_dark_screen():
    first, *_, last = qr_text("7KQM-2XPD").splitlines()
    assert set(first) == {"█"}
    assert set(last) <= {"█", "▀"}


def test_an_invitation_is_shown_as_a_code(tmp_path, capsys):
    place = ["--folder", str(tmp_path / "node")]
    main(["node", "init", "north", "--address", "north.example:7700", *place])
    capsys.readouterr()
    assert main(["node", "invite", "--qr", *place]) == 0
    invitation, _, *code = capsys.readouterr().out.rstrip("\n").splitlines()
    assert modules(code) == [[bool(dark) for dark in row]
                             for row in segno.make(invitation, micro=False).matrix]
    main(["node", "invite", *place])
    assert "█" not in capsys.readouterr().out


def test_without_the_library_people_are_told_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "segno", None)
    with pytest.raises(MissingExtraError, match=r"unspoken\[qr\].*leave --qr out"):
        qr_text("7KQM-2XPD")

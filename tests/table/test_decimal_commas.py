"""Texts that look like numbers with decimal commas are pointed out, with what reads them."""

from __future__ import annotations

import pytest

import unspoken
from unspoken.cli.main import main


def german(folder):
    path = folder / "kunden.csv"
    path.write_text("umsatz;groesse;ort;nummer;jahr\n" + "".join(
        f"{1 + i % 9}.{100 + i},50;17{i % 10},5;Ulm {i % 3};{i},1;{1990 + i}\n" for i in range(30)),
        encoding="utf-8")
    return path


def test_decimal_commas_are_pointed_out_and_read_as_asked(tmp_path):
    path = german(tmp_path)
    notes = " ".join(unspoken.read(path, show=False).notes)
    assert "'umsatz' is taken as text, and looks like numbers with a decimal comma (decimal=',' " \
        "and thousands='.' say so)" in notes
    assert "'groesse' is taken as text, and looks like numbers with a decimal comma (decimal=',' " \
        "says so)" in notes
    assert "'ort'" not in notes
    assert "'jahr'" not in notes
    table = unspoken.read(path, decimal=",", thousands=".", show=False)
    assert table.numbers(["umsatz", "groesse"])[0].tolist() == [1100.5, 170.5]
    assert "decimal comma" not in " ".join(table.notes)


def test_a_command_names_the_flags(tmp_path, capsys):
    path = str(german(tmp_path))
    assert main(["inspect", path]) == 0
    shown = capsys.readouterr().out
    assert main(["inspect", path, "--json"]) == 0
    for told in (shown, capsys.readouterr().err):
        assert "(--decimal , and --thousands . say so)" in told
        assert "(--decimal , says so)" in told


@pytest.mark.parametrize("cells", [["1,5", "x"], ["1,2,3", "4,5,6"], ["1.5", "2,5,"]])
def test_other_texts_are_not(cells, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{cell};1\n" for cell in cells * 5), encoding="utf-8")
    assert "decimal comma" not in " ".join(unspoken.read(path, delimiter=";", show=False).notes)

"""Whoever types a command is shown flags, never Python."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from unspoken.cli.flag_words import in_flags
from unspoken.cli.main import main, parser
from unspoken.errors import reason


def worded(text, *argv):
    top = parser()
    return in_flags(text, top, top.parse_args(argv))


PROTECT = ("protect", "t.csv", "--out", "r", "--key", "k")


@pytest.mark.slow
@pytest.mark.parametrize(("python", "flags"), [
    ("Name it, such as encoding='latin-1'.", "Name it, such as --encoding latin-1."),
    ("Choose another name, or use overwrite=True.", "Choose another name, or use --overwrite."),
    ("Check its delimiter (delimiter=).", "Check its delimiter (--delimiter)."),
    ("Name it when reading: unspoken.read(source, target=...).",
     "Name it when reading: --target."),
    ("Or fit with standardise=False, please.", "Or fit with --option standardise=False, please."),
    ("Behind an address it is ?table=NAME.", "Behind an address it is ?table=NAME."),
    ("Read db?schema=s&table=t instead.", "Read db?schema=s&table=t instead."),
    ("Pass target=... with it.", "Pass --target with it."),
    ("Declare it: sensitive=[...].", "Declare it: --sensitive."),
    ("Declare them: sensitive=['one day', 'c'].", "Declare them: --sensitive one day,c."),
    ("Read it with keep='age' (--keep age).", "Read it with --keep age."),
    ("Use overwrite=True (on the command line --overwrite) now.", "Use --overwrite now."),
    ("Start one with Budget.start, or on the command line: unspoken budget b --start DATA",
     "Start one with unspoken budget b --start DATA"),
    ("Pass the original training data (data=).", "Pass the original training data (data=)."),
])
def test_arguments_become_flags(python, flags):
    assert worded(python, *PROTECT) == flags


@pytest.mark.parametrize("text", [
    "Column 'a=b' cannot be used.", "The value 'missing=3' does not occur.",
    "Use '--option angle=30' once.", "A file named x=y.csv is not there.", "1 + 1 = 2"])
def test_what_users_wrote_stays(text):
    assert worded(text, *PROTECT) == text


def test_a_file_for_decoding_is_named_by_its_flag():
    text = worded("Pass the original training data (data=).", "decode", "m", "--key", "k", "--out",
                  "o")
    assert text == "Pass the original training data (--data)."


@pytest.mark.parametrize(("error", "sentence"), [
    (FileNotFoundError(2, "No such file or directory", "x"), "No such file or directory."),
    (OSError("[Errno 2] Failed to open 'x'. "), "Failed to open 'x'."),
    (ValueError("not a parquet file."), "not a parquet file."), (ValueError(""), "ValueError."),
    (ValueError("a [list] of\n things"), "a [list] of things.")])
def test_what_others_say_becomes_one_sentence(error, sentence):
    assert reason(error) == sentence


def test_files_that_are_none_are_refused_in_sentences(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.parquet").write_bytes(b"this is no table at all")
    (tmp_path / "bad.key").write_bytes(b"this is no key")
    for words in (["inspect", "bad.parquet"], ["summary", "bad.key"],
                  ["protect", "bad.parquet", "--out", "r", "--key", "k"]):
        assert main(words) == 2
        text = capsys.readouterr().err
        assert text.rstrip("\n").endswith(".")
        assert not any(wrong in text for wrong in ("..", "[Errno", " a unspoken"))


def test_a_flag_of_another_verb_is_not_promised():
    assert worded("Use target='x'.", "summary", "file") == "Use target='x'."


def test_a_file_in_another_encoding_is_explained_in_flags(tmp_path, capsys):
    (tmp_path / "t.csv").write_bytes("name;größe\nä;1\n".encode("latin-1"))
    assert main(["inspect", str(tmp_path / "t.csv")]) == 2
    text = capsys.readouterr().err
    assert "--encoding" in text
    assert "encoding=" not in text


@pytest.mark.slow
def test_a_reader_that_has_read_enough_is_no_failure():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "unspoken", "methods"], stdout=write,
                          stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")

"""What a linkage unit guesses from encodings: much where they are plain, little where salted."""

from __future__ import annotations

import json
import secrets

import numpy as np
import pytest

from support.linked_people import LINK, people
from unspoken.audit.linkage_attack import guess_values
from unspoken.audit.linkage_quality import linkage_quality
from unspoken.audit.typing_errors import mistyped, one_error
from unspoken.cli.main import main
from unspoken.joint.mpc.linkage.field_tokens import LinkColumn
from unspoken.joint.mpc.linkage.record_encodings import EncodingRules, encode_records

COLUMNS = [LinkColumn.of(word) for word in LINK]
COUNT, KNOWN = 1500, 150


@pytest.fixture(scope="module")
def halves():
    columns = people(2 * COUNT, 3, known=(100, 400))
    return ([column[:COUNT].tolist() for column in columns],
            [column[COUNT:].tolist() for column in columns])


def rates(halves, encodings, columns=COLUMNS):
    mine, others = (half[:len(columns)] for half in halves)
    guessed = guess_values(columns, (mine, encodings), others, "any", KNOWN)
    return {(each.adversary.split()[-1], each.column): (each.right, each.guessing)
            for each in guessed}


@pytest.mark.slow
def test_known_people_give_others_away_and_a_salt_hinders_it(halves):
    gains = {}
    for rules in (EncodingRules("bloom"), EncodingRules("minhash", 256),
                  EncodingRules("minhash", 512, "born")):
        encodings = encode_records(COLUMNS, halves[0], secrets.token_bytes(32), rules)
        right, guessing = rates(halves, encodings)["people", "first"]
        gains[rules.kind, rules.salt] = right - guessing
    assert gains["bloom", ""] > 0.3
    assert gains["bloom", ""] > gains["minhash", ""] + 0.1
    assert gains["minhash", "born"] < 0.02


@pytest.mark.slow
def test_patterns_give_frequent_names_away_in_bloom_filters_alone(halves):
    """Six keys, the same in every run: one key alone moves the gain by more than it is."""
    gains = {"bloom": 0.0, "minhash": 0.0}
    for kind in gains:
        for byte in range(6):
            encodings = encode_records(COLUMNS[:2], halves[0][:2], bytes([byte]) * 32,
                                       EncodingRules(kind))
            found = rates(halves, encodings, COLUMNS[:2])
            gains[kind] += sum(np.subtract(*found["patterns", name]) for name in ("first", "last"))
    assert gains["bloom"] > 0.1
    assert gains["minhash"] < 0.05


@pytest.mark.slow
def test_nothing_is_guessed_from_random_bits(halves):
    encodings = np.random.default_rng(0).integers(0, 2**63, (COUNT, 16)).astype(np.uint64)
    assert all(right < guessing + 0.03 for right, guessing in rates(halves, encodings).values())


def test_typing_errors_are_as_frequent_as_asked_and_never_long():
    draw = np.random.default_rng(0)
    typed = mistyped(["miller"] * 2000 + [None, ""], 0.1, draw)
    assert 0.07 < np.mean([value != "miller" for value in typed[:2000]]) < 0.14
    assert typed[2000:] == [None, ""]
    assert all(abs(len(one_error("1980-03-07", draw)) - 10) <= 1 for _ in range(50))


@pytest.mark.slow
def test_quality_falls_with_errors(halves):
    good, bad = (linkage_quality(COLUMNS, halves[0], EncodingRules(), rate, seed=1)
                 for rate in (0.05, 0.6))
    assert good.precision > 0.97
    assert good.recall > 0.97 > bad.recall


@pytest.mark.slow
def test_the_command_shows_both(tmp_path, capsys):
    columns = dict(zip(("first", "last", "born", "postcode"), people(400, 5), strict=True))
    lines = ["first,last,born,postcode", *(",".join(row) for row in zip(*columns.values(),
                                                                      strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    words = ["measure", "linkage", str(tmp_path / "people.csv"), "--link", "last:name,born:date",
             "--known", "20"]
    assert main([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {row["encoding"] for row in data["quality"]} >= {"bloom", "minhash 512",
                                                            "minhash 512, salted by born"}
    assert {row["column"] for row in data["guessed"]} == {"last", "born"}
    assert main([*words[:4], "last:surname"]) == 2
    assert main([*words, "--salt", "first"]) == 2

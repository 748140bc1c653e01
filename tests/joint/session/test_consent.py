"""What a person is shown before agreeing: identities first, then who could break the study."""

from __future__ import annotations

import pytest

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.consent import consent, spaced
from unspoken.joint.session.study import Study
from unspoken.joint.session.study_fields import plain_parameters
from unspoken.joint.wire.credentials import Member, fingerprint

NAMES = ("north", "south", "dora")


def study(mode="dealer", author="", hosts=("a", "b", "c"), **parameters):
    roles = {"dealer": [("owner", "holder"), ("owner", "holder"), ("dealer",)],
             "sums": [("owner",)] * 3, "spu": [("owner", "holder")] * 3,
             "two-party": [("owner", "holder"), ("owner", "holder"), ("owner",)],
             "three-party": [("owner", "holder"), ("owner", "holder"), ("owner", "dealer")]}
    likes = {"authenticated": "dealer", "three-party-verified": "three-party"}
    members = tuple(Member(name, f"{host}.example:7700", role, fingerprint(name.encode()),
                           name.encode())
                    for name, host, role in zip(NAMES, hosts, roles[likes.get(mode, mode)],
                                                strict=True))
    return Study("flu", "tree-columns", mode, members, parameters, author=author,
                 disclosures=(Disclosure("the tree", ("north",)),))


def test_identities_come_first():
    shown = consent(study(), "south").splitlines()
    assert "You are 'south'" in shown[0]
    for place, name in enumerate(NAMES):
        assert shown[3 + 2 * place].split()[:2] == [name, f"{'abc'[place]}.example:7700"]
        assert spaced(fingerprint(name.encode())) in shown[4 + 2 * place]
    assert "owner, holder" in shown[3]
    assert "'dora' at c.example:7700 deals" in shown[9]
    assert "'north' learns: the tree" in shown
    assert "'south' learns: nothing" in shown


@pytest.mark.parametrize(("author", "hosts", "warned"), [
    ("dora", "abc", True), ("north", "aba", True), ("north", "abc", False), ("", "abc", False)])
def test_an_author_with_a_dealer_of_its_own_is_seen(author, hosts, warned):
    shown = consent(study(author=author, hosts=hosts), "south")
    assert ("also runs its dealer" in shown) == warned
    assert ("same host as north" in shown) == (hosts == "aba")
    assert (f"Made by: {author}" in shown) if author else "ask who made it" in shown


@pytest.mark.parametrize(("mode", "broken"), [
    ("dealer", "dora with any one of north, south, or north and south"),
    ("three-party", "dora with any one of north, south, or north and south"),
    ("two-party", "north and south"), ("spu", "any two of north, south, dora"),
    ("sums", "all owners but one together")])
def test_every_mode_names_its_engine_its_own_primitives_and_what_breaks_it(mode, broken):
    shown = consent(study(mode, ids="patient"), "south")
    assert f"Broken by: {broken}" in shown
    assert "Engine: " in shown
    assert "own primitives, not vetted: key agreement" in shown
    assert "encrypted sets" in shown
    assert ("shares and their openings" in shown) == (mode != "sums")
    assert ("USENIX" in shown) == (mode == "spu")
    assert "encrypted sets" not in consent(study(mode), "south")


@pytest.mark.parametrize(("mode", "runs", "does_not"), [
    ("three-party-verified", "checks of tags, proofs of what is dealt, sums on shares", "by masks"),
    ("authenticated", "checks of tags, secure sum by masks of which the dealer", "proofs"),
    ("dealer", "secure sum by masks", "tags")])
def test_modes_with_tags_name_what_else_runs(mode, runs, does_not):
    shown = consent(study(mode), "south").splitlines()
    [primitives] = [line for line in shown if "own primitives" in line]
    assert runs in primitives
    assert does_not not in primitives
    assert "Broken by: dora with any one of north, south, or north and south" in " ".join(shown)


def test_every_parameter_is_shown_and_signs_that_no_screen_shows_as_numbers():
    shown = consent(study(target="ill", columns=["age", "gr\u00f6\u00dfe"], epsilon=0.5,
                          label="a\u202eb"), "south").splitlines()
    at = shown.index("Parameters:")
    assert shown[at + 1:at + 5] == ['  target = "ill"', '  columns = ["age", "gr\u00f6\u00dfe"]',
                                    "  epsilon = 0.5", '  label = "a\\u202eb"']


@pytest.mark.parametrize("text", ["a\nb", "a\x1b[2Jb", "\ud800", "a\u2028b", ["x", ["y\r"]]])
def test_texts_that_cannot_be_shown_in_one_line_have_no_place_in_a_study(text):
    for parameters in ({"target": text}, {text if isinstance(text, str) else "\n": 1}):
        with pytest.raises(StudyError, match="could not read what they agree to"):
            plain_parameters(parameters)

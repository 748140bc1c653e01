"""The audit page says what was found, with what, and what was not tested."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from support.report_cases import HOSTILE, RTL, Reader, audited, made_up
from unspoken.disclosure.people_risk import PeopleAudit, Risk
from unspoken.errors import ForeignKeyError
from unspoken.methods.encoding.audit.column_pictures import gather
from unspoken.report import Page, audit_page, summaries
from unspoken.risk import Audit, PathDisclosure

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return audited(folder=tmp_path_factory.mktemp("case") / "release")


@pytest.fixture(scope="module")
def page(parts, tmp_path_factory) -> str:
    found, release, table, key = parts
    source = tmp_path_factory.mktemp("source") / "input.csv"
    source.write_bytes(b"the input")
    return audit_page(found, release=release, table=table, key=key, source=source).html()


def test_sections_stand_in_the_order_of_reading(page: str) -> None:
    headings = ["Policy", "Risk by column", "Risk by adversary and knowledge",
                "The riskiest columns", "Columns together", "What would lower it",
                "Limits of what was tested", "What was released", "All numbers"]
    found = [page.index(f">{heading}</h2>") for heading in headings]
    assert found == sorted(found)


def test_hashes_versions_and_parameters_are_there(page: str, parts) -> None:
    text = "".join(Reader(page).words)
    assert hashlib.sha256(b"the input").hexdigest() in text
    assert parts[1].data_sha256 in text
    assert parts[1].fingerprint in text
    assert "scikit-learn" in text
    assert "max-mono" in text
    assert parts[1].guarantee.statement in text


def test_hostile_columns_are_escaped(page: str) -> None:
    found = Reader(page)
    assert not {"script", "img"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    text = "".join(found.words)
    assert HOSTILE in text
    assert "\u202e" not in text
    assert RTL.replace("\u202e", "\\u202e") in text
    assert len(found.ids) == len(set(found.ids))


def test_what_is_as_secret_as_the_key_says_so(page: str, parts) -> None:
    assert "Keep it where the key is kept" in page
    alone = audit_page(parts[0]).html()
    assert "Keep it where the key is kept" not in alone
    assert "The riskiest columns" not in alone


def test_the_same_seed_gives_the_same_page(parts) -> None:
    found, release, table, key = parts
    pages = {audit_page(found, release=release, table=table, key=key).html()
             for _ in range(2)}
    assert len(pages) == 1


def test_the_page_attacks_nothing_itself(parts, monkeypatch) -> None:
    from unspoken.disclosure.adversary import View
    from unspoken.methods.encoding.adversaries.curve_fitting import CurveFitting

    found, release, table, key = parts
    before = audit_page(found, release=release, table=table, key=key).html()
    monkeypatch.setattr(CurveFitting, "guess", None)
    monkeypatch.setattr(View, "of", None)
    assert audit_page(found, release=release, table=table, key=key).html() == before
    assert found.evidence
    assert "evidence" not in found.to_json()


def test_without_a_key_order_is_enough_in_strict_mode() -> None:
    found, release, table, _ = audited("strict")
    page = audit_page(found, release=release, table=table).html()
    assert "The riskiest columns" in page


def test_codes_per_record(tmp_path) -> None:
    found, release, table, key = audited(monochromatic="record")
    shown = gather(table, release, key, ["age", HOSTILE], found.radius, 5, 1)
    for one in shown:
        assert np.all(np.diff(one.values) >= 0)
        assert one.values.size == one.codes.size == one.records.size
        assert one.records.sum() == 900
        assert one.starts[0] == 0
        assert sum(one.venn.values()) == pytest.approx(1.0)
    audit_page(found, release=release, table=table, key=key).save(tmp_path / "a.html")


def test_evidence_is_what_was_released(parts) -> None:
    found, release, table, key = parts
    (one,) = gather(table, release, key, ["age"], found.radius, 5, 1)
    released = release.table.numbers(["age"])[:, 0]
    assert sorted(set(released)) == sorted(one.codes)
    assert {float(v) for v in table.numbers(["age"])[:, 0]} == set(one.values)


def test_the_venn_agrees_with_the_audit() -> None:
    from unspoken.risk import audit

    _, release, table, key = audited()
    found = audit(table, release, key, trials=300, random_state=1, subspaces=1,
                  adversaries=["line", "spline", "polyline"])
    for one in gather(table, release, key, ["age", HOSTILE], found.radius, 300, 2):
        assert one.venn is not None
        for index, name in enumerate(["line", "spline", "polyline"]):
            (row,) = found.select(adversary=name, knowledge="expert", column=one.name,
                                  measure="domain")
            share = sum(part for region, part in one.venn.items() if index in region)
            assert share == pytest.approx(row.value, abs=0.06)


def test_a_column_with_few_values_has_no_venn() -> None:
    import pyarrow as pa

    import unspoken
    from unspoken.protect import PiecewiseEncoder

    data = pa.table({"x": [1.0, 2.0, 3.0] * 20, "y": ["a", "b"] * 30})
    table = unspoken.read(data, target="y", show=False)
    release, key = PiecewiseEncoder(random_state=1).protect(table)
    (one,) = gather(table, release, key, ["x"], 0.02, 5, 1)
    assert one.venn is None


def test_a_foreign_key_is_refused_before_anything_is_written(parts, tmp_path) -> None:
    found, release, table, _ = parts
    _, _, _, other = audited("strict")
    with pytest.raises(ForeignKeyError):
        audit_page(found, release=release, table=table, key=other).save(tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_a_made_up_audit() -> None:
    paths = PathDisclosure(np.array([0, 2, 4, 9]), np.array([[0, 0], [1, 2], [0, 1], [0, 0]]))
    page = audit_page(made_up(), paths=paths)
    assert isinstance(page, Page)
    text = page.html()
    assert "At worst 40% of the distinct values of" in text
    assert "2 of 2 columns are above 20%" in text
    assert "length &gt; 6" in text
    assert "over 2 trials" in text
    assert "nothing else was tried" in text
    assert '<td class="right">12</td>' in text
    assert "no key" in text


def test_an_audit_without_scores_says_so() -> None:
    empty = Audit((), 0.02, 10, {"mechanism": {"name": "other"}}, unscored={"a": "no scoring"})
    text = audit_page(empty).html()
    assert "No column could be scored, so nothing is known" in text
    assert "no scoring" in text


def test_many_columns_and_attacks_are_cut_and_counted() -> None:
    from unspoken.risk import Row

    rows = tuple(Row(f"attack {a}", "expert", f"column {c}", "domain", (a + c) / 100, 0, 1, 0.04, 9)
                 for a in range(30) for c in range(40))
    text = audit_page(Audit(rows, 0.02, 9, {"mechanism": {}})).html()
    assert "the 25 riskiest of 40 columns and the 12 strongest of 30 attacks" in text
    assert "The 24 strongest of 30 attacks" in text
    assert "The 150 strongest of 1200 rows" in text


def test_plain_words_of_a_policy(parts) -> None:
    found = parts[0]
    assert found.judgement is not None
    assert summaries.verdict(found).startswith("The policy")
    assert summaries.flat({"a": {"b": [1, 2]}, "c": None, "d": list(range(25))}) == [
        ["a.b", "1, 2"], ["c", "–"],
        ["d", ", ".join(map(str, range(20))) + " and 5 more"]]


def test_people_who_were_attacked_are_not_called_unknown() -> None:
    """A page must not say "High risk" on top and below it that nothing is known."""
    risks = (Risk("linking", "(people)", "nearest", "2 facts", 50, 100, 0.0, 0, 100),
             Risk("inferring", "a", "nearest", "2 facts", 50, 100, 0.1, 10, 100))
    found = Audit((), 0.02, 10, {"mechanism": {"name": "other"}}, unscored={"b": "no scoring"},
                  people=PeopleAudit(risks, None, {}, {}))
    text = audit_page(found).html()
    assert "High risk" in text
    assert "nothing is known" not in text
    assert "Verdict: not assessed" not in text
    assert "Not everything was scored" in text

"""The decision record and the templates: verdict first, in colour and word, names escaped."""

from dataclasses import replace

import pytest

from support.report_cases import HOSTILE, Reader, made_up
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Judgement, Row
from unspoken.disclosure.people_risk import PeopleAudit, PersonRisks, Risk
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.errors import InputError
from unspoken.release.terms_of_use import Terms
from unspoken.report.decision_record import Decision, decision_record, save_private
from unspoken.report.legal_templates import OPEN, expert_determination, impact_assessment

TERMS = Terms("Teaching", "Consent", "Northtown", "2027")


def audit(linked=0, inferred=30, control=30, **more):
    """Return an audit of a hundred people whose risks are as asked for."""
    import numpy as np

    outside = (None, 0) if control is None else (control, 100)
    risks = (Risk("linking", "(people)", "nearest record", "3 facts", linked, 100, 0.01,
                  *((None, 0) if control is None else (0, 100))),
             Risk("inferring", HOSTILE, "learner", "all other columns", inferred, 100, 0.3,
                  *outside))
    persons = PersonRisks(("age",), np.arange(3), np.array([0.0, 0.1, 0.5]),
                          np.array([0.0, 0.1, 0.2]))
    people = PeopleAudit(risks, persons, {HOSTILE: "as it is"}, {"columns": 0.9})
    rows = tuple(row for one in risks for row in one.rows())
    about = {"fingerprint": "f" * 64, "rows": 100, "mechanism": {"name": "another tool"},
             "columns": {HOSTILE: "as it is"}}
    return Audit(rows, 0.02, 1, about, {"learner": "trains"}, people=people, **more)


@pytest.mark.parametrize(("linked", "inferred", "level"), [
    (0, 30, "low"), (10, 30, "raised"), (60, 30, "high"), (0, 90, "high")])
def test_the_verdict_is_the_worst_of_naming_and_inferring(linked, inferred, level):
    assert verdict_of(audit(linked, inferred)).level == level


def test_a_policy_and_what_is_missing_only_make_it_worse():
    held, broken = Judgement(True, (), 1), Judgement(False, ("too much",), 1)
    assert verdict_of(audit(60, judgement=held)).level == "high"
    assert verdict_of(audit(0, judgement=broken)).level == "policy"
    assert verdict_of(audit(0, unscored={"x": "no key"})).level == "unknown"
    assert verdict_of(audit(60, unscored={"x": "no key"})).level == "high"
    assert verdict_of(made_up()).level in ("unknown", "high")
    assert not verdict_of(audit(0, unscored={"x": "no key"})).release


def test_re_identification_by_a_familys_own_adversary_counts():
    row = Row("linker", "quasi", "(all)", "identified", 0.467, 0.4, 0.5, 0.001, 1)
    whole = audit(0, judgement=Judgement(True, (), 1))
    assert verdict_of(replace(whole, rows=(*whole.rows, row))).level == "high"


def test_without_control_what_a_guess_gives_does_not_count():
    assert verdict_of(audit(0, 30, None)).level == "low"
    assert verdict_of(audit(0, 30, None)).upper_bound


def test_the_record_says_the_verdict_first_with_a_word_and_a_shape():
    page = decision_record(audit(60), Decision(TERMS, "[columns]\nmax_recovered = 0.1\n", 7,
                                               (("noise", 0.1, None, 0.5, ""),
                                                ("mondrian", None, None, None, "no quasi")),
                                               when="2026-01-01")).html()
    body = page[page.index("<main>"):]
    assert body.index("High risk: do not release") < body.index("<h2")
    assert 'class="verdict high"' in body
    assert "■" in body
    for words in ("Teaching", "Consent", "Northtown", "2027", "2026-01-01", "mondrian: no quasi",
                  "prosecutor", "journalist", "marketer"):
        assert words in body, words
    assert body.count('<hr class="sheet">') == 2
    assert body.index("Appendix") > body.rindex('<hr class="sheet">')


def test_what_was_not_compared_or_stated_is_said():
    page = decision_record(audit(0)).html()
    assert "Other methods were not tried" in page
    assert "purpose is not stated" in page
    assert "No policy was given" in page


def test_names_from_outside_are_text():
    read = Reader(decision_record(audit(0)).html())
    assert "script" not in read.tags
    assert "img" not in read.tags
    for template in (expert_determination(audit(0), TERMS), impact_assessment(audit(0), TERMS)):
        assert "script" not in Reader(template.page().html()).tags
        assert "<script" not in template.markdown()


def test_the_record_is_the_owners(tmp_path):
    save_private(decision_record(audit(0)), tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("make", [expert_determination, impact_assessment])
def test_templates_are_filled_with_what_was_measured_and_open_elsewhere(make, tmp_path):
    found = make(audit(60), TERMS)
    text = found.markdown()
    assert "no legal advice" in text
    assert OPEN in text
    assert "60 of 100" in text
    assert "Teaching" in text
    for name in ("t.md", "t.html"):
        found.save(tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match=r"end in .md or .html"):
        found.save(tmp_path / "t.doc")


def test_terms_travel_in_the_manifest():
    import unspoken

    table = unspoken.read({"a": [1.0, 2.0, 3.0] * 9, "y": ["x", "y", "x"] * 9}, target="y",
                          show=False)
    release, _ = unspoken.protect.PiecewiseEncoder().protect(table)
    assert Terms.of(TERMS.onto(release)) == TERMS
    assert Terms.of(release) == Terms()
    assert Terms(purpose="new").filled(TERMS) == Terms("new", "Consent", "Northtown", "2027")
    with pytest.raises(InputError, match="at most 500"):
        Terms("x" * 501)

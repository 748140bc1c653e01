"""Policies: a gate that says why it stays shut."""

from __future__ import annotations

import pytest

from support.people import people, release_of
from unspoken.errors import PolicyError
from unspoken.risk import Audit, Judgement, Policy, Row, audit


def row(column="age", value=0.3, knowledge="expert", measure="domain", adversary="polyline"):
    return Row(adversary, knowledge, column, measure, value, value, value, 0.04, 100)


def audit_of(*rows, unscored=None):
    about = {"fingerprint": "f" * 64, "rows": 10, "mechanism": {"name": "piecewise"}}
    return Audit(rows, 0.02, 100, about, unscored=unscored or {})


def judge(text, *rows, **more):
    return Policy.parse(text).judge(audit_of(*rows, **more))


EXPERT = '[columns]\nmax_recovered = 0.2\nagainst = "expert"\n'


def test_a_limit_that_holds_passes():
    found = judge(EXPERT, row(value=0.2))
    assert found
    assert found == Judgement(True, (), 1)
    assert "holds" in found.summary()


def test_a_limit_that_is_broken_says_by_whom():
    found = judge(EXPERT, row(value=0.31), row("salary", 0.1))
    assert not found
    assert found.broken == ("expert",)
    (reason,) = found.reasons
    for word in ("'age'", "31.0%", "polyline", "expert", "20.0%"):
        assert word in reason


def test_an_expert_limit_covers_those_who_know_less_and_nobody_else():
    more = [row(value=0.9, knowledge=k) for k in ("insider", "sample 1%", "histogram", "bounds")]
    assert judge(EXPERT, row(value=0.1), *more)
    for less in ("knowledgeable", "ignorant", "expert, one bad point"):
        assert not judge(EXPERT, row(value=0.1), row(value=0.9, knowledge=less))


def test_anybody_and_samples_can_be_named():
    rows = [row(value=0.1), row(value=0.9, knowledge="sample 0.1%")]
    assert not judge("[columns]\nmax_recovered = 0.2", *rows)
    assert not judge('[columns]\nmax_recovered = 0.2\nagainst = "sample"', *rows)
    assert judge('[columns]\nmax_recovered = 0.2\nagainst = "bounds"', row(knowledge="bounds",
                                                                         value=0.0))


def test_one_column_can_have_its_own_limit():
    text = EXPERT + "[column.age]\nmax_recovered = 0.5\n"
    assert judge(text, row(value=0.4), row("salary", 0.1))
    assert not judge(text, row(value=0.4), row("salary", 0.3))
    only = '[column."age"]\nmax_recovered = 0.5\nagainst = "expert"\n'
    assert judge(only, row(value=0.4), row("salary", 0.9))


def test_records_can_be_asked_for():
    text = EXPERT + 'measure = "records"\n'
    assert not judge(text, row(value=0.1), row(value=0.9, measure="records"))
    assert judge(text, row(value=0.9), row(value=0.1, measure="records"))


def test_people_are_counted_where_nothing_is_said():
    rare = [row(value=0.1), row(value=0.9, measure="records")]
    assert not judge(EXPERT, *rare)
    assert judge(EXPERT + 'measure = "domain"\n', *rare)
    found = audit_of(*rare)
    assert found.worst().value == 0.9
    assert found.ranking()[0].measure == "records"
    assert "90.0% of the people's values" in found.summary()


def test_what_could_not_be_scored_fails_every_policy_unless_it_is_named():
    for text in (EXPERT, "[column.age]\nmax_recovered = 0.9\n",
                 "[subspaces]\nmax_recovered = 0.9\n"):
        rows = row(value=0.1), row(value=0.1, measure="subspace")
        assert not judge(text, *rows, unscored={"note": "free text"})
        assert judge('allow_unscored = ["note"]\n' + text, *rows, unscored={"note": "free text"})
    assert not judge('allow_unscored = ["other"]\n' + EXPERT, row(value=0.1),
                     unscored={"note": "free text"})
    with pytest.raises(PolicyError, match="list of column names"):
        Policy.parse("allow_unscored = 3\n" + EXPERT)


def test_a_target_in_clear_counts_where_the_policy_names_it():
    clear = row("group", 1.0, "ignorant", "target", "unchanged")
    assert judge(EXPERT, row(value=0.1), clear)
    assert not judge(EXPERT + "[column.group]\nmax_recovered = 0.5\n", row(value=0.1), clear)
    text = audit_of(row(value=0.1), clear).summary()
    assert "'group' is released as it is" in text.splitlines()[1]


def test_subspaces_and_paths():
    pair = row("age & salary", 0.1, measure="subspace")
    assert not judge("[subspaces]\nmax_recovered = 0.05", row(), pair)
    assert "age & salary" in judge("[subspaces]\nmax_recovered = 0.05", row(), pair).reasons[0]
    assert judge("[subspaces]\nmax_recovered = 0.2", row(), pair)
    assert not judge("[paths]\nmax_recovered = 0.2", row())


def test_what_was_not_measured_is_not_confirmed():
    found = judge('[columns]\nmax_recovered = 0.2\nagainst = "insider"', row(knowledge="bounds"))
    assert "cannot be confirmed" in found.reasons[0]
    found = judge("[anonymity]\nk = 10", row())
    assert not found
    assert "K of at least 10 cannot be confirmed" in found.reasons[0]
    assert "piecewise" in found.reasons[0]
    found = judge(EXPERT, row(value=0.1), unscored={"salary": "no key"})
    assert "'salary' could not be scored: no key" in found.reasons


def test_k_is_compared_where_there_is_one():
    assert judge("[anonymity]\nk = 10", row(value=12.0, measure="k"))
    assert "K is 8" in judge("[anonymity]\nk = 10", row(value=8.0, measure="k")).reasons[0]


@pytest.mark.parametrize(("text", "words"), [
    ("[column]\n", "ask for something"),
    ("", "ask for something"),
    ("[colums]\nmax_recovered = 0.2", "Did you mean 'columns'"),
    ("[columns]\nmax_recoverd = 0.2", "Did you mean 'max_recovered'"),
    ("[columns]\nmax_recovered = 20", "from 0 to 1"),
    ("[columns]\nmax_recovered = true", "from 0 to 1"),
    ('[columns]\nagainst = "wizard"', "expert"),
    ("[anonymity]\nk = 0", "int >= 1"),
    ("[anonymity]\n", r"\[anonymity\] is empty. Write some of k"),
    ("radius = 0\n[columns]\nmax_recovered = 0.2", "radius"),
    ("columns = 3", "a table"),
    ("column = 3", "tables named after columns"),
    ("[columns", "must be TOML"),
])
def test_a_policy_that_cannot_be_read_says_why(text, words):
    with pytest.raises(PolicyError, match=words.replace("(", r"\(")):
        Policy.parse(text)


def test_an_unknown_column_is_refused_with_a_hint():
    with pytest.raises(PolicyError, match="Did you mean 'salary'"):
        judge("[column.salry]\nmax_recovered = 0.1", row("salary"))


def test_another_radius_is_refused():
    with pytest.raises(PolicyError, match="radius"):
        judge("radius = 0.05\n" + EXPERT, row())


def test_files_are_read_and_their_absence_is_named(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text("radius = 0.05\n" + EXPERT)
    assert Policy.load(path).radius == 0.05
    with pytest.raises(PolicyError, match="missing"):
        Policy.load(tmp_path / "missing.toml")


def test_an_audit_with_a_policy_takes_its_radius_and_its_verdict(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text("radius = 0.01\n" + EXPERT)
    table = people()
    release, key = release_of(table)
    found = audit(table, release, key, trials=10, random_state=0, policy=path)
    assert found.radius == 0.01
    assert found.judgement is not None
    assert "Policy:" in found.summary()

"""Policies: a gate that says why it stays shut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.people import people, release_of
from unspoken.disclosure.people_risk import PeopleAudit, PersonRisks, Risk
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
    assert not judge('allow_unscored = ["age"]\n' + EXPERT, row(value=0.1),
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


def test_a_limit_without_a_number_is_not_confirmed():
    """What an audit did not score must not pass for scored: neither by name nor as one of all."""
    for text in (EXPERT, "[column.salary]\nmax_recovered = 0.9\n"):
        about = {"columns": {"age": "a", "salary": "b"}}
        found = replace(audit_of(row(value=0.1)), release=about)
        (reason,) = Policy.parse(text).judge(found).reasons
        assert reason == "'salary': nothing was measured, so its limit cannot be confirmed"
        shown = replace(found, unscored={"salary": "a reason"})
        assert len(Policy.parse(text).judge(shown).reasons) == 1
    known = replace(found, unscored={"salary": "free text"})
    assert Policy.parse('allow_unscored = ["salary"]\n' + EXPERT).judge(known)
    assert not Policy.parse('allow_unscored = ["salary"]\n' + text).judge(known)


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


@pytest.mark.parametrize(("text", "words"), [
    ('[columns]\nagainst = "expert"', "must say how much may be recovered"),
    ('[paths]\nagainst = "expert"', r"Write max_recovered = 0\.2"),
    ('[column.age]\nmeasure = "records"', "must say how much"),
    ("[people]\nmax_identifed = 0.1", "Did you mean 'max_identified'"),
    ("[people]\nmax_identified = 2", "from 0 to 1"),
    ("[anonymity]\nt = 2", "from 0 to 1"),
    ("[privacy]\nepsilon = 1", "max_epsilon"),
    ("allow_seeded = 1.5\n[people]\nmax_member = 0.5", "allow_seeded"),
    ("[register]\n", r"\[register\] is empty"),
])
def test_a_rule_without_its_limit_is_an_error(text, words):
    with pytest.raises(PolicyError, match=words):
        Policy.parse(text)


def test_one_column_takes_its_limit_from_all_columns():
    text = '[columns]\nmax_recovered = 0.2\n[column.age]\nagainst = "anybody"'
    assert not judge(text, row(value=0.3, knowledge="sample 1%"))


def test_everything_about_people_can_be_limited():
    for key, measure in (("max_identified", "identified"), ("max_identified", "linked"),
                         ("max_singled_out", "singled out"), ("max_inferred", "inferred"),
                         ("max_member", "member"), ("max_confident", "confident")):
        limit = f"[people]\n{key} = 0.2\n"
        assert judge(limit, row("(people)", 0.1, measure=measure))
        broken = judge(limit, row("(people)", 0.3, measure=measure))
        assert f"30.0% {measure} by 'polyline'" in broken.reasons[0]
        assert "cannot be confirmed" in judge(limit, row()).reasons[0]
        # What the population tells does not count, where it was measured.
        assert judge(limit, row("(people)", 0.3, measure=measure),
                     row("(people)", 0.1, measure=f"{measure} beyond control"))


@pytest.mark.parametrize(("key", "kind"), [
    ("max_identified", "linking"), ("max_singled_out", "singling out"),
    ("max_inferred", "inferring"), ("max_member", "membership")])
def test_limits_on_people_see_the_attacks_on_people(key, kind):
    rows = list(Risk(kind, "(people)", "nearest record", "5 facts", 30, 100, 0.0, 5, 100).rows())
    assert judge(f"[people]\n{key} = 0.4\n", *rows)
    broken = judge(f"[people]\n{key} = 0.2\n", *rows)
    assert f"{kind} beyond control by 'nearest record'" in broken.reasons[0]


def test_l_and_t_and_epsilon():
    assert judge("[anonymity]\nl = 2\nt = 0.3", row(value=2.0, measure="l"),
                 row(value=0.3, measure="t"))
    found = judge("[anonymity]\nl = 3\nt = 0.2", row(value=2.0, measure="l"),
                  row(value=0.3, measure="t"))
    assert [line.split(",")[0] for line in found.reasons] == ["L is 2", "t is 0.3"]
    assert "cannot be confirmed" in judge("[anonymity]\nt = 0.2", row()).reasons[0]
    policy = Policy.parse("[privacy]\nmax_epsilon = 1.0")
    for stated, passed in ((0.5, True), (2.0, False), (None, False)):
        assert policy.judge(replace(audit_of(row()), release={"epsilon": stated})).passed == passed


def test_a_seeded_release_fails_unless_that_is_allowed():
    seeded = replace(audit_of(row(value=0.1)), release={"seeded": True})
    found = Policy.parse(EXPERT).judge(seeded)
    assert "whoever guesses the seed undoes it" in found.reasons[0]
    assert Policy.parse("allow_seeded = true\n" + EXPERT).judge(seeded)


def test_what_the_register_found_counts():
    earlier = Row("two-releases", "release abc", "age", "together", 0.5, 0.5, 0.5, 0.3, 1)
    found = judge(EXPERT, row(value=0.1), earlier)
    assert "'age': together with release abc 50.0% are disclosed" in found.reasons[0]
    assert judge(EXPERT + "[register]\nmax_added = 0.3", row(value=0.1), earlier)
    assert not judge(EXPERT + "[register]\nmax_added = 0.3", row(value=0.1))


def test_an_unknown_unscored_column_is_an_error():
    with pytest.raises(PolicyError, match="Did you mean 'salary'"):
        judge("allow_unscored = ['salry']\n" + EXPERT, row(value=0.1),
              unscored={"salary": "no key"})


def test_faults_fail_every_policy():
    broken = replace(audit_of(row(value=0.0)), faults=("it does nothing",))
    assert "it does nothing" in Policy.parse(EXPERT).judge(broken).reasons[0]


@pytest.mark.slow
def test_an_audit_with_a_policy_takes_its_radius_and_its_verdict(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text("radius = 0.01\n" + EXPERT)
    table = people()
    release, key = release_of(table)
    found = audit(table, release, key, trials=10, random_state=0, policy=path)
    assert found.radius == 0.01
    assert found.judgement is not None
    assert "Policy:" in found.summary()


CHANCES = {"prosecutor": 1.0, "worst_percent": 0.75, "journalist": 0.5, "marketer": 0.0125}
"""Of 200 people: one is found for sure, one in two cases, one in every other hundredth."""


def with_persons():
    prosecutor = [1.0, 0.5, *[0.0] * 195, 0.5, 0.5, 0.0]
    journalist = [0.5, *[0.0] * 199]
    persons = PersonRisks(("age",), list(range(200)), prosecutor, journalist)
    return replace(audit_of(), people=PeopleAudit((), persons, {}, {}))


@pytest.mark.parametrize(("name", "chance"), CHANCES.items())
def test_chances_of_single_persons_can_be_limited(name, chance):
    audited = with_persons()
    assert Policy.parse(f"[people]\nmax_{name} = {chance}").judge(audited)
    broken = Policy.parse(f"[people]\nmax_{name} = {chance - 0.001}").judge(audited)
    assert not broken
    assert f"{100 * chance:.1f}%" in broken.reasons[0]


@pytest.mark.parametrize("name", CHANCES)
def test_chances_that_were_not_measured_hold_no_limit(name):
    nobody = PeopleAudit((), PersonRisks((), [], [], []), {}, {})
    for audited in (audit_of(), replace(audit_of(), people=nobody)):
        refused = Policy.parse(f"[people]\nmax_{name} = 1.0").judge(audited)
        assert not refused
        assert "was not measured" in refused.reasons[0]

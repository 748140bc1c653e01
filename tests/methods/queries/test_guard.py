"""Attacks on the guard: trackers, differences, averaging, none and all; and what it answers."""

import numpy as np
import pytest

import unspoken
from support.query_people import linear_guard, public_of
from unspoken.errors import InputError, LeakWarning, QueryRefusedError, SchemaError
from unspoken.methods.queries import answers as answers_module
from unspoken.protect import QueryGuard, column


def people(n=60, seed=3, **more):
    rng = np.random.default_rng(seed)
    data = {"age": np.arange(n) % 40 + 20, "sex": np.where(np.arange(n) % 2, "F", "M"),
            "unit": np.arange(n), "income": np.round(rng.lognormal(10, 1, n), 2),
            "sick": rng.random(n) < 0.3} | more
    return unspoken.read(data, sensitive=["income", "sick"], keep="unit", show=False)


def rule(ask, *args):
    with pytest.raises(QueryRefusedError) as refused:
        ask(*args)
    return refused.value.rule


def test_exact_answers_are_those_of_the_table(tmp_path):
    table = people()
    rows = table.arrow().to_pandas()
    guard = linear_guard(table, tmp_path / "log")
    old = rows[rows.age > 40]
    assert guard.count("age > 40").value == len(old)
    assert guard.sum("income", column("age") > 40).value == pytest.approx(old.income.sum())
    found = guard.mean("income", "age > 40")
    assert found.value == pytest.approx(old.income.mean())
    assert (found.error, found.done) == (0.0, ())
    assert guard.sum("income").value == pytest.approx(rows.income.sum())


def tracker(guard):
    """Denning's general tracker: q(C) for one person out of four sets of allowed size."""
    who, half = "unit = 7", "unit < 30"
    parts = [guard.sum("income", f"{who} or {half}"),
             guard.sum("income", f"{who} or not ({half})"),
             guard.sum("income", half), guard.sum("income", f"not ({half})")]
    return parts[0].value + parts[1].value - parts[2].value - parts[3].value


def test_a_tracker_gets_past_sizes_and_not_past_the_audit(tmp_path):
    table = people()
    with pytest.warns(LeakWarning, match="tracker"):
        sizes_only = QueryGuard(table, tmp_path / "sizes", audit="sizes",
                                public=public_of(table))
    assert rule(sizes_only.sum, "income", "unit = 7") == "smallest"
    truth = float(table.arrow()["income"][7].as_py())
    assert tracker(sizes_only) == pytest.approx(truth)
    guard = linear_guard(table, tmp_path / "audited")
    assert rule(tracker, guard) == "audit"


@pytest.mark.slow
def test_an_individual_tracker_on_census_data(tmp_path, shared):
    """A person whom known attributes single out: q(A) - q(A and not B) is the person's value."""
    table = unspoken.read(shared("adult_data.parquet"), sensitive="hours-per-week", show=False)
    rows = table.arrow().to_pandas()
    groups = rows.groupby(["native-country", "age", "occupation"])["hours-per-week"]
    (country, age, work), hours = next((k, v) for k, v in groups if len(v) == 1 and k[1] > 40)
    broad = f"\"native-country\" = '{country}'"
    narrow = f"age = {age} and occupation = '{work}'"
    with pytest.warns(LeakWarning):
        sizes_only = QueryGuard(table, tmp_path / "sizes", audit="sizes",
                                public=public_of(table))
    assert rule(sizes_only.sum, "hours-per-week", f"{broad} and {narrow}") == "smallest"
    told = (sizes_only.sum("hours-per-week", broad).value
            - sizes_only.sum("hours-per-week", f"{broad} and not ({narrow})").value)
    assert told == hours.iloc[0]
    guard = linear_guard(table, tmp_path / "log")
    guard.sum("hours-per-week", broad)
    assert rule(guard.sum, "hours-per-week", f"{broad} and not ({narrow})") == "audit"


def test_differences_of_overlapping_sets(tmp_path):
    guard = linear_guard(people(), tmp_path / "log")
    guard.sum("income", "unit < 20")
    assert rule(guard.sum, "income", "unit < 21") == "audit"
    assert rule(guard.mean, "income", "unit < 19") == "audit"
    guard.sum("income", "unit < 22")
    # Another column is another unknown.
    assert guard.sum("age", "unit < 21").value == pytest.approx(np.arange(20, 41).sum())


def test_groups(tmp_path):
    pairs = linear_guard(people(), tmp_path / "pairs", group=3)
    pairs.sum("income", "unit < 20")
    assert rule(pairs.sum, "income", "unit < 22") == "audit"
    pairs.sum("income", "unit < 23")
    larger = linear_guard(people(), tmp_path / "larger", group=5)
    larger.sum("income", "unit < 20")
    assert rule(larger.sum, "income", "unit < 24") == "audit"
    larger.sum("income", "unit < 25")


def test_sizes_and_overlaps(tmp_path):
    guard = linear_guard(people(), tmp_path / "log", smallest=5, largest=0.5, overlap=3)
    assert rule(guard.count, "unit < 4") == "smallest"
    assert rule(guard.count, "unit < 31") == "largest"
    assert rule(guard.sum, "income", None) == "largest"
    guard.sum("income", "unit < 10")
    assert rule(guard.sum, "income", "unit >= 6 and unit < 20") == "overlap"
    guard.sum("income", "unit >= 7 and unit < 20")
    assert rule(linear_guard(people(), tmp_path / "other").count, "unit > 5") == "largest"


def test_missing_values_are_not_in_the_set(tmp_path):
    # Somebody who knows who has no value would see through a set of one and nineteen gaps.
    income = [None if i < 19 else 100.0 * i for i in range(60)]
    guard = linear_guard(people(income=income), tmp_path / "log")
    assert rule(guard.sum, "income", "unit < 20") == "smallest"
    assert guard.mean("income", "unit < 40").value == pytest.approx(np.mean(income[19:40]))
    assert rule(guard.sum, "income", "unit < 41") == "audit"
    # The set of known values is the same, so is the answer.
    assert guard.sum("income", "unit >= 10 and unit < 40").value == pytest.approx(
        sum(income[19:40]))


def test_yes_and_no_are_counted_with_noise_or_not_at_all(tmp_path):
    exact = linear_guard(people(), tmp_path / "exact")
    assert rule(exact.count, "unit < 30 and sick = true") == "yes-no"
    assert rule(exact.sum, "sick", "unit < 30") == "yes-no"
    assert rule(exact.count, "income > 0") == "yes-no"
    noisy = linear_guard(people(), tmp_path / "noisy", count_noise=2, noise={"sick": 2})
    found = noisy.count("unit < 30 and sick = true")
    assert found.error == 2
    assert "noise" in found.done[0]


def test_a_known_column_of_few_values_is_summed_exactly(tmp_path):
    table = people(floor=np.arange(60) % 4)
    assert linear_guard(table, tmp_path / "log").sum("floor", "unit < 20").value == 30


def test_nobody_is_asked_about_too_often(tmp_path):
    # Precision adds up: four answers of deviation 2 leave an error of 1, a fifth less.
    guard = linear_guard(people(), tmp_path / "log", count_noise=2, noise={"sick": 2}, blur=1.0)
    guard.count("unit < 30 and sick = true")
    guard.count("unit < 30 and not sick = true")
    guard.count("unit < 30 and income > 20000")
    guard.sum("sick", "unit < 29")
    assert rule(guard.count, "unit >= 28 and sick = true") == "exposure"
    # Nobody beyond 29 has been asked about, and an old question costs nothing.
    guard.count("unit >= 30 and sick = true")
    assert guard.count("sick = true and unit <= 29") == guard.count("sick = true and unit <= 29")


def test_the_same_set_has_the_same_noise_in_any_words(tmp_path):
    guard = linear_guard(people(), tmp_path / "log", noise=1000.0)
    first = guard.sum("income", "unit < 30")
    for words in ("not unit >= 30", "unit <= 29", "unit in ({})".format(
            ", ".join(map(str, range(30)))), "unit < 30 and age > 0"):
        assert guard.sum("income", words).value == first.value
    assert guard.mean("income", "unit < 30").value == pytest.approx(first.value / 30)
    assert guard.mean("income", "unit < 30").error == pytest.approx(1000 / 30)
    truth = sum(people().arrow()["income"].to_pylist()[:30])
    assert first.value != pytest.approx(truth, abs=1e-3)
    other = linear_guard(people(), tmp_path / "other", noise=1000.0)
    assert other.sum("income", "unit < 30").value != first.value


@pytest.mark.slow
def test_noise_has_its_deviation(tmp_path):
    table = people(n=2000)
    guard = linear_guard(table, tmp_path / "log", noise=500.0)
    values = np.cumsum(table.arrow()["income"].to_numpy())
    errors = [guard.sum("income", f"unit < {k}").value - values[k - 1]
              for k in range(100, 1900, 12)]
    # 150 draws: the standard deviation is known to 6%.
    assert np.std(errors) == pytest.approx(500, rel=0.25)
    assert abs(np.mean(errors)) < 4 * 500 / 150**0.5


def test_partial_disclosure(tmp_path):
    # Differences of two noisy sums have an error of 1.41 deviations; more of them get better.
    guard = linear_guard(people(), tmp_path / "log", noise=100.0, least_error=120.0)
    guard.sum("income", "unit < 20")
    guard.sum("income", "unit < 20 or unit = 50")
    guard.sum("income", "unit >= 20 and unit < 40")
    # A second difference for the same record: error 100, which is below 120.
    assert rule(guard.sum, "income", "unit >= 20 and unit < 40 or unit = 50") == "partial"
    strict = linear_guard(people(), tmp_path / "strict", noise=100.0, least_error=150.0)
    strict.sum("income", "unit < 20")
    assert rule(strict.sum, "income", "unit < 21") == "partial"


def test_samples(tmp_path):
    table = people(n=4000)
    guard = linear_guard(table, tmp_path / "log", sample=0.8, count_noise=3)
    truth = np.mean(table.arrow()["income"].to_numpy()[:3000])
    found = guard.mean("income", "unit < 3000")
    assert found.value == guard.mean("income", "unit <= 2999").value
    assert found.value != truth
    assert found.value == pytest.approx(truth, rel=0.1)
    assert found.error is None
    assert "2400 of 3000" in found.done[0]
    assert guard.count("unit < 3000 and sick = true").error > 3


def test_a_sampled_record_weighs_more(tmp_path):
    # Somebody in the sample counts 1 / 0.6 times: (3 * 0.6)^2 = 3.24 answers keep an error of 1.
    guard = linear_guard(people(), tmp_path / "log", sample=0.6, count_noise=3)
    for k in range(3):
        guard.count(f"unit < 30 and income > {k}")
    assert rule(guard.count, "unit < 30 and income > 3") == "exposure"


def test_conditions_that_mix_and_columns_that_name(tmp_path):
    table = people(name=[f"p{i}" for i in range(60)])
    guard = linear_guard(table, tmp_path / "log", count_noise=3)
    for wrong in ("age > 30 or sick = true", "not (age > 30 and income > 5)", "name = 'p1'"):
        with pytest.raises(InputError):
            guard.count(wrong)
    for wrong in ("sick = true", "income > 1000"):
        with pytest.raises(InputError, match="no part in"):
            guard.sum("income", wrong)
    for wrong in ("sex", "name", "nothing"):
        with pytest.raises(InputError):
            guard.sum(wrong)
    with pytest.raises(InputError, match="'where'"):
        guard.count(True)
    assert len((tmp_path / "log").read_bytes().splitlines()) == 1


def test_settings_are_checked_before_a_file_is_made(tmp_path):
    plain = unspoken.read({"a": [1, 2, 3]}, show=False)
    with pytest.raises(SchemaError, match="not public"):
        linear_guard(plain, tmp_path / "log")
    with pytest.raises(SchemaError, match="'income', which is sensitive"):
        QueryGuard(people(), tmp_path / "log", public=["income"])
    with pytest.raises(SchemaError, match="'cells'"):
        QueryGuard(people(), tmp_path / "log", public=["unit"], cells=["sex"])
    with pytest.raises(InputError, match="audit=linear"):
        QueryGuard(people(), tmp_path / "log", count_noise=3)
    for wrong in ({"smallest": 0}, {"largest": 1.5}, {"group": 1}, {"noise": -1},
                  {"sample": 0.3}, {"count_noise": 0.5}, {"wrong": 1}, {"noise": {"income": 0}}):
        with pytest.raises(InputError):
            linear_guard(people(), tmp_path / "log", **wrong)
    assert list(tmp_path.iterdir()) == []


def test_averaging_over_nearly_equal_conditions(tmp_path):
    """Everybody of ten is sick; 60 conditions that differ in nobody still leave the error."""
    table = people(n=40, sick=np.arange(40) < 10)
    guard = linear_guard(table, tmp_path / "log", count_noise=4.0, blur=2.0)
    wheres = [f"unit < 10 and (sick = true or income = {-1 - k})" for k in range(60)]
    answers = [guard.count(where).value for where in wheres[:4]]
    # (4 / 2)^2 answers: their mean has an error of 2 records.
    assert [rule(guard.count, where) for where in wheres[4:]] == ["exposure"] * 56
    assert [guard.count(where).value for where in wheres[:4]] == answers


def test_noise_is_drawn_for_each_condition_on_its_own(tmp_path):
    """Answers may coincide on their grid, but the streams behind them are never the same one."""
    table = people(n=40, sick=np.arange(40) < 10)
    streams = []
    real = answers_module.generator
    guard = linear_guard(table, tmp_path / "log", count_noise=4.0, blur=2.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers_module, "generator",
                      lambda *purpose: streams.append(purpose) or real(*purpose))
        for where in ("unit < 10 and sick = true", "unit <= 9 and sick = true",
                      "unit < 10 and (sick = true or income = -1)", "unit < 11 and sick = true"):
            guard.count(where)
    # The same set in other words has the same noise; another condition or set has its own.
    assert streams[0] == streams[1]
    assert len(set(streams)) == 3

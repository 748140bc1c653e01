"""Sums by counting bits are the sums, for any numbers, sets and groups."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspoken
from unspoken.methods.queries.service import noisy_answers
from unspoken.methods.queries.service.noisy_answers import aggregates
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.methods.queries.service.service_records import ServiceRecords
from unspoken.methods.queries.service.summed_planes import Planes
from unspoken.numerics.record_bitsets import pack

NUMBERS = st.lists(st.tuples(st.integers(-2**35, 2**35), st.booleans()), min_size=1, max_size=200)


@pytest.mark.slow
@given(NUMBERS)
def test_a_sum_of_planes_is_the_sum(rows):
    numbers = np.array([one for one, _ in rows], np.int64)
    members = np.array([inside for _, inside in rows])
    planes = Planes.of(numbers, -10, 10)
    assert planes.total(pack(members), int(members.sum())) == int(numbers[members].sum())


def test_the_declared_ends_alone_decide_how_many_planes_there_are():
    few, many = (Planes.of(np.array(numbers), 0, 1000) for numbers in ([0, 1], [0, 1000]))
    assert few.bits.shape == many.bits.shape


def served(tmp_path, rows=500):
    rng = np.random.default_rng(3)
    kinds = [str(k) for k in range(60)]
    table = unspoken.read(pa.table({
        "n": pa.array(rng.integers(-900, 900, rows), mask=rng.random(rows) < 0.1),
        "m": rng.integers(0, 50, rows),
        "few": rng.choice(["a", "b"], rows), "many": rng.choice(kinds, rows)}),
        keep=["n", "m", "few", "many"], show=False)
    policy = ServicePolicy.parse({
        "service": {"budget": "b", "log": "l"}, "analysts": {},
        "columns": {"n": {"bounds": [-500, 700], "step": 1}, "m": {"bounds": [0, 49], "step": 1},
                    "few": {"values": ["a", "b"]}, "many": {"values": kinds}}}, tmp_path)
    return ServiceRecords(table, policy, None, 1), table.arrow().to_pandas()


@pytest.mark.parametrize("group", ["few", "many"])
@pytest.mark.parametrize("where", ["m > 20", "not (m > 20 and few = 'a') or n is missing"])
def test_sums_counts_and_squares_are_those_of_the_rows(tmp_path, group, where):
    records, frame = served(tmp_path)
    inside = frame.m > 20 if where == "m > 20" else \
        ~((frame.m > 20) & (frame.few == "a")) | frame.n.isna()
    held = frame[inside & frame.n.notna()]
    clamped = held.n.clip(-500, 700).astype(int)
    found = aggregates(records, question_of(f"select sum(n) where {where} group by {group}"))
    for place, (label,) in enumerate(found.groups.labels[:-2]):
        assert found.sums[place] == clamped[held[group] == label].sum()
        assert found.counts[place] == (held[group] == label).sum()
    spread = aggregates(records, question_of(f"select variance(n) where {where}"))
    assert spread.squares[0] == ((clamped - 100) ** 2).sum()
    assert aggregates(records, question_of(f"select count() where {where}")).counts[0] == \
        inside.sum()


def test_ranks_are_those_of_the_values_at_their_nearest_candidates(tmp_path):
    records, frame = served(tmp_path)
    found = aggregates(records, question_of("select quantile(m, 0.5) where few = 'a'"))
    at = noisy_answers._candidates(found.column)
    steps = found.column.values[(frame.few == "a").to_numpy()]
    values = at[np.abs(at[None, :] - steps[:, None]).argmin(axis=1)]
    assert found.counts[0].tolist() == [(values < one).sum() for one in at]
    assert found.counts[1].tolist() == [(values <= one).sum() for one in at]

"""The span of answered sets against exact rational elimination, both ways."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspoken.methods.queries.determined_records import QuerySpan
from unspoken.methods.queries.estimation_errors import smallest_error
from unspoken.methods.queries.modular_algebra import is_prime, random_prime, times
from unspoken.numerics.record_bitsets import pack, shared, unpack


def rank(rows):
    """Gauss over the rationals, written apart from the code under test."""
    left, found = [list(map(Fraction, map(int, row))) for row in rows], 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left[found:] if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left.insert(found, pivot)
        for row in left[found + 1:]:
            factor = row[column] / pivot[column]
            row[:] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
        found += 1
    return found


def spans(rows, target):
    return rank([*rows, target]) == rank(rows)


def determined(rows, records):
    return {i for i in range(records) if spans(rows, np.eye(records, dtype=int)[i])}


def small_combination(rows, records, most):
    """Whether the span meets the coordinates of at most `most` records in more than zero."""
    whole = rank(rows)
    return any(rank(np.delete(rows, group, axis=1)) < whole
               for size in range(1, most + 1) for group in combinations(range(records), size))


sets = st.integers(3, 8).flatmap(lambda n: st.tuples(
    st.just(n), st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1,
                         max_size=10)))


@pytest.mark.slow
@settings(max_examples=150)
@given(sets, st.sampled_from([2, 3]))
def test_a_set_is_refused_exactly_if_it_discloses(case, group):
    records, asked = case
    span, kept = QuerySpan(records), []
    for members in map(np.array, asked):
        rows = np.array([*kept, members], int)
        assert span.discloses(members, group) == small_combination(rows, records, group - 1)
        if not span.discloses(members, group):
            span.add(members)
            kept.append(members)
            assert span.rank == rank(kept)


@pytest.mark.slow
@settings(max_examples=100)
@given(sets)
def test_determined_records_are_those_of_exact_elimination(case):
    records, asked = case
    span = QuerySpan(records)
    for members in map(np.array, asked):
        assert span.within(members) == (span.rank == rank([*_rows(span), members]))
        span.add(members)
    assert set(span.determined().tolist()) == determined(np.array(asked, int), records)


def _rows(span):
    return [unpack(row, span.records) for row in span._sets[: span.rank]]


@pytest.mark.slow
@settings(max_examples=60)
@given(sets, st.integers(4, 6))
def test_larger_groups_are_never_disclosed(case, group):
    records, asked = case
    span, kept = QuerySpan(records), []
    for members in map(np.array, asked):
        if members.any() and not span.discloses(members, group):
            span.add(members)
            kept.append(members)
    if kept:
        assert not small_combination(np.array(kept, int), records, group - 1)


def test_odd_cycle_needs_rational_coefficients():
    # (12) + (23) + (31) = 2 (1 + 2 + 3): no single difference of sets shows it.
    span = QuerySpan(3)
    for members in ([1, 1, 0], [0, 1, 1]):
        assert not span.discloses(np.array(members, bool))
        span.add(np.array(members, bool))
    assert span.discloses(np.array([1, 0, 1], bool))


def test_a_prime_that_divides_a_determinant_is_replaced():
    # det of the overlaps of (110), (011), (101) is 4; with p = 3 the first two give det 3 = 0.
    span = QuerySpan(3, primes=(3, random_prime()))
    for members in ([1, 1, 0], [0, 1, 1]):
        span.add(np.array(members, bool))
    assert span.rank == 2
    assert all(int(field.p) > 3 for field in span._fields)


@pytest.mark.slow
def test_many_rows_against_floating_rank():
    rng = np.random.default_rng(4)
    span, rows = QuerySpan(60), []
    for _ in range(200):
        members = rng.random(60) < rng.choice([0.1, 0.5])
        if not span.discloses(members):
            span.add(members)
            rows.append(members)
    rows = np.array(rows, float)
    assert span.rank == np.linalg.matrix_rank(rows)
    # A basis of the null space moves every record: nobody is determined.
    null = np.linalg.svd(rows)[2][span.rank:]
    assert np.abs(null).max(axis=0).min() > 1e-9


@given(st.integers(0, 2**31), st.integers(1, 3000))
@settings(max_examples=20)
def test_products_modulo_a_prime_are_exact(seed, size):
    rng, p = np.random.default_rng(seed), random_prime()
    matrix = rng.integers(p - 5, p, (3, size))
    vector = rng.integers(p - 5, p, size).astype(np.uint64)
    expected = [sum(int(a) * int(b) for a, b in zip(row, vector, strict=True)) % p
                for row in matrix]
    assert times(matrix.astype(float), vector, np.uint64(p)).tolist() == expected


def test_primes():
    small = [k for k in range(2, 2000) if all(k % d for d in range(2, int(k**0.5) + 1))]
    assert [k for k in range(2000) if is_prime(k)] == small
    assert is_prime(2**31 - 1)
    assert not is_prime(25_326_001)
    assert 2**30 < random_prime() < 2**31


@pytest.mark.slow
@given(st.lists(st.booleans(), min_size=1, max_size=200), st.integers(0, 9))
def test_packed_sets(flags, seed):
    first = np.array(flags)
    other = np.random.default_rng(seed).random(first.size) < 0.5
    assert (unpack(pack(first), first.size) == first).all()
    assert shared(pack(other)[None, :], pack(first)).tolist() == [int((first & other).sum())]


@pytest.mark.parametrize("members", [[True] * 5, [False] * 5])
def test_everybody_and_nobody(members):
    span = QuerySpan(5)
    assert not span.discloses(np.array(members))
    span.add(np.array(members))
    assert span.determined().size == 0


@pytest.mark.slow
@settings(max_examples=60)
@given(sets)
def test_errors_of_noisy_answers_are_those_of_least_squares(case):
    records, asked = case
    rows = np.array(asked, float)
    known = sorted(determined(np.array(asked, int), records))
    found = smallest_error(np.stack([pack(row) for row in np.array(asked)]), np.array(known, int))
    # Independent: the covariance of the minimum-norm least-squares solution.
    cover = np.linalg.pinv(rows.T @ rows)
    expected = min((cover[i, i] ** 0.5 for i in known), default=np.inf)
    assert found == pytest.approx(expected)

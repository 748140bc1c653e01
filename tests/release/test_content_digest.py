"""The digest of a column: equal for equal values in any type and cut, different for all others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from unspoken.release.content_digest import ContentDigest


def digest(*pieces):
    made = ContentDigest(b"k" * 32)
    for piece in pieces:
        made.add(piece)
    return made.hexdigest()


@pytest.mark.parametrize("kind", [pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.uint64()])
def test_whole_numbers_of_any_width_have_one_digest(kind):
    values = [3, None, 200, 0]
    assert digest(pa.array(values, kind)) == digest(pa.array(values, pa.int64()))


@pytest.mark.parametrize("other", [
    [1, 2, 3], [1, 2, 2**32 + 3, 4], [1, 2**32 + 2, 3, 4], [1, 2, None, 4], [1, 2, 0, 4],
    [1, 2, -3, 4], [1, 2, 4, 3], [1, 2, 2**33 + 3, 4], [1, 2, 3, 4, 0]])
def test_every_change_of_whole_numbers_is_seen(other):
    assert digest(pa.array(other, pa.int64())) != digest(pa.array([1, 2, 3, 4], pa.int64()))


def test_where_a_value_is_missing_or_wide_counts():
    assert digest(pa.array([None, 0])) != digest(pa.array([0, None]))
    wide = [2**40, 0, 2**40], [0, 2**40, 2**40]
    assert digest(pa.array(wide[0])) != digest(pa.array(wide[1]))


@pytest.mark.parametrize("values", [
    [2**40, None, 5, -(2**35)], [0.5, None, float("nan"), -0.0], ["a", None, "", "bc"],
    [[1, 2], None, [], [2**40]], [True, None, False, True]])
def test_pieces_do_not_matter(values):
    whole = pa.array(values)
    for at in range(len(values) + 1):
        assert digest(whole[:at], whole[at:]) == digest(whole)
    assert digest(whole) != digest(whole[:-1])


def test_the_secret_counts():
    other = ContentDigest(b"l" * 32)
    other.add(pa.array([1]))
    assert other.hexdigest() != digest(pa.array([1]))

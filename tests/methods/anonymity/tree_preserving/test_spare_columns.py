"""What K leaves over: more columns, the same tree, and K, L and t recomputed one by one."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken import mine
from unspoken.protect import TreePreservingAnonymizer


def people(seed, rows=600):
    """Ties, missing values, a constant, and a target that hangs on several columns."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    pay = rng.normal(3000, 700, rows).round()
    city = rng.choice(["A", "B", "C", "D", "E"], rows)
    gaps = rng.random(rows) < 0.1
    y = (age / 80 + (city > "B") + 0.6 * rng.normal(size=rows) > 1.1).astype(int)
    return unspoken.read(pa.table({
        "age": pa.array(age), "pay": pa.array(pay, mask=gaps),
        "city": pa.array(np.where(gaps, None, city)), "same": ["x"] * rows,
        "ill": rng.choice(["flu", "cold", "none"], rows), "y": y}),
        target="y", quasi=["age", "pay", "city", "same"], sensitive="ill", show=False)


def classes(release):
    held = defaultdict(list)
    for row in release.table.arrow().to_pylist():
        held[tuple(row[n] for n in ("age", "pay", "city", "same"))].append(row["ill"])
    return held


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["safe", "min-block", "leaf-merge"])
@pytest.mark.parametrize("seed", range(3))
def test_more_is_kept_and_everything_still_holds(seed, rule):
    table = people(seed)
    asked = {"k": 12, "l": 1.5, "tree": {"max_leaves": 3}, "rule": rule}
    release, _ = TreePreservingAnonymizer(**asked).protect(table)
    plain, _ = TreePreservingAnonymizer(**asked, refine=False).protect(table)
    assert release.tree.same_as(plain.tree)
    assert mine.grow(release).same_as(release.tree)
    assert len(classes(release)) >= len(classes(plain))
    for values in classes(release).values():
        assert len(values) >= 12
        assert max(Counter(values).values()) * 1.5 < len(values)


def test_a_block_says_which_values_it_holds():
    table = people(7)
    release, key = TreePreservingAnonymizer(k=12, rule="safe").protect(table)
    from unspoken.release.record_key import original_rows

    rows = original_rows(key, release.table.rows)
    for name, blocks in release.mechanism["blocks"].items():
        true = np.array(table.arrow()[name].to_pylist(), object)[rows]
        ends = {shown: (-np.inf if low is None else low, np.inf if high is None else high)
                for shown, low, high in blocks}
        for own, shown in zip(true, release.table.arrow()[name].to_pylist(), strict=True):
            assert (own is None) == (shown is None)
            assert own is None or ends[shown][0] <= own <= ends[shown][1]


def test_every_column_says_what_it_may_be_used_for():
    release, _ = TreePreservingAnonymizer(k=50, tree={"max_leaves": 2}).protect(people(1))
    uses = release.manifest["column_uses"]
    assert set(uses) == {"age", "pay", "city", "same"}
    for name in release.mechanism["suppressed"]:
        assert uses[name].startswith("suppressed")
    assert "constant" not in uses["same"]
    assert uses["same"] == "suppressed: usable for nothing"

"""What parties see of naive Bayes follows from what was declared: simulation, and mutants."""

from __future__ import annotations

import numpy as np
import pytest

from support.bayes_columns import records_of, sites_of
from support.bayes_data import CLASSES, LAYOUT, parts_of, table
from support.distinguisher import SUSPICIOUS
from support.masks import against_uniform, break_masks, broken_masks, masked_views
from support.watching import opened_and_lengths
from unspoken.joint import reveal, share_sum
from unspoken.joint.tasks.classify.program_bayes import ClassifyPrivately, Sides
from unspoken.joint.tasks.naive_bayes import (
    class_scoring as scoring,
)
from unspoken.joint.tasks.naive_bayes import (
    program_columns as vertical,
)
from unspoken.joint.tasks.naive_bayes import (
    program_rows as horizontal,
)
from unspoken.joint.tasks.naive_bayes.params import BayesParams
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.naive_bayes.program_rows import BayesOverRows
from unspoken.joint.tasks.naive_bayes.score_tables import table_of

pytestmark = pytest.mark.slow


def twice(columns):
    """The same shares, means and variances from twice the records."""
    return {name: np.concatenate([column, column]) for name, column in columns.items()}


def rows_told_apart():
    """Say whether tables of one model (exactly: alpha grows along) look different."""
    columns = table(40, 3)
    pairs = [(columns, BayesParams(alpha=1, least=0, most=4096, bits=12)),
             (twice(columns), BayesParams(alpha=2, least=0, most=4096, bits=12))]
    seen = []
    for each, rules in pairs:
        size = len(each["class"])
        given = [LAYOUT.rows(p) for p in parts_of(each, np.arange(size) % 3, 3)]
        # Ratios are rounded down or one up, in each run anew.
        seen.append(opened_and_lengths(BayesOverRows(LAYOUT, rules), given))
    (one, a), (other, b) = seen
    near = all(x[:3] == y[:3] and np.allclose(x[3], y[3], atol=2.0**-11)
               for x, y in zip(one, other, strict=True))
    return a != b or not near


def test_over_rows_nothing_shows_but_the_ratios():
    assert not rows_told_apart()


def test_a_count_that_is_opened_is_caught(monkeypatch):
    real = horizontal._shares

    async def leaking(party, layout, rules, counts):
        await reveal(party, counts.sum(), because=horizontal.RATIOS)
        return await real(party, layout, rules, counts)

    monkeypatch.setattr(horizontal, "_shares", leaking)
    assert rows_told_apart()


def test_lengths_that_depend_on_rows_are_caught(monkeypatch):
    real = horizontal._shared_counts

    async def longer(party, layout, rules, given):
        padding = 1 + given.rows // 20
        await share_sum(party, np.zeros(padding, int), (padding,), 0, 1)
        return await real(party, layout, rules, given)

    monkeypatch.setattr(horizontal, "_shared_counts", longer)
    assert rows_told_apart()


def columns_told_apart():
    """Classify the same records with parts of two models that give the same classes."""
    from unspoken.joint.tasks.naive_bayes.program_columns import (
        ClassifyOverColumns,
        mine_bayes_columns,
    )

    seen, new = [], table(12, 9, CLASSES[:2])
    new |= {"h": np.where(new["class"] == "c0", -19.0, 29.0)}
    for seed in (1, 2):
        columns = table(60, seed, CLASSES[:2])
        columns["h"] = np.where(columns["class"] == "c0", -18.0, 28.0) + columns["w"] / 100
        sites, shape = sites_of(columns, (("a", "h"), ("b", "w")))
        renamed = {"p0": sites["north"], "p1": sites["south"]}
        shape = type(shape)(tuple(type(p)(n, p.sizes, p.numbers) for n, p in zip(
            renamed, shape.parts, strict=True)), shape.classes, "p0")
        parts, _ = mine_bayes_columns(renamed, shape)
        records = records_of(new, (("a", "h"), ("b", "w")))
        given = [(parts["p0"], records["north"]), (parts["p1"], records["south"])]
        seen.append(opened_and_lengths(ClassifyOverColumns(), given))
    return seen[0] != seen[1]


def test_of_a_split_model_nothing_shows_but_classes():
    assert not columns_told_apart()


def test_a_score_that_is_opened_is_caught(monkeypatch):
    real = scoring.classes_of

    async def leaking(party, shared, hot, z):
        await reveal(party, shared.start, because="the predicted class of every record")
        return await real(party, shared, hot, z)

    monkeypatch.setattr(vertical, "classes_of", leaking)
    assert columns_told_apart()


def views():
    """Return masked words of a private classification."""
    model, new = table_of(pooled(LAYOUT, table(60, 1)), LAYOUT), LAYOUT.records(table(10, 2))
    return masked_views(ClassifyPrivately(LAYOUT, Sides("p0", "p1")), [model, new], (8, 60),
                        lambda size: size == 8 * 2 * 60)


def test_masked_words_look_uniform():
    assert against_uniform(views()) > SUSPICIOUS


@broken_masks
def test_broken_masks_are_caught(monkeypatch, name):
    break_masks(monkeypatch, name)
    assert against_uniform(views()) < SUSPICIOUS

"""Models in place of records: what is sent, what the server makes of it, and whether it may."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError, InputError, ModelError
from unspoken.methods.mixtures.combine_mixtures import global_mixture
from unspoken.methods.mixtures.local_mixture import LocalMixture
from unspoken.models.mixture import Mixture

pytestmark = pytest.mark.slow

CENTRES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])


def source(rows, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 3, rows)
    return CENTRES[which] + shift + rng.normal(size=(rows, 2)), which


def local(rows, seed, shift=0.0, **options):
    return LocalMixture(random_state=seed, **options).fit(source(rows, seed, shift)[0]).mixture_


def test_three_sources_give_the_clusters_of_all_together():
    found = global_mixture([local(300, s) for s in range(3)], random_state=0)
    means = found.mixture.means
    near = np.linalg.norm(means[:, None] - CENTRES, axis=2).min(axis=0)
    assert near.max() < 0.3
    data, truth = source(1000, 99)
    labels = found.mixture.predict(data)
    pairs = {(int(a), int(b)) for a, b in zip(labels, truth, strict=True)}
    agree = max(np.mean(np.array(order)[labels] == truth)
                for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)))
    assert agree > 0.99, pairs
    assert found.alike
    assert "may be alike" in found.summary()
    assert found.rounds == 39


def test_sources_of_different_populations_are_told_apart():
    found = global_mixture([local(300, 0), local(300, 1), local(300, 2, shift=2.0)],
                           random_state=0)
    assert not found.alike
    assert found.p_value == pytest.approx(1 / 40)
    assert found.divergence > 3 * found.expected
    assert "NOT alike" in found.summary()


def test_alike_sources_are_called_alike_most_of_the_time():
    """20 runs at the level of 5%: at most 4 false alarms (probability .997)."""
    alarms = sum(not global_mixture([local(150, 10 * r + s) for s in range(2)], rounds=19,
                                    random_state=r).alike for r in range(20))
    assert alarms <= 4


def test_the_privacy_cost_is_limited_by_widening():
    data, _ = source(400, 1)
    free = LocalMixture(random_state=0).fit(data)
    kept = LocalMixture(most_cost=free.cost_ - 0.5, random_state=0).fit(data)
    assert free.widened_ == 1.0
    assert kept.cost_ == pytest.approx(free.cost_ - 0.5, abs=1e-9)
    assert kept.widened_ > 1
    assert kept.mixture_.facts["cost"] == kept.cost_
    assert kept.mixture_.log_density(data).mean() == pytest.approx(kept.cost_)


def test_no_component_holds_fewer_records_than_allowed():
    data = np.vstack([source(200, 0)[0], [[500.0, 500.0]]])
    found = LocalMixture(6, least=30, random_state=0).fit(data).mixture_
    assert found.weights.min() * found.records >= 30
    with pytest.raises(DataError, match="at least 20"):
        LocalMixture().fit(data[:5])


def test_a_table_in_a_model_out_and_back_from_json():
    data, _ = source(100, 0)
    table = unspoken.read(pa.table({"a": data[:, 0], "b": data[:, 1]}), show=False)
    sent = LocalMixture(2, random_state=0).protect(table)
    again = Mixture.from_json(sent.to_json())
    assert sent.features == ("a", "b")
    assert np.array_equal(again.means, sent.means)
    assert np.allclose(again.log_density(data), sent.log_density(data))
    assert "records" in again.summary()


@pytest.mark.parametrize(("field", "value"), [
    ("format", "other"), ("features", []), ("weights", [0.5, 0.6]), ("weights", "x"),
    ("means", [[1.0]]), ("covariances", [[[1.0, 2.0], [2.0, 1.0]]] * 2), ("records", -1),
    ("weights", [float("nan"), 1.0]),
])
def test_hostile_models_are_refused_by_field(field, value):
    good = local(100, 0, components=2).to_json()
    with pytest.raises(ModelError):
        Mixture.from_json({**good, field: value})


def test_wrong_parameters_speak():
    with pytest.raises(InputError, match="'components'"):
        LocalMixture(0).fit(source(50, 0)[0])
    with pytest.raises(InputError, match="'most_cost'"):
        LocalMixture(most_cost="low").fit(source(50, 0)[0])
    with pytest.raises(InputError, match="at least two"):
        global_mixture([local(50, 0)])
    other = LocalMixture(random_state=0).fit(source(50, 0)[0], names=("p", "q")).mixture_
    with pytest.raises(InputError, match="over the same columns"):
        global_mixture([local(50, 0), other])

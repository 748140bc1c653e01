"""Parameters by column: one that names no column of the table is refused, whatever the method."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken.errors import InputError
from unspoken.methods.private.private_offer import private_offer
from unspoken.protect import (
    Discretizer,
    NoiseAdder,
    QueryGuard,
    RandomizedResponse,
    TopBottomCoder,
)
from unspoken.release.method import Form, methods

VALUES = (0.5, 2, (0, 10), [1.0, 2.0], ["a", "b"], [[0.5, 0.5], [0.5, 0.5]], "laplace", "age",
          "h.csv", "0.9*x + 10")


def _forms(method):
    return method.forms or {None: Form(method.transformer_at, method.parameters)}


CASES = [(method, chosen, name)
         for method in methods().values() for chosen, form in _forms(method).items()
         for name, one in form.parameters.items() if hasattr(one.rule, "columns_in")]


def table(**roles):
    rng = np.random.default_rng(5)
    return unspoken.read({"age": rng.integers(20, 60, 40), "pay": rng.random(40) * 100,
                          "city": rng.choice(["a", "b"], 40)}, show=False, **roles)


def misspelt(rule):
    """Return a value that the rule admits but for its columns, one of which is misspelt."""
    mappings = ({"agee": value} for value in VALUES)
    return next((one for one in mappings if rule.admits(one)), ["agee"])


def test_the_walk_meets_every_kind_of_parameter_by_column():
    assert len(CASES) >= 30
    assert {"ranges", "family", "edges", "hierarchies", "l"} <= {name for _, _, name in CASES}


@pytest.mark.parametrize(("method", "chosen", "name"), CASES,
                         ids=[f"{m.name}-{n}" for m, _, n in CASES])
def test_a_misspelt_column_is_refused_with_the_one_that_was_meant(method, chosen, name):
    asked = {name: misspelt(method.form(chosen).parameters[name].rule)}
    if chosen is not None:
        asked[method.chooser] = chosen
    with pytest.raises(InputError, match=rf"'{name}' names a column that is not there.*'age'"):
        method.build(asked).protect(table(quasi="age", sensitive="city"))


@pytest.mark.parametrize("method", [
    NoiseAdder(ranges={"agee": (0, 1)}), NoiseAdder({"age": "laplace", "agee": "laplace"}),
    Discretizer(edges={"agee": [0, 1]}), TopBottomCoder(top={"agee": 3.0}),
    RandomizedResponse(values={"agee": ["a", "b"]})])
def test_a_misspelt_column_is_refused_for_arrays_too(method):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="names a column that is not there"):
        method.fit(pandas.DataFrame({"age": [1.0, 2.0, 3.0]}))


def test_a_misspelt_column_is_refused_on_a_device_a_guard_and_a_private_result(tmp_path):
    with pytest.raises(InputError, match="'privacy' names"):
        NoiseAdder(ranges={"age": (0, 9)}, privacy={"age": 1.0, "agee": 1.0}).distort({"age": 1})
    with pytest.raises(InputError, match="'bounds' names"):
        QueryGuard(table(), tmp_path / "log", bounds={"agee": (0, 9)})
    for asked in ({"edges": {"agee": [0, 9]}}, {"values": {"cty": ["a", "b"]}},
                  {"complete": ["agee"]}):
        with pytest.raises(InputError, match="names a column that is not there"):
            private_offer(table(), "marginals", 1.0, **asked)

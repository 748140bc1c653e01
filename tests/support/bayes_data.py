"""Small tables with categories and numbers, and their owners, for the tests of Bayes methods."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from support.tree_data import LAYOUT as QUESTIONS
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, Numeric
from unspoken.joint.tasks.tree.params import Attribute

CLASSES = ("c0", "c1", "c2")
LAYOUT = BayesLayout(
    (
        Attribute("a", ("x", "y", "z")),
        Numeric("h", -20, 30),
        Attribute("b", ("u", "v")),
        Numeric("w", 0, 100),
    ),
    CLASSES,
)


def table(rows, seed, classes=CLASSES):
    """Rows whose columns depend on the class."""
    random = np.random.default_rng(seed)
    label = random.integers(0, len(classes), rows)
    return {"a": np.array(["x", "y", "z"], object)[(label + random.integers(0, 2, rows)) % 3],
            "h": random.normal(3.0 * label, 1 + label), "w": random.uniform(40, 60, rows) - label,
            "b": np.array(["u", "v"], object)[random.integers(0, 2, rows)],
            "class": np.array(classes, object)[label]}


def parts_of(columns, owner, owners):
    """Return each owner's rows."""
    owner = np.asarray(owner)
    return [{n: c[owner == i] for n, c in columns.items()} for i in range(owners)]


@st.composite
def spread_rows(draw, most_rows=60):
    """A table, whose rows have 2 to 5 owners; some may have none."""
    rows, owners = draw(st.integers(2, most_rows)), draw(st.integers(2, 5))
    seed = draw(st.integers(0, 2**32 - 1))
    columns = table(rows, seed, CLASSES[:draw(st.integers(2, 3))])
    return columns, np.random.default_rng(seed + 1).integers(0, owners, rows), owners


def apart(one, other, layout=LAYOUT):
    """Return how far two models are from each other, numbers in units of half their range."""
    found = [np.abs(one.prior - other.prior).max()]
    for a, b, agreed in zip(one.columns, other.columns, layout.columns, strict=True):
        if hasattr(a, "shares"):
            found.append(np.abs(a.shares - b.shares).max())
        else:
            found += [np.abs(a.means - b.means).max() / agreed.half,
                      np.abs(a.variances - b.variances).max() / agreed.half**2]
    return max(found)


WEATHER_LAYOUT = BayesLayout(QUESTIONS.attributes, QUESTIONS.classes, QUESTIONS.target)

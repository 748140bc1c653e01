"""Small tables for the tests of trees: the weather data of vcz2006, table 4.1, and random ones."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, attributes_of
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite

NAMES = ("outlook", "temperature", "humidity", "windy", "play")
ROWS = """sunny hot high FALSE no
sunny hot high TRUE no
overcast hot high FALSE yes
rainy mild high FALSE yes
rainy cool normal FALSE yes
rainy cool normal TRUE no
overcast cool normal TRUE yes
sunny mild high FALSE no
sunny cool normal FALSE yes
rainy mild normal FALSE yes
sunny mild normal TRUE yes
overcast mild high TRUE yes
overcast hot normal FALSE yes
rainy mild high TRUE no"""
TABLE = np.array([line.split() for line in ROWS.splitlines()], object)
WEATHER = {name: TABLE[:, i] for i, name in enumerate(NAMES)}
LAYOUT = TreeLayout(attributes_of(WEATHER, {}, NAMES[:-1]), ("no", "yes"), "play")


def figure_4_1(outlook, humidity, windy):
    """The tree of Figure 4.1, written down by hand."""
    if outlook == "overcast":
        return "yes"
    if outlook == "sunny":
        return "yes" if humidity == "normal" else "no"
    return "no" if windy == "TRUE" else "yes"


def parts_of(columns, assignment, owners):
    """Return each owner's rows, given who owns which row."""
    assignment = np.asarray(assignment)
    return [{name: column[assignment == owner] for name, column in columns.items()}
            for owner in range(owners)]


@st.composite
def tables(draw, most_rows=40):
    """A layout of two to five attributes, rows for it, and their owners (2 to 5)."""
    attributes = []
    for place in range(draw(st.integers(2, 5))):
        if draw(st.booleans()):
            labels = tuple(f"v{i}" for i in range(draw(st.integers(1, 4))))
            attributes.append(Attribute(f"a{place}", labels))
        else:
            cuts = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True))
            attributes.append(Attribute(f"a{place}", cuts=tuple(map(float, sorted(cuts)))))
    classes = tuple(f"c{i}" for i in range(draw(st.integers(2, 3))))
    layout = TreeLayout(tuple(attributes), classes)
    rows, owners = draw(st.integers(0, most_rows)), draw(st.integers(2, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = {a.name: (np.array(a.categories, object)[random.integers(0, a.cells, rows)]
                        if a.categories else random.integers(0, 11, rows).astype(float))
               for a in attributes}
    columns["class"] = np.array(classes, object)[random.integers(0, len(classes), rows)]
    return layout, columns, random.integers(0, owners, rows), owners


def spread(layout, columns, sites, known=False, extra=0):
    """Return sites with some attributes each, the last with the class, and the room they agree on.

    `known`: all have the class. `extra`: so much more room than they need.
    """
    names = [f"p{i}" for i in range(sites)]
    groups = np.array_split(np.arange(len(layout.attributes)), sites)
    given_ = {name: TreeSite(tuple(layout.attributes[i] for i in group), columns,
                         columns["class"] if known or name == names[-1] else None)
              for name, group in zip(names, groups, strict=True)}
    slots = max(1, *(len(s.questions) for s in given_.values())) + extra
    return given_, TreeShape(layout.classes, names[-1], slots, 4 + extra, class_known=known)


def smooth_table(rows=240, seed=4):
    """Numbers and a category with a class that depends on both, and noise."""
    random = np.random.default_rng(seed)
    x, y = random.normal(size=rows), random.normal(size=rows)
    group = np.array(["a", "b", "c"], object)[random.integers(0, 3, rows)]
    score = x + 0.7 * y + (group == "a") * 1.0 + random.normal(0, 0.5, rows)
    columns = {"x": x.round(3), "y": y.round(3), "group": group,
               "class": np.where(score > 0.3, "p", "n").astype(object)}
    cuts = tuple(np.arange(-6, 7) / 4)
    layout = TreeLayout((Attribute("x", cuts=cuts), Attribute("y", cuts=cuts),
                     Attribute("group", ("a", "b", "c"))), ("n", "p"))
    return layout, columns


def unseen(layout, seed):
    """Return records of any values; most combinations are in no leaf of training."""
    random = np.random.default_rng(seed)
    return {a.name: np.array(a.categories, object)[random.integers(0, a.cells, 60)]
            if a.categories else random.integers(0, 11, 60).astype(float)
            for a in layout.attributes}

"""The weather data of vcz2006 spread over sites by columns."""

from __future__ import annotations

import itertools

import numpy as np

from support.tree_data import LAYOUT, NAMES, WEATHER
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite

SPLIT = {"north": (0,), "south": (1, 2), "east": (3,)}


def weather_sites(split=SPLIT, class_site="south", known=False, rows=None, ids=False):
    """Return the sites; every one may have other rows, and ids for them."""
    found = {}
    for name, places in split.items():
        own = np.arange(14) if rows is None else rows[name]
        columns = {LAYOUT.attributes[i].name: WEATHER[LAYOUT.attributes[i].name][own]
                   for i in places}
        labels = WEATHER["play"][own] if known or name == class_site else None
        found[name] = TreeSite(tuple(LAYOUT.attributes[i] for i in places), columns, labels,
                           [f"r{i}" for i in own] if ids else None)
    return found


SHAPE = TreeShape(("no", "yes"), "south", 3, 4, "play")
EVERY = np.array(list(itertools.product(*(a.categories for a in LAYOUT.attributes))), object)
ALL_WEATHERS = {a.name: EVERY[:, i] for i, a in enumerate(LAYOUT.attributes)}


def own_columns(columns, split=SPLIT):
    return {name: {NAMES[i]: columns[NAMES[i]] for i in places} for name, places in split.items()}

"""Columns that depend on each other, spread over sites, for the tests of Bayesian networks."""

from __future__ import annotations

import numpy as np

from unspoken.joint.tasks.network.params import NetworkSite, Node, Order

NAMES = ("north", "south", "east", "west", "mid")


def dependent(rows, sizes, seed):
    """Columns that depend on one or two of those before them, with noise."""
    random = np.random.default_rng(seed)
    codes = [random.integers(0, sizes[0], rows)]
    for size in sizes[1:]:
        chosen = random.integers(0, len(codes), 2)
        base = codes[chosen[0]] + (codes[chosen[1]] if random.random() < 0.5 else 0)
        noise = random.random(rows) < random.uniform(0.1, 0.8)
        codes.append(np.where(noise, random.integers(0, size, rows), base % size))
    return np.array(codes)


def spread(codes, sizes, owner):
    order = Order(tuple(Node(f"x{i}", NAMES[o], s) for i, (s, o) in enumerate(
        zip(sizes, owner, strict=True))))
    sites = {name: NetworkSite(codes[order.of(name)]) for name in NAMES if name in order.sites}
    return sites, order

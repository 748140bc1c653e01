"""Tables with codes in place of values: rising or falling numbers, other labels, another order."""

from __future__ import annotations

import numpy as np

CROPS = ["rye", "oats", "maize", "beet", "hops", "flax", "vines", "peas"]


def farms(rows, seed):
    """Return farms: area, yield and cows are skewed and go together, crops differ in frequency."""
    rng = np.random.default_rng(seed)
    area = np.round(np.exp(rng.normal(3.0, 0.8, rows)), 1)
    crop = rng.choice(CROPS, rows, p=np.array([30, 22, 16, 11, 8, 6, 4, 3]) / 100)
    return {"area": area, "cows": rng.poisson(area / 3), "tons": np.round(
        area * rng.gamma(20, 0.2, rows), 1), "crop": crop, "parish": rng.integers(0, 60, rows)}


def patients(rows, seed):
    """Return patients: the weight is symmetric and goes together with nothing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 95, rows)
    stay = rng.poisson(age / 12 + 1)
    cost = np.round(stay * rng.gamma(5, 120, rows) + rng.gamma(2, 50, rows), 1)
    return {"age": age, "stay": stay, "cost": cost, "weight": np.round(rng.normal(75, 14, rows), 1),
            "ward": rng.choice([*"abcdefg"], rows, p=np.array([30, 25, 15, 12, 9, 6, 3]) / 100),
            "parish": rng.integers(0, 80, rows)}


def cars(rows, seed):
    """Return cars: mileage falls as the price rises, makes are equally frequent."""
    rng = np.random.default_rng(seed)
    age = rng.integers(1, 35, rows)
    return {"km": np.round(np.exp(rng.normal(11, 0.5, rows)) * (age + 1) / 15),
            "price": np.round(np.exp(10 - 0.1 * age + rng.normal(0, 0.3, rows))),
            "power": rng.choice([55, 66, 75, 81, 92, 110, 132, 150, 180], rows),
            "make": rng.choice([*"abcdefgh"], rows), "parish": rng.integers(0, 60, rows)}


TABLES = {"farms": farms, "patients": patients, "cars": cars}


def coded(inside, seed):
    """Return a release of codes, whose record each is, and which columns fall."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(inside["parish"]))
    release, falling = {}, []
    for place, (name, values) in enumerate(inside.items()):
        if name == "parish":
            release[name] = values
        elif values.dtype.kind not in "if":
            names = rng.permutation(np.unique(values).size)
            release[name] = np.array([f"k{names[i]}" for i in
                                      np.unique(values, return_inverse=True)[1]])
        else:
            rising = values - values.min() + 1.0
            way = (seed + place) % 3
            falling += [name] if way == 1 else []
            release[name] = (np.sqrt(rising) + 40, -2.5 * rising - 7, rising ** 1.7)[way]
    return {name: values[order] for name, values in release.items()}, order, falling

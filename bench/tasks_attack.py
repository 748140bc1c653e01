"""Attacks and audits on Covertype: trials work on distinct values, never on rows."""

from __future__ import annotations

import time

import numpy as np

from data import covertype
from harness import Row, best, task
from sizes import scaled

TRIALS = scaled(500, 60)


def _columns() -> list[tuple[np.ndarray, np.ndarray]]:
    from unspoken.numerics.tally import tally

    _, data, labels = covertype()
    aspen = (labels == 5).astype(np.int64)
    return [tally(data[:, i], aspen, 2) for i in range(10)]


@task
def fresh_keys_and_curves() -> list[Row]:
    from unspoken.methods.encoding.draw_column import Recipe
    from unspoken.risk import fresh_trials, piecewise_codes

    _, data, _ = covertype()
    floor = best(lambda: [np.unique(data[:, i]) for i in range(10)])
    columns = _columns()
    rows = []
    for mode, pieces in (("strict", "random"), ("max-mono", "max-mono")):
        recipe = Recipe(mode=mode, pieces=pieces, keep_zero=False)

        def run(recipe: Recipe = recipe) -> list[float]:
            return [fresh_trials(values, piecewise_codes(values, table, recipe), 4, TRIALS,
                                 random_state=1).medians()["polyline"]
                    for values, table in columns]

        medians = run()
        # Wrong code would give what guessing gives (4%) or everything.
        assert all(0.05 < median < 0.45 for median in medians), medians
        rows.append(Row(f"{TRIALS} fresh keys x 3 curves, {mode}", "10 attributes, 4 known values",
                        best(run, 2), "one np.unique pass", floor, "one np.unique pass", floor,
                        50, "floor", f"polyline recovers {100 * np.mean(medians):.0f}% on average"))
    return rows


@task
def whole_audit() -> list[Row]:
    import pyarrow as pa

    import unspoken
    from unspoken.protect import PiecewiseEncoder
    from unspoken.risk import audit

    names, data, labels = covertype()
    floor = best(lambda: [np.unique(data[:, i]) for i in range(10)])
    columns = {name: data[:, i] for i, name in enumerate(names)}
    table = unspoken.read(pa.table({**columns, "Cover_Type": labels}), target="Cover_Type",
                          show=False)
    rows = []
    for mode in ("strict", "max-mono"):
        release, key = PiecewiseEncoder(mode, conditioning="none", random_state=0).protect(table)
        start = time.perf_counter()
        found = audit(table, release, key, random_state=1)
        seconds = time.perf_counter() - start
        exact = found.select(adversary="frequency", measure="exact")
        assert mode != "strict" or all(row.value == 1.0 for row in exact)
        rows.append(Row(f"default audit, {mode}", f"{len(labels):,} x 10, 100 trials",
                        seconds, "a minute", 60.0, "one np.unique pass", floor, 1, "peer",
                        f"{found.frame().num_rows:,} rows; memory must stay below 4,096 MiB"))
    return rows


@task
def path_disclosure() -> list[Row]:
    from sklearn.tree import DecisionTreeClassifier

    import unspoken
    from unspoken.protect import PiecewiseEncoder, decode
    from unspoken.risk import path_disclosure as disclose

    _, data, labels = covertype()
    original = data.astype(np.float64)
    encoder = PiecewiseEncoder(conditioning="none", random_state=0)
    codes = encoder.fit_transform(original)
    # Noise in the labels grows the tree to more than 50,000 paths.
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(labels.size) < 0.06, rng.integers(1, 8, labels.size), labels)
    mined = DecisionTreeClassifier(random_state=0).fit(codes, noisy)
    fitting = best(lambda: DecisionTreeClassifier(random_state=0).fit(codes, noisy), 1)
    tree = unspoken.Tree.from_sklearn(mined)
    truth = decode(tree, encoder.key_, original)
    radii = {i: 0.05 * float(np.ptp(data[:, i].astype(int)) + 1) for i in range(10)}
    inverse = {i: encoder.book_.column(i) for i in range(10)}

    def guess_at(feature: int, places: np.ndarray) -> np.ndarray:
        values, known = inverse[feature]
        middle = np.interp(places, known, values)
        return middle + rng.normal(0, radii[feature], (TRIALS, 1))

    found = disclose(tree, truth, guess_at, radii)
    assert found.paths.sum() == mined.get_n_leaves()
    size = f"{mined.get_n_leaves():,} paths, {TRIALS} trials"
    return [Row("path disclosure", size, best(lambda: disclose(tree, truth, guess_at, radii), 2),
                "fitting that tree", fitting, "fitting that tree", fitting, 3, "peer")]

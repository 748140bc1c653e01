"""People among each other: measuring K, L and t, and cutting records into classes."""

from __future__ import annotations

import time
import warnings

import numpy as np

from data import adult
from harness import Row, best, task

QUASI = ("education", "race", "sex")
SENSITIVE = ("occupation", "hours-per-week")
CUT = ("age", "education-num", "hours-per-week", "marital-status", "race", "sex")
K = 10


def _once(function):
    """Return the answer and the time of one call: the peers take minutes."""
    start = time.perf_counter()
    found = function()
    return found, time.perf_counter() - start


@task
def measure_anonymity() -> list[Row]:
    """K, distinct and entropy L, (alpha, k) and t of Adult, against pycanon, same answers."""
    from pycanon import anonymity as pycanon

    import unspoken
    from unspoken.methods.anonymity.measures import measure
    from unspoken.methods.anonymity.measures.equivalence_classes import classes
    from unspoken.table.category_codes import coded

    rows = adult(2_000)
    frame = rows.to_pandas()
    table = unspoken.read(rows, quasi=QUASI, sensitive=SENSITIVE, show=False)
    quasi, secret = list(QUASI), list(SENSITIVE)

    def peer() -> tuple[float, ...]:
        return (pycanon.k_anonymity(frame, quasi), pycanon.l_diversity(frame, quasi, secret),
                pycanon.entropy_l_diversity(frame, quasi, secret),
                pycanon.alpha_k_anonymity(frame, quasi, secret)[0],
                pycanon.t_closeness(frame, quasi, secret))

    found = measure(table)
    ours = (found.k, found.l, int(found.entropy_l + 1e-9), 1 / found.strong_l, found.t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, slow = _once(peer)
    assert np.allclose(ours, theirs), (ours, theirs)
    codes = [coded(rows[name]).codes for name in quasi]
    floor = best(lambda: classes(codes), 5)
    return [Row("measure K, L and t", f"{rows.num_rows:,} x {len(QUASI) + len(SENSITIVE)}",
                best(lambda: measure(table), 5), "pycanon", slow, "numbering classes", floor,
                1 / 20, "peer", f"K = {found.k}, L = {found.l}, t = {found.t:.3f}, both")]


@task
def mondrian() -> list[Row]:
    """Classes of at least 10 on Adult, against anonypy (pandas, one class at a time)."""
    import anonypy.mondrian

    import unspoken
    from unspoken.methods.anonymity.measures import measure
    from unspoken.methods.anonymity.measures.equivalence_classes import discernibility
    from unspoken.protect import MondrianAnonymizer

    rows = adult(12_000).select(CUT)
    frame = rows.to_pandas()
    for name in CUT[3:]:
        frame[name] = frame[name].astype("category")
    table = unspoken.read(rows, quasi=CUT, show=False)
    floor = best(lambda: np.lexsort([rows[n].to_numpy() for n in CUT[:3]]), 3)
    peer = anonypy.mondrian.Mondrian(frame, list(CUT))
    parts, slow = _once(lambda: peer.partition(K))
    theirs = discernibility(np.array([len(part) for part in parts]))
    out = []
    for options in ({}, {"mode": "relaxed"}):
        method = MondrianAnonymizer(K, **options)
        release, _ = method.protect(table)
        found = measure(release.table)
        sizes = np.bincount(method.owner_)
        assert found.k >= K
        assert discernibility(sizes) <= theirs, (discernibility(sizes), theirs)
        ours = best(lambda m=method: m.protect(table), 3)
        note = f"discernibility {discernibility(sizes):,}, theirs {theirs:,}"
        out.append(Row(f"Mondrian, {options.get('mode', 'strict')}, k = {K}",
                       f"{rows.num_rows:,} x {len(CUT)}", ours, "anonypy", slow, "lexsort", floor,
                       1 / 10, "peer", note))
    return out

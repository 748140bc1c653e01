"""Association rules of several owners, every party a process over TLS.

Times begin when the connections stand.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from harness import Row, best, shared, task
from sizes import repeats, scaled
from tasks_baskets import some_baskets

SUPPORT, CONFIDENCE = 0.005, 0.5
PAIRS = scaled(600, 20)
POINTS = scaled(20_000, 1_000)


def _central(baskets: Any, support: float = SUPPORT) -> tuple[Any, float]:
    import unspoken

    def mine() -> Any:
        found = unspoken.mine.itemsets(baskets, support)
        return found, unspoken.mine.rules(found, CONFIDENCE)

    return mine(), best(mine, 3)


@task
def rules_rows() -> list[Row]:
    """Retail baskets of four owners, thresholds compared and nothing else opened."""
    import rules_program
    from unspoken.joint import run_local
    from unspoken.joint.tasks.rules.params import RuleParams
    from unspoken.joint.tasks.rules.pooled import pooled
    from unspoken.joint.tasks.rules.program_rows import RulesOverRows

    path = shared("retail.dat.gz")
    if path is None:
        return []
    baskets = some_baskets(path)
    parts = [baskets.take(np.arange(len(baskets)) % 4 == i) for i in range(4)]
    terms = RuleParams(baskets.items, SUPPORT, CONFIDENCE, most=1 << 17)
    (itemsets, rules), alone = _central(baskets)
    program, seconds = rules_program.Timed(RulesOverRows(terms)), []
    for _ in range(repeats(3)):
        results = run_local(program, parts, "dealer", True)
        found = results[0][0][1]
        assert found.same_as(pooled(parts, terms))
        assert (len(found.sets), len(found.left)) == (len(itemsets), len(rules))
        seconds.append(max(wall for (wall, _), _ in results))
    sent = sum(row.bytes for _, ledger in results for row in ledger.rows
               if row.direction == "received")
    return [Row("rules over rows, dealer", f"retail, 4 owners, {len(itemsets)} sets", min(seconds),
                "mining in one place", alone, "counting single items",
                best(baskets.frequencies, 3), 10, "peer", f"{sent / 1e6:.1f} MB")]


def _columns(baskets: Any, owners: int) -> dict[str, Any]:
    """Return each owner's items of the same baskets."""
    from unspoken.table.baskets import Baskets

    size, parts = -(-len(baskets.items) // owners), {}
    for i in range(owners):
        here = baskets.codes // size == i
        parts[f"p{i}"] = Baskets.from_rows(
            baskets.rows[here], baskets.codes[here] - i * size, len(baskets),
            baskets.items[i * size:(i + 1) * size])
    return parts


@task
def rules_columns() -> list[Row]:
    """T10I4D100K, its items at three owners, on shared bitmaps."""
    import rules_program
    from unspoken.joint import run_local
    from unspoken.joint.tasks.rules.item_sites import Sites
    from unspoken.joint.tasks.rules.params import SETS, RuleParams
    from unspoken.joint.tasks.rules.pooled import pooled_columns as pooled
    from unspoken.joint.tasks.rules.program_columns import RulesOverColumns

    path = shared("T10I4D100K.dat.gz")
    if path is None:
        return []
    baskets = some_baskets(path)
    parts = _columns(baskets, 3)
    sites = Sites.of({name: part.items for name, part in parts.items()})
    terms = RuleParams(baskets.items, SUPPORT, CONFIDENCE, most=1 << 17)
    program = rules_program.Timed(RulesOverColumns(terms, sites))
    # All parties are on one machine here, and threads of one would wait for those of another.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    results = run_local(program, list(parts.values()), "dealer", True)
    assert results[0][0][1].same_as(pooled(list(parts.values()), terms, sites))
    seconds = max(wall for (wall, _), _ in results)
    tested = [o.shape[0] for o in results[0][1].openings if o.because == SETS]
    # A pair of one owner is counted alone.
    crossing = int(sum(tested[1:]) * 2 / 3)
    walls = run_local(rules_program.bare, [(PAIRS, len(baskets))] * 3, "dealer", True)
    bare = max(wall for wall, _ in walls) / PAIRS * crossing
    sent = sum(row.bytes for _, ledger in results for row in ledger.rows
               if row.direction == "received")
    return [Row("rules over columns, dealer", f"T10I4D100K, 3 owners, {sum(tested):,} candidates",
                seconds, f"AND and count on shares, {crossing:,} times", bare,
                "all pairs in the open", _plain(baskets), 3, "peer",
                f"{sent / 1e6:.0f} MB; {PAIRS} measured")]


def _plain(baskets: Any) -> float:
    """AND and count all pairs of packed frequent columns, in one place."""
    from unspoken.numerics.pair_counting import pairs_by_bits

    least = SUPPORT * len(baskets)
    words = baskets.bitmaps(np.flatnonzero(baskets.frequencies() >= least))
    return best(lambda: pairs_by_bits(words), 2)


@task
def rules_by_encryption() -> list[Row]:
    """The same columns encrypted once, mined by a counter without data, at two supports."""
    import rules_program
    from unspoken.joint.mpc import ristretto as group
    from unspoken.joint.museum.encrypted_rules import EncryptedColumns
    from unspoken.joint.session.processes import run_processes
    from unspoken.joint.tasks.rules.item_sites import Sites
    from unspoken.joint.tasks.rules.params import RuleParams
    from unspoken.joint.tasks.rules.pooled import pooled_columns as pooled
    from unspoken.joint.wire.endpoint import Roles

    path = shared("T10I4D100K.dat.gz")
    if path is None:
        return []
    baskets = some_baskets(path)
    parts = _columns(baskets, 3)
    sites = Sites.of({name: part.items for name, part in parts.items()})
    roles, walls, sets = Roles((*parts, "counter"), tuple(parts)), {}, {}
    for support in (SUPPORT, 0.001):
        terms = RuleParams(baskets.items, support, CONFIDENCE, longest=10)
        program = rules_program.Timed(EncryptedColumns(terms, sites, ("counter",)))
        outcomes = run_processes(program, [*parts.values(), None], "sums", roles)
        walls[support], found = outcomes[-1].output
        assert found.same_as(pooled(list(parts.values()), terms, sites))
        sets[support] = len(found.sets)
    items = [b"%d" % i for i in range(POINTS)]

    def bare() -> None:
        points = group.hash_points(group.domain("bench"), items)
        for _ in range(3):
            group.multiply(points, group.fresh_scalar())

    floor = best(bare, 2) * 3 * len(baskets) / POINTS
    size = "T10I4D100K, 3 owners, {:,} sets"
    return [Row("rules by encryption, 0.5%", size.format(sets[SUPPORT]), walls[SUPPORT],
                "the same at 0.1%", walls[0.001], "the group operations alone", floor, 1.5,
                "floor", f"{POINTS:,} points measured"),
            Row("rules by encryption, 0.1%", size.format(sets[0.001]), walls[0.001],
                "the same at 0.5%", walls[SUPPORT], "the group operations alone", floor, 1.5,
                "peer")]

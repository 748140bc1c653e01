"""Optimal recoding of Adult, a million records, and AUC on held-back records of three tables.

    python bench/anonymised_tables.py lattice          # the four losses, and a million records
    python bench/anonymised_tables.py auc adult        # or support2, covertype
"""

from __future__ import annotations

import resource
import sys
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness import shared

NINE = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex",
        "native-country", "income")
LEVELS = {"workclass": 3, "education": 4, "marital-status": 3, "occupation": 3,
          "native-country": 3, "race": 2, "sex": 2, "income": 2, "relationship": 3}
WAYS = (("mondrian", {"cuts": "gain"}), ("tree-preserving", {}), ("microaggregation", {}))


def hierarchies(rows, names):
    """Return hierarchies of as many levels as ARX's for Adult: 12,960 nodes for nine columns."""
    from unspoken.methods.anonymity.hierarchy import Hierarchy
    from unspoken.protect import build_hierarchy

    out = {"age": build_hierarchy(rows["age"], "steps", steps=[5, 10, 20])}
    for name in names[1:]:
        tree = build_hierarchy(rows[name], "frequency")
        kept = np.unique(np.linspace(1, tree.levels, LEVELS[name] - 1).round().astype(int))
        kept = kept if LEVELS[name] > 2 else [tree.levels]
        out[name] = Hierarchy.of([[row[0], *(row[at] for at in kept)] for row in tree.rows])
    return out


def timed(table, trees, loss, what, times=3):
    """Print the least time of a few runs, and what was proven."""
    from unspoken.protect import OptimalRecoder

    best = np.inf
    for _ in range(times):
        method = OptimalRecoder(5, hierarchies=trees, loss=loss, others="drop")
        start = time.perf_counter()
        method.protect(table)
        best = min(best, time.perf_counter() - start)
    print(f"{what} {loss}: {best:.2f} s, {method.optimum_}", flush=True)


def lattice():
    """Print the figures of the generalisation lattice."""
    import unspoken

    rows = pq.read_table(shared("adult_data.parquet"))
    table = unspoken.read(rows.select(NINE), quasi=NINE, show=False)
    trees = hierarchies(rows, NINE)
    for loss in ("loss", "entropy", "discernibility"):
        timed(table, trees, loss, "Adult")
    names = (*NINE[:-1], "relationship")
    known = unspoken.read(rows.select([*names, "income"]), quasi=names, target="income",
                          show=False)
    timed(known, hierarchies(rows, names), "class", "Adult, relationship in place of income")
    rng, size = np.random.default_rng(0), 1_000_000
    own = rng.integers(0, rows.num_rows, size)
    exchanged = {name: np.where(rng.random(size) < 0.05, rng.integers(0, rows.num_rows, size), own)
                 for name in NINE}
    many = unspoken.read(pa.table({name: rows[name].combine_chunks().take(pa.array(at))
                                   for name, at in exchanged.items()}), quasi=NINE, show=False)
    before, bytes_ = peak(), many.arrow().nbytes
    for loss in ("loss", "discernibility"):
        timed(many, trees, loss, "a million", 1)
    print(f"table {bytes_ >> 20} MiB, peak above it {(peak() - before) >> 20} MiB")


def peak():
    """Return the most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def parted(rows, target, most=None):
    """Return three quarters of some records, and the rest."""
    import unspoken

    order = np.random.default_rng(0).permutation(rows.num_rows)[:most]
    held = order.size // 4
    quasi = [name for name in rows.column_names if name != target]
    return [unspoken.read(rows.take(np.sort(part)), target=target, quasi=quasi, show=False)
            for part in (order[held:], order[:held])]


def adult():
    """Return adult.data and adult.test."""
    import unspoken

    out = []
    for name in ("adult_data", "adult_test"):
        rows = pq.read_table(shared(f"{name}.parquet")).drop_columns(["fnlwgt", "education"])
        income = pc.replace_substring(rows["income"], ".", "")
        rows = rows.set_column(rows.column_names.index("income"), "income", income)
        out.append(unspoken.read(rows, target="income", show=False,
                                 quasi=[n for n in rows.column_names if n != "income"]))
    return out


def support2(target="death"):
    """Return seriously ill people: demographic and bedside columns."""
    names = ["age", "sex", "race", "edu", "income", "dzgroup", "num.co", "scoma", "meanbp", "hrt",
             "resp", "temp", target]
    rows = pq.read_table(shared("support2.parquet")).select(names)
    return parted(rows.set_column(12, target, rows[target].cast(pa.string())), target)


def covertype(most=200_000):
    """Return the two commonest covers; wilderness and soil as one column each."""
    rows = pq.read_table(shared("covtype.parquet"))
    rows = rows.filter(pc.less_equal(rows["Cover_Type"], 2))
    names = rows.column_names
    place = {"wilderness": names[10:14], "soil": names[14:54]}
    one = {key: np.argmax(np.column_stack([rows[n].to_numpy() for n in listed]), axis=1)
           for key, listed in place.items()}
    out = rows.select(names[:10])
    for key, codes in one.items():
        out = out.append_column(key, pa.array([f"{key[0]}{code}" for code in codes]))
    return parted(out.append_column("y", rows["Cover_Type"].cast(pa.string())), "y", most)


def auc(name):
    """Print the AUC of every way at k = 10 and 50, as `unspoken anonymize` measures it."""
    from unspoken.methods.anonymity.utility.release_utility import release_utility
    from unspoken.release.method import method_of

    train, held_back = {"adult": adult, "support2": support2, "covertype": covertype}[name]()
    for k in (10, 50):
        for method, ways in WAYS:
            release, _ = method_of(method).build({**ways, "k": k}).protect(train)
            of = release_utility(train, release, held_back)
            print(f"{name} {train.rows} k={k} {method}: {of.score:.4f}, original "
                  f"{of.score_of_original:.4f}, K = {of.k}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    lattice() if sys.argv[1] == "lattice" else auc(sys.argv[2])

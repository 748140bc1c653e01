"""Anonymising with the tree kept: growing and sanitising step by step, scale, and leaf-merge."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np

from data import adult as adult_rows
from harness import Row, best, task
from sizes import in_words, scaled

LEAVES = 10


def adult():
    """Return Adult as fu2010 uses it; occupation is sensitive, income the target."""
    import pyarrow.compute as pc

    import unspoken

    # Trees of ten leaves and K of 150 need all of it.
    table = adult_rows(32_561)
    table = table.filter(pc.not_equal(table["occupation"], "?"))
    return unspoken.read(table, target="income", sensitive="occupation", show=False)


def prepared(table, rule):
    """Return a function that grows, sanitises and checks every tree from 2 leaves on."""
    from unspoken.methods.anonymity.measures.diversity_rules import Secret
    from unspoken.methods.anonymity.tree_preserving.kept_trees import kept_tree
    from unspoken.methods.anonymity.tree_preserving.privacy_targets import Needs
    from unspoken.methods.anonymity.tree_preserving.recoding_loop import Search
    from unspoken.models.tree_growth_rule import Growth, predictors, prepare

    growth = Growth(criterion="gini", max_leaves=LEAVES).for_table(table)
    names = predictors(table, ["income"])
    learning = prepare(table, growth, names)
    columns = {column.name: column for column in learning.columns}
    secret = Secret.of("occupation", table.arrow(["occupation"])["occupation"], "categorical")
    needs = Needs(1, {}, {}, "strong", {"occupation": secret})

    def run():
        tree = kept_tree(learning, table)
        return Search([tree], columns, needs, names, [], rule, b"0" * 32).run()

    return run


class Textbook:
    """The same trees as in a textbook: every column is sorted at every node, for every tree.

    Texts are coded once and for all, which is kind.
    """

    def __init__(self, frame, labels, names):
        self.frame, self.names = frame.copy(), names
        self.y = (labels == np.unique(labels)[1]).astype(np.int64)
        self.numeric = [n for n in names if frame[n].dtype.kind in "iuf"]
        for name in set(names) - set(self.numeric):
            self.frame[name] = frame[name].astype("category").cat.codes

    def split(self, rows):
        """Return (gain, column, left rows, right rows, question) of the best split."""
        found = (0.0, None)
        y = self.y[rows]
        for name in self.names:
            values = self.frame[name].to_numpy()[rows]
            if name not in self.numeric:
                count = np.bincount(values)
                share = np.bincount(values, y) / np.maximum(count, 1)
                values = np.argsort(np.argsort(share, kind="stable"))[values]
            order = np.argsort(values, kind="stable")
            ordered, ones = values[order], np.cumsum(y[order])
            cuts = np.flatnonzero(ordered[1:] != ordered[:-1])
            left, n, k = cuts + 1, len(y), ones[-1]
            a = ones[cuts]
            worth = ((a**2 + (left - a) ** 2) / left
                     + ((k - a) ** 2 + (n - left - k + a) ** 2) / (n - left))
            gain = worth - (k**2 + (n - k) ** 2) / n
            if gain.size and gain.max() > found[0] + 1e-9:
                at = cuts[gain.argmax()]
                found = (gain.max(), name, rows[order[: at + 1]], rows[order[at + 1 :]],
                         (ordered[at], ordered[at + 1]))
        return found

    def grow(self, leaves):
        waiting = [self.split(np.arange(len(self.y)))]
        used = []
        while len(used) < leaves - 1:
            best_ = max(waiting, key=lambda s: s[0])
            waiting = [s for s in waiting if s is not best_]
            used.append(best_)
            waiting += [self.split(best_[2]), self.split(best_[3])]
        return used

    def sanitise(self, used):
        """Steps 2 to 4 of Figure 2, blocks as the safe rule makes them."""
        out = self.frame.copy()
        for name in self.names:
            here = [s for s in used if s[1] == name]
            if not here:
                out[name] = out[name].mean() if name in self.numeric else "ALL"
            elif name in self.numeric:
                anchors = np.array(sorted({v for s in here for v in s[4]}))
                middle = (anchors[1:] + anchors[:-1]) / 2
                out[name] = anchors[np.searchsorted(middle, self.frame[name].to_numpy())]
            else:
                out[name] = self.groups(name, here)
        return out

    def groups(self, name, here):
        """Name categories by the branches they appear in."""
        values = self.frame[name].to_numpy()
        branch = {label: "" for label in np.unique(values)}
        for _, _, left, right, _ in here:
            sides = set(values[left]), set(values[right])
            larger = "l" if len(left) >= len(right) else "r"
            for label in branch:
                branch[label] += ("l" if label in sides[0] else
                                  "r" if label in sides[1] else larger)
        return self.frame[name].map(branch)

    def check(self, out, sensitive):
        """Step 5: K and the strong L."""
        groups = out.groupby(list(self.names), sort=True, observed=True)
        sizes = groups.size()
        most = groups[sensitive].agg(lambda said: said.value_counts().iloc[0])
        return int(sizes.min()), float((sizes / most).min())

    def run(self):
        return [self.check(self.sanitise(self.grow(n)), "occupation")
                for n in range(2, LEAVES + 1)]


@task
def grow_and_sanitise() -> list[Row]:
    """Adult, the trees of 2 to 10 leaves: grown, sanitised, K and L checked."""
    from sklearn.tree import DecisionTreeClassifier

    table = adult()
    run = prepared(table, "safe")
    names = tuple(c.name for c in table.schema.columns if c.role == "plain")
    textbook = Textbook(table.arrow().to_pandas(), table.labels(), names)
    mine = [(f.reached.k, f.reached.l["occupation"]) for f in run()[1:]]
    theirs = textbook.run()
    assert [k for k, _ in mine] == [k for k, _ in theirs], (mine, theirs)
    assert np.allclose([ell for _, ell in mine], [ell for _, ell in theirs])
    codes = np.column_stack([np.unique(table.arrow()[n].to_numpy(zero_copy_only=False),
                                       return_inverse=True)[1] for n in names])
    labels = table.labels()
    fit = best(lambda: DecisionTreeClassifier(max_leaf_nodes=LEAVES, random_state=0)
               .fit(codes, labels), 3)
    peer = best(textbook.run, 4)
    rows = []
    for rule in ("safe", "min-block"):
        ours = best(prepared(table, rule), 25)
        size = "Adult, 30,718 x 13, 2 to 10 leaves"
        rows.append(Row(f"grow, sanitise and check, {rule}", size, ours,
                        "steps 2 to 5 from scratch for each tree", peer, "scikit-learn's fit",
                        fit, 1 / 50, "peer"))
        rows.append(Row(f"the same against one fit, {rule}", size, ours, "three fits", 3 * fit,
                        "scikit-learn's fit", fit, 3, "floor"))
    return rows


@task
def leaf_merge() -> list[Row]:
    """Adult: K of at least 150 at 5 to 8 leaves, every tree verified."""
    from sklearn.tree import DecisionTreeClassifier

    from unspoken.protect import Growth, TreePreservingAnonymizer

    table, rows = adult(), []
    numbers, labels = table.numbers(), table.labels()
    for leaves in (5, 6, 7, 8):
        method = TreePreservingAnonymizer(k=150, rule="leaf-merge", refine=False,
                                          tree=Growth(criterion="gini", max_leaves=leaves))
        release, _ = method.protect(table)
        assert release.manifest["verified"]["identical"]
        assert release.tree.leaves == leaves
        assert release.manifest["reached"]["k"] >= 150
        moved = release.manifest["changed"]["moved_rows"]
        fit = best(lambda n=leaves: DecisionTreeClassifier(max_leaf_nodes=n, random_state=0)
                   .fit(numbers, labels), 3)
        ours = best(lambda m=method: m.protect(table), 3)
        rows.append(Row(f"leaf-merge, {leaves} leaves, verified", "Adult, 30,718 x 13", ours,
                        "scikit-learn's fit, numbers only", fit, "the same", fit,
                        note=f"K = {release.manifest['reached']['k']}, {moved} rows moved"))
    return rows


MEASURE = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np, pyarrow as pa
from tasks_anonymize import adult
import unspoken
from unspoken.protect import Growth, TreePreservingAnonymizer
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
base, rows = adult().arrow(), int(sys.argv[2])
rng = np.random.default_rng(0)
bare = peak()
table = unspoken.read(base.take(pa.array(rng.integers(0, base.num_rows, rows))), target="income",
                   sensitive="occupation", show=False)
size = table.arrow().nbytes
method = TreePreservingAnonymizer(k=1, l={}, rule="min-block", refine=False,
                                  tree=Growth(max_leaves=10))
start = time.perf_counter()
release, _ = method.protect(table)
assert release.tree.leaves == 10
print(json.dumps([time.perf_counter() - start, size, peak() - bare]))
"""


@task
def ten_thousand_to_five_million() -> list[Row]:
    """The whole of protect, verification included: linear in the rows, in bounded memory."""
    from harness import ROOT

    found = []
    for place, rows in enumerate((10_000, 100_000, 1_000_000, 5_000_000)):
        rows = scaled(rows, 2_000 << place)
        done = subprocess.run([sys.executable, "-c", MEASURE, str(ROOT / "bench"), str(rows)],
                              capture_output=True, text=True, check=True)
        found.append((rows, *json.loads(done.stdout.splitlines()[-1])))
    times = np.array([f[1] for f in found])
    slope = float(np.polyfit(np.log([f[0] for f in found]), np.log(times), 1)[0])
    last = math.log(times[-1] / times[-2]) / math.log(found[-1][0] / found[-2][0])
    ratio = found[-1][3] / found[-1][2]
    note = "s: " + ", ".join(f"{f[1]:.3g}" for f in found)
    size = f"{found[0][0]:,} to {in_words(found[-1][0])} x 13"
    return [Row("protect, growth of time with rows", size, slope, "linear", 1.0, "linear", 1.0,
                1.15, "peer",
                f"{note}; the last step {last:.2f}"),
            Row("protect, peak memory in tables", f"{in_words(found[-1][0])} x 13", ratio,
                "the table", 1.0, "the table", 1.0, 3, "peer", "the table itself included",
                peak_mib=found[-1][3] / 2**20)]

"""TreePreservingAnonymizer: K-anonymity and L-diversity that keep a tree (fu2010).

Who learns what. The miner sees the trees, the response and the kept sensitive columns as they are,
and every other column in blocks or groups: the quasi-identifiers of each record are those of at
least K - 1 others, and in no class is a sensitive value as frequent as L forbids. An adversary who
knows that a person is in the table learns the class the tree predicts, what is common to their
cell, and the response's values in it: the response is no quasi-identifier unless `response_quasi`
says so, and nothing keeps it diverse. The names of categories and of the columns are public.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from unspoken.errors import DataError, InputError, NotCoveredError, SchemaError
from unspoken.methods.anonymity.loose_columns import with_others
from unspoken.methods.anonymity.masking.mondrian import target_of
from unspoken.methods.anonymity.measures.diversity_rules import Secret, refuse_fraction
from unspoken.methods.anonymity.method import TREE_PRESERVING
from unspoken.methods.anonymity.tree_preserving.fitted_records import RecordTransformer
from unspoken.methods.anonymity.tree_preserving.kept_trees import Kept, kept_tree
from unspoken.methods.anonymity.tree_preserving.privacy_targets import Needs
from unspoken.methods.anonymity.tree_preserving.recoded_release import Plan, make_release
from unspoken.methods.anonymity.tree_preserving.recoding_loop import Candidate, Search
from unspoken.methods.anonymity.tree_preserving.release_script import carried
from unspoken.methods.anonymity.tree_preserving.spare_columns import SpareColumns
from unspoken.models.tree_growth_rule import SKLEARN, Growth, predictors, prepare
from unspoken.numerics.random import derive, seed_from
from unspoken.release.key import Key
from unspoken.release.record_key import key_of
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.integer_columns import code_column, code_labels
from unspoken.table.table import Table

OWNER = "TreePreservingAnonymizer"


class TreePreservingAnonymizer(RecordTransformer, BaseEstimator):  # type: ignore[misc]
    """Release the largest tree, and data to grow it from, that reach K, L and t.

    `protect` makes a release. `fit` and `transform` give the anonymised records as an array, in
    their order, for the records that were fitted and no others: see `transforming`.

    Parameters
    ----------
    k : fewest records that agree on the quasi-identifiers: the columns declared so, or, if none
        is, all that are not sensitive.
    l : least diversity of every sensitive column in every class; a number, or one per column.
        None asks for nothing.
    tree : how the tree is grown (`core.growth.Growth`, or a mapping of its fields); a list keeps
        several trees at once, of other learners, criteria or targets.
    rule : "safe" (values beside a threshold have blocks of their own), "min-block" (fewer
        blocks) or "leaf-merge" (in addition, records of small cells move inside their leaf).
        What blocks are released as is as near to their means as the thresholds allow.
    diversity : "strong" as in the paper (the share of the most frequent value strictly below 1/l;
        l = 1 allows no class of one value only), "distinct" values, or "entropy".
    t : largest distance of a class's sensitive values from the table's; None asks for nothing.
    response_quasi : count the targets among the quasi-identifiers.
    sensitive : "keep" sensitive columns as they are, or "suppress" them, as the paper does.
    refine : keep more of the columns than the trees ask about, as far as k, l and t allow.
    others : "keep", "drop" or "refuse" columns that are neither quasi-identifiers nor sensitive;
        trees ask about those that are kept.
    shuffle_rows : release the rows in a random order.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    leaves_ : the leaves of every tree; reached_ : K, L and t; verification_ : the last check.
    tree_, records_ : the tree and the records, where they were fitted as arrays.
    """

    def __init__(self, k: int = 10, l: Any = 1, tree: Any = None,  # noqa: E741, PLR0913
                 rule: str = "leaf-merge", *, diversity: str = "strong", t: Any = None,
                 response_quasi: bool = False, sensitive: str = "keep", refine: bool = True,
                 others: str = "keep", shuffle_rows: bool = True, random_state: Any = None) -> None:
        self.k = k
        self.l = l
        self.tree = tree
        self.rule = rule
        self.diversity = diversity
        self.t = t
        self.response_quasi = response_quasi
        self.sensitive = sensitive
        self.refine = refine
        self.others = others
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which.

        Every release is verified before it is returned: the trees are learned from both tables
        and compared bit by bit. If that fails, nothing is released.
        """
        TREE_PRESERVING.check(self, table)
        return self._protected(with_others(OWNER, table, self.others))

    @of_floats
    def _protected(self, table: Table) -> tuple[Release, Key]:
        plan, search = self._plan(table)
        tables = search.run()
        if not tables[0].reached.met:
            raise InputError(self._out_of_reach(tables[0]))
        release, recoded = self._verified(plan, search, tables)
        self.leaves_ = tuple(tree.leaves(step)
                             for tree, step in zip(plan.trees, recoded.steps, strict=True))
        self.reached_ = recoded.reached
        return release, key_of(release, plan.table, plan.seed, plan.order_seed)

    def _plan(self, table: Table) -> tuple[Plan, Search]:
        if table.rows == 0:
            raise DataError(f"{OWNER}: the table must have at least one row. Got none.")
        listed = isinstance(self.tree, Sequence)
        growths = [Growth.of(g).for_table(table) for g in (self.tree if listed else [self.tree])]
        targets = tuple(dict.fromkeys(str(g.target) for g in growths))
        _check_targets(table, targets)
        needs = self._needs(table)
        names = predictors(table, targets)
        columns = {n: code_column(table.schema[n], table.arrow([n])[n], "two-way") for n in names}
        trees = [_tree(table, growth, names, columns) for growth in growths]
        quasi = self._quasi(table, names, targets)
        response = [code_labels(table.arrow([n])[n])[1] for n in targets if n in quasi]
        seed = seed_from(self.random_state)
        params = {"rule": self.rule, "k": needs.k, "l": dict(needs.l), "t": dict(needs.t),
                  "diversity": self.diversity, "response_quasi": self.response_quasi}
        plan = Plan(table, trees, columns, needs, quasi, targets, params,
                    self.sensitive == "keep", seed,
                    derive(seed, "order") if self.shuffle_rows else None,
                    self.random_state is not None)
        return plan, Search(trees, columns, needs, quasi, response, self.rule,
                            derive(seed, "search"))

    def _needs(self, table: Table) -> Needs:
        names = table.schema.with_role("sensitive")
        asked = {"l": self.l, "t": self.t}
        each: dict[str, dict[str, float]] = {}
        for what, value in asked.items():
            each[what] = (dict(value) if isinstance(value, Mapping)
                          else {} if value is None else dict.fromkeys(names, float(value)))
            strange = [n for n in each[what] if n not in names]
            if strange or (not names and value not in (None, 1, 1.0, {})):
                problem = (f"names '{strange[0]}', which is not a sensitive column" if strange
                           else "needs a sensitive column, and the table has none")
                raise SchemaError(f"{OWNER}: '{what}' {problem}. "
                                  "Declare them: unspoken.read(..., sensitive=[...]).")
        for least in each["l"].values():
            refuse_fraction(OWNER, least, self.diversity)
        secrets = {n: Secret.of(n, table.arrow([n])[n], table.schema[n].kind,
                                order=table.schema[n].order) for n in names}
        return Needs(int(self.k), each["l"], each["t"], self.diversity, secrets)

    def _quasi(self, table: Table, names: Sequence[str], targets: Sequence[str]
               ) -> tuple[str, ...]:
        declared = table.schema.with_role("quasi")
        chosen = [*(declared or names), *(targets if self.response_quasi else ())]
        return tuple(n for n in table.schema.names if n in chosen)

    def _out_of_reach(self, root: Candidate) -> str:
        return (f"{OWNER}: 'k', 'l' and 't' cannot be reached. Even with every predictor "
                f"suppressed the table reaches only {root.reached}; asked for were k = {self.k}, "
                f"l = {self.l} ({self.diversity})"
                f"{'' if self.t is None else f', t = {self.t}'}. Ask for less.")

    def _verified(self, plan: Plan, search: Search, tables: list[Candidate]
                  ) -> tuple[Release, Candidate]:
        """Return the largest release whose trees are found again.

        scikit-learn breaks ties by a random stream that suppressed columns move; where a tie
        decided, the next smaller tree is taken, and the manifest says so.
        """
        refused: list[str] = []
        for candidate in reversed(tables):
            for kept in self._kept(plan, search, candidate):
                release = make_release(plan, kept, refused, search.why)
                self.verification_ = release.guarantee.verify(plan.table, release)  # type: ignore[attr-defined]
                if self.verification_:
                    details = {**release.details, "verified": self.verification_.to_json()}
                    return _with_script(plan, replace(release, details=details)), kept
            if not search.careful:
                return self._verified(plan, search, search.carefully(tables))
            refused.append(f"steps {list(candidate.steps)}: {self.verification_.difference}")
            if all(tree.growth.learner != SKLEARN for tree in plan.trees):
                break
        raise NotCoveredError(f"{OWNER}: nothing was released, because the promise would not "
                              f"hold: {refused[0]}.")


    def _kept(self, plan: Plan, search: Search, candidate: Candidate) -> Iterator[Candidate]:
        """Yield tables of the same trees, those that keep most of the other columns first."""
        why = search.why
        if self.refine:
            target = target_of(plan.table, plan.targets[0])
            for more in SpareColumns(search, candidate, target).run():
                yield search.near_means(more)
        search.why = why
        yield search.near_means(candidate)


def _check_targets(table: Table, targets: Sequence[str]) -> None:
    for name in targets:
        role = table.schema[name].role
        if role in ("sensitive", "identifier"):
            raise SchemaError(f"{OWNER}: the target '{name}' must be neither sensitive nor an "
                              f"identifier. It is {role}. A published tree predicts its target: "
                              "what must not be known cannot be what is predicted.")


def _tree(table: Table, growth: Growth, names: Sequence[str], columns: Mapping[str, Any]) -> Kept:
    learning = prepare(table, growth, names, coded=columns)
    return kept_tree(learning, table)


def _with_script(plan: Plan, release: Release) -> Release:
    """Attach what anybody needs to grow the trees again; scikit-learn's need scikit-learn."""
    growths = [tree.growth for tree in plan.trees]
    if all(growth.learner == SKLEARN for growth in growths):
        return release
    numbers = [str(growth.target) for growth in growths if growth.task == "regression"]
    return replace(release, attachments=carried(release, list(plan.columns), plan.targets,
                                                numbers))

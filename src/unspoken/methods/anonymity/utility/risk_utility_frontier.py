"""Which method fits: all that satisfy a demand, tried on a part of the table, side by side.

A quarter of the records is held back. Every method is run on the rest, its release is measured, and
boosted trees that were trained on it are tested on the records held back. The best for the task is
recommended; what refused says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.errors import InputError, UnspokenError, unknown
from unspoken.methods.anonymity.masking.hierarchy_parameters import hierarchies_of, refuse_strange
from unspoken.methods.anonymity.utility.chosen_learner import BOOSTED, check_learner
from unspoken.methods.anonymity.utility.release_utility import ReleaseUtility, release_utility
from unspoken.numerics.random import generator, seed_from
from unspoken.release.method import method_of
from unspoken.release.parameters import Rule, check_columns
from unspoken.release.record_key import taken
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

PREDICTION, STATISTICS = TASKS = ("prediction", "statistics")
HELD_BACK = 0.25
_WAYS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "mondrian": ({"cuts": "gain"}, {"cuts": "median"}, {"cuts": "median", "mode": "relaxed"}),
    "optimal-recoding": ({"local": True}, {"loss": "class", "local": True}, {}),
    "microaggregation": ({},),
    "tree-preserving": ({"rule": "leaf-merge"}, {"rule": "safe"}),
}
_CLASS = re.compile(r"^[A-Z]\w+: ")


@dataclass(frozen=True)
class Tried:
    """One method with its parameters: what it kept, or why it refused."""

    method: str
    parameters: Mapping[str, Any]
    utility: ReleaseUtility | None
    refusal: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"method": self.method, "parameters": dict(self.parameters),
                "refusal": self.refusal,
                "utility": None if self.utility is None else self.utility.to_json()}


@dataclass(frozen=True)
class Frontier:
    """All that was tried, the best for the task first, and what refused last."""

    task: str
    tried: tuple[Tried, ...]

    @property
    def best(self) -> Tried:
        """Return what is recommended; an error if everything refused."""
        if not self.tried or self.tried[0].utility is None:
            # Refusals begin with the name of the class; the method's name stands there already.
            reasons = dict.fromkeys(f"{one.method}: {_CLASS.sub('', one.refusal)}"
                                    for one in self.tried)
            raise InputError("No method reaches what was asked for (three quarters of the records "
                             "are tried, the others held back): " + " ".join(reasons))
        return self.tried[0]

    @property
    def frontier(self) -> tuple[Tried, ...]:
        """Return what no other beats in both usefulness and average risk."""
        known = [one for one in self.tried if one.utility is not None]
        return tuple(one for one in known
                     if not any(_beats(other, one, self.task) for other in known))

    def summary(self) -> str:
        """Return one line per method, the recommended one first."""
        lines = [f"Tried for {self.task}; * is on the frontier of usefulness and risk."]
        for one in self.tried:
            name = " ".join([one.method, *(f"{k}={v}" for k, v in one.parameters.items())])
            if one.utility is None:
                lines.append(f"  {name}: refused. {one.refusal}")
                continue
            of = one.utility
            unscored = "score not tested, " if self.task == PREDICTION else ""
            score = unscored if of.score is None else \
                f"score {of.score:.3f} of {of.score_of_original:.3f}, "
            mark = "*" if one in self.frontier else " "
            lines.append(f"{mark} {name}: {score}marginals {of.marginals:.3f}, "
                         f"pairs {of.pairs:.3f}, K = {of.k}, average risk {of.average_risk:.3g}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"task": self.task, "tried": [one.to_json() for one in self.tried]}


def frontier(table: Table, demand: Mapping[str, Any], task: str = PREDICTION,
             random_state: Any = None,
             progress: Callable[[int, int, str], None] | None = None,
             learner: Any = BOOSTED) -> Frontier:
    """Try every method that can satisfy a demand of k, and l with its form.

    Parameters
    ----------
    table : the original.
    demand : parameters that every release must keep to: `k`, `l` with `diversity`, `t`,
        `hierarchies`, and what happens to `others`: "keep" or "drop" features that are neither
        quasi-identifiers nor sensitive.
    task : "prediction" or "statistics"; without a target it is "statistics".
    random_state : which records are held back.
    progress : called with how many were tried, of how many, and which is next.
    learner : what releases are scored by: "boosted-trees", "forest", "tree", "linear", or an
        estimator of scikit-learn.

    Returns
    -------
    Frontier
    """
    check_learner(learner)
    if task not in TASKS:
        raise InputError(unknown("A task", task, TASKS))
    _check_demand(table, demand)
    if table.schema.target is None:
        task = STATISTICS
    train, held_back = divided(table, random_state)
    tried, wanted = [], [(name, ways) for name, listed in _WAYS.items() for ways in listed]
    for done, (name, ways) in enumerate(wanted):
        if progress is not None:
            progress(done, len(wanted), name)
        tried.append(_try(train, held_back, name, {**ways, **_fitting(name, demand)},
                          _refusal(name, demand), learner))
    return Frontier(task, tuple(sorted(tried, key=lambda one: _order(one, task))))


def _check_demand(table: Table, demand: Mapping[str, Any]) -> None:
    """Refuse what no method could use, before anything is tried.

    A method that refuses is passed over; a misspelt column or file would only move the choice to
    a method that has no use for it.
    """
    rules: dict[str, list[Rule]] = {}
    for way in _WAYS:
        for name, one in method_of(way).parameters.items():
            rules.setdefault(name, []).append(one.rule)
    for name, value in demand.items():
        if name not in rules:
            raise InputError(unknown("A demand", name, rules))
        if value is not None and not any(rule.admits(value) for rule in rules[name]):
            raise InputError(f"{name}={value} cannot be asked for: it must be "
                             f"{rules[name][0].allowed()}.")
    schema = table.schema
    if not schema.with_role("sensitive") and any(demand.get(one) is not None for one in "lt"):
        raise InputError("'l' and 't' are about sensitive columns, and the table has none. Declare "
                         "them: sensitive=['illness'].")
    check_columns("anonymize", {name: one[0] for name, one in rules.items()}, demand,
                  schema.names)
    trees = hierarchies_of(demand.get("hierarchies"))
    refuse_strange(trees, schema.with_role("quasi") or schema.features,
                   schema.with_role("sensitive"))
    for name, tree in trees.items():
        tree.places(name, coded(table.arrow([name])[name]).values())


def _order(one: Tried, task: str) -> tuple[float, float]:
    """Return where a method stands: the most useful first, of equal ones that of least risk."""
    return -_worth(one, task), 0.0 if one.utility is None else one.utility.average_risk


def _fitting(name: str, demand: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a demand that a method has parameters for."""
    known = method_of(name).parameters
    return {key: value for key, value in demand.items() if value is not None and key in known}


def _refusal(name: str, demand: Mapping[str, Any]) -> str:
    """Return why a method cannot give what is asked for; nothing if it may."""
    known = method_of(name).parameters
    for asked, words in (("l", "promises no diversity of sensitive values"),
                         ("t", "promises no closeness of sensitive values")):
        if demand.get(asked) is not None and asked not in known:
            return f"'{name}' {words}. Leave '{asked}' out to try it."
    return ""


def divided(table: Table, random_state: Any) -> tuple[Table, Table]:
    """Return three quarters of the records, and the rest, which is held back."""
    order = generator(seed_from(random_state), "held back").permutation(table.rows)
    held = int(HELD_BACK * table.rows)
    return taken(table, np.sort(order[held:])), taken(table, np.sort(order[:held]))


def _try(train: Table, held_back: Table, name: str, parameters: dict[str, Any],
         refusal: str, learner: Any) -> Tried:
    if refusal:
        return Tried(name, parameters, None, refusal)
    try:
        release = method_of(name).build(parameters).protect(train)[0]
        return Tried(name, parameters, release_utility(train, release, held_back, learner))
    except UnspokenError as error:
        return Tried(name, parameters, None, str(error))
    except (ArithmeticError, ValueError) as error:
        # Numbers that one method cannot compute with are no reason to leave the others untried.
        return Tried(name, parameters, None, f"'{name}' cannot compute with this table: {error}.")


def _worth(one: Tried, task: str) -> float:
    if one.utility is None:
        return -np.inf
    if task == PREDICTION and one.utility.score is not None:
        return one.utility.score
    return -(one.utility.marginals + one.utility.pairs)


def _beats(one: Tried, other: Tried, task: str) -> bool:
    assert one.utility is not None
    assert other.utility is not None
    mine = (_worth(one, task), -one.utility.average_risk)
    theirs = (_worth(other, task), -other.utility.average_risk)
    return mine != theirs and mine[0] >= theirs[0] and mine[1] >= theirs[1]

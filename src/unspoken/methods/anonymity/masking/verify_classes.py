"""K, L and t of a table as it was published, against the numbers that its manifest promises.

L is counted in the published classes. t is measured against the values of the original, because a
release that leaves records out does not show them; without the original it is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from unspoken.arrays import Ints
from unspoken.errors import InputError, UnseenValueError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.masking.verify_original import joined
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.diversity_rules import Secret, close, diverse
from unspoken.release.guarantee import Verdict
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

RANKS, EQUAL, TREE = "ranks", "equal", "hierarchy"


def distances_of(secrets: Sequence[Secret], trees: Mapping[str, Hierarchy]) -> dict[str, Any]:
    """Return how far the values of every sensitive column lie apart, for the manifest."""
    return {one.name: {"form": TREE, "rows": [list(row) for row in trees[one.name].rows]}
            if one.above is not None else
            {"form": RANKS if one.ordered or one.lacks_order else EQUAL,
             **({"order": list(one.order)} if one.order else {})}
            for one in secrets}


def verify_classes(facts: Mapping[str, Any], released: Table, original: Table | None) -> Verdict:
    """Count the classes of a released table and return whether k, l and t hold."""
    rows = released.arrow([str(name) for name in facts["quasi"]])
    owner = stats.classes(coded(rows[name]).codes for name in facts["quasi"])
    least = stats.k_of(owner)
    if least < facts["k"]:
        return Verdict(False, f"the smallest class holds {least} records, and k = {facts['k']} "
                       "is promised")
    broken = [*_too_alike(facts, released, owner)]
    if original is not None:
        broken += _too_far(facts, released, original, owner)
    return Verdict(not broken, broken[0] if broken else f"the smallest class holds {least} records")


def _sensitive(facts: Mapping[str, Any], demand: str) -> list[str]:
    """Return the sensitive columns of which l or t is promised."""
    names = facts.get("sensitive") or () if facts.get(demand) is not None else ()
    return [str(name) for name in names]


def _too_alike(facts: Mapping[str, Any], released: Table, owner: Ints) -> Iterator[str]:
    """Yield the sensitive columns that are not as diverse as it was promised."""
    for name in _sensitive(facts, "l"):
        values = Secret.of(name, released.arrow([name])[name], released.schema[name].kind)
        if not diverse(values.spread(owner), float(facts["l"]), str(facts["diversity"]),
                       float(facts["c"])).all():
            yield (f"a class is too alike in its values of '{name}': {facts['diversity']} "
                   f"l = {facts['l']:g} is promised")


def _too_far(facts: Mapping[str, Any], released: Table, original: Table,
             owner: Ints) -> Iterator[str]:
    """Yield the sensitive columns with a class further from the original than was promised."""
    for name in _sensitive(facts, "t"):
        whole, counted = _beside(name, facts, released, original, owner)
        if not close(whole, counted, float(facts["t"])).all():
            yield (f"a class is {float(whole.apart(counted).max()):.4g} away from the original in "
                   f"its values of '{name}', and t = {facts['t']:g} is promised")


def farthest(name: str, facts: Mapping[str, Any], released: Table, original: Table,
             owner: Ints) -> float:
    """Return how far the values of a class lie from the original's, at most.

    Values of which nobody stated the order are all equally far apart.
    """
    whole, counted = _beside(name, facts, released, original, owner)
    return float(replace(whole, lacks_order=False).apart(counted).max())


def _beside(name: str, facts: Mapping[str, Any], released: Table, original: Table,
            owner: Ints) -> tuple[Secret, stats.Spread]:
    """Return a sensitive column of the original, and its values in every released class."""
    values = joined(name, original, released)
    about = (facts.get("distances") or {}).get(name) or {}
    kind, order = released.schema[name].kind, original.schema[name].order
    secret = _secret(name, values, kind, {"order": order, **about})
    whole = replace(secret, codes=secret.codes[:original.rows])
    return whole, stats.spread(owner, secret.codes[original.rows:], secret.missing)


def _secret(name: str, values: Any, kind: str, about: Mapping[str, Any]) -> Secret:
    """Return a sensitive column whose values lie apart as the manifest says."""
    tree = Hierarchy.of(about["rows"]) if about.get("form") == TREE else None
    try:
        ranked = "ordinal" if about.get("order") else kind
        secret = Secret.of(name, values, ranked, tree, about.get("order") or ())
    except UnseenValueError:
        raise InputError(f"How far the values of '{name}' lie apart is said by a hierarchy or an "
                         "order that the manifest holds for released values only, and the "
                         "original has others. Pass the key, which holds all of it.") from None
    return replace(secret, ordered=about["form"] == RANKS) if "form" in about else secret

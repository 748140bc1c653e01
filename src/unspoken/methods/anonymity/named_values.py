"""One rule for all methods of this family: which values of people a description may name.

A release says beside its data what its labels stand for. A value in that description is as public
as one in the data, and an exact income that stands below the label of a band undoes the band. So a
description names a value only if the released column shows it (as a value, or as a part of a
label), or if at least k released people hold it: then it is as common as the smallest class
(fu2010 section 4.1). Where no k is promised, it names what the column shows and nothing else. The
whole lists, which the custodian's checks need, are in the key.

What leaks. Values that many share, and how many labels there are. A hierarchy that everybody knows
still tells its readers which values a label could hold; it is not part of the release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from unspoken.errors import DamagedKeyError
from unspoken.release.guarantee import Guarantee
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table

MEMBERS, DISTANCES = "members", "distances"
"""Where a key holds the members of labels, and hierarchies of sensitive columns, in full."""
NAMED_FROM = "named_from"
"""Where a description says how many released people hold a value that it names."""
_MARKS = ("|", " | ")
_WHOLE = re.compile(r"^(0|-?[1-9]\d*)$")


def as_name(value: Any) -> str:
    """Return a value as it is compared: without blanks at its ends, 3 and 3.0 alike, 03 not."""
    text = str(value).strip()
    return f"{text}.0" if _WHOLE.match(text) else text


def common(column: Any, k: int | None) -> set[str]:
    """Return the values that at least k people hold; none where no k is promised."""
    counts: Counter[str] = Counter()
    for one in () if k is None else column.value_counts().to_pylist():
        if one["values"] is not None:
            counts[as_name(one["values"])] += one["counts"]
    return {name for name, count in counts.items() if count >= (k or 1)}


def shown_in(column: Any, mark: str = "|") -> set[str]:
    """Return what a released column shows: its values, and the parts of joined labels."""
    labels = [str(value) for value in column.unique().to_pylist() if value is not None]
    parts = (part for label in labels for sign in (*_MARKS, mark) for part in label.split(sign))
    return {as_name(text) for text in (*labels, *parts)}


def publishable(about: Mapping[str, Any], own: Any, shown: Any, k: int | None) -> dict[str, Any]:
    """Return the description of a column that names only what it may.

    `own` holds the original values of the released people, `shown` the released column.
    """
    if "groups" not in about and "values" not in about:
        return dict(about)
    seen = shown_in(shown, str(about.get("separator") or "|"))
    allowed = seen | common(own, k)
    out = {**about, NAMED_FROM: k}
    if "values" in about:
        out["values"] = [one for one in about["values"] if as_name(one) in allowed]
    if "groups" in about:
        out["groups"] = {label: [one for one in held if as_name(one) in allowed]
                         for label, held in about["groups"].items() if as_name(label) in seen}
    return out


def described_in_public(mechanism: Mapping[str, Any], own: Any, shown: Any,
                        k: int | None) -> dict[str, Any]:
    """Return a mechanism whose columns name only what they may; `own` and `shown` are tables."""
    columns = {name: publishable(about, own[name], shown[name], k)
               if name in shown.column_names else dict(about)
               for name, about in dict(mechanism.get("columns") or {}).items()}
    return {**mechanism, "columns": columns} if "columns" in mechanism else dict(mechanism)


def promised_in_public(promise: Guarantee, shown: Any) -> Guarantee:
    """Return a promise whose hierarchies hold the sensitive values that are released, no others."""
    stated = promise.facts.get(DISTANCES)
    if not stated:
        return promise
    return replace(promise, facts={**promise.facts, DISTANCES: {
        name: _of_shown(one, shown[name]) for name, one in stated.items()}})


def _of_shown(distance: Mapping[str, Any], column: Any) -> dict[str, Any]:
    """Return how far values lie apart, for those that a released column shows."""
    seen, out = shown_in(column), dict(distance)
    if "rows" in out:
        out["rows"] = [row for row in out["rows"] if as_name(row[0]) in seen]
    if "order" in out:
        out["order"] = [value for value in out["order"] if as_name(value) in seen]
    return out


def with_members(key: Key, mechanism: Mapping[str, Any], promise: Guarantee) -> Key:
    """Return a key that holds what the description leaves out: it stays with the custodian."""
    groups = {name: about["groups"] for name, about in dict(mechanism["columns"]).items()
              if "groups" in about}
    distances = dict(promise.facts.get(DISTANCES) or {})
    hidden = {name: part for name, part in ((MEMBERS, groups), (DISTANCES, distances)) if part}
    return replace(key, secrets={**key.secrets, **hidden})


def hidden_in(key: Key | None, what: str) -> dict[str, Any]:
    """Return the members of labels, or the distances, that a key holds; nothing without a key."""
    held = {} if key is None else key.secrets.get(what) or {}
    if not isinstance(held, Mapping):
        raise DamagedKeyError(f"The key's '{what}' must be a table by column.")
    return dict(held)


def named_by(release: Release) -> dict[str, set[str]]:
    """Return the values that the public description of each column names."""
    out: dict[str, set[str]] = {}
    for name, part in _parts(release):
        out.setdefault(name, set()).update(_leaves(part))
    return out


def _parts(release: Release) -> Iterator[tuple[str, Any]]:
    mechanism, facts = release.mechanism, release.guarantee.facts
    for name, about in dict(mechanism.get("columns") or {}).items():
        yield name, [about.get("groups"), about.get("values")]
    for what in ("groups", "blocks"):
        if isinstance(mechanism.get(what), Mapping):
            yield from mechanism[what].items()
    for name, one in dict(facts.get(DISTANCES) or {}).items():
        yield name, [[row[0] for row in one.get("rows") or ()], one.get("order")]
    for tree in release.details.get("trees") or ():
        yield from dict(tree.get("categories") or {}).items()


def _leaves(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        part = [*part, *part.values()]
    if isinstance(part, list | tuple):
        for one in part:
            yield from _leaves(one)
    elif part is not None:
        yield as_name(part)


def _mapping(part: Any) -> Mapping[str, Any]:
    return part if isinstance(part, Mapping) else {}


def rare_names(table: Table, release: Release) -> Iterator[str]:
    """Yield the columns whose description names a value that it must not name.

    Counted over the whole original: without the key nobody knows who was left out.
    """
    k = release.guarantee.facts.get("k")
    about = dict(release.mechanism.get("columns") or {})
    for name, named in named_by(release).items():
        if name in table.schema.names and name in release.schema.names:
            column = table.arrow([name])[name]
            mark = str(_mapping(about.get(name)).get("separator") or "|")
            may = shown_in(release.table.arrow([name])[name], mark) | common(column, k)
            rare = named & common(column, 1) - may
            if rare:
                yield (f"the description of '{name}' names {len(rare)} values that the data do "
                       f"not show and that fewer than {'k' if k is None else k} people hold")

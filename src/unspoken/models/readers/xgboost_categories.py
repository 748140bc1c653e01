"""Names of categories in XGBoost's JSON, by which it numbers the categories of a data frame.

Column after column, XGBoost keeps the UTF-8 bytes of all names end to end, where each begins, and
the order that sorts them. Only names that are texts are kept; whatever else stands there is
dropped, and nothing of it goes on unchecked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from unspoken.models.category_groups import NONE, Groups, names_of
from unspoken.models.hostile_json import Fields

EMPTY: Mapping[str, list[int]] = {"enc": [], "feature_segments": [], "sorted_idx": []}


def read_names(model: Fields, columns: Sequence[str]) -> Groups:
    """Return the categories that a model was trained with, none if they are not all texts."""
    cats = model.data.get("cats")
    listed = cats.get("enc") if isinstance(cats, Mapping) else None
    if not isinstance(listed, list) or len(listed) != len(columns):
        return NONE
    names = {column: _decoded(entry) for column, entry in zip(columns, listed, strict=True)}
    return {column: tuple((name,) for name in each) for column, each in names.items() if each}


def _decoded(entry: Any) -> list[str]:
    """Return the names of one column; nothing where the entry is not what XGBoost writes."""
    if not isinstance(entry, Mapping):
        return []
    offsets: Any = entry.get("offsets")
    values: Any = entry.get("values")
    if not _whole(offsets, 2**31) or not _whole(values, 256) or offsets != sorted(offsets):
        return []
    if not offsets or offsets[0] != 0 or offsets[-1] != len(values):
        return []
    content = bytes(values)
    try:
        names = [content[a:b].decode() for a, b in pairwise(offsets)]
    except UnicodeDecodeError:
        return []
    return names if len(set(names)) == len(names) else []


def _whole(listed: Any, limit: int) -> bool:
    return isinstance(listed, list) and all(type(v) is int and 0 <= v < limit for v in listed)


def written_names(groups: Groups, columns: Sequence[str], types: Sequence[str]) -> dict[str, Any]:
    """Return the names as XGBoost writes them, for the columns that it takes as categories."""
    if not groups or "c" not in types:
        return dict(EMPTY)
    each = [names_of(groups[column]) if kind == "c" and column in groups else []
            for column, kind in zip(columns, types, strict=True)]
    segments, order = [0], []
    for names in each:
        segments.append(segments[-1] + len(names))
        order += [place for _, place in sorted((n.encode(), i) for i, n in enumerate(names))]
    return {"enc": [_encoded(names) for names in each], "feature_segments": segments,
            "sorted_idx": order}


def _encoded(names: Sequence[str]) -> dict[str, list[int]]:
    if not names:
        return {"offsets": [], "values": []}
    offsets, content = [0], b""
    for name in names:
        content += name.encode()
        offsets.append(len(content))
    return {"offsets": offsets, "values": list(content)}

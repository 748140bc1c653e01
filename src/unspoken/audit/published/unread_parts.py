"""What a model file holds besides the model: parts that nothing reads can carry anything.

Readers take what they understand and drop the rest, but the whole file is published. So the model
is written anew and laid beside the file: whatever is not in it was not audited.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from unspoken.models.hostile_json import DEFAULT_LIMITS, Packed, as_text
from unspoken.models.json_files import document_of
from unspoken.models.packed_models import is_packed
from unspoken.models.readers.lightgbm_text import LightGBMModel
from unspoken.models.readers.xgboost_json import XGBoostModel

MOST = 3
"""Parts that are called by name."""
_SKLEARN = "learner.attributes.scikit_learn"
_DERIVED = ("tree_sizes=",)
"""Lines of LightGBM that follow from the others."""
_LONG = re.compile(rb"\.[0-9]{24}")
"""More digits than any library writes: the last ones are lost in reading."""


def unread_parts(content: bytes, model: Any) -> list[str]:
    """Return the names of the parts of a model file that the model does not hold."""
    if content[:5] == b"tree\n":
        found = _lines(as_text(content), model.text)
    elif is_packed(content):
        found = [] if content == model.packed() else _fields(document_of(content), _written(model))
    else:
        found = _fields(document_of(content), _written(model))
    long = not is_packed(content) and _LONG.search(content)
    return [*found, *["numbers of more digits than a number holds"] * bool(long)]


def told_of(parts: list[str]) -> str:
    """Return what an audit says of such parts."""
    more = f" and {len(parts) - MOST} more" if len(parts) > MOST else ""
    return (f"it holds {', '.join(parts[:MOST])}{more}, which is no part of the model and can "
            "carry anything; publish what unspoken.load_model(FILE).save(OTHER) writes")


def written_document(model: Any) -> Any:
    """Return what is published of a model: LightGBM's text line by line, else its document."""
    if isinstance(model, LightGBMModel):
        return [line.partition("=")[::2] for line in model.text.split("\n")]
    return _written(model)


def _written(model: Any) -> Any:
    return model.document if isinstance(model, XGBoostModel) else model.to_json()


def _lines(text: str, written: str) -> list[str]:
    """Return the names of lines that were not written again."""
    left = Counter(text.split("\n")) - Counter(written.split("\n"))
    return [_called(line) for line in left if line.strip() and not line.startswith(_DERIVED)]


def _called(line: str) -> str:
    name, mark, _ = line.partition("=")
    return f"the line '{name.strip()[:40]}'" if mark else "a line without a name"


def _fields(data: Any, written: Any) -> list[str]:
    return [f"the field '{path[:60]}'" for path in dict.fromkeys(_differing(data, written))
            if not (path == _SKLEARN and _is_kind(data))]


def _is_kind(data: Any) -> bool:
    """Return True if scikit-learn's attribute says only what kind of estimator it was."""
    try:
        said = json.loads(data["learner"]["attributes"]["scikit_learn"])
    except (ValueError, TypeError, RecursionError):
        return False
    return bool(said in [{}, *({"_estimator_type": one} for one in
                               ("classifier", "regressor", "ranker"))])


def _differing(data: Any, written: Any) -> Iterator[str]:
    """Yield the paths at which a document holds something else than what was written anew."""
    waiting = [("", data, written)]
    while waiting:
        path, one, other = waiting.pop()
        if isinstance(one, Packed):
            one = one.numbers.tolist()
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            waiting += [(f"{path}.{key}".lstrip("."), each, other.get(key, _Nothing))
                        for key, each in one.items()]
        elif isinstance(one, list) and isinstance(other, list | tuple) and len(one) == len(other):
            if not _equal(one, other):
                waiting += [(path, *pair) for pair in zip(one, other, strict=True)]
        elif not _equal(one, other):
            yield path


class _Nothing:
    """Stands for what was not written."""


def _equal(one: Any, other: Any) -> bool:
    if isinstance(other, np.ndarray | tuple):
        other = list(other)
    return bool(one == other and isinstance(one, bool) == isinstance(other, bool))


def content_of(source: Any) -> bytes | None:
    """Return the bytes of a file that is to be published, None for a model in memory."""
    from unspoken.models.hostile_json import read_bytes

    if isinstance(source, str | bytes) or hasattr(source, "__fspath__"):
        return read_bytes(source, DEFAULT_LIMITS)
    return None


__all__ = ["content_of", "told_of", "unread_parts", "written_document"]

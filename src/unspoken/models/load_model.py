"""load_model: any model from its file, recognised by the file's format field."""

from __future__ import annotations

import importlib

from unspoken.errors import ModelError, explain
from unspoken.models import MODELS
from unspoken.models.hostile_json import (
    DEFAULT_LIMITS,
    Limits,
    Source,
    read_bytes,
)
from unspoken.models.json_files import document_of
from unspoken.models.model import Model
from unspoken.models.packed_models import is_packed

OURS = "unspoken-"


def load_model(source: Source, limits: Limits = DEFAULT_LIMITS) -> Model:
    """Read any model from a file, or from its text or bytes.

    Parameters
    ----------
    source : path, str or bytes
        A file that a model's `save` wrote, XGBoost's JSON or LightGBM's text. Pickles are never
        read.
    limits : Limits
        How large it may be; pass larger ones only if you trust the sender.

    Returns
    -------
    Model
        Of the kind that the file names. Anything malformed is a ModelError naming the field.

    Examples
    --------
    >>> unspoken.load_model("model.json").summary()  # doctest: +SKIP
    """
    content = read_bytes(source, limits)
    if content[:5] == b"tree\n":
        return _reader_of("lightgbm-text").load(content, limits)
    if not is_packed(content) and content.lstrip()[:1] != b"{":
        raise ModelError(explain("a model file", "JSON of unspoken or XGBoost, or LightGBM's text",
                                 f"a file that starts with {content[:12]!r}",
                                 "Pickles are never read: they can run any code."))
    data = document_of(content, limits)
    if "learner" in data:
        return _reader_of("xgboost-json").from_json(data, limits)
    return model_class(data.get("format")).from_json(data, limits)


def _reader_of(kind: str) -> type[Model]:
    module, name = MODELS[kind]
    reader: type[Model] = getattr(importlib.import_module(module), name)
    return reader


def model_class(kind: object) -> type[Model]:
    """Return the class of a format, such as "unspoken-tree"; one that is not known is refused."""
    if not isinstance(kind, str) or not kind.startswith(OURS) or kind not in MODELS:
        known = ", ".join(name for name in MODELS if name.startswith(OURS))
        raise ModelError(f"model field 'format' must be one of {known}. Got {str(kind)[:60]!r}.")
    return _reader_of(kind)

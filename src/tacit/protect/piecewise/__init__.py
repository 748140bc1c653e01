"""Piecewise (anti-)monotone encoding of a table (bu2007)."""

from __future__ import annotations

from typing import Any

from tacit.core.key import Key
from tacit.core.registry import register
from tacit.protect.decode import features_of
from tacit.protect.piecewise.book import PiecewiseBook
from tacit.protect.piecewise.encoder import PiecewiseEncoder
from tacit.protect.piecewise.guarantee import SameTree

__all__ = ["PiecewiseBook", "PiecewiseEncoder", "SameTree"]


@register("decoder", "piecewise")
def _decode(model: Any, key: Key, data: Any, y: Any, **options: Any) -> Any:
    from tacit.protect.replay import decode_with

    book = PiecewiseBook.from_key(key)
    features, labels = features_of(data, book.features, y)
    return decode_with(model, book, features, labels, **options)

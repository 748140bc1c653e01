"""Piecewise (anti-)monotone encoding of a table (bu2007)."""

from __future__ import annotations

from typing import Any

from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.encoder import PiecewiseEncoder
from unspoken.methods.encoding.guarantee import SameTree
from unspoken.release.decoding import features_of
from unspoken.release.key import Key
from unspoken.release.registry import register

__all__ = ["PiecewiseBook", "PiecewiseEncoder", "SameTree"]


@register("decoder", "piecewise")
def _decode(model: Any, key: Key, data: Any, y: Any, **options: Any) -> Any:
    from unspoken.methods.encoding.decode import decode_with

    book = PiecewiseBook.from_key(key)
    features, labels = features_of(data, book.features, y)
    return decode_with(model, book, features, labels, **options)

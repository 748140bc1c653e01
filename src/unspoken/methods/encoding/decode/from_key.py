"""What a key opens: mined models, and the original records as they were released."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode.dispatch import decode_with
from unspoken.release.decoding import features_of
from unspoken.release.key import Key
from unspoken.table.read import read
from unspoken.table.table import Table


def decode_from_key(model: Any, key: Key, data: Any, y: Any, **options: Any) -> Any:
    """Decode a mined model with the code book of a key."""
    book = PiecewiseBook.from_key(key)
    features, labels = features_of(data, book.features, y)
    return decode_with(model, book, features, labels, **options)


def in_released_order(key: Key, table: Table) -> Table:
    """Return the released features and the target, original values, in the released order."""
    book = PiecewiseBook.from_key(key)
    rows = table.arrow([*book.features, table.target])
    order = book.order(rows.num_rows)
    if order is not None:
        rows = rows.take(pa.array(order))
    kinds = dict.fromkeys(book.features, "numeric")
    return read(rows, target=table.target, kinds=kinds, keep=book.features, show=False)

"""The rows of an audit about results that were shown to whoever has the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.ground_truth import Truths
from unspoken.methods.encoding.adversaries.shown_model import ShownModel
from unspoken.methods.encoding.results.shown_disclosure import shown_columns
from unspoken.models.readers import as_model
from unspoken.release.decoding import decode
from unspoken.release.key import Key
from unspoken.table.table import Table


def shown_rows(table: Table, view: View, truths: Truths, chosen: Sequence[Adversary], mined: Any,
               key: Key, radius: float) -> Iterator[Row]:
    """Yield what is read once the decoded twin of a mined model was shown in full."""
    if not any(isinstance(one, ShownModel) for one in chosen):
        return
    model = as_model(mined)
    shown = decode(model, key, table, trust_leaves=True)
    for column in shown_columns(model, shown, key, view, truths, radius):
        yield from column.rows()

"""What stands in a published model, whatever it is for: values of people, named or hidden."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from unspoken.audit.published.memorised_values import thresholds_by_column
from unspoken.audit.published.misplaced_numbers import misplaced_numbers
from unspoken.audit.published.named_categories import (
    misplaced_texts,
    named_rows,
    texts_in,
    unknown_categories,
)
from unspoken.audit.published.unread_parts import told_of, unread_parts, written_document
from unspoken.disclosure.audit_rows import Row
from unspoken.models.model import TreeLike
from unspoken.table.table import Table

FILE = "(file)"


@dataclass(frozen=True)
class ModelContents:
    """The texts of a model, values that few have, what was put there, what is not scored."""

    texts: Set[str]
    rows: tuple[Row, ...]
    faults: tuple[str, ...]
    unscored: Mapping[str, str]


def model_contents(model: Any, content: bytes | None, table: Table, k: int) -> ModelContents:
    """Look through a model, and through its file where it comes from one."""
    document = written_document(model)
    texts = texts_in(document)
    thresholds = thresholds_by_column(model) if isinstance(model, TreeLike) else {}
    thresholds = {name: cuts for name, cuts in thresholds.items()
                  if cuts.size and name in table.schema.names}
    faults = (*misplaced_texts(model, texts, table, k),
              *misplaced_numbers(model, document, thresholds, table, k))
    unread = [] if content is None else unread_parts(content, model)
    return ModelContents(texts, tuple(named_rows(model, texts, table, k)), faults,
                         unknown_categories(model, table)
                         | ({FILE: told_of(unread)} if unread else {}))

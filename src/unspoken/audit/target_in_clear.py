"""A target that leaves as it is: said first, whatever method made the release.

Class labels are what the miner is to learn. A quantity with many values is also a column like any
other, which everybody with the release reads, and counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row
from unspoken.release.release import Release
from unspoken.table.table import Table

MANY = 20
"""A numeric target with more values than this is a quantity, not a class."""
ADVERSARY = "unchanged"
WORDS = "reads values that leave as they are"


def clear_target(audited: Audit, table: Table, release: Release) -> str | None:
    """Return the target if it leaves as it is and the audit of its family does not say so yet."""
    name = release.schema.target
    if name is None or name not in table.schema.names or audited.select(measure="target"):
        return None
    same = table.engine.distinct(table.frame, name) == release.table.engine.distinct(
        release.table.frame, name)
    return name if same or release.table.rows < table.rows else None


def target_rows(table: Table, name: str) -> Iterator[Row]:
    """Yield the rows of a quantity; class labels are said in words alone."""
    values = table.engine.count_distinct(table.frame, name)
    if table.schema[name].kind in ("numeric", "ordinal") and values > MANY:
        for measure in ("target", "domain", "records"):
            yield Row(ADVERSARY, "ignorant", name, measure, 1.0, 1.0, 1.0, 1.0 / values, 1)

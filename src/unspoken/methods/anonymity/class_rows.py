"""K, L and t of a published table, as rows of its audit."""

from __future__ import annotations

from unspoken.disclosure.audit_rows import Row
from unspoken.methods.anonymity.adversaries.table_adversary import TableView
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.table.arrow_arrays import is_number

ALL = "(all)"


def class_rows(view: TableView) -> list[Row]:
    """Return the least K; for every sensitive column the least L and the largest t of a class."""
    least = float(view.sizes.min())
    out = [Row("classes", "quasi", ALL, "k", least, least, least, float(view.rows), 1)]
    for name, found in view.secrets.items():
        held = stats.spread(view.owner, found.codes)
        few = float(stats.distinct(held).min())
        far = float(stats.closeness(held, is_number(found.labels.type)).max())
        out += [Row("classes", "quasi", name, "l", few, few, few, float(found.missing), 1),
                Row("classes", "quasi", name, "t", far, far, far, 0.0, 1)]
    return out

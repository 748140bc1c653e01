"""K, L and t of a published table, as rows of its audit."""

from __future__ import annotations

from unspoken.disclosure.audit_rows import Row
from unspoken.methods.anonymity.adversaries.table_adversary import TableView
from unspoken.methods.anonymity.masking.masking_method import hidden_distances
from unspoken.methods.anonymity.masking.verify_classes import farthest
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table

ALL = "(all)"


def class_rows(view: TableView, release: Release, table: Table, key: Key | None) -> list[Row]:
    """Return the least K; for every sensitive column the least L and the largest t of a class.

    Both mean what methods promise: what is missing is no value, and values lie as far apart as
    the manifest says.
    """
    least = float(view.sizes.min())
    facts = {**release.guarantee.facts, **hidden_distances(key)}
    out = [Row("classes", "quasi", ALL, "k", least, least, least, float(view.rows), 1)]
    for name, found in view.secrets.items():
        held = stats.spread(view.owner, found.codes, found.missing)
        few = float(stats.distinct(held).min())
        far = farthest(name, facts, release.table, table, view.owner)
        out += [Row("classes", "quasi", name, "l", few, few, few, float(found.missing), 1),
                Row("classes", "quasi", name, "t", far, far, far, 0.0, 1)]
    return out

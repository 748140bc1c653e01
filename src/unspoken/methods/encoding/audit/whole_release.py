"""Everything of an encoded release that is not the codes of one numeric column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.ground_truth import Truths
from unspoken.disclosure.knowledge_levels import Setting
from unspoken.methods.encoding.adversaries.record_singling_out import RowOrder
from unspoken.methods.encoding.adversaries.release_adversary import ReleaseAdversary
from unspoken.methods.encoding.audit.category_rows import category_rows, seen_labels
from unspoken.methods.encoding.audit.released_as_is import as_is_rows
from unspoken.methods.encoding.audit.released_labels import label_columns, records_of
from unspoken.methods.encoding.audit.similar_records import plain_records, similar_records
from unspoken.methods.encoding.audit.singling_out_rows import single_out
from unspoken.methods.encoding.audit.target_rows import encoded_target_rows
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table


@dataclass(frozen=True)
class WholeRelease:
    """Rows about labels, target, missing values, row order and people; what was not scored."""

    rows: tuple[Row, ...] = ()
    unscored: tuple[tuple[str, str], ...] = ()


def by_column(chosen: Sequence[Adversary]) -> tuple[Adversary, ...]:
    """Return the adversaries who guess the codes of one column."""
    return tuple(one for one in chosen if not isinstance(one, ReleaseAdversary))


def whole_release(table: Table, release: Release, view: View, truths: Truths, key: Key | None,
                  sample: Table | None, chosen: Sequence[Adversary],
                  setting: Setting) -> WholeRelease:
    """Attack all of an encoded release that column by column attacks leave out."""
    labels, unscored = label_columns(table, release, key)
    records = records_of(table, release, view, truths, labels)
    plain = plain_records(table, truths, labels)
    similar = None if sample is None else similar_records(sample, plain)
    seen = seen_labels(view, truths, labels, records)
    rows = [row for row in as_is_rows(table, release, labels, records, chosen)
            if key is not None or row.adversary != RowOrder.name]
    rows += encoded_target_rows(table, release, chosen, setting)
    if labels:
        rows += category_rows(labels, seen, plain, similar, chosen, setting)
    rows += single_out(view, truths, labels, seen, records, (plain, similar), chosen, setting)
    scored = {row.column for row in rows}
    bare = {c.name: "no chosen adversary attacks labels" for c in labels if c.name not in scored}
    return WholeRelease(tuple(rows), tuple({**unscored, **bare}.items()))

"""What was noticed about columns, as a table in words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import columns

if TYPE_CHECKING:
    from unspoken.table.identify import Finding
    from unspoken.table.schema import Schema

_GROUPS: tuple[tuple[str, Callable[[Finding], bool]], ...] = (
    ("could single people out", lambda f: not f.withheld and not f.special),
    ("special categories", lambda f: not f.withheld and f.special),
)
WITHHELD = "will not be released"
KEPT = "named by you, so released although they seem to name people"
_HEAD = ["column", "what", "how", "values", "HIPAA", "GDPR"]


def grouped(findings: Sequence[Finding], schema: Schema) -> dict[str, list[Finding]]:
    """Return the findings by what becomes of their columns."""
    flagged = [f for f in findings if f.withheld]
    groups = {WITHHELD: [f for f in flagged if schema[f.column].role == "identifier"],
              KEPT: [f for f in flagged if schema[f.column].role != "identifier"]}
    return groups | {name: [f for f in findings if belongs(f)] for name, belongs in _GROUPS}


def findings_json(findings: Sequence[Finding], schema: Schema) -> dict[str, Any]:
    """Return the groups as plain data."""
    from unspoken.table.identify.law import NO_ADVICE

    groups = {name.replace(" ", "_"): [f.to_json() for f in group]
              for name, group in grouped(findings, schema).items() if name != KEPT}
    kept = [f.to_json() for f in grouped(findings, schema)[KEPT]]
    return {**groups, "kept": kept, "note": NO_ADVICE}


def findings_text(findings: Sequence[Finding], schema: Schema) -> str:
    """Return the groups as tables, with what the laws call them."""
    from unspoken.table.identify.law import NO_ADVICE

    parts = []
    for name, group in grouped(findings, schema).items():
        if group:
            rows = columns([_HEAD, *(_row(f) for f in group)], right=[3])
            parts += [f"{name[0].upper()}{name[1:]}:", textwrap.indent(rows, "  "), ""]
    if not parts:
        parts = ["No column was found that seems to name people. That is no proof."]
    return "\n".join([*parts, f"{NO_ADVICE} '--keep COLUMN' releases a column that would not be."])


def _row(finding: Finding) -> list[str]:
    return [finding.column, finding.what, finding.how, f"{finding.confidence:.0%}",
            finding.hipaa or "-", finding.gdpr or "-"]

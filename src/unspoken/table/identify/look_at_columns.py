"""Running every detector over the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unspoken.table.identify.column_sample import ColumnSample, samples
from unspoken.table.identify.detectors import DETECTORS
from unspoken.table.identify.finding import Finding
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

_UNSURE = ("almost unique", "index column", "row number", "record number", "free text",
           "random code or hash")
"""What a column is only called if nothing says better what it holds."""
_TAKEN_AS = {"quasi": "quasi", "sensitive": "sensitive"}


def identify(table: Table, columns: Sequence[str] | None = None) -> tuple[Finding, ...]:
    """Return what the columns of a table seem to hold that names people or needs care.

    By the header, by the values, and by how many of them are different. At most 10,000 values of
    a column are looked at, always the same. What is found is no proof, and that nothing is found
    is none either. This is no legal advice.
    """
    names = table.schema.names if columns is None else [table.schema[n].name for n in columns]
    looked = samples(table, [n for n in names if table.schema[n].kind != "basket"])
    return tuple(finding for sample in looked for finding in _of_column(sample))


def _of_column(sample: ColumnSample) -> list[Finding]:
    findings: list[Finding] = []
    for detector in DETECTORS:
        finding = detector.look(sample)
        if finding and finding.what not in {earlier.what for earlier in findings}:
            findings.append(finding)
    certain = [finding for finding in findings if finding.what not in _UNSURE]
    if any(finding.withheld for finding in certain):
        # A name is a name: that it is almost unique, too, adds nothing.
        return [finding for finding in certain if finding.withheld]
    unsure = [finding for finding in findings if finding.what in _UNSURE]
    return certain + unsure[:1]


def with_findings(schema: Schema, findings: Sequence[Finding], suggest: bool = False) -> Schema:
    """Return the schema with the role identifier for what must not leave, and notes on the rest.

    `suggest`: quasi-identifiers and sensitive columns get their role, too, not just a note.
    """
    return Schema(tuple(
        _noted(column, [f for f in findings if f.column == column.name], suggest)
        for column in schema.columns))


def _noted(column: Column, findings: Sequence[Finding], suggest: bool) -> Column:
    if not findings or column.role != "plain":
        return column
    worst = next((f for f in findings if f.withheld), findings[0])
    if worst.withheld:
        return replace(column, role="identifier", note=f"{worst.what} {worst.how}: not released "
                       "unless kept by name")
    role = _TAKEN_AS.get(worst.role or "", "plain")
    note = f"{worst.what} {worst.how}"
    if suggest and role != "plain":
        return replace(column, role=role, note=f"{note}: guessed")
    hint = f": could be {role}" if role != "plain" else ""
    return replace(column, note="; ".join(part for part in (column.note, note + hint) if part))

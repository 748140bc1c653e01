"""What the columns of a table hold that names people or needs care, by name and by content."""

from __future__ import annotations

from unspoken.table.identify.copied_identifiers import copied_identifiers
from unspoken.table.identify.finding import Finding
from unspoken.table.identify.look_at_columns import identify, with_findings

__all__ = ["Finding", "copied_identifiers", "identify", "with_findings"]

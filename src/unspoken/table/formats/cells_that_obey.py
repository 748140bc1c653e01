"""Which columns of a text file hold nothing but cells of one form."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unspoken.table.engines.duckdb_files import quote
from unspoken.table.engines.local import LocalEngine

_SAMPLE = 1000


def all_obey(engine: LocalEngine, raw: str, names: Sequence[str], rule: Callable[[str], str],
             whole: bool = True) -> tuple[str, ...]:
    """Return the columns of which every cell obeys a rule (SQL of a quoted name).

    Most are out after some rows; `whole=False` looks at no others.
    """
    left = tuple(names)
    for source in (f"(SELECT * FROM {raw} LIMIT {_SAMPLE})", raw)[:1 + whole]:
        if not left:
            return ()
        asked = ", ".join(f"bool_and({rule(quote(name))})" for name in left)
        row = engine.first_row(f"SELECT {asked} FROM {source}")
        left = tuple(name for name, one in zip(left, row, strict=True) if one)
    return left

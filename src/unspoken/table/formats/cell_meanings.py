"""What the cells of a text file mean beyond what its reader guesses.

"007" is no 7 and a whole number of nineteen digits no float64: such columns stay text. "true" and
"False" are booleans, as they are in every other source. "1,234" is a number where the custodian
says that commas part thousands, and is pointed out where nobody says so. Dates: `written_dates`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unspoken.table.engines.duckdb_files import literal, quote
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.cells_that_obey import all_obey

NUMBERS = ("BIGINT", "DOUBLE")
_LEADING = r"^\s*[+-]?0[0-9]"
_LONG = r"^\s*[+-]?[0-9]{16}"
ODD = rf"{_LEADING}|{_LONG}"
"""What may be more than a number: asked of every column while words are counted."""
_ZONED = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d(:?\d\d)?)"
_BOOLEAN = "lower(trim({})) IN ('true', 'false')"


def text_instead(engine: LocalEngine, raw: str, odd: Mapping[str, str]) -> dict[str, str]:
    """Return which columns of odd numbers must stay text, and why; `odd` says their types."""
    if not odd:
        return {}
    zeros = [f"bool_or(regexp_matches({quote(name)}, {literal(_LEADING)}))" for name in odd]
    row = engine.first_row(f"SELECT {', '.join(zeros)} FROM {raw}")
    found = {name: "leading zeros" for name, zero in zip(odd, row, strict=True) if zero}
    # What DuckDB takes as BIGINT it reads exactly.
    long = {name: "more than 15 digits" for name, kind in odd.items() if kind == "DOUBLE"}
    rounded = {name: why for name, why in long.items()
               if name not in found and _has_long(engine, raw, name)}
    return {**found, **rounded}


def _has_long(engine: LocalEngine, raw: str, name: str) -> bool:
    asked = f"bool_or(regexp_matches({quote(name)}, {literal(_LONG)}))"
    return bool(engine.first_row(f"SELECT {asked} FROM {raw}")[0])


def booleans(engine: LocalEngine, raw: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that hold nothing but true and false."""
    return all_obey(engine, raw, names, lambda cell: _BOOLEAN.format(cell))


def zoned_moments(engine: LocalEngine, raw: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of dates and times with the zone that they are in."""
    form = literal(_ZONED)
    return all_obey(engine, raw, names, lambda cell: f"regexp_full_match({cell}, {form})")


def in_thousands(engine: LocalEngine, raw: str, names: Sequence[str], sign: str,
                 decimal: str, whole: bool = True) -> tuple[str, ...]:
    """Return the columns of numbers whose thousands are parted by a sign, by all or some rows."""
    form = _parted(sign, decimal)
    shaped = all_obey(engine, raw, names, lambda cell: f"regexp_full_match({cell}, {form})", whole)
    if not shaped:
        return ()
    some = ", ".join(f"bool_or(contains({quote(name)}, {literal(sign)}))" for name in shaped)
    row = engine.first_row(f"SELECT {some} FROM {raw}")
    return tuple(name for name, one in zip(shaped, row, strict=True) if one)


def with_commas(engine: LocalEngine, raw: str, names: Sequence[str]) -> dict[str, bool]:
    """Return the columns of numbers with decimal commas, and whether points part thousands."""
    form = literal(r"\s*[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]+)?\s*")
    shaped = all_obey(engine, raw, names, lambda cell: f"regexp_full_match({cell}, {form})", False)
    if not shaped:
        return {}
    signs = ", ".join(f"bool_or(contains({quote(name)}, '{sign}'))" for name in shaped
                      for sign in ",.")
    row = engine.first_row(f"SELECT {signs} FROM {raw}")
    return {name: bool(row[2 * at + 1]) for at, name in enumerate(shaped) if row[2 * at]}


def _parted(sign: str, decimal: str) -> str:
    """Return the form of a number whose thousands are parted by a sign."""
    parted, point = re.escape(sign), re.escape(decimal)
    return literal(rf"\s*[+-]?[0-9]{{1,3}}({parted}[0-9]{{3}})*({point}[0-9]*)?\s*")


def text_cell(name: str, sign: str, decimal: str) -> str:
    """Return the SQL of a text as it is written, a number without the signs in it."""
    cell = quote(name)
    return (f"CASE WHEN regexp_full_match({cell}, {_parted(sign, decimal)}) "
            f"THEN replace({cell}, {literal(sign)}, '') ELSE {cell} END")


def number_cell(name: str, sign: str, decimal: str) -> str:
    """Return the SQL of a number whose thousands are parted by a sign."""
    plain = f"replace(trim({quote(name)}), {literal(sign)}, '')"
    plain = plain if decimal == "." else f"replace({plain}, {literal(decimal)}, '.')"
    return f"CAST({plain} AS DOUBLE)"


def moment_cell(name: str) -> str:
    """Return the SQL of a moment in a zone."""
    return f"CAST({quote(name)} AS TIMESTAMPTZ)"


def boolean_cell(name: str) -> str:
    """Return the SQL of a boolean."""
    return f"CAST(trim({quote(name)}) AS BOOLEAN)"

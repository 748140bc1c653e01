"""How dates are written that are not in ISO form, and which of them can be read without guessing.

"31.01.2020" is a date, and so is "31.01.2020 14:05"; "03/04/2020" stays text as long as no other
cell says whether its day or month comes first, and "28.03.20" as long as none says where its year
stands. A month that is written as a word ("28-Mar-2020") leaves nothing open.
"""

from __future__ import annotations

from collections.abc import Sequence

from unspoken.table.engines.duckdb_files import literal, quote
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.cells_that_obey import all_obey

UNCLEAR = {"day": "dates that may be day or month first",
           "year": "dates whose year may stand first or last"}
"""Why dates stay text, by what nothing says the place of."""
CLEARER = {UNCLEAR["day"]: "write the months as words or the dates as 2020-01-31",
           UNCLEAR["year"]: "write the years with four digits"}
"""How dates that stay text are to be written so that they are read."""
DAY_FIRST, MONTH_FIRST = "day first", "month first"
_ISO = r"^\s*(\d{4}[-/.]|\d\d?:)"
_PARTS = r"^\s*(\d{1,2})\D(\d{1,2})\D(\d{1,4})"
_MOMENT = (r"\s*\d{1,2}[./-]\d{1,2}[./-]\d{4} +\d{1,2}:\d\d(:\d\d(\.\d{1,6})?)?"
           r"( ?[AaPp][Mm])?\s*")
_NAMED = r"\s*(\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{4}|[A-Za-z]{3,9} \d{1,2}, \d{4})\s*"
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I:%M:%S%p")
_OF_NAMED = [f"{day}{month}{year}" for month in ("%b", "%B") for day, year in
             (("%d ", " %Y"), ("%d-", "-%Y"))] + ["%b %d, %Y", "%B %d, %Y"]


def written_dates(engine: LocalEngine, raw: str, names: Sequence[str]) -> dict[str, str]:
    """Return how dates are written that are not in ISO form: what comes first, or why unclear."""
    if not names:
        return {}
    asked = ", ".join(
        f"bool_and(regexp_matches({cell}, {literal(_ISO)})), "
        f"bool_or({_part(cell, 1)} > 12), bool_or({_part(cell, 2)} > 12), "
        f"bool_or({_part(cell, 1)} > 31), bool_or({_part(cell, 3)} > 31)"
        for cell in map(quote, names))
    row = engine.first_row(f"SELECT {asked} FROM {raw}")
    return {name: _form(*row[5 * at + 1:5 * at + 5]) for at, name in enumerate(names)
            if not row[5 * at]}


def _form(first: bool, second: bool, year_first: bool, year_last: bool) -> str:
    """Return the order of the parts, from which of them are too large for a month or a day."""
    if year_first:
        return "year first"
    # "28.03.20" is read by some readers as a day of 2028.
    if not year_last and not second:
        return UNCLEAR["year"]
    return UNCLEAR["day"] if first == second else DAY_FIRST if first else MONTH_FIRST


def _part(cell: str, place: int) -> str:
    """Return the SQL of one of the three numbers of a date."""
    return f"TRY_CAST(regexp_extract({cell}, {literal(_PARTS)}, {place}) AS INTEGER)"


def moments(engine: LocalEngine, raw: str,
            names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the SQL of texts that are days with a time, or days whose month is a word.

    Beside it how the days with a time are written.
    """
    timed = all_obey(engine, raw, names, lambda cell: _shaped(cell, _MOMENT))
    forms = written_dates(engine, raw, timed)
    parsed = {name: _parsed(name, _formats(form), "TIMESTAMP") for name, form in forms.items()
              if form in (DAY_FIRST, MONTH_FIRST)}
    left = [name for name in names if name not in timed]
    parsed |= {name: _parsed(name, _OF_NAMED, "DATE")
               for name in all_obey(engine, raw, left, lambda cell: _shaped(cell, _NAMED))}
    by_cell = {quote(name): sql for name, sql in parsed.items()}
    read = all_obey(engine, raw, list(parsed),
                    lambda cell: f"({cell} IS NULL OR {by_cell[cell]} IS NOT NULL)")
    return ({name: parsed[name] for name in read},
            {name: form for name, form in forms.items() if name in read or name not in parsed})


def _shaped(cell: str, form: str) -> str:
    return f"regexp_full_match({cell}, {literal(form)})"


def _formats(form: str) -> list[str]:
    parts = ("%d", "%m", "%Y") if form == DAY_FIRST else ("%m", "%d", "%Y")
    return [f"{sign.join(parts)} {clock}" for sign in "./-" for clock in _CLOCKS]


def _parsed(name: str, formats: Sequence[str], kind: str) -> str:
    listed = ", ".join(map(literal, formats))
    return f"CAST(try_strptime(trim({quote(name)}), [{listed}]) AS {kind})"

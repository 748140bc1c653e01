"""Awkward tables that a newcomer brings: intervals, periods, tuples, times, and an index in files.

Beside those of `awkward_frames`, in the same form.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from support.awkward_frames import (
    ALL,
    FILES,
    ROWS,
    TEXT,
    Awkward,
    beside,
    cycle,
    framed,
    in_polars,
    lines,
    of,
)

_CUT = pd.cut(pd.Series(cycle([3, 14, 25])), [0, 10, 20, 30])
_CUT_WITH_GAPS = pd.cut(pd.Series(cycle([3, 14, 45])), [0, 10, 20, 30])
_MONTHS = pd.Series(pd.PeriodIndex(cycle(["2020-01", "2021-03", "2020-02"]), freq="M"))
_TUPLES = pd.Series(pd.Categorical.from_codes(
    cycle([0, 1, 2]), pd.Index([("a", 1), ("b", 2), ("a", 2)], tupleize_cols=False)))
_LENGTHS = [dt.timedelta(minutes=90), dt.timedelta(days=3, seconds=1), None]
_CLOCK = [dt.time(0, 0), dt.time(8, 30, 15), dt.time(23, 59, 59, 999999)]


def _texts(column: Any) -> list[str | None]:
    """Return what a column shows: beside gaps pandas turns the ends of intervals into fractions."""
    if not hasattr(column, "cat"):
        return [None if pd.isna(one) else str(one) for one in column]
    named = [str(one) for one in column.cat.categories]
    return [None if code < 0 else named[code] for code in column.cat.codes]


def _shown(name: str, column: Any, **more: Any) -> Awkward:
    """A column of pandas that has no like elsewhere: everywhere else it is its texts."""
    texts = _texts(column)
    return Awkward(name, texts, framed(column), in_polars(pl.Series("x", texts, pl.String)),
                   **more)


def _quoted(cells: list[str | None]) -> Any:
    return lines([f'"{one}"' if one else "" for one in cells])


def _with_index(name: str, index: list[Any]) -> Awkward:
    """A file whose first column is an index without a name, which no release may hold."""
    plain = pd.DataFrame(beside())
    return Awkward(name, (), lambda: plain, lambda: pl.from_pandas(plain),
                   lambda: plain.set_index(pd.Index(index)).to_csv().encode(), apart=TEXT)


FIRST_HOUR = (
    _shown("cut", _CUT, csv=_quoted(_texts(_CUT))),
    _shown("cut with gaps", _CUT_WITH_GAPS, csv=_quoted(_texts(_CUT_WITH_GAPS))),
    _shown("quantiles", pd.qcut(pd.Series(range(ROWS)), 3),
           csv=_quoted(_texts(pd.qcut(pd.Series(range(ROWS)), 3)))),
    _shown("periods as categories", _MONTHS.astype("category")),
    _shown("days as periods", pd.Series(pd.PeriodIndex(cycle(["2020-01-31", "2021-03-01"]),
                                                       freq="D")), apart=ALL,
           refused=frozenset({"parquet"})),
    _shown("tuples as categories", _TUPLES),
    of("tuples", [("a", 1), ("b", 2)], object, pl.Object, refused=ALL - TEXT,
       polars=in_polars(pl.Series(cycle([("a", 1), ("b", 2)]), dtype=pl.Object)),
       means=cycle(["('a', 1)", "('b', 2)"])),
    of("clock times to microseconds", _CLOCK, object, pl.Time),
    of("clock times with gaps", [*_CLOCK[:2], None], object, pl.Time),
    of("lengths of time", _LENGTHS, "timedelta64[us]", pl.Duration("us"),
       csv=lines(cycle(["5400.0", "259201.0", ""])), apart=FILES),
    of("lengths of time as texts", ["0 days 01:30:00", "3 days 00:00:01"], "str", pl.String),
    of("years of two digits", ["28.03.20", "01.04.21"], "str", pl.String),
    of("years of two digits that a cell settles", [dt.date(1998, 3, 28), dt.date(2021, 4, 1)],
       object, pl.Date, csv=lines(cycle(["28.03.98", "01.04.21"]))),
    _with_index("an index from 0", list(range(ROWS))),
    _with_index("an index with repetitions", cycle([0, 1, 2, 3, 4])),
    _with_index("an index of texts", [f"r{at}" for at in np.random.default_rng(1)
                                      .permutation(ROWS)]),
)

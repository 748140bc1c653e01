"""Awkward tables, each as a pandas frame, a polars frame, a CSV and a Parquet file, with meanings.

Every frame has a column 'x' that is awkward, unless it says otherwise, beside a plain number, a
plain text and a target. `means` is what the cells of 'x' say, whatever holds them; None is missing.
`kinds` and `CSV` list where a format cannot say what another one does.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

ROWS = 24
SOURCES = ("pandas", "polars", "csv", "parquet")


@dataclass(frozen=True)
class Awkward:
    """One table: how each source makes it, what 'x' means, and which sources must refuse it."""

    name: str
    means: Sequence[Any]
    pandas: Callable[[], Any]
    polars: Callable[[], Any] | None = None
    csv: Callable[[], bytes] | None = None
    refused: frozenset[str] = frozenset()
    apart: frozenset[str] = frozenset()
    """Sources that cannot say what the others do, so that their releases may differ."""
    reading: dict[str, Any] = field(default_factory=dict)
    untried: frozenset[str] = frozenset()
    """Methods that take minutes for it."""
    target: str = "outcome"


def cycle(values: Sequence[Any], rows: int = ROWS) -> list[Any]:
    return [values[i % len(values)] for i in range(rows)]


def beside(rows: int = ROWS) -> dict[str, Any]:
    """The plain columns."""
    return {"age": [20 + (7 * i) % 13 for i in range(rows)], "city": cycle(["Ulm", "Bonn", "Kiel"],
                                                                           rows),
            "outcome": cycle(["ill", "well", "well"], rows)}


def framed(column: Any, **more: Any) -> Callable[[], Any]:
    return lambda: pd.DataFrame({"x": column, **beside(len(column)), **more})


def in_polars(column: Any) -> Callable[[], Any]:
    return lambda: pl.DataFrame({"x": column, **beside(len(column))})


def lines(cells: Sequence[str], sign: str = ",", encoding: str = "utf-8") -> Callable[[], bytes]:
    """A text file as a person wrote it, cell by cell."""
    def text() -> bytes:
        other = beside(len(cells))
        rows = [["x", *other], *(list(map(str, row)) for row in zip(cells, *other.values(),
                                                                    strict=True))]
        return ("\n".join(sign.join(row) for row in rows) + "\n").encode(encoding)
    return text


def of(name: str, values: Sequence[Any], pandas_type: Any = None, polars_type: Any = None,
       **more: Any) -> Awkward:
    """A frame whose two libraries hold the same values, in a type each."""
    means = cycle(values)
    polars = more.pop("polars", None) or in_polars(pl.Series("x", means, polars_type, strict=False))
    return Awkward(name, more.pop("means", means),
                   framed(pd.Series(means, dtype=pandas_type)), polars, **more)


D = decimal.Decimal
_DAYS = [dt.date(2020, 1, 31), dt.date(1999, 12, 31), dt.date(2024, 2, 29)]
_MOMENTS = [dt.datetime(2020, 1, 31, 12, 30, 5), dt.datetime(1999, 12, 31, 23, 59, 59)]
_BERLIN = [pd.Timestamp(one, tz="Europe/Berlin") for one in _MOMENTS]
FILES = frozenset({"csv", "parquet"})
TEXT = frozenset({"csv"})
ALL = frozenset(SOURCES)

NUMBERS = (
    of("int8", [-128, 127, 5], "int8", pl.Int8),
    of("uint8", [0, 255, 7], "uint8", pl.UInt8),
    of("uint64 beyond int64", [2**63, 2**63 + 1, 2**64 - 1], "uint64", pl.UInt64, apart=TEXT),
    of("int64 beyond 2**53", [2**53, 2**53 + 1, 2**53 + 2], "int64", pl.Int64),
    of("negative int64", [-2**63, -2**63 + 1, 0], "int64", pl.Int64),
    of("nullable integers", [1, None, 3], "Int64", pl.Int64),
    of("float16", [0.5, 1.25, -3.0], "float16", pl.Float16),
    of("float32", [0.5, 1.25, 1e10], "float32", pl.Float32),
    of("infinities", [1.0, float("inf"), float("-inf")], "float64", pl.Float64),
    of("NaN and None", [1.5, None, 2.5], "float64", pl.Float64),
    of("tiny numbers", [1e-300, 2e-300, 0.0], "float64", pl.Float64),
    of("huge numbers", [1e300, -1e300, 1.0], "float64", pl.Float64),
    of("negative zero", [-0.0, 0.0, 1.0], "float64", pl.Float64),
    of("close numbers", [0.1, 0.1 + 1e-12, 0.2], "float64", pl.Float64),
    of("decimals", [D("1.10"), D("2.25"), D("-3.40")], object, pl.Decimal(10, 2)),
    of("decimals of 30 digits", [D("1234567890123456789.12"), D("1234567890123456789.13")],
       object, pl.Decimal(30, 2), apart=TEXT),
    of("sparse", [0.0, 0.0, 5.0], pd.SparseDtype("float64", 0.0), pl.Float64),
    of("booleans", [True, False, False], "bool", pl.Boolean),
    of("nullable booleans", [True, None, False], "boolean", pl.Boolean),
    of("booleans as objects", [True, None, False], object, pl.Boolean),
    of("constant", [4], "int64", pl.Int64),
    of("all missing", [None], "float64", pl.Float64),
    of("missing without a type", [None], object, pl.Null),
)
MOMENTS = (
    of("dates", _DAYS, object, pl.Date),
    of("dates with gaps", [_DAYS[0], None, _DAYS[1]], object, pl.Date),
    of("timestamps", _MOMENTS, "datetime64[ns]", pl.Datetime("ns")),
    of("timestamps with gaps", [_MOMENTS[0], None], "datetime64[us]", pl.Datetime("us")),
    of("time zones", _BERLIN, "datetime64[us, Europe/Berlin]",
       pl.Datetime("us", "Europe/Berlin")),
    of("dates beyond nanoseconds", [dt.date(1066, 10, 14), dt.date(2999, 1, 1)], object, pl.Date),
    of("times of day", [dt.time(8, 30), dt.time(23, 59, 59)], object, pl.Time),
    of("durations", [dt.timedelta(hours=1), dt.timedelta(days=2)], "timedelta64[us]",
       pl.Duration("us"), csv=lines(cycle(["3600.0", "172800.0"])), apart=FILES),
    Awkward("periods", cycle(["2020-01", "2020-02", "2021-01"]),
            framed(pd.Series(pd.PeriodIndex(cycle(["2020-01", "2020-02", "2021-01"]), freq="M"))),
            in_polars(cycle(["2020-01", "2020-02", "2021-01"])), refused=frozenset({"parquet"})),
    Awkward("intervals", cycle(["(0, 10]", "(10, 20]"]),
            framed(pd.Series(cycle([pd.Interval(0, 10), pd.Interval(10, 20)]))),
            in_polars(cycle(["(0, 10]", "(10, 20]"])), refused=frozenset({"parquet"})),
    of("dates as texts", ["2020-01-31", "1999-12-31"], "str", pl.String, apart=TEXT),
    of("dates of other countries", _DAYS, object, pl.Date,
       csv=lines(cycle(["31.01.2020", "31.12.1999", "29.02.2024"]))),
    of("dates that may be either", ["03/04/2020", "05/06/2021"], "str", pl.String),
)
TEXTS = (
    of("categories", ["low", "high", None], "category", pl.Categorical),
    Awkward("ordered categories", cycle(["low", "mid", "high"]),
            framed(pd.Series(pd.Categorical(cycle(["low", "mid", "high"]), ["low", "mid", "high"],
                                            ordered=True))),
            in_polars(pl.Series(cycle(["low", "mid", "high"]), dtype=pl.Enum(["low", "mid",
                                                                             "high"])))),
    of("categories of numbers", [3, 1, 2], "category", pl.Int64,
       polars=in_polars(pl.Series(cycle(["3", "1", "2"]), dtype=pl.Categorical)), apart=FILES),
    of("unused categories", ["a", "b"], pd.CategoricalDtype(["a", "b", "never"]),
       pl.Enum(["a", "b", "never"])),
    of("texts with None", ["a", None, "b"], object, pl.String),
    of("leading zeros", ["007", "07", "7"], "str", pl.String),
    of("numbers as texts", ["1", "2", "30"], "str", pl.String, apart=TEXT),
    of("yes and no", ["yes", "no"], "str", pl.String),
    of("true and false as texts", ["true", "false"], "str", pl.String, apart=TEXT),
    of("exponents and hex", ["0x1F", "1e5x", "#12"], "str", pl.String),
    of("thousands", [1234.0, 1234567.5, 12.0], "float64", pl.Float64,
       csv=lines(cycle(['"1,234"', '"1,234,567.5"', "12"])), reading={"thousands": ","}),
    of("decimal commas", [1.5, 1234.25, 3.0], "float64", pl.Float64,
       csv=lines(cycle(["1,5", "1234,25", "3"]), ";"), reading={"decimal": ","}),
    of("words for missing", ["red", None, "blue"], "str", pl.String,
       csv=lines(cycle(["red", "NA", "blue"]))),
    of("question marks", [1.0, None, 3.0], "float64", pl.Float64,
       csv=lines(cycle(["1", "?", "3"]))),
    of("Latin letters", ["Köln", "Kiel", "Düren"], "str", pl.String,
       csv=lines(cycle(["Köln", "Kiel", "Düren"]), ",", "utf-16")),
    of("quotes and line ends", ['say "no"', "a,b;c", "two\nlines"], "str", pl.String),
    of("many scripts", ["עברית", "日本", "👩‍⚕️", "e\u0301"], "str", pl.String),
    of("blanks and case", ["Ulm", " Ulm", "ulm", "ULM "], "str", pl.String),
    of("long texts", ["a" * 5000, "a" * 4999 + "b"], "str", pl.String),
    of("formulas", ["=1+1", "@SUM(A1)", "<b>x</b>"], "str", pl.String),
    of("UUIDs", [uuid.UUID(int=1), uuid.UUID(int=2**127)], object,
       polars=in_polars(cycle([str(uuid.UUID(int=1)), str(uuid.UUID(int=2**127))]))),
)
REFUSED = (
    of("bytes", [b"\x00a", b"b"], object, pl.Binary, refused=ALL - TEXT, apart=TEXT,
       means=cycle(["b'a'", "b'b'"]), csv=lines(cycle(["b'a'", "b'b'"]))),
    of("lists", [[1], [2, 3]], object, pl.List(pl.Int64), refused=ALL - TEXT,
       means=cycle(["[1]", "[2, 3]"])),
    of("structs", [{"a": 1}, {"a": 2}], object, refused=ALL - TEXT,
       means=cycle(["{'a': 1}", "{'a': 2}"])),
    of("complex numbers", [1 + 2j, 3j], "complex128", refused=ALL - TEXT,
       polars=in_polars(pl.Series(cycle([1 + 2j, 3j]), dtype=pl.Object)),
       means=cycle(["(1+2j)", "3j"])),
    of("mixed types", [1, "a", 2.5], object, refused=frozenset({"pandas", "polars"}),
       polars=in_polars(pl.Series(cycle([1, "a", 2.5]), dtype=pl.Object)), means=cycle(
           ["1", "a", "2.5"])),
)


def _whole(name: str, frame: Any, target: str = "outcome", refused: frozenset[str] = frozenset(),
           **more: Any) -> Awkward:
    """A frame that is awkward as a whole."""
    try:
        polars = pl.from_pandas(frame) if "polars" not in more else more.pop("polars")
    except Exception:
        polars = None
    return Awkward(name, (), lambda: frame, None if polars is None else lambda: polars,
                   refused=refused, target=target, **more)


def _outcomes(values: Sequence[Any]) -> Any:
    return pd.DataFrame({**beside(), "outcome": cycle(values)})


_INDEXED = pd.DataFrame(beside()).set_index(pd.Index(range(ROWS, 0, -1), name="visit"))
_TWICE = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=["a", "a", "outcome"])
WHOLE = (
    _whole("one row", pd.DataFrame(beside(1))),
    _whole("two rows", pd.DataFrame(beside(2))),
    _whole("no rows", pd.DataFrame(beside(0)), refused=ALL),
    _whole("the same name twice", _TWICE, refused=frozenset({"pandas", "csv"}), polars=None),
    _whole("strange names", pd.DataFrame(beside()).rename(
        columns={"age": 'a "b"; DROP', "city": "città\u00e0 è"})),
    _whole("names that are numbers", pd.DataFrame({0: cycle([1, 2]), 1: cycle(["a", "b"]),
                                                   "outcome": cycle(["x", "y"])}), polars=None),
    _whole("a named index", _INDEXED, polars=pl.DataFrame(beside())),
    _whole("wide", pd.DataFrame({**{f"c{i}": cycle([i, i + 1, 3]) for i in range(40)},
                                 **beside()}), untried=frozenset({"private-synthetic"})),
    _whole("only a target", pd.DataFrame({"outcome": cycle(["ill", "well"])})),
    _whole("one class", _outcomes(["ill"])),
    _whole("targets that are missing", _outcomes(["ill", None, "well"])),
    _whole("boolean targets", _outcomes([True, False, False])),
    _whole("targets that are fractions", _outcomes([0.5, 1.75, 2.25])),
    _whole("targets that are dates", _outcomes(_DAYS)),
    _whole("targets beyond 2**53", _outcomes([2**53 + 1, 2**53 + 2])),
    _whole("categories as targets", pd.DataFrame({**beside(), "outcome": pd.Categorical(
        cycle(["ill", "well", "well"]))})),
)
FRAMES = (*NUMBERS, *MOMENTS, *TEXTS, *REFUSED, *WHOLE)

"""One cell of the matrix of awkward tables: a frame from a source, protected by a method.

A cell is good if the table means what the frame does, or is refused in our words; if the release
keeps what its method promises, or is refused in our words; and if every source of the same frame
gives the same release. Anything else is a sentence.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import unspoken
from support.awkward_frames import FILES, Awkward
from unspoken.audit.kept_promises import faults_of
from unspoken.errors import UnspokenError
from unspoken.release.method import methods

KEEP = {"others": "keep"}
GENEROUS: dict[str, dict[str, Any]] = {
    "rotation": {"categorical": "embed", "missing": "blank"},
    "pairwise-rotation": {"categorical": "drop", "missing": "blank"},
    "random-projection": {"categorical": "drop", "missing": "blank"},
    "similarity-outsourcing": {"categorical": "drop", "missing": "blank"},
    "randomized-response": {"truth": 0.8, **KEEP}, "tree-preserving": {"k": 2},
    "mondrian": {"k": 2, **KEEP}, "generalize": KEEP, "sample": {"share": 0.5},
    "optimal-recoding": {"k": 2, **KEEP}, "suppress-cells": {"k": 2, "suppression": 0.5, **KEEP},
    "microaggregation": {"k": 2, **KEEP}, "condensation": {"k": 2, **KEEP},
    "isolation-guard": {"c": 2.0, "t": 2, **KEEP}, "anatomy": {"sensitive": "city", **KEEP},
    **{name: KEEP for name in ("noise", "multiplicative-noise", "discretize", "top-bottom", "swap",
                               "post-randomization")},
}
"""Parameters with which a method takes as much of a table as it can."""
REPEATABLE = (("random_state", 7), ("shuffle_rows", False))
"""What makes the same release of the same table."""
DRAWN = ("private-synthetic",)
"""Methods that take no seed: their releases are not compared."""
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def source_of(frame: Awkward, kind: str, folder: Path) -> Any:
    """Return a frame as one of its sources; None where the library has nothing like it."""
    if kind == "pandas":
        return frame.pandas()
    if kind == "polars":
        return frame.polars() if frame.polars else None
    path = folder / f"{frame.name.replace(' ', '_').replace('*', '')}.{kind}"
    if kind == "csv":
        data = frame.csv() if frame.csv else frame.pandas().to_csv(index=False).encode()
        path.write_bytes(data)
        return path
    return path if _parquet(frame, path) else None


def _parquet(frame: Awkward, path: Path) -> bool:
    try:
        data = frame.pandas()
        data.columns = list(map(str, data.columns))
        pq.write_table(pa.Table.from_pandas(data, preserve_index=False), path)
    except Exception:
        # What pandas cannot write, polars may; what neither can, no file holds.
        try:
            frame.polars().write_parquet(path)
        except BaseException:
            return False
    return True


def meaning(value: Any) -> Any:
    """Return one form of all values that say the same, whatever type holds them."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.timedelta):
        value = value.total_seconds()
    if isinstance(value, int | decimal.Decimal):
        return _decimal(decimal.Decimal(value))
    if isinstance(value, float):
        return _decimal(decimal.Decimal(f"{value:.9g}")) if math.isfinite(value) else str(value)
    if isinstance(value, dt.datetime):
        moment = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
        return moment.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, dt.date | dt.time | uuid.UUID):
        return str(value)
    text = str(value)
    return _decimal(decimal.Decimal(text)) if _NUMBER.fullmatch(text) else text


def _decimal(value: decimal.Decimal) -> str:
    return format(value.normalize() + 0, "f") if value else "0"


def column_means(arrow: Any, name: str) -> list[Any]:
    return [meaning(value) for value in arrow[name].to_pylist()]


def read_cell(frame: Awkward, kind: str, source: Any) -> tuple[Any, str]:
    """Read a source; return the table, or None, and what is wrong with it, or nothing."""
    reading = frame.reading if kind == "csv" else {}
    try:
        # Quasi-identifiers are declared by the names that are there.
        names = [name for name in ("x", "age") if name in _names(source, kind)]
        table = unspoken.read(source, target=frame.target, quasi=names, show=False, **reading)
    except UnspokenError as error:
        said = f"refused: {error}"
        return None, "" if kind in frame.refused else said
    except BaseException as error:
        return None, f"raw {type(error).__name__}: {error}"
    if kind in frame.refused:
        return table, "was read, and should have been refused"
    return table, _changed(frame, table)


def _names(source: Any, kind: str) -> list[str]:
    if kind == "csv":
        return source.read_bytes().decode("utf-16" if source.read_bytes()[:2] == b"\xff\xfe"
                                          else "utf-8").split("\n")[0].replace(";", ",").split(",")
    return pq.read_schema(source).names if kind == "parquet" else list(map(str, source.columns))


def _changed(frame: Awkward, table: Any) -> str:
    if not frame.means:
        return ""
    found = column_means(table.arrow(), "x")
    wanted = [meaning(value) for value in frame.means]
    different = [(a, b) for a, b in zip(wanted, found, strict=True) if a != b]
    return f"means another thing: {different[0][0]!r} became {different[0][1]!r}" \
        if different else ""


def protect_cell(name: str, table: Any) -> tuple[Any, str]:
    """Protect a table; return what the release says, None if it is refused, and what is wrong."""
    try:
        method = methods()[name].build(dict(GENEROUS.get(name, {})))
        method.set_params(**{one: value for one, value in REPEATABLE if one in method.get_params()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release, key = method.protect(table)
            rows = release.table.arrow()
            faults = faults_of(table, release, key)
    except UnspokenError as error:
        return None, "" if len(str(error)) > 20 else f"refused without a reason: {error!r}"
    except BaseException as error:
        return None, f"raw {type(error).__name__}: {str(error)[:150]}"
    said = {column: column_means(rows, column) for column in rows.column_names}
    wrong = [fault for fault in faults if "in the order of" not in fault]
    return said, f"not as promised: {wrong[0]}" if wrong else ""


def walk(frame: Awkward, folder: Path, names: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield (source, method, what is wrong) for every cell of a frame; '' where all is well."""
    first: dict[str, Any] = {}
    for kind in ("pandas", "polars", "csv", "parquet"):
        source = source_of(frame, kind, folder)
        if source is None:
            continue
        table, wrong = read_cell(frame, kind, source)
        yield kind, "(read)", wrong
        for name in names if table is not None else ():
            if name in frame.untried:
                continue
            said, broken = protect_cell(name, table)
            if not broken and kind not in frame.apart and name not in DRAWN:
                broken = _differs(first.setdefault(name, said), said)
            yield kind, name, broken


def _differs(one: Any, other: Any) -> str:
    if (one is None) != (other is None):
        return "refused from one source, released from another"
    if one is None or one == other:
        return ""
    column = next((name for name in one if one[name] != other.get(name)), "(columns)")
    pairs = list(zip(one.get(column, ()), other.get(column, ()), strict=False))
    shown = next(((a, b) for a, b in pairs if a != b), None)
    return f"another release than from the first source: {column} {shown}"


__all__ = ["FILES", "GENEROUS", "meaning", "protect_cell", "read_cell", "source_of", "walk"]

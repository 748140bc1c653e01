"""A random study of a task and what must come out of it: drawn, written to files, run, judged."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member
from unspoken.table.engines.local import LocalEngine

NAMES = ("north", "south", "east")


@dataclass(frozen=True)
class Judged:
    """How far one number of a result is from the reference, and how far it may be."""

    what: str
    error: float
    bound: float


@dataclass(frozen=True)
class Trial:
    """A study with every owner's file, and `check`, which judges what all owners got.

    A file is a mapping of columns, or the text of the file, or that and its ending. `given` may
    replace what was loaded, and `around` what is called, where a run would draw. `beside`: parts of
    a tree beside the files. `refused`: every run must be refused.
    """

    task: str
    parameters: Mapping[str, Any]
    files: Mapping[str, Any]
    check: Callable[[dict[str, Any]], Iterable[Judged]]
    mode: str = "dealer"
    refused: bool = False
    given: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    beside: Mapping[str, str] | None = None
    around: Callable[[], AbstractContextManager[Any]] = nullcontext


@contextmanager
def one_connection() -> Iterator[None]:
    """Read all small files through one connection: making one takes longer than reading one."""
    import duckdb

    shared, kept = duckdb.connect(), LocalEngine._connect
    shared.execute("SET threads = 1")
    LocalEngine._connect = lambda self: shared.cursor()  # type: ignore[method-assign]
    try:
        yield
    finally:
        LocalEngine._connect = kept  # type: ignore[method-assign]
        shared.close()


def same(what: str, found: Any, wanted: Any) -> Judged:
    """Judge something discrete: it is equal, or wrong."""
    assert found == wanted, f"{what}: {found!r} in place of {wanted!r}"
    return Judged(what, 0.0, 0.0)


def near(what: str, found: Any, wanted: Any, bound: Any) -> Judged:
    """Judge numbers: none is further off than its bound; the worst one counts."""
    found, wanted = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    assert found.shape == wanted.shape, f"{what}: {found.shape} in place of {wanted.shape}"
    error = np.abs(found - wanted)
    bound = np.broadcast_to(np.asarray(bound, np.float64), error.shape)
    assert np.isfinite(error).all(), f"{what}: {found} in place of {wanted}"
    assert (error <= bound).all(), f"{what}: off by {error.max()}, {bound.max()} is allowed"
    if not error.size:
        return Judged(what, 0.0, 0.0)
    worst = int(np.argmax(error / np.maximum(bound, 1e-300)))
    return Judged(what, float(error.ravel()[worst]), float(bound.ravel()[worst]))


def study_of(trial: Trial) -> Study:
    """Return the study; two owners hold shares, everybody receives, and a dealer deals."""
    owners, shares = list(trial.files), trial.mode != "sums"
    members = [Member(name, f"{name}.example:7700", tuple(
        role for role in ("owner", "holder", "receiver")
        if role != "holder" or (shares and place < 2)), "", b"")
        for place, name in enumerate(owners)]
    if trial.mode == "dealer":
        members.append(Member("dora", "dora.example:7700", ("dealer",), "", b""))
    study = Study("random", trial.task, trial.mode, tuple(members), dict(trial.parameters))
    task = task_of(study)
    task.outlook(study)
    return replace(study, disclosures=task.disclosures(study))


def run(trial: Trial, folder: Path) -> list[Judged]:
    """Carry a study out and judge it."""
    outputs = carried_out(trial, folder)
    return [] if trial.refused else list(trial.check(outputs))


def carried_out(trial: Trial, folder: Path) -> dict[str, Any]:
    """Return what every owner got, from files to results, all parties in this process."""
    study = study_of(trial)
    task, roles = task_of(study), roles_of(study)
    inputs = {name: task.load(_written(trial, name, folder), study) for name in trial.files}
    if trial.given is not None:
        inputs = trial.given(inputs)
    with trial.around():
        outcomes = asyncio.run(in_memory(
            task.program(study), [inputs.get(n) for n in roles.everybody], roles))
    errors = [o.error for o in outcomes if o.error is not None]
    if trial.refused:
        assert errors, "a study that must be refused was carried out"
        return {}
    if errors:
        raise errors[0]
    return {o.name: o.output for o in outcomes if o.name in trial.files}


def _written(trial: Trial, name: str, folder: Path) -> Path:
    given = trial.files[name]
    text, ending = given if isinstance(given, tuple) else (given, "csv")
    path = folder / f"{name}.{ending}"
    if isinstance(text, str):
        path.write_text(text)
    else:
        _write_table(path, text)
    if trial.beside and name in trial.beside:
        (folder / f"{name}.part.json").write_text(trial.beside[name])
    return path


def _write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> str:
    """Return a value as it is written; every digit of a number is kept."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return value if isinstance(value, str) else repr(float(value))


# What tables are made of ------------------------------------------------------------------------

def owners_of(random: np.random.Generator) -> tuple[str, ...]:
    """Return two owners or three."""
    return NAMES[:int(random.integers(2, 4))]


def numbers(random: np.random.Generator, size: int, most: float = 8.0,
            kinds: Sequence[str] = ("tenths", "whole", "near", "normal", "constant")) -> Any:
    """Return values that are equal, almost equal, no binary fractions, or all the same."""
    kind = str(random.choice(kinds))
    tenths = random.integers(int(-10 * most), int(10 * most) + 1, size) / 10
    if kind == "whole":
        return np.rint(tenths)
    if kind == "near":
        few = np.round(tenths / 2)
        return np.clip(few + random.choice([0.0, 2.0**-40, -(2.0**-40), 1e-9], size), -most, most)
    if kind == "constant":
        return np.full(size, tenths[0])
    return tenths if kind == "tenths" else np.clip(random.normal(0, most / 3, size), -most, most)


def words(random: np.random.Generator, size: int, among: Sequence[str]) -> list[str]:
    """Return categories, some of them rare."""
    weights = random.dirichlet(np.full(len(among), 0.7))
    return [str(one) for one in random.choice(among, size, p=weights)]


def parts(random: np.random.Generator, rows: int, owners: Sequence[str]) -> dict[str, Any]:
    """Return which rows each owner has, in order; some owner may have few."""
    cuts = np.sort(random.integers(1, rows, len(owners) - 1))
    while len(set(cuts.tolist())) < len(cuts):
        cuts = np.sort(random.integers(1, rows, len(owners) - 1))
    return dict(zip(owners, np.split(np.arange(rows), cuts), strict=True))


def taken(table: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    """Return some rows of a table."""
    return {name: [column[row] for row in rows] for name, column in table.items()}


def by_rows(random: np.random.Generator, table: Mapping[str, Any],
            owners: Sequence[str]) -> dict[str, Any]:
    """Return every owner's rows of a table."""
    rows = len(next(iter(table.values())))
    return {name: taken(table, part) for name, part in parts(random, rows, owners).items()}


def together(files: Mapping[str, Any], name: str) -> Any:
    """Return a column of all owners, one after the other."""
    return np.concatenate([np.asarray(part[name], object) for part in files.values()])


def rows_of_each(random, table, owners, least):
    """Return rows of every owner, none of whom has fewer than `least`."""
    rows = len(table["y"])
    who = np.concatenate([np.repeat(np.arange(len(owners)), least),
                          random.integers(0, len(owners), rows - least * len(owners))])
    return {name: taken(table, np.flatnonzero(who == place)) for place, name in enumerate(owners)}

"""Which records an owner took part with before, so that results do not differ by a few of them.

Two results over data that differ in few records are, taken together, about these few. So an owner
keeps keyed digests of the records of every run, beside its file, and refuses a run whose records
differ from those of an earlier one in some, but in fewer than was agreed.

Records are compared in the columns that the earlier study named (in all, if it named none), as they
are now: a column that was added, or one that the study does not use and that changes in every row
(the day of an export), does not hide that the same people come again. Numbers are compared as
numbers, however they are written.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unspoken.errors import UnspokenError
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.randomness import fresh_seed
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import kept_beside, party_table
from unspoken.table.atomic_files import write_file
from unspoken.table.file_locks import locked_beside
from unspoken.table.formats.data_urls import Place

FORMAT, VERSION = "unspoken-earlier-results", 1


@dataclass
class EarlierResults:
    """The runs that a file's records took part in: columns, and digests of records (mode 0600)."""

    path: Path
    key: bytes = field(default_factory=fresh_seed, repr=False)
    runs: list[tuple[tuple[str, ...], frozenset[str]]] = field(default_factory=list, repr=False)

    def compare(self, source: Place, study: Study, least: int) -> None:
        """Refuse records that differ by few from those of an earlier run; note them otherwise."""
        with locked_beside(self.path) as held:
            if not held:
                raise StudyError(f"Another process holds the lock of '{self.path.name}'. Wait for "
                                 "it, or end it if it hangs.")
            self._read()
            columns = _columns(source)
            for names, earlier in self.runs:
                if set(names) <= set(columns) and 0 < len(
                        self._digests(columns, names) ^ earlier) < least:
                    raise RefusedError(f"Records must differ from those of an earlier run in "
                                       f"{least} or in none, whatever study it was. These differ "
                                       "in fewer: two results would disclose single records.")
            names = _named(study, columns)
            self.runs.append((names, self._digests(columns, names)))
            self._write()

    def _digests(self, columns: Mapping[str, Sequence[Any]],
                 names: Sequence[str]) -> frozenset[str]:
        """Return digests of records; equal ones are numbered, so that a set can hold them."""
        seen: Counter[bytes] = Counter()
        listed = set()
        for row in _rows(columns, names):
            seen[row] += 1
            listed.add(hashlib.blake2b(row + b"\0%d" % seen[row], key=self.key,
                                       digest_size=8).hexdigest())
        return frozenset(listed)

    def _read(self) -> None:
        if not self.path.exists():
            return
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            if (data["format"], data["version"]) != (FORMAT, VERSION):
                raise ValueError("another format")
            self.key = bytes.fromhex(data["key"])
            self.runs = [(tuple(map(str, run["columns"])), frozenset(map(str, run["records"])))
                         for run in data["runs"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise StudyError(f"'{self.path.name}' is no record of earlier results, so it is not "
                             "known with which records this file took part.") from None

    def _write(self) -> None:
        runs = [{"columns": list(names), "records": sorted(records)}
                for names, records in self.runs]
        text = json.dumps({"format": FORMAT, "version": VERSION, "key": self.key.hex(),
                           "runs": runs})
        write_file(self.path, text.encode(), mode=0o600)


def compare_with_earlier(source: Place, study: Study, least: int) -> None:
    """Refuse a run over records that differ by few from those of an earlier one."""
    EarlierResults(kept_beside(source, "results", "least_changes")).compare(source, study, least)


def _columns(source: Place) -> dict[str, list[Any]]:
    """Return the columns of a file; of one that is no table, its lines."""
    try:
        table = party_table(source).arrow()
    except UnspokenError:
        return {"": list(Path(str(source)).read_bytes().splitlines())}
    return {name: table[name].to_pylist() for name in table.column_names}


def _named(study: Study, columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that a study names, in the order of their names; all if it names none."""
    words = set(_words(study.parameters))
    return tuple(sorted(words & set(columns)) or sorted(columns))


def _words(value: Any) -> Iterator[str]:
    """Return every name that may stand in parameters: "range.age", "north:age", "age*stay"."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _words(name)
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, str):
        yield from (value, value.partition(".")[2])
        yield from (*value.partition(":")[2].split("*"), *value.split("*"))


def _rows(columns: Mapping[str, Sequence[Any]], names: Sequence[str]) -> Iterator[bytes]:
    for row in zip(*(columns[name] for name in names), strict=True):
        yield repr([_plain(value) for value in row]).encode()


def _plain(value: Any) -> Any:
    """Return whole numbers as such, so that 1 and 1.0 are the same."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value

"""How often a party answers about the same data, and how much its queries must differ.

Two sizes of intersections over sets that differ in one record say whether that record is in
common. So each party counts its own queries and refuses when the agreed number is spent, and it
refuses a query whose set differs from an earlier one of its own by at least one and fewer than
`differ` records. Asking again with the same set is counted and allowed. The budget follows the
data: a query counts against every later one that shares an id with it, under whatever name the
study runs, because a new name makes two answers no less comparable. What the other
parties changed cannot be known here, because keys are fresh for every query: their budgets stop
them, if they are honest.

With a path the budget outlives the process: a JSON file, mode 0600, that holds keyed digests of
the ids (BLAKE2b, 64 bits, the key beside them). It is as secret as the ids themselves. Reading,
deciding and writing happen under one lock (`<path>.lock`), so that two processes never spend the
same query.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.randomness import fresh_seed
from unspoken.table.atomic_files import write_file
from unspoken.table.file_locks import locked_beside

FORMAT, VERSION = "unspoken-queries", 1


@dataclass
class QueryBudget:
    """The queries that a party may make about its data, and how much they must differ.

    Two sizes of intersections over sets that differ in one record disclose whether that record is
    in common. A query beyond the budget, or too close to an earlier one, is refused; all queries
    of a study count, and those of others that share ids with it: a new name changes nothing. The
    file holds keyed digests of the ids and is as secret as the ids themselves.

    Attributes
    ----------
    study : str
        The name of the study, for the record.
    most : int
        How many queries may be made about the same ids, in this study and all others.
    differ : int, default 1
        A query must differ from each earlier one in this many records, or in none.
    path : Path, optional
        The file in which queries are recorded (mode 0600). Default: they are kept in memory only.

    Examples
    --------
    >>> budget = QueryBudget("flu", most=3, differ=20, path=Path("flu.queries"))  # doctest: +SKIP
    """

    study: str
    most: int
    differ: int = 1
    path: Path | None = None
    _key: bytes = field(default_factory=fresh_seed, repr=False)
    _studies: dict[str, list[frozenset[str]]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("most", self.most), ("differ", self.differ)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise StudyError(explain(f"QueryBudget: '{name}'", "an int >= 1", value))

    @property
    def left(self) -> int:
        """Return how many queries are left about ids that all earlier ones had too."""
        self._load()
        return max(0, self.most - len(self._asked()))

    def _asked(self) -> list[frozenset[str]]:
        return [query for queries in self._studies.values() for query in queries]

    def spend(self, ids: Sequence[bytes]) -> None:
        """Count one query over a set of ids, or refuse it; the file is written before it runs."""
        with self._alone():
            self._spend(ids)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process between what the file says and what is added to it."""
        if self.path is None:
            yield
            return
        with locked_beside(self.path) as held:
            if not held:
                raise StudyError(f"Another process holds the lock of '{self.path}'. Wait for it, "
                                 "or end it if it hangs.")
            yield

    def _spend(self, ids: Sequence[bytes]) -> None:
        self._load()
        query = frozenset(hashlib.blake2b(i, key=self._key, digest_size=8).hexdigest()
                          for i in ids)
        asked = self._asked()
        # Queries of one study count whatever they ask for: else parts of a list were free.
        if sum(name == self.study or bool(query & earlier)
               for name, queries in self._studies.items() for earlier in queries) >= self.most:
            raise RefusedError(f"{self.most} queries about these records are allowed, in study "
                               f"'{self.study}' and all others. All were made. A new name for the "
                               "study does not change that.")
        for earlier in asked:
            if 0 < len(query ^ earlier) < self.differ:
                raise RefusedError(f"A query must differ from all earlier ones in {self.differ} "
                                   "records or in none, whatever study they were made in. This one "
                                   "differs in fewer: two answers would disclose single records.")
        self._studies.setdefault(self.study, []).append(query)
        self._save()

    def _load(self) -> None:
        """Take over what the file says; nothing is asked yet where there is none."""
        if self.path is None or not self.path.exists():
            return
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            studies = _checked(data)
            self._key = bytes.fromhex(data["key"])
            self._studies = {str(name): [frozenset(map(str, query)) for query in queries]
                             for name, queries in studies.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise StudyError(f"'{self.path}' is not a record of queries, so it is not known how "
                             "many were made.") from None

    def _save(self) -> None:
        if self.path is None:
            return
        studies = {name: [_sorted(query) for query in queries]
                   for name, queries in self._studies.items()}
        text = json.dumps({"format": FORMAT, "version": VERSION, "key": self._key.hex(),
                           "studies": studies})
        write_file(self.path, text.encode(), mode=0o600)


def _sorted(query: Iterable[str]) -> list[str]:
    return sorted(query)


def _checked(data: Any) -> dict[str, Any]:
    if data["format"] != FORMAT or data["version"] != VERSION:
        raise ValueError("another format")
    studies = data["studies"]
    if not isinstance(studies, dict):
        raise ValueError("no studies")
    return studies

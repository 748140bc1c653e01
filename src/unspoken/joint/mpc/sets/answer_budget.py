"""How often a party answers in one study, and how much its queries must differ.

Two sizes of intersections over sets that differ in one record say whether that record is in
common. So each party counts its own queries of a study and refuses when the agreed number is
spent, and it refuses a query whose set differs from an earlier one of its own by at least one and
fewer than `differ` records. Asking again with the same set is counted and allowed. What the other
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
    """The queries that a party may make in one study, and how much they must differ.

    Two sizes of intersections over sets that differ in one record disclose whether that record is
    in common. A query beyond the budget, or too close to an earlier one, is refused. The file holds
    keyed digests of the ids and is as secret as the ids themselves.

    Attributes
    ----------
    study : str
        The name of the study.
    most : int
        How many queries may be made.
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
    _asked: list[frozenset[str]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("most", self.most), ("differ", self.differ)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise StudyError(explain(f"QueryBudget: '{name}'", "an int >= 1", value))

    @property
    def left(self) -> int:
        """Return how many queries are left."""
        self._load()
        return max(0, self.most - len(self._asked))

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
        if len(self._asked) >= self.most:
            raise RefusedError(f"Study '{self.study}' allows {self.most} queries. All were made. "
                               "To disclose more, agree on a new study.")
        query = frozenset(hashlib.blake2b(i, key=self._key, digest_size=8).hexdigest()
                          for i in ids)
        for earlier in self._asked:
            if 0 < len(query ^ earlier) < self.differ:
                raise RefusedError(f"A query must differ from the earlier ones of study "
                                   f"'{self.study}' in {self.differ} records or in none. This one "
                                   "differs in fewer: two answers would disclose single records.")
        self._asked.append(query)
        self._save()

    def _load(self) -> None:
        """Take over what the file says; nothing is asked yet where there is none."""
        if self.path is None or not self.path.exists():
            return
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            studies = _checked(data)
            self._key = bytes.fromhex(data["key"])
            self._asked = [frozenset(map(str, query)) for query in studies.get(self.study, ())]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise StudyError(f"'{self.path}' is not a record of queries, so it is not known how "
                             "many were made.") from None

    def _save(self) -> None:
        if self.path is None:
            return
        studies: dict[str, Any] = {}
        if self.path.exists():
            studies = _checked(json.loads(self.path.read_text(encoding="utf-8")))
        studies[self.study] = [_sorted(query) for query in self._asked]
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

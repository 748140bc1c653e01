"""What was answered, and the rules that refuse the next query (as2000 section 1).

Every rule looks at query sets, earlier queries and settings alone, never at a protected value: a
refusal could have been foreseen by the user, so it discloses nothing. In particular no rule asks
whether the answer is none or all; yes and no are counted with noise, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.methods.queries.answers import Answer, answer
from unspoken.methods.queries.determined_records import QuerySpan
from unspoken.methods.queries.estimation_errors import smallest_error
from unspoken.methods.queries.guard_settings import SIZES, Settings
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.query import Asked
from unspoken.numerics.record_bitsets import pack, shared

MAX_ANSWERED = 5_000
YES_NO = "yes or no"


@dataclass(frozen=True)
class Refusal:
    """A rule, what it says, and what to do."""

    rule: str
    words: str


class Stack:
    """The sets that were answered about one unknown, packed, in order."""

    def __init__(self, records: int) -> None:
        self._sets: Words = np.zeros((16, -(-records // 64)), np.uint64)
        self.count = 0

    @property
    def sets(self) -> Words:
        """Return the sets."""
        return self._sets[: self.count]

    def add(self, words: Words) -> None:
        """Keep one more."""
        if self.count == len(self._sets):
            self._sets = np.pad(self._sets, ((0, self.count), (0, 0)))
        self._sets[self.count] = words
        self.count += 1


class Answered:
    """The state that the log describes."""

    def __init__(self, rows: Rows, settings: Settings) -> None:
        self._rows, self._settings = rows, settings
        self._known: set[tuple[str, str, str]] = set()
        self._stacks: dict[str, Stack] = {}
        self._spans: dict[str, QuerySpan] = {}
        self._spreads: dict[str, tuple[int, float]] = {}
        self._precision: npt.NDArray[np.float64] = np.zeros(rows.count)

    @property
    def _audited(self) -> bool:
        return self._settings.audit != SIZES

    @property
    def count(self) -> int:
        """Return how many different queries were answered."""
        return len(self._known)

    def again(self, asked: Asked) -> bool:
        """Return True if the same was answered before: then it is answered the same way."""
        return asked.identity in self._known

    def check(self, asked: Asked) -> None:
        """Refuse by name what cannot be computed; here resolving has done it."""

    def refused(self, asked: Asked, rule: str) -> None:
        """Take note of a refusal: none depends on a protected value, so it changes nothing."""

    def reply(self, asked: Asked, secret: bytes) -> Answer:
        """Compute an answer that no rule refuses."""
        return answer(asked, self._rows, secret, self.deviation(asked), self._settings.sample)

    def add(self, asked: Asked) -> None:
        """Keep an answered query."""
        if self.again(asked):
            return
        self._known.add(asked.identity)
        if self.blurred(asked):
            self._precision[asked.members] += self._precision_of(asked)
        elif asked.query.column is not None and self._audited:
            self._span(asked).add(asked.members)
        self._stack(asked).add(pack(asked.members))

    def refuse(self, asked: Asked) -> Refusal | None:
        """Return the first rule that forbids an answer."""
        rules: tuple[Callable[[Asked], Refusal | None], ...] = (
            self._size, self._room, self._overlap, self._noise, self._exposure, self._audit)
        return next((refusal for rule in rules if (refusal := rule(asked))), None)

    def blurred(self, asked: Asked) -> bool:
        """Return True if few values are possible: none or all would disclose everybody's."""
        if asked.query.column is None:
            return asked.hidden is not None
        secret = asked.query.column not in self._settings.public
        return secret and self._spread(asked.query.column)[0] <= self._settings.few

    def deviation(self, asked: Asked) -> float | None:
        """Return the deviation of the noise on the sum or count, None where there is none."""
        if asked.query.column is not None:
            return self._settings.noise_of(asked.query.column)
        return None if asked.hidden is None else self._settings.count_noise

    def _spread(self, column: str) -> tuple[int, float]:
        """Return how many different values a column takes, and how far apart they lie."""
        if column not in self._spreads:
            values, present = self._rows.values(column)
            distinct = np.unique(values[present])
            width = float(distinct[-1] - distinct[0]) if distinct.size else 0.0
            self._spreads[column] = (distinct.size, width)
        return self._spreads[column]

    def _precision_of(self, asked: Asked) -> float:
        """Return what one answer adds to the precision with which a yes or no is known."""
        deviation = self.deviation(asked)
        if deviation is None:
            return float("inf")
        column = asked.query.column
        width = 1.0 if column is None else self._spread(column)[1]
        # A sample is scaled up, and with it the weight of everybody in it.
        return (width / (deviation * (self._settings.sample or 1.0))) ** 2

    def _stack(self, asked: Asked) -> Stack:
        name = YES_NO if self.blurred(asked) else asked.unknown
        return self._stacks.setdefault(name, Stack(self._rows.count))

    def _span(self, asked: Asked) -> QuerySpan:
        if asked.unknown not in self._spans:
            self._spans[asked.unknown] = QuerySpan(self._rows.count)
        return self._spans[asked.unknown]

    def _size(self, asked: Asked) -> Refusal | None:
        limits, size = self._settings, asked.size
        if size < limits.smallest:
            return Refusal("smallest", f"A query set must hold at least {limits.smallest} records. "
                                       "This one holds fewer. Ask about a larger group.")
        whole = limits.largest is None and size == self._rows.count
        if size > limits.most(self._rows.count) and not whole:
            return Refusal("largest", "A query set must leave enough records out: at most "
                                      f"{limits.most(self._rows.count)} may be in it. This one "
                                      "holds more. Ask about a smaller group, or about everybody.")
        return None

    def _room(self, asked: Asked) -> Refusal | None:
        if self.count < MAX_ANSWERED:
            return None
        return Refusal("full", f"At most {MAX_ANSWERED} different queries are answered. "
                               "They were. Start a new log over a new table.")

    def _overlap(self, asked: Asked) -> Refusal | None:
        limit, stack = self._settings.overlap, self._stack(asked)
        if limit is None or not np.any(shared(stack.sets, pack(asked.members)) > limit):
            return None
        return Refusal("overlap", f"A query set must share at most {limit} records with every "
                                  "answered one. This one shares more.")

    def _noise(self, asked: Asked) -> Refusal | None:
        if not self.blurred(asked) or self.deviation(asked) is not None:
            return None
        what = "count_noise" if asked.query.column is None else f"noise for {asked.query.column}"
        return Refusal("yes-no", "A protected condition or a column of few values must be answered "
                                 "with noise: an exact answer of none or all would disclose "
                                 f"everybody's. This guard has no {what}.")

    def _exposure(self, asked: Asked) -> Refusal | None:
        if not self.blurred(asked):
            return None
        limit = (1 + 1e-9) / self._settings.blur**2
        if np.all(self._precision[asked.members] + self._precision_of(asked) <= limit):
            return None
        return Refusal("exposure", "The error with which anybody's yes or no can be estimated must "
                                   f"stay above {self._settings.blur:g}. Some records of this set "
                                   "have been asked about too often.")

    def _audit(self, asked: Asked) -> Refusal | None:
        column = asked.query.column
        if column is None or self.blurred(asked) or not self._audited:
            return None
        deviation = self.deviation(asked)
        if deviation is not None and self._settings.group == 2:
            return self._partial(asked, deviation, self._settings.least_of(column, deviation))
        if not self._span(asked).discloses(asked.members, self._settings.group):
            return None
        return Refusal("audit", "An answer must not, with the earlier ones, determine the values of"
                                f" fewer than {self._settings.group} records. This one would.")

    def _partial(self, asked: Asked, deviation: float, least: float) -> Refusal | None:
        determined = self._span(asked).revealed(asked.members)
        stack = np.concatenate([self._stack(asked).sets, pack(asked.members)[None, :]])
        if smallest_error(stack, determined) * deviation >= least * (1 - 1e-9):
            return None
        return Refusal("partial", "The error with which a single value can be estimated must stay "
                                  f"above {least:g}. With this answer it would not.")

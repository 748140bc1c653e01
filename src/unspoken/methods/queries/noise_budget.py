"""Answers with a stated epsilon, until the declared total is spent.

Every answer that looks at a protected column is a sum of clamped whole numbers plus discrete
Laplace noise, drawn without rounding. Whatever is known about everybody else, and whatever was
asked in which order, all answers together change the odds of anything about one record at most
exp(epsilon)-fold (differential privacy, basic composition). So nothing about the values has to be
known or audited: whole numbers, sparse columns and relations between columns are covered.

Public columns are outside: conditions on them name sets that anybody may know. The same question
gets the same answer and is paid for once. Whether a query is refused depends on the public columns
and on earlier queries alone.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from unspoken.arrays import Bools
from unspoken.methods.queries.answers import Answer, public_sum
from unspoken.methods.queries.fixed_cells import FixedCells
from unspoken.methods.queries.grid_columns import GridColumn, grid_column
from unspoken.methods.queries.guard_settings import Settings, exactly
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.query import PUBLIC, Asked
from unspoken.methods.queries.refusal_rules import MAX_ANSWERED, Refusal
from unspoken.numerics.exact_noise import discrete_laplace, laplace_deviation
from unspoken.numerics.random import generator


class NoiseBudget:
    """What was answered, what it cost, and what is left."""

    def __init__(self, rows: Rows, settings: Settings) -> None:
        self._rows, self._settings = rows, settings
        self._cells = FixedCells(rows, settings)
        self._columns: dict[str, GridColumn] = {}
        self._known: set[tuple[str, str, str]] = set()
        self.spent = Fraction(0)

    def check(self, asked: Asked) -> None:
        """Refuse by name what cannot be computed, before anything is logged."""
        if asked.unknown == PUBLIC:
            self._rows.values(str(asked.query.column))
        elif asked.query.column is not None:
            self._column(asked)

    def again(self, asked: Asked) -> bool:
        """Return True if the same was answered before: then it is answered the same way."""
        return asked.identity in self._known

    def add(self, asked: Asked) -> None:
        """Pay for an answered query."""
        if not self.again(asked):
            self._known.add(asked.identity)
            self.spent += self.cost(asked)

    def refused(self, asked: Asked, rule: str) -> None:
        """Take note of a refusal: none depends on a protected value, so it changes nothing."""

    def refuse(self, asked: Asked) -> Refusal | None:
        """Return the first rule that forbids an answer."""
        limits, left = self._settings, self._settings.budget - self.spent
        if asked.size < limits.smallest:
            return Refusal("smallest", f"A query set must hold at least {limits.smallest} records. "
                                       "This one holds fewer. Ask about a larger group.")
        if len(self._known) >= MAX_ANSWERED:
            return Refusal("full", f"At most {MAX_ANSWERED} different queries are answered. "
                                   "They were. Start a new log over a new table.")
        if self.cost(asked) <= left:
            return None
        return Refusal("budget", f"All answers together may spend an epsilon of {limits.epsilon:g}."
                                 f" {float(left):g} is left, and this one needs "
                                 f"{float(self.cost(asked)):g}. What was answered can be asked "
                                 "again; nothing new about this table can.")

    def cost(self, asked: Asked) -> Fraction:
        """Return the epsilon that an answer takes; what anybody can compute takes none."""
        if self._free(asked):
            return Fraction(0)
        own = asked.query.epsilon
        return exactly(self._settings.each if own is None else own)

    def _free(self, asked: Asked) -> bool:
        if asked.unknown in ("count", PUBLIC):
            return True
        return asked.query.column is not None and self._cells.hold(asked, self._column(asked))

    def _column(self, asked: Asked) -> GridColumn:
        name = str(asked.query.column)
        if name not in self._columns:
            self._columns[name] = grid_column(self._rows, self._settings, name)
        return self._columns[name]

    def reply(self, asked: Asked, secret: bytes) -> Answer:
        """Compute an answer that no rule refuses."""
        if asked.unknown == "count":
            return Answer(float(asked.size), 0.0, str(asked.query))
        if self._free(asked):
            return self._exact(asked)
        inside = asked.members & self._rows.meet(asked.hidden)
        if asked.query.kind == "mean":
            return self._mean(asked, inside, secret)
        return self._sum(asked, inside, secret)

    def _exact(self, asked: Asked) -> Answer:
        if asked.unknown == PUBLIC:
            return public_sum(asked, self._rows)
        column = self._column(asked)
        inside = asked.members & column.present
        total = float(int(column.values[inside].sum()) * column.step)
        scale = max(int(np.count_nonzero(inside)), 1) if asked.query.kind == "mean" else 1
        return Answer(total / scale, 0.0, str(asked.query),
                      ("exact: over cells that were fixed beforehand",))

    def _sum(self, asked: Asked, inside: Bools, secret: bytes) -> Answer:
        spent = self.cost(asked)
        if asked.query.column is None:
            total, reach, step = int(np.count_nonzero(inside)), 1, Fraction(1)
        else:
            column = self._column(asked)
            total, reach, step = int(column.values[inside].sum()), column.reach, column.step
        scale = Fraction(reach) / spent
        noisy = total + discrete_laplace(scale, generator(secret, "laplace", *asked.identity))
        return Answer(float(noisy * step), laplace_deviation(scale) * float(step),
                      str(asked.query), self._done(asked, step), float(spent))

    def _mean(self, asked: Asked, inside: Bools, secret: bytes) -> Answer:
        """Divide a noisy sum of distances from the middle by a noisy number of values."""
        column, half = self._column(asked), self.cost(asked) / 2
        middle = (column.low + column.high) // 2
        inside = inside & column.present
        reach = max(column.high - middle, middle - column.low)
        far, near = Fraction(reach) / half, 1 / half
        total = int((column.values[inside] - middle).sum()) \
            + discrete_laplace(far, generator(secret, "laplace", *asked.identity))
        people = max(int(np.count_nonzero(inside)) + discrete_laplace(
            near, generator(secret, "laplace", "people", *asked.identity)), 1)
        off = min(max(total / people, column.low - middle), column.high - middle)
        error = math.hypot(laplace_deviation(far), off * laplace_deviation(near)) / people
        return Answer(float((middle + Fraction(off)) * column.step), error * float(column.step),
                      str(asked.query), self._done(asked, column.step), float(2 * half))

    def sum_behind(self, asked: Asked, reply: Answer, people: int) -> tuple[float, float]:
        """Return the sum that a mean discloses to whoever knows how many people it is about.

        Value and error together give the noisy number of people away, and with it the noisy sum
        of distances from the middle. Its noise does not depend on how the other noise fell.
        """
        column, half = self._column(asked), exactly(reply.epsilon or 0.0) / 2
        middle = (column.low + column.high) // 2
        far = laplace_deviation(Fraction(max(column.high - middle, middle - column.low)) / half)
        step = float(column.step)
        off = reply.value / step - middle
        noisy_people = math.hypot(far, off * laplace_deviation(1 / half)) * step \
            / (reply.error or 1.0)
        return (off * noisy_people + middle * people) * step, far * step

    def _done(self, asked: Asked, step: Fraction) -> tuple[str, ...]:
        paid = f"discrete Laplace noise for an epsilon of {float(self.cost(asked)):g}"
        if asked.query.column is None:
            return (paid,)
        column = self._column(asked)
        return (paid, f"values were clamped to {float(column.low * step):g} .. "
                      f"{float(column.high * step):g} and counted in steps of {float(step):g}")

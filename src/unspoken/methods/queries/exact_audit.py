"""Exact answers on explicit request, behind the linear and the bounded whole-number audit.

What a refusal discloses. Sizes, overlaps and the linear audit look at query sets alone, and
`foreseen` at earlier answers, too: a user could have computed those refusals. The last check cannot
be simulated: an answer that would pin somebody down is refused because of what it is. So that such
a refusal is no proof, a share of harmless queries (`decoys`) is refused in the same words. It then
changes the odds that the answer was such a one at most 1/decoys-fold; and because the records of
such a set are not asked about again, this happens once per person and column at most.

What it does not cover: knowledge beyond bounds and grid, such as how values are distributed, or
other people's values. Exact sums of columns that are mostly one value are better asked with noise.
"""

from __future__ import annotations

from unspoken.errors import InputError
from unspoken.methods.queries.answers import Answer, public_sum
from unspoken.methods.queries.bounded_audit import AuditedSums, Box
from unspoken.methods.queries.grid_columns import GridColumn, grid_column
from unspoken.methods.queries.guard_settings import Settings
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.query import PUBLIC, Asked
from unspoken.methods.queries.refusal_rules import Answered, Refusal
from unspoken.numerics.random import generator

DETERMINED = "determined"
MOST_STEPS = 1_000_000
"""HiGHS counts whole numbers to about 1e-6 of their size."""


class ExactAudit(Answered):
    """What was answered exactly, and the rules that refuse the next query."""

    def __init__(self, rows: Rows, settings: Settings, secret: bytes) -> None:
        super().__init__(rows, settings)
        self._secret = secret
        self._columns: dict[str, GridColumn] = {}
        self._sums: dict[str, AuditedSums] = {}

    def check(self, asked: Asked) -> None:
        """Refuse by name what cannot be computed, before anything is logged."""
        if asked.unknown == PUBLIC:
            self._rows.values(str(asked.query.column))
        elif asked.query.column is not None:
            self._column(asked)

    def blurred(self, asked: Asked) -> bool:
        """Return True if a yes or no is counted; columns of few values are left to the audit.

        How many values a column takes is not looked at: a refusal would disclose it.
        """
        return asked.query.column is None and asked.hidden is not None

    def add(self, asked: Asked) -> None:
        """Keep an answered query."""
        if asked.unknown != PUBLIC and not self.again(asked) and asked.query.column is not None:
            self._audited_sums(asked).add(asked.members, self._total(asked))
        super().add(asked)

    def refused(self, asked: Asked, rule: str) -> None:
        """Take note of a refusal that may depend on the answer: its records are not asked again."""
        if rule == DETERMINED:
            self._audited_sums(asked).burned |= asked.members

    def refuse(self, asked: Asked) -> Refusal | None:
        """Return the first rule that forbids an answer."""
        if asked.unknown == PUBLIC:
            return None
        refusal = super().refuse(asked)
        if refusal is not None or asked.query.column is None:
            return refusal
        return self._simulated(asked) or self._last(asked)

    def _simulated(self, asked: Asked) -> Refusal | None:
        sums, limit = self._audited_sums(asked), self._settings.overlapping
        if (sums.burned & asked.members).any():
            return Refusal("burned", "Some records of this set were in one that was refused as "
                                     "determined. They are not asked about again.")
        if sums.touching(asked.members) > limit:
            return Refusal("overlapping", f"A query set may be connected with {limit} answered "
                                          "ones at most, or it could not be audited.")
        if sums.foreseen(asked.members):
            return Refusal("bounded", "An answer must not, with the bounds, the grid and the "
                                      "earlier answers, pin down anybody's value. A usual one "
                                      "would.")
        return None

    def _last(self, asked: Asked) -> Refusal | None:
        coin = generator(self._secret, "decoy", *asked.identity).random()
        close = self._audited_sums(asked).discloses(asked.members, self._total(asked))
        if not close and coin >= self._settings.decoys:
            return None
        return Refusal(DETERMINED, "This answer might pin down somebody's value, or it is one of "
                                   f"the {self._settings.decoys:.0%} that are refused to leave "
                                   "that open.")

    def reply(self, asked: Asked, secret: bytes) -> Answer:
        """Compute an answer that no rule refuses."""
        if asked.unknown == PUBLIC:
            return public_sum(asked, self._rows)
        if asked.query.column is None:
            return super().reply(asked, secret)
        column = self._column(asked)
        total = float(self._total(asked) * column.step)
        scale = asked.size if asked.query.kind == "mean" else 1
        return Answer(total / scale, 0.0, str(asked.query),
                      (f"clamped, in steps of {float(column.step):g}; missing counts as 0",))

    def _total(self, asked: Asked) -> int:
        return int(self._column(asked).values[asked.members].sum())

    def _audited_sums(self, asked: Asked) -> AuditedSums:
        if asked.unknown not in self._sums:
            column = self._column(asked)
            low, high = min(column.low, 0), max(column.high, 0)
            box = Box(low, high, self._settings.width * (high - low))
            self._sums[asked.unknown] = AuditedSums(self._rows.count, box)
        return self._sums[asked.unknown]

    def _column(self, asked: Asked) -> GridColumn:
        name = str(asked.query.column)
        if name not in self._columns:
            column = grid_column(self._rows, self._settings, name)
            if column.high - column.low > MOST_STEPS:
                raise InputError(f"QueryGuard: the grid of '{name}' has "
                                 f"{column.high - column.low} steps; exact answers allow at "
                                 f"most {MOST_STEPS}. Declare a coarser grid.")
            self._columns[name] = column
        return self._columns[name]

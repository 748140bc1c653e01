"""What the budget knows of the answers of a service: who pays for them, and that all are booked.

Of those who ask the same at once, the first who has room pays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from unspoken.errors import BudgetError, InputError
from unspoken.methods.queries.service.question import Question
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import NONE, Cost
from unspoken.release.budget_entries import Draw

_MOST_TEXT = 400


def draw_of(question: Question, analyst: str, price: float, again: bool = False) -> Draw:
    """Return the line of the budget for an answer; `again` where somebody else paid in all."""
    return Draw(Cost(price), analyst, "query", _shown(question), again=again)


def unbookable(question: Question, analyst: str, price: float) -> InputError | None:
    """Return why no answer can be booked for an analyst, before anything is."""
    try:
        draw_of(question, analyst, price)
    except InputError as error:
        return error
    return None


def book_first(budget: Budget, wanted: Mapping[str, Sequence[Draw]]) -> dict[str, str]:
    """Book every question once, for the first who has room; return who pays for which.

    What is refused to one must not be refused to all: that would tell the others that somebody
    who asked the same has nothing left.
    """
    payers: dict[str, str] = {}
    for place in range(max(map(len, wanted.values()), default=0)):
        turn = {name: draws[place] for name, draws in wanted.items()
                if name not in payers and place < len(draws)}
        booked = budget.draw_each(list(turn.values()), per_unit=True) if turn else []
        payers |= {name: draw.to for (name, draw), fits in zip(turn.items(), booked, strict=True)
                   if fits}
    return payers


def check_booked(budget: Budget, known: Mapping[str, Mapping[str, Any]],
                 given: Mapping[str, AbstractSet[str]], path: Path) -> None:
    """Refuse a budget that does not hold what a log says was answered: it is an older copy.

    Every answer is booked before it is logged. So the log is read first.
    """
    prices = {name: answer["epsilon"] for name, answer in known.items()
              if answer.get("epsilon") is not None}
    once = Counter(prices.values())
    each = Counter((analyst, price) for name, price in prices.items()
                   for analyst in given.get(name, ()))
    draws = [one for one in budget.refresh().draws if one.kind == "query" and one.cost.law != NONE]
    if once - Counter(one.cost.epsilon for one in draws if not one.again) \
            or each - Counter((one.to, one.cost.epsilon) for one in draws):
        raise BudgetError(f"The query log '{path}' holds answers that the budget has not booked: "
                          "the budget is an older copy, and would spend twice. Restore the newest "
                          "copy of the budget.")


def _shown(question: Question) -> str:
    column = f"({question.column})" if question.column else "()"
    where = f" where {question.where}" if question.where else ""
    group = f" group by {', '.join(question.group)}" if question.group else ""
    return f"{question.select}{column}{where}{group}"[:_MOST_TEXT]

"""Who pays for questions that come together: of those who ask the same, the first who has room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unspoken.errors import InputError
from unspoken.methods.queries.service.question import Question
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import Cost
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


def _shown(question: Question) -> str:
    column = f"({question.column})" if question.column else "()"
    where = f" where {question.where}" if question.where else ""
    group = f" group by {', '.join(question.group)}" if question.group else ""
    return f"{question.select}{column}{where}{group}"[:_MOST_TEXT]

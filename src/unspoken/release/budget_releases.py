"""What a release takes from the budget of its table."""

from __future__ import annotations

from collections.abc import Iterator

from unspoken.errors import BudgetError
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import NONE, Cost
from unspoken.release.budget_entries import Draw
from unspoken.release.release import Release
from unspoken.table.table import Table

WITHOUT = Cost(None, law=NONE)


def release_draws(release: Release, to: str, kind: str = "release",
                  table: Table | None = None) -> tuple[Draw, ...]:
    """Return what has to be booked before a release of a table is written.

    What goes out as it is bounds nothing and is listed beside the epsilon of the rest: columns that
    are not changed, values of those who chose so, who has no value, and public sizes of baskets.
    Who has no value is looked up in `table`, or else in the release.
    """
    what = f"{release.mechanism.get('name')} {release.release_id[:12]}"
    cost = _cost(release)
    bare = () if cost.law == NONE else _outside(release, release.table if table is None else table)
    return (Draw(cost, to, kind, what),
            *(Draw(WITHOUT, to, kind, f"{what}: {one}"[:500]) for one in bare))


def _outside(release: Release, table: Table) -> Iterator[str]:
    """Yield what a release with an epsilon shows without one."""
    facts = release.guarantee.facts
    if facts.get("unchanged"):
        yield f"{', '.join(map(str, facts['unchanged']))} as they are"
    if facts.get("by_choice"):
        yield f"values of those who chose to report them: {', '.join(map(str, facts['by_choice']))}"
    if facts.get("public_sizes"):
        yield "sizes of baskets as they are"
    # Distorted columns state their reports; values that were drawn from noise state none.
    blank = [name for name in facts.get("columns") or () if "reports" in facts
             and table.engine.count_missing(table.frame, name)]
    if blank:
        yield f"who has no value, as it is: {', '.join(blank)}"


def draw_release(budget: Budget, table: Table, release: Release, to: str, *,
                 kind: str = "release", again: bool = True, undone: str = "written") -> None:
    """Draw what a release takes, or refuse because too little is left.

    `again` says whether a release that was drawn before is drawn once more; `undone` is what did
    not happen to a release that is refused.
    """
    budget.check_table(table)
    known = set() if again else {one.what for one in budget.draws}
    wanted = [one for one in release_draws(release, to, kind, table)
              if one.what not in known]
    if not all(budget.draw_each([one])[0] for one in wanted):
        raise BudgetError(f"The budget of this table has {budget.left(to):g} left, and this "
                          f"release needs {wanted[0].cost}. Nothing was {undone}. 'unspoken "
                          "budget' shows what it was spent on.")


def _cost(release: Release) -> Cost:
    facts = release.guarantee.facts
    if release.details.get("seeded") is True:
        return WITHOUT
    if isinstance(facts.get("cost"), dict):
        return Cost(**facts["cost"])
    total = facts.get("epsilon_total")
    return WITHOUT if total is None else Cost(float(total))

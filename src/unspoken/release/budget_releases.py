"""What a release takes from the budget of its table."""

from __future__ import annotations

from unspoken.release.budget_costs import NONE, Cost
from unspoken.release.budget_entries import Draw
from unspoken.release.release import Release

WITHOUT = Cost(None, law=NONE)


def release_draws(release: Release, to: str, kind: str = "release") -> tuple[Draw, ...]:
    """Return what has to be booked before a release is written.

    Columns that are released as they are bound nothing: they are listed beside the epsilon of the
    others.
    """
    what = f"{release.mechanism.get('name')} {release.release_id[:12]}"
    facts = release.guarantee.facts
    bare = facts.get("unchanged") or []
    listed = Draw(WITHOUT, to, kind, f"{what}: {', '.join(map(str, bare))} as they are"[:500])
    cost = _cost(release)
    draws = (Draw(cost, to, kind, what),)
    return (*draws, listed) if bare and cost.law != NONE else draws


def _cost(release: Release) -> Cost:
    facts = release.guarantee.facts
    if release.details.get("seeded") is True:
        return WITHOUT
    if isinstance(facts.get("cost"), dict):
        return Cost(**facts["cost"])
    total = facts.get("epsilon_total")
    return WITHOUT if total is None else Cost(float(total))

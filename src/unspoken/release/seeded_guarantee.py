"""What a release that was made with a seed may still promise: no odds.

`random_state` makes experiments repeatable. Whoever guesses it draws the same noise and takes it
off again, so that neither an epsilon nor a gamma holds. Every release passes here.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unspoken.errors import SeededWarning
from unspoken.release.guarantee import Guarantee

_ODDS = ("epsilon", "epsilon_total", "epsilon_per_report", "gamma")
LINE = ("it was made with a seed (random_state): anyone who guesses the seed undoes it, so no "
        "epsilon and no gamma holds; leave random_state out for a release")
STATEMENT = ("This release was made with a seed (random_state), for tests and experiments. Anyone "
             "who guesses the seed undoes it. It bounds no odds.")


def without_odds(guarantee: Guarantee) -> Guarantee:
    """Return the guarantee of a seeded release; one that has been here before is left alone."""
    if LINE in guarantee.conditions:
        return guarantee
    statement = STATEMENT if _states_odds(guarantee.facts) else guarantee.statement
    return replace(guarantee, statement=statement, conditions=(*guarantee.conditions, LINE),
                   facts=_stripped(guarantee.facts))


def warn_of_seed() -> None:
    """Warn the custodian that the seed of a release can be guessed."""
    warnings.warn("The release was made with a seed (random_state). Anyone who guesses the seed "
                  "can undo the release. Leave random_state out.", SeededWarning, stacklevel=5)


def _states_odds(facts: Mapping[str, Any]) -> bool:
    return any((name in _ODDS and value is not None)
               or (isinstance(value, Mapping) and _states_odds(value))
               for name, value in facts.items())


def _stripped(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if name in _ODDS else _stripped(value) if isinstance(value, Mapping)
            else value for name, value in facts.items()}

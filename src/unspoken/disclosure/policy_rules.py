"""What a policy file may say: its sections, the names in them, and the values they take."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unspoken.disclosure.people_risk import INFERRED, LINKED, MEMBER, SINGLED
from unspoken.disclosure.plain_language import MUST_KNOW
from unspoken.errors import PolicyError, explain
from unspoken.release.parameters import YES_NO, OneOf, Real, Rule, Whole

ANYBODY = "anybody"
AGAINST = (*MUST_KNOW, ANYBODY)
LIMIT = "max_recovered"


@dataclass(frozen=True)
class Share:
    """A number from 0 to 1."""

    least: float = 0.0

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"a number from {self.least:g} to 1"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        real = isinstance(value, int | float) and not isinstance(value, bool)
        return real and self.least <= float(value) <= 1.0


@dataclass(frozen=True)
class NameList:
    """A list of column names."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a list of column names"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return isinstance(value, list) and all(isinstance(name, str) for name in value)


_RECOVERED: Mapping[str, Rule] = {LIMIT: Share(), "against": OneOf(AGAINST)}
PEOPLE: Mapping[str, tuple[str, ...]] = {
    "max_identified": ("identified", "linked", LINKED),
    "max_confident": ("confident",),
    "max_singled_out": ("singled out", SINGLED),
    "max_inferred": ("inferred", INFERRED),
    "max_member": ("member", MEMBER),
    "max_memorised": ("memorised",),
    "max_small_leaves": ("small leaves",),
}
"""The limits of [people], and the measures that each of them is about, as adversaries of a family
and as attacks on people call them."""
PERSONS: Mapping[str, str] = {
    "max_prosecutor": "the highest chance of one of the people looked at to be found (prosecutor)",
    "max_worst_percent": "the mean chance of the worst 1% to be found",
    "max_journalist": "the highest chance of one of the people looked at to be found by who does "
                      "not know that the person is in the release (journalist)",
    "max_marketer": "the mean chance of everybody to be found (marketer)",
}
"""The limits of [people] on the chances of single persons, in words."""
SECTIONS: Mapping[str, Mapping[str, Rule]] = {
    "columns": {**_RECOVERED, "measure": OneOf(("domain", "records"))},
    "subspaces": _RECOVERED,
    "paths": _RECOVERED,
    "people": dict.fromkeys((*PEOPLE, *PERSONS), Share()),
    "anonymity": {"k": Whole(1), "l": Real(0.0), "t": Share()},
    "privacy": {"max_epsilon": Real(0.0)},
    "register": {"max_added": Share()},
}
TOP: Mapping[str, Rule] = {"radius": Share(1e-9), "allow_unscored": NameList(),
                           "allow_seeded": YES_NO}


def section(where: str, data: Any, rules: Mapping[str, Rule],
            inherited: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a section that is complete; one that limits nothing is refused."""
    if not isinstance(data, dict):
        raise PolicyError(explain(where, "a table", data))
    known_names(where, data, rules)
    for name, value in data.items():
        admit(f"{where} '{name}'", rules[name], value)
    if not data:
        raise PolicyError(f"{where} is empty. Write some of {', '.join(rules)}.")
    if LIMIT in rules and LIMIT not in {**(inherited or {}), **data}:
        raise PolicyError(f"{where} must say how much may be recovered. Got only "
                          f"{', '.join(data)}. Write {LIMIT} = 0.2, or another share.")
    return dict(data)


def admit(what: str, rule: Rule, value: Any) -> None:
    """Refuse a value that a rule does not admit."""
    if not rule.admits(value):
        raise PolicyError(explain(what, rule.allowed(), value))


def known_names(where: str, data: Mapping[str, Any], allowed: Iterable[str]) -> None:
    """Refuse a name that is not known, with the closest one that is."""
    for name in data:
        if name not in allowed:
            raise PolicyError(unknown_name(f"{where} every name", name, list(allowed)))


def unknown_name(what: str, name: str, allowed: list[str]) -> str:
    """Return the words about a name that is not known."""
    close = difflib.get_close_matches(name, allowed, n=1)
    return explain(what, f"one of {', '.join(allowed[:20])}", repr(name),
                   f"Did you mean '{close[0]}'?" if close else "")

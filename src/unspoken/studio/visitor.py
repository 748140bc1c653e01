"""Who looks at a page, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass

CUSTODIAN, OFFICER, ANALYST = ROLES = ("custodian", "officer", "analyst")
EVERYBODY = frozenset(ROLES)


@dataclass(frozen=True)
class Visitor:
    """Somebody whom the doorkeeper let in.

    `csrf` is what every form of theirs must bring back. Who runs the studio on their own machine
    has all roles, and no name before they sign.
    """

    csrf: str
    roles: frozenset[str] = EVERYBODY
    name: str = ""

    def may(self, *roles: str) -> bool:
        """Return True if one of these roles is theirs."""
        return bool(self.roles & set(roles))

"""Guarantee: a named statement with its conditions that travels inside a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from unspoken.errors import NotCoveredError, ReleaseError, explain
from unspoken.release.method import methods, name_in


@dataclass(frozen=True)
class Verdict:
    """Yes or no, and why; true in a condition exactly if it is yes."""

    ok: bool
    reason: str

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return f"{'yes' if self.ok else 'no'}: {self.reason}"


@dataclass(frozen=True)
class Guarantee:
    """What a release promises, under which conditions, for which miners.

    Attributes
    ----------
    statement : str
        The promise, in a sentence.
    conditions : tuple of str
        What must be true for it to hold.
    facts : mapping
        Its numbers, such as epsilon or K.

    Examples
    --------
    >>> release.guarantee.covers(DecisionTreeClassifier())  # doctest: +SKIP
    """

    name: ClassVar[str] = "none"

    statement: str
    conditions: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return a true Verdict if the promise holds for that miner on all (or named) columns."""
        return Verdict(False, f"This guarantee ('{self.name}') makes no promise for a miner.")

    def require(self, miner: Any, columns: Sequence[str] | None = None) -> None:
        """Raise NotCoveredError with the reason unless the promise holds for that miner."""
        verdict = self.covers(miner, columns)
        if not verdict:
            raise NotCoveredError(verdict.reason)

    def summary(self) -> str:
        """Return the statement and its conditions as text."""
        return "\n".join([self.statement, *(f"  - {line}" for line in self.conditions)])

    def to_json(self) -> dict[str, Any]:
        """Return the guarantee as plain data."""
        return {"name": self.name, "statement": self.statement,
                "conditions": list(self.conditions), "facts": dict(self.facts)}

    @staticmethod
    def from_json(data: Any, mechanism: Mapping[str, Any] | None = None) -> Guarantee:
        """Read a guarantee; a name that this unspoken does not know promises nothing.

        Nor does one that the method of `mechanism` does not give.
        """
        if (not isinstance(data, dict) or not isinstance(data.get("statement"), str)
                or not isinstance(data.get("conditions") or [], list)):
            raise ReleaseError(explain("A guarantee", "{name, statement, conditions, facts}", data))
        kind = _kind(str(data.get("name")), mechanism)
        conditions = tuple(str(line) for line in data.get("conditions") or ())
        facts = data.get("facts")
        return kind(data["statement"], conditions, facts if isinstance(facts, dict) else {})


def _kind(name: str, mechanism: Mapping[str, Any] | None) -> type[Guarantee]:
    known = methods()
    chosen = known.values() if mechanism is None else [
        known[one] for one in (name_in(mechanism),) if one in known]
    kinds = (kind for method in chosen for kind in method.guarantees if kind.name == name)
    return next(kinds, Guarantee)

"""Consent in advance, by rule: which studies this organisation agrees to without being asked.

A rule must name everything that limits it: the tasks, who proposes, who may learn the result, the
tables and columns that may be used, how many studies it admits in all, in which modes, who may
deal, and who may link records. A study that any part of the rule does not cover waits for a person.
The columns are enforced, not only compared: the study gets a copy of the table that holds no
others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.engines.modes import MODE_NAMES
from unspoken.joint.node.proposal import Proposal
from unspoken.joint.session.study import Study
from unspoken.joint.session.study_fields import list_of_texts, one_of, only_keys
from unspoken.joint.tasks.param_rules import is_number

NEEDED = ("tasks", "from", "receivers", "tables", "columns", "studies")
OPTIONAL = ("modes", "dealers", "linkers", "owners", "attempts", "max_epsilon")
MOST_ATTEMPTS = 20
FEWEST_OWNERS = 3
"""Of two owners who add up without shares, each learns the other's values from the sum."""


@dataclass(frozen=True)
class StandingRule:
    """One rule; `max_epsilon` limits what all attempts together may cost, where there is a cost."""

    tasks: tuple[str, ...]
    proposers: tuple[str, ...]
    receivers: tuple[str, ...]
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    studies: int
    max_epsilon: float | None = None
    modes: tuple[str, ...] = ()
    dealers: tuple[str, ...] = ()
    owners: int | None = None
    attempts: int = MOST_ATTEMPTS
    linkers: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Any) -> StandingRule:
        """Read [[standing]]; a rule that leaves something open is refused."""
        only_keys("standing", data, (*NEEDED, *OPTIONAL))
        for name in NEEDED:
            if name not in data:
                raise StudyError(f"A standing consent must say '{name}'. One does not.")
        lists = {name: list_of_texts(name, data[name]) for name in NEEDED[:-1]}
        _refuse_empty(lists)
        return cls(lists["tasks"], lists["from"], lists["receivers"], lists["tables"],
                   lists["columns"], above_zero(data, "studies"), _epsilon(data),
                   tuple(one_of("modes", mode, MODE_NAMES) for mode
                         in list_of_texts("modes", data.get("modes", []))),
                   list_of_texts("dealers", data.get("dealers", [])),
                   above_zero(data, "owners") if "owners" in data else None,
                   above_zero({"attempts": MOST_ATTEMPTS, **data}, "attempts"),
                   list_of_texts("linkers", data.get("linkers", [])))

    @property
    def words(self) -> str:
        """Return the rule in words, for the record of who agreed."""
        return (f"standing consent to {', '.join(self.tasks)} from {', '.join(self.proposers)} "
                f"for {', '.join(self.receivers)} on {', '.join(self.columns)} of "
                f"{', '.join(self.tables)}")

    def admits(self, proposal: Proposal, own: str, used: int) -> bool:
        """Return True if a study is covered at node `own`; the rule has admitted `used` before."""
        study, table = proposal.study, proposal.tables.get(own)
        learning = {name for one in study.disclosures for name in study.learning(one)
                    if name not in study.having("linker")}
        return (study.task in self.tasks and study.author in self.proposers and used < self.studies
                and (table is None or table in self.tables) and learning <= set(self.receivers)
                and self._safe(study) and proposal.attempts <= self.attempts
                and self._affordable(study.parameters, proposal.attempts))

    def _safe(self, study: Study) -> bool:
        """Return True for a mode, outsiders and a number of owners that the rule names."""
        usual = 1 if study.facts.has_shares else FEWEST_OWNERS
        return (study.mode in self.modes and (study.dealer is None or study.dealer in self.dealers)
                and set(study.having("linker")) <= set(self.linkers)
                and len(study.having("owner")) >= (self.owners or usual))

    def _affordable(self, parameters: Mapping[str, Any], attempts: int) -> bool:
        """Return True if all attempts together, each with noise of its own, cost little enough."""
        epsilon = parameters.get("epsilon")
        if self.max_epsilon is None:
            return not is_number(epsilon)
        return (epsilon is not None and is_number(epsilon)
                and epsilon * attempts <= self.max_epsilon)


def _refuse_empty(lists: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a list that names nothing; who owns no table has none to name, and no columns."""
    data = lists["tables"] + lists["columns"]
    for name, words in lists.items():
        if not words and (data or name not in ("tables", "columns")):
            raise StudyError(f"'{name}' of a standing consent names nothing. Name what it admits, "
                             "or take the rule out.")


def above_zero(data: Mapping[str, Any], name: str, of: str = "a standing consent") -> int:
    """Return a field that is a whole number above 0."""
    value = data[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise StudyError(explain(f"'{name}' of {of}", "a whole number above 0", value))
    return value


def _epsilon(data: Mapping[str, Any]) -> float | None:
    epsilon = data.get("max_epsilon")
    if epsilon is not None and (not is_number(epsilon) or epsilon <= 0):
        raise StudyError(explain("'max_epsilon'", "a number above 0", epsilon))
    return epsilon

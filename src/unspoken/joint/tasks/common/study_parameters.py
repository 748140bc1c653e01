"""The parameters of studies: what all tasks read, refuse and plan in the same way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.linkage.field_tokens import KINDS, LinkColumn
from unspoken.joint.mpc.linkage.linkage_rules import LinkRules
from unspoken.joint.mpc.linkage.record_encodings import ENCODINGS, WIDTHS, EncodingRules
from unspoken.joint.mpc.sets.encrypted_circle import MOST as MOST_IDS
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import needed, party_table
from unspoken.joint.tasks.param_rules import Between, Flag, OneWord, RealBetween, Word, Words
from unspoken.joint.tasks.task import Outlook, notes_of, safe_against
from unspoken.joint.tasks.task_params import TaskSettings, agreed, declared
from unspoken.release.parameters import OneOf
from unspoken.table.table import Table


@dataclass(frozen=True)
class OrderSettings(TaskSettings):
    """How records come into one order, in every task over columns."""

    ids: str = field(default="", metadata=agreed(
        Word(), "the column of ids by which records are aligned"))
    least: int = field(default=10, metadata=agreed(
        Between(0, MOST_IDS), "the least number of ids of an owner where records are aligned"))
    same_order: bool = field(default=False, metadata=agreed(
        Flag(), "all files list the same records in the same order"))
    link: tuple[str, ...] = field(default=(), metadata=agreed(
        Words('a list such as ["last:name", "born:date", "postcode:code"]'),
        f"columns by which people without a common id are linked, with their kinds: "
        f"{', '.join(KINDS)}"))
    link_on: str = field(default="unit", metadata=agreed(
        OneWord(("unit", "shares")), "whether a linkage unit compares encodings (--linker), or "
        "they are compared on shares, between two owners of some thousand records"))
    link_encoding: str = field(default="minhash", metadata=agreed(
        OneWord(tuple(ENCODINGS)), "how records are encoded for the linkage unit"))
    link_bits: int = field(default=512, metadata=agreed(
        OneOf(WIDTHS), "the length of a record's encoding, of kind minhash; the shorter, the less "
        "can be guessed from it, and the more links are missed"))
    link_salt: str = field(default="", metadata=agreed(
        Word("the name of one of the columns in 'link'"), "a column whose values (of a date: the "
        "years) have keys of their own, which makes guessing hard; an error in it loses the link"))
    link_precision: float = field(default=0.98, metadata=agreed(
        RealBetween(0.5, 0.9999), "the share of linked records that shall be right, by which the "
        "linkage unit sets its threshold"))
    link_threshold: float = field(default=0.55, metadata=agreed(
        RealBetween(0.1, 1), "the similarity from which on records are linked on shares"))

    @property
    def linkage(self) -> LinkRules | None:
        """Return what is agreed about linking records, if they are linked."""
        if not self.link:
            return None
        columns = tuple(map(LinkColumn.of, self.link))
        if self.link_salt and self.link_salt not in [column.name for column in columns]:
            raise StudyError(explain("Parameter 'link_salt'", "one of the columns in 'link'",
                                     self.link_salt))
        rules = EncodingRules(self.link_encoding, self.link_bits, self.link_salt)
        return LinkRules(columns, rules, self.link_precision, self.link_threshold, self.least,
                         self.link_on)


ORDER_PARAMS = declared(OrderSettings)


def naming_columns(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of every owner by which records are aligned or linked."""
    linkage, ids = OrderSettings.of(parameters).linkage, parameters.get("ids")
    if linkage is not None:
        return tuple(column.name for column in linkage.columns)
    return (ids,) if isinstance(ids, str) else ()


RECORD_ORDER = tuple(param.name for param in ORDER_PARAMS)
EXPECTED_PARAM = agreed(Between(1, 1 << 40), "the number of records that the forecast is for",
                        split="columns")


def one_kind(parameters: Mapping[str, Any], name: str, kinds: Sequence[str], what: str) -> str:
    """Return in which of some ways a column is described: one, and one only."""
    present = [kind for kind in kinds if f"{kind}.{name}" in parameters]
    if len(present) != 1:
        raise StudyError(explain(f"{what} '{name}'", "given one of "
                                 + ", ".join(f"{kind}.{name}" for kind in kinds), len(present)))
    return present[0]


def about_known(parameters: Mapping[str, Any], names: Collection[str], what: str) -> None:
    """Refuse what is said about columns that are not there."""
    for key in parameters:
        if "." in key and key.partition(".")[2] not in names:
            raise StudyError(explain(f"Parameter '{key}'", f"about one of '{what}'",
                                     "another name"))


def one_range_each(task: str, columns: Sequence[str], ranges: Collection[str]) -> None:
    """Refuse columns without a range, and ranges of other columns."""
    for name in columns:
        if name not in ranges:
            raise StudyError(f"Task '{task}' needs a range of column '{name}'. Add --set "
                             f"'range.{name}=[LOWEST, HIGHEST]', from public knowledge or from a "
                             "study of task schema.")
    only_about("range", task, columns, ranges)


def only_about(kind: str, task: str, columns: Sequence[str], named: Collection[str]) -> None:
    """Refuse what is said about a column that a task does not have."""
    for name in named:
        if name not in columns:
            raise StudyError(f"Parameter '{kind}.{name}' of task '{task}' must be about one of "
                             f"'columns'. These are {', '.join(columns)}.")


def names_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of a study, which were checked to be different."""
    return tuple(parameters["columns"])


def owners_of(parameters: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return which owner has which columns, where they are written as "owner:column"."""
    owners: dict[str, tuple[str, ...]] = {}
    for word in names_of(parameters):
        owner, mark, name = word.partition(":")
        if not mark or not owner or not name:
            raise StudyError(explain("Parameter 'columns'", 'a list such as ["north:age"]', word))
        owners[owner] = (*owners.get(owner, ()), name)
    return owners


def learns(study: Study, declared: Sequence[Disclosure],
           sizes: str = "kinds and sizes of what is computed") -> dict[str, list[str]]:
    """Return what each party learns; a dealer outside the program learns sizes."""
    by_name = {name: [d.because for d in declared if not d.to or name in d.to]
               for name in everybody(study)}
    return by_name | {name: [sizes] for name in study.names if name not in by_name}


def not_chosen(study: Study) -> None:
    """Refuse receivers that a study names where a task cannot tell its result to some alone."""
    named, owners = set(study.having("receiver")), set(study.having("owner"))
    if named and named != owners:
        raise StudyError(f"Task '{study.task}' tells every owner the same, as its plan says. "
                         f"Receivers were chosen: {', '.join(sorted(named))}. Leave them out.")


def everybody(study: Study) -> list[str]:
    """Return who takes part in the program."""
    outside = (study.outside_dealer, *study.having("linker"))
    return [name for name in study.names if name not in outside]


def outlined(study: Study, declared: Sequence[Disclosure], more: Sequence[str] = (),
             assumes: str = "") -> Outlook:
    """Return the outlook of a study whose values are on shares."""
    return Outlook(learns(study, declared), safe_against(study), (*notes_of(study), *more),
                   assumes)


def read_own(path: Path, names: Sequence[str]) -> Table:
    """Return an owner's file; one that lacks a column is refused."""
    table = party_table(path)
    needed(table.schema.names, *names)
    return table


def read_columns(path: Path, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return columns of a file by name; categories of any type are compared as texts."""
    rows = read_own(path, names).arrow(list(names))
    return {name: np.array(rows[name].to_pylist(), object) for name in names}


def read_numbers(path: Path, names: Sequence[str]) -> dict[str, npt.NDArray[np.float64]]:
    """Return numeric columns of a file by name."""
    table = read_own(path, names).numbers(names)
    return {name: table[:, i] for i, name in enumerate(names)}

"""The contract of adversaries against published tables: they know people, and look for them.

A view of such a release is made of its classes: rows that agree on every published
quasi-identifier cannot be distinguished. What each released value may stand for is read from
the public description: an interval, a set, a limit, or the value itself. An adversary knows
something about some people (targets) and answers which classes each of them could be in. From
that follow the chance of re-identification and of disclosing a sensitive value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.disclosure.adversary import Adversary
from unspoken.errors import InputError
from unspoken.methods.anonymity.adversaries.released_meaning import (
    Meaning,
    described,
    meaning,
)
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.same_meaning import alike
from unspoken.release.release import Release
from unspoken.table.category_codes import Coded, coded

if TYPE_CHECKING:
    from unspoken.methods.anonymity.table_knowledge import People

QUASI, ERRORS, NEVER, POOL_LEVEL, ORDER = LEVELS = (
    "quasi", "quasi errors", "quasi never", "pool", "order")
"""What an adversary may know of people; `table_knowledge` describes each level."""

@dataclass(frozen=True)
class TableView:
    """All that an adversary may see of a published table: classes, and sensitive values in them.

    Attributes
    ----------
    mechanism, table : the public description of the release, and its records (Arrow).
    quasi, columns : the quasi-identifiers, and what the released values of each stand for.
    owner : the equivalence class of every record.
    secrets : the coded sensitive columns.
    """

    mechanism: Mapping[str, Any]
    quasi: tuple[str, ...]
    columns: Mapping[str, Meaning]
    owner: Ints
    secrets: Mapping[str, Coded]
    table: Any

    @classmethod
    def of(cls, release: Release, quasi: Sequence[str] | None = None,
           sensitive: Sequence[str] | None = None,
           members: Mapping[str, Any] | None = None) -> TableView:
        """Look at a release; quasi-identifiers are what its mechanism describes.

        `members`: what labels hold, by column, where more is known than the description names.
        """
        about = described(release.mechanism, members)
        secret = tuple(sensitive) if sensitive is not None else tuple(
            release.schema.with_role("sensitive"))
        known = tuple(quasi) if quasi is not None else tuple(
            name for name in release.schema.names if name in about and name not in secret)
        if not known:
            raise InputError("The release has no quasi-identifiers. Name them: quasi=[...].")
        rows = release.table.arrow()
        columns = {name: meaning(rows[name], about.get(name, {})) for name in known}
        owner = stats.classes([one.found.codes for one in columns.values()])
        return cls(dict(release.mechanism), known, columns, owner,
                   {name: hidden for name in secret if name not in known
                    and (hidden := alike(coded(rows[name]))).missing}, rows)

    @property
    def rows(self) -> int:
        """Return the number of released records."""
        return int(self.owner.size)

    @cached_property
    def sizes(self) -> Ints:
        """Return the number of records of every class."""
        return stats.sizes(self.owner)

    @cached_property
    def first(self) -> Ints:
        """Return one record of every class."""
        return np.unique(self.owner, return_index=True)[1]

    def counts(self, sensitive: str) -> Floats:
        """Return (classes, values + 1): how often each sensitive value occurs, missing last."""
        secret = self.secrets[sensitive]
        out = np.zeros((self.sizes.size, secret.missing + 1))
        np.add.at(out, (self.owner, secret.codes), 1.0)
        return out

    def distances(self, known: Any, classes: Ints | None = None) -> Floats:
        """Return (people, classes): how far what is known of people is from every class."""
        first = self.first if classes is None else self.first[classes]
        out = np.zeros((known.num_rows, first.size))
        for name in self.quasi:
            if name in known.column_names:
                one = self.columns[name]
                out += one.distance(known[name], one.found.codes[first])
        return out


@dataclass(frozen=True)
class TableKnowledge:
    """What one adversary knows of its targets, one row per target; None if it does not know it.

    Attributes
    ----------
    people : their quasi-identifiers as known, an Arrow table.
    secrets : by sensitive column, estimates of numbers or codes of categories.
    pool, mine : everybody who could be in the release, and the targets' rows of it.
    order, ranks : a column, and the share of people below each target when sorted by it.
    never : for each target, values (codes) that are ruled out.
    """

    people: Any
    secrets: Mapping[str, Floats] | None = None
    pool: Any | None = None
    mine: Ints | None = None
    order: str | None = None
    ranks: Floats | None = None
    never: Ints | None = None


@dataclass(frozen=True)
class Matches:
    """For every target the classes it could be in, and whether the adversary is sure.

    Attributes
    ----------
    weight : (targets, classes), how likely each record of the class is the target's, up to a
        factor; all zero if the target was not found.
    claimed : the targets for which a single record is claimed.
    shares : by sensitive column (targets, values), the probability of each value.
    """

    weight: Floats
    claimed: Bools
    shares: Mapping[str, Floats]

    def named(self, view: TableView) -> Floats:
        """Return (targets, classes): the chance given to each single record of a class."""
        total = self.weight @ view.sizes
        return np.asarray(self.weight / np.maximum(total, 1e-300)[:, None])


class TableAdversary(Adversary):
    """Base of the adversaries against published tables."""

    measures: ClassVar[tuple[str, ...]] = ("identified", "domain", "records", "sure")

    def levels(self, people: People, view: TableView) -> Iterator[tuple[str, str]]:
        """Yield the levels of knowledge at which it is tried, each with the column it is about."""
        yield QUASI, ""

    def attack(self, view: TableView, knowledge: TableKnowledge) -> Matches:
        """Look for every target."""
        for name in sorted(self.needs):
            if getattr(knowledge, name) is None:
                raise InputError(f"'{self.name}' needs '{name}' in its knowledge. Got None.")
        return self._attack(view, knowledge)

    def _attack(self, view: TableView, knowledge: TableKnowledge) -> Matches:
        raise NotImplementedError


def believed(view: TableView, weight: Floats) -> dict[str, Floats]:
    """Return what the classes that a target could be in say about its sensitive values."""
    out = {}
    for name in view.secrets:
        shares = weight @ view.counts(name)
        whole = view.counts(name).sum(axis=0)
        lost = shares.sum(axis=1) <= 0
        shares[lost] = whole
        out[name] = shares / shares.sum(axis=1, keepdims=True)
    return out

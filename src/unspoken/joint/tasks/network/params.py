"""What everybody knows before a network is learned: nodes, their order, where K2 stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.common.column_checks import of_site, one_length
from unspoken.joint.tasks.common.study_parameters import EXPECTED_PARAM
from unspoken.joint.tasks.param_rules import Between, Word, Words
from unspoken.joint.tasks.task import RECORDS
from unspoken.joint.tasks.task_params import TaskSettings, agreed, check_declared
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.release.parameters import Whole

MOST_RECORDS = 1 << 20
MOST_VALUES = 256


@dataclass(frozen=True)
class Node:
    """An attribute: its name, who has it, and how many values it has. All of this is public."""

    name: str
    site: str
    size: int

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.size, int) or not 1 <= self.size <= MOST_VALUES:
            raise InputError(explain(f"Node '{self.name}'", "a name, and 1 to "
                                     f"{MOST_VALUES} values", self.size))


@dataclass(frozen=True)
class NetworkParams:
    """Where K2 stops: at the most parents, or when no candidate makes the score greater.

    Attributes
    ----------
    max_parents : int, default 2
        The most parents of a node.
    max_cells : int, default 2**22
        The most counts of one step.
    """

    max_parents: int = field(default=2, metadata=agreed(
        Whole(0), "the most parents of a node", "Use 2 or 3: tables grow with every parent."))
    max_cells: int = field(default=1 << 22, metadata=agreed(
        Whole(1), "the most counts of one step", "It bounds the counts of one step."))

    def __post_init__(self) -> None:
        """Refuse what cannot be computed."""
        check_declared("K2", self)


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(TaskSettings, NetworkParams):
    """What a study says about its network."""

    order: tuple[str, ...] = field(metadata=agreed(
        Words("a list of two or more different nodes", 2),
        "the nodes in the order of K2: parents stand before their children"))
    site: Mapping[str, str] = field(metadata=agreed(
        Word("an owner's name"), "the owner of a node", name="site.NAME"))
    values: Mapping[str, int] = field(metadata=agreed(
        Between(1, MOST_VALUES), "how many values a node has", name="values.NAME"))
    expected: int = field(default=RECORDS, metadata=EXPECTED_PARAM)


@dataclass(frozen=True)
class Order:
    """Nodes in the order of K2: the parents of a node stand before it."""

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        names = [node.name for node in self.nodes]
        if len(names) < 2 or len(set(names)) != len(names):
            raise InputError(explain("Nodes", "two or more, of different names",
                                     ", ".join(names) or "none"))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many values each node has."""
        return tuple(node.size for node in self.nodes)

    @property
    def starts(self) -> Ints:
        """Return where the values of each node start, and the number of all."""
        return np.cumsum([0, *self.sizes]).astype(np.int64)

    @property
    def sites(self) -> tuple[str, ...]:
        """Return the sites in the order in which they first occur."""
        return tuple(dict.fromkeys(node.site for node in self.nodes))

    def of(self, site: str) -> list[int]:
        """Return the places of a site's nodes."""
        return [place for place, node in enumerate(self.nodes) if node.site == site]


@dataclass(frozen=True)
class NetworkSite:
    """A site's columns as codes, (nodes of the site, rows), and ids where rows are not aligned."""

    codes: Ints
    ids: Sequence[Any] | None = None

    def take_rows(self, places: Ints) -> NetworkSite:
        """Return the site with some of its records."""
        return NetworkSite(self.codes[:, places])

    def fits(self, order: Order, name: str) -> NetworkSite:
        """Check a site against the study before anything is sent."""
        places = order.of(name)
        if self.codes.ndim != 2 or self.codes.shape[0] != len(places):
            raise RefusedError(explain(f"The columns of '{name}'", f"{len(places)}, as agreed",
                                       self.codes.shape))
        for place, row in zip(places, self.codes, strict=True):
            if row.size and not 0 <= row.min() <= row.max() < order.nodes[place].size:
                raise DataError(explain(f"The codes of '{order.nodes[place].name}'",
                                        f"from 0 to {order.nodes[place].size - 1}", "others"))
        if self.ids is not None and len(self.ids) != self.codes.shape[1]:
            raise DataError(explain("The columns and ids of a site", "of one length", "several"))
        if self.codes.shape[1] > MOST_RECORDS:
            raise RefusedError(f"There must be at most {MOST_RECORDS:,} records. There are more.")
        return self


def site_of(order: Order, name: str, columns: Mapping[str, Any],
            categories: Mapping[str, Sequence[str | None]] | None = None,
            ids: Sequence[Any] | None = None) -> NetworkSite:
    """Code a site's columns: by given categories, or by those that occur, in their order."""
    rows = []
    for place in order.of(name):
        node = order.nodes[place]
        values = np.asarray(of_site(columns, node.name), object)
        known = (categories or {}).get(node.name) or _found(values)
        if len(known) > node.size:
            raise RefusedError(f"Column '{node.name}' must have at most {node.size} values, as "
                               "agreed. It has more. Agree on more, or join some.")
        rows.append(Attribute(node.name, tuple(known)).code(values))
    one_length(rows, "The columns of a site")
    return NetworkSite(
        np.array(rows, np.int64).reshape(len(rows), rows[0].size if rows else 0), ids
    )


def _found(values: Any) -> list[str | None]:
    texts = {None if v is None or v != v else str(v) for v in values.tolist()}
    return sorted(texts, key=lambda text: (text is None, text or ""))

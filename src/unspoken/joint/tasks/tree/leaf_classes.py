"""Class counts of nodes, kept as shares until the classes of leaves are found, all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.tasks.tree.level_growth import Sapling
from unspoken.joint.tasks.tree.question_scores import classes


class Leaves:
    """The shared class counts of nodes and of their parents, for the leaves in the end."""

    def __init__(self) -> None:
        self.parts: list[tuple[Shared, Shared]] = []
        self.nodes: list[int] = []

    def take(self, nodes: Sequence[int], counts: Shared, parents: Shared) -> None:
        """Keep the counts of some nodes and of their parents."""
        self.parts.append((counts, parents))
        self.nodes += nodes

    def branches(self, tree: Sapling, nodes: Sequence[int], counts: Shared) -> None:
        """Take in the counts of roots, and of all children, which are branches of their parents."""
        if not self.parts:
            roots = np.arange(tree.trees)
            self.take(roots.tolist(), counts[roots, -1], counts[roots, -1])
        slot = {node: i for i, node in enumerate(nodes)}
        above = np.array([slot[tree.parent[n]] for n in tree.level], np.int64)
        asked = np.array([tree.question[tree.parent[n]] for n in tree.level], np.int64)
        branch = np.array([tree.branch[n] for n in tree.level], np.int64)
        branch += tree.layout.first_branch[asked]
        self.take(tree.level, counts[above, branch], counts[above, -1])

    def of(self, leaves: Sequence[int]) -> tuple[Shared, Shared]:
        """Return the counts of the leaves, and of their parents."""
        slot = np.full(max(self.nodes) + 1, -1)
        slot[self.nodes] = np.arange(len(self.nodes))
        own, above = (concatenate(list(parts)) for parts in zip(*self.parts, strict=True))
        place = slot[list(leaves)]
        return own[place], above[place]

    async def classes(self, party: Party, leaves: Sequence[int], because: str,
                      to: Sequence[str]) -> list[int] | None:
        """Open the class of every leaf to some; None to the others."""
        places = await classes(party, *self.of(leaves))
        opened = await reveal(party, places, because=because, to=to)
        return None if opened is None else [int(place) for place in opened]

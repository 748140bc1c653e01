"""The parameters of tasks `forest` and `forest-columns`: those of trees, and of their number."""

from __future__ import annotations

from dataclasses import dataclass, field

from unspoken.joint.tasks.task_params import agreed
from unspoken.joint.tasks.tree.hidden_votes import SEED, TREES
from unspoken.joint.tasks.tree.params import GrowthSettings
from unspoken.release.parameters import Whole


@dataclass(frozen=True, kw_only=True)
class ForestSettings(GrowthSettings):
    """What a study of a forest says."""

    trees: int = field(default=10, metadata=TREES)
    attributes_at_a_node: int = field(default=0, metadata=agreed(
        Whole(0), "how many attributes count at a node; 0: the root of their number",
        split="rows"))
    questions_at_a_node: int = field(default=0, metadata=agreed(
        Whole(0), "how many slots count at a node; 0: half of all", split="columns"))
    seed: int = field(default=0, metadata=SEED)

"""What everybody knows before neighbours are sought, with every tie decided.

One owner asks with records of its own; all other owners have rows with a class. A record gets the
class that most of its k nearest rows have.

  equally near rows: the earlier one counts, in the order of the owners in the study and, of one
    owner, in the order of its file.
  as many rows of several classes: the class that stands first in `classes`.
  distances: Minkowski's, of values that are rounded to `scale` fractional bits; exact from there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from unspoken.joint.tasks.common.grid_distances import MOST_ORDER, MOST_SCALE, check_order
from unspoken.joint.tasks.param_rules import Between, Word, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed, check_declared
from unspoken.release.parameters import Real

MOST_K = 100
MOST_RECORDS = 1 << 20


@dataclass(frozen=True)
class NeighbourParams:
    """How many neighbours decide, and how distances are measured.

    Attributes
    ----------
    k : int
        How many of the nearest rows decide.
    most : float, default 8.0
        Every value lies between -most and most (tight is cheap).
    scale : int, default 8
        Fractional bits of values.
    order : int, default 2
        The order of the Minkowski distance, 1 or even; 2 is Euclidean.
    questions : int or None
        More records than this are refused before any distance is computed. Default: any number.
    """

    k: int = field(metadata=agreed(Between(1, MOST_K), "how many of the nearest rows decide"))
    most: float = field(default=8.0, metadata=agreed(
        Real(0.0, 2.0**40), "every value lies between -most and most"))
    scale: int = field(default=8, metadata=agreed(
        Between(0, MOST_SCALE), "fractional bits of values"))
    order: int = field(default=2, metadata=agreed(
        Between(1, MOST_ORDER), "the order of the Minkowski distance, 1 or even"))
    questions: int | None = field(default=None, metadata=agreed(
        Between(1, MOST_RECORDS), "more records than this are refused before any distance is "
        "computed; without it nothing counts them"))

    def __post_init__(self) -> None:
        """Refuse what no distance can be computed with."""
        check_declared("neighbours", self)
        check_order("neighbours", self.order)

    def words(self) -> str:
        """Return the rule for people."""
        kind = "" if self.order == 2 else f", Minkowski of order {self.order}"
        return (f"the class of most of the {self.k} nearest rows{kind}; of equally near ones the "
                "earlier counts, of equally frequent classes the first in the list")


@dataclass(frozen=True, kw_only=True)
class NeighbourSettings(TaskSettings, NeighbourParams):
    """What a study says about neighbours."""

    columns: tuple[str, ...] = field(metadata=agreed(Words(), "the columns that count"))
    target: str = field(metadata=agreed(Word(), "the column of the class"))
    classes: tuple[str, ...] = field(metadata=agreed(
        Words("a list of two or more different texts", 2), "all classes"))
    asks: str = field(metadata=agreed(
        Word("an owner's name"), "the owner of the records; all other owners have rows"))

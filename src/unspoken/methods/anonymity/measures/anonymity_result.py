"""Anonymity: what `measure` found, frozen, with its words, its JSON and its figure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from unspoken.models.figures import draw


@dataclass(frozen=True)
class Diversity:
    """The sensitive values of one column inside the classes: the worst class counts.

    `recursive_c` belongs to l = `distinct`: the table is recursively (c, l)-diverse for every c
    above it. `homogeneous` is the share of records in classes of one value. `baseline_strong` is
    strong L of the table as one class: what guessing the commonest value gives anyway.
    """

    column: str
    distinct: int
    entropy: float
    strong: float
    recursive_c: float
    t: float
    ordered: bool
    homogeneous: float
    baseline_strong: float


@dataclass(frozen=True)
class Reidentification:
    """Risks of re-identification.

    The prosecutor knows that a target is in the table: the largest and the average 1/f. The
    journalist looks for an arbitrary person: the largest 1/F over the population. The marketer
    looks for everybody: the expected share of correct re-identifications. `small` is the share
    of records in classes below 5.
    """

    prosecutor: float
    prosecutor_average: float
    journalist: float
    marketer: float
    small: float
    population: str


@dataclass(frozen=True)
class Uniqueness:
    """Shares of people who are unique, in the sample and (estimated) in the population."""

    sample: float
    population: float
    stays: float
    people: int
    estimator: str


@dataclass(frozen=True)
class Anonymity:
    """How well people hide among each other.

    `histogram` holds pairs: a size, and how many classes have it.
    """

    rows: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    k: int
    classes: int
    average_class_size: float
    discernibility: int
    singles: int
    histogram: tuple[tuple[int, int], ...]
    columns: tuple[Diversity, ...]
    risk: Reidentification
    uniqueness: Uniqueness

    def __getitem__(self, column: str) -> Diversity:
        """Return what was found about one sensitive column."""
        return next(one for one in self.columns if one.column == column)

    @property
    def l(self) -> int | None:  # noqa: E743
        """Return distinct L, the least over the sensitive columns; None without any."""
        return min((one.distinct for one in self.columns), default=None)

    @property
    def strong_l(self) -> float | None:
        """Return strong L (fu2010), the least over the sensitive columns."""
        return min((one.strong for one in self.columns), default=None)

    @property
    def entropy_l(self) -> float | None:
        """Return entropy L, the least over the sensitive columns."""
        return min((one.entropy for one in self.columns), default=None)

    @property
    def t(self) -> float | None:
        """Return t, the largest over the sensitive columns."""
        return max((one.t for one in self.columns), default=None)

    def summary(self) -> str:
        """Return the measures in plain words."""
        risk, unique = self.risk, self.uniqueness
        lines = [
            f"K = {self.k}: {self.rows:,} records in {self.classes:,} classes of "
            f"{', '.join(self.quasi)}; {self.average_class_size:.4g} records per class.",
            f"{self.singles:,} records ({unique.sample:.1%}) are alone in their class, "
            f"{risk.small:.1%} are in classes below 5. Discernibility {self.discernibility:,}.",
            f"Re-identification: prosecutor risk at most {risk.prosecutor:.3g} and "
            f"{risk.prosecutor_average:.3g} on average; journalist risk at most "
            f"{risk.journalist:.3g}; marketer risk {risk.marketer:.3g} ({risk.population}).",
        ]
        if unique.estimator != "none":
            lines.append(f"Of {unique.people:,} people {unique.population:.2%} are estimated to be "
                         f"unique; a person unique in the sample is so with {unique.stays:.1%} "
                         f"({unique.estimator}).")
        return "\n".join([*lines, *map(_line, self.columns)])

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> dict[str, Any]:
        """Return plain data; what is infinite becomes null."""
        document = asdict(self) | {"l": self.l, "strong_l": self.strong_l, "t": self.t,
                                   "entropy_l": self.entropy_l}
        for one in document["columns"]:
            if one["recursive_c"] == float("inf"):
                one["recursive_c"] = None
        return document

    def figure(self) -> Any:
        """Return the figure: records by the size of their class, and L beside its baseline."""
        return draw("anonymity", self)


def _line(one: Diversity) -> str:
    metric = "ordered" if one.ordered else "equal"
    return (f"'{one.column}': L = {one.distinct} (distinct), {one.entropy:.3g} (entropy), "
            f"{one.strong:.3g} (strong; {one.baseline_strong:.3g} without the table), "
            f"({one.recursive_c:.3g}, {one.distinct}) recursive; t = {one.t:.3g} ({metric} "
            f"distances). {one.homogeneous:.1%} of the records are in classes of one value.")

"""DistancesPreserved: what a rotated table promises, to whom (liu2006 section 2).

Orthogonal maps keep Euclidean distances up to rounding. A miner who looks at nothing else gets the
same result wherever no two distances that decide something are closer than the tolerance. Ties of
the original are kept only up to rounding; so miners that have to choose among equal distances are
not covered where the columns lie on a grid, and those of `even_miners` are, which treat equal
distances alike. `verify` runs miners on both sides and reports whether they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unspoken.methods.rotation.distance_rules import COVERED, Grid
from unspoken.release.guarantee import Guarantee, Verdict

if TYPE_CHECKING:
    from unspoken.methods.rotation.category_embedding import Embedding
    from unspoken.methods.rotation.streamed_moments import Moments
    from unspoken.methods.rotation.verify_distances import Verification
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.table import Table


def tolerance_for(columns: int) -> float:
    """Return the tolerance of distances, as a share of the largest length of a record.

    Products of n numbers are off by at most n units of rounding; two records, centring, scaling,
    a shift and the matrix itself add a few.
    """
    return float(8 * (columns + 8) * np.finfo(np.float64).eps)


@dataclass(frozen=True)
class DistancesPreserved(Guarantee):
    """Distances between released records are those of the original, within a tolerance."""

    name: ClassVar[str] = "distances-preserved"

    @property
    def tolerance(self) -> float:
        """Return the tolerance, as a share of the largest length of a record."""
        return float(self.facts.get("tolerance", 0.0))

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return whether an estimator object sees nothing but Euclidean distances."""
        kind = type(miner)
        rule = COVERED.get((kind.__module__.partition(".")[0], kind.__name__))
        if rule is None:
            return Verdict(False, f"{kind.__name__} is not known to look at Euclidean distances "
                           "only. Covered are " + ", ".join(sorted(n for _, n in COVERED)) + ".")
        if columns is not None and set(columns) != set(self.facts.get("columns", ())):
            return Verdict(False, "Distances are kept over all released columns together. "
                           "Give the miner all of them.")
        why = rule(miner.get_params(), self._grid)
        if why:
            return Verdict(False, f"{kind.__name__}: {why}.")
        return Verdict(True, f"{kind.__name__} sees Euclidean distances only; gaps below "
                       f"{self.tolerance:.1g} of the largest length may fall the other way.")

    @property
    def _grid(self) -> Grid:
        decimals = self.facts.get("decimals")
        return Grid(decimals if isinstance(decimals, int) else None,
                    self.facts.get("standardised") is True,
                    float(self.facts.get("category_square", 0.0)),
                    int(self.facts.get("category_columns", 0)))

    def verify(self, table: Table, release: Release, key: Key | None = None) -> Verification:
        """Run k-means, k-NN, hierarchical clustering and DBSCAN on both sides and compare."""
        from unspoken.methods.rotation.verify_distances import verify_distances

        return verify_distances(table, release, key, self.tolerance)


@dataclass(frozen=True)
class DistancesInExpectation(Guarantee):
    """Squared distances of a random projection are right on average, within a stated factor."""

    name: ClassVar[str] = "distances-in-expectation"

    @property
    def distortion(self) -> float | None:
        """Return delta: all squared distances are within 1 +- delta; None where none is known."""
        distortion = self.facts.get("distortion")
        return None if distortion is None else float(distortion)


def preserved(columns: Sequence[str], stats: Moments, standardised: bool, blank: int,
              embedding: Embedding | None = None) -> DistancesPreserved:
    """Return the promise of an orthogonal map over columns with these moments."""
    share = tolerance_for(len(columns))
    decimals = int(stats.decimals.max(initial=0)) if np.all(stats.decimals >= 0) else None
    of = "standardised columns" if standardised else "columns as they are"
    conditions = [
        f"distances of the {of}, to {share:.1g} of the largest length of a record (rounding)",
        "ties, and distances closer than that, may be broken another way: miners that choose among "
        "equal distances are covered only where the columns have more than six decimals",
        "starts given as coordinates and new records must be rotated with the key",
        "identity is with the original in the released row order",
        *_of_categories(embedding),
    ]
    if blank:
        conditions.append(f"{blank} records with missing values are released blank: leave them out")
    return DistancesPreserved(
        "A miner who sees nothing but Euclidean distances finds what it would find in the "
        "original.", tuple(conditions),
        {"tolerance": share, "columns": list(columns), "standardised": standardised,
         "blank": blank, "decimals": decimals, **_category_facts(embedding)})


def _of_categories(embedding: Embedding | None) -> tuple[str, ...]:
    """Return what holds for embedded categories, in words."""
    if embedding is None:
        return ()
    return (f"every category in which two records differ adds {embedding.weight**2:g} to their "
            "squared distance, and numbers add their squared differences",
            "a record of a category that the table did not have has no place")


def _category_facts(embedding: Embedding | None) -> dict[str, Any]:
    if embedding is None:
        return {}
    return {"category_square": embedding.weight**2, "category_columns": len(embedding.categories)}


def left_out(promise: Guarantee, count: int) -> Guarantee:
    """Return a promise for a release from which records near the known ones were left out."""
    words = (f"{count:,} records near those that an attacker may know were left out: what is mined "
             "is that of the others")
    return replace(promise, conditions=(*promise.conditions, words),
                   facts={**promise.facts, "withheld": count})


def in_expectation(columns: Sequence[str], delta: float, chance: float, noise: float
                   ) -> DistancesInExpectation:
    """Return the promise of a random projection."""
    known = bool(np.isfinite(delta))
    within = (f"all squared distances lie within a factor of 1 +- {delta:.3g} with probability "
              f"{1 - chance:g}" if known else "no bound holds for all pairs with so few columns")
    extra = (f"noise adds {2 * len(columns) * noise**2:.4g} to every squared distance on average",
             ) if noise else ()
    return DistancesInExpectation(
        "Squared distances are right on average over the projections that could have been drawn.",
        (within, *extra, "no miner is promised the same result"),
        {"distortion": float(delta) if known else None, "chance": chance,
         "columns": list(columns)})

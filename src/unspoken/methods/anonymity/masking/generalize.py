"""TopBottomCoder and Generalizer: fewer, coarser values (vcz2006 section 2.1).

Who learns what. Top- and bottom-coding disclose of the extremes only that they are extreme:
everybody in between keeps the exact value and can be found by it. Generalisation discloses the
level that was chosen for everybody alike; with `k` what is still too small is left out, up to a
limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.masking.hierarchy_parameters import (
    hierarchies_of,
    refuse_strange,
)
from unspoken.methods.anonymity.masking.masking_method import (
    Masked,
    Roles,
    anonymous,
    demand_of,
    made,
    roles_of,
)
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.method import GENERALIZE, TOP_BOTTOM
from unspoken.models.sklearn_fields import feature_names
from unspoken.numerics.random import fresh_seed
from unspoken.release.distorted import (
    chosen_columns,
    finite,
    of_column,
)
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table


class TopBottomCoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace what lies above a top or below a bottom by that limit.

    Parameters
    ----------
    top, bottom : limits; one for all, or a mapping by column.
    share : without limits, the share of records beyond each of them. A limit is then the value
        of a record; rounded limits of your own disclose less.
    columns, others, shuffle_rows : as for NoiseAdder.

    Attributes
    ----------
    limits_ : (bottom, top) of every column.
    """

    def __init__(self, top: Any = None, bottom: Any = None, *, share: Any = 0.02,
                 columns: Any = None, others: str = "refuse", shuffle_rows: bool = True) -> None:
        self.top = top
        self.bottom = bottom
        self.share = share
        self.columns = columns
        self.others = others
        self.shuffle_rows = shuffle_rows

    def _limits(self, name: str, values: Floats) -> tuple[float, float]:
        low, high = of_column(self.bottom, name), of_column(self.top, name)
        known = values[~np.isnan(values)]
        if self.share is not None and known.size:
            ends = np.quantile(known, [self.share, 1 - self.share], method="nearest")
            low = ends[0] if low is None else low
            high = ends[1] if high is None else high
        limits = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
        if limits[0] > limits[1]:
            raise InputError(f"TopBottomCoder: 'bottom' of '{name}' must not exceed its top. "
                             f"Got bottom {limits[0]:g} and top {limits[1]:g}.")
        return limits

    def fit(self, X: Any, y: Any = None) -> TopBottomCoder:
        """Find the limits of every column of X."""
        TOP_BOTTOM.check(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.limits_ = {name: self._limits(name, data[:, i])
                        for i, name in enumerate(feature_names(self))}
        return self

    def transform(self, X: Any) -> Any:
        """Return X with its extremes cut off."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        ends = np.array(list(self.limits_.values()), np.float64)
        return np.clip(data, ends[:, 0], ends[:, 1])

    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        TOP_BOTTOM.check(self)
        names = chosen_columns("TopBottomCoder", table.schema, ("numeric", "ordinal"),
                               self.columns)
        secret = [name for name in table.schema.with_role("sensitive") if name not in names]
        roles = roles_of("TopBottomCoder", table, names, secret, self.others)
        rows = table.arrow(names)
        self.limits_ = {name: self._limits(name, finite(name, rows[name])[0]) for name in names}
        changed = {name: _coded_column(rows[name], self.limits_[name]) for name in names}
        about = {name: {"form": "coded", **_ends(limits)} for name, limits in self.limits_.items()}
        promise = Masked("Values beyond a top or a bottom were replaced by it.",
                         ("everybody in between keeps the exact value",), {"columns": about})
        seed = fresh_seed()
        release = made(table, roles, changed, None, {"name": TOP_BOTTOM.name, "columns": about},
                       promise, seed, False)
        return keyed(release, table, seed, self.shuffle_rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _ends(limits: tuple[float, float]) -> dict[str, float]:
    return {side: value for side, value in zip(("low", "high"), limits, strict=True)
            if np.isfinite(value)}


def _coded_column(column: Any, limits: tuple[float, float]) -> Any:
    values, missing = finite("", column)
    cut = np.clip(values, *limits)
    whole = pa.types.is_integer(column.type) and bool(np.all(cut[~missing] == np.rint(
        cut[~missing])))
    kind = column.type if whole else pa.float64()
    return pa.array(np.where(missing, 0.0, cut), mask=missing).cast(kind)




class Generalizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Bring every value of a column to one level of its hierarchy, or into bands of one width.

    Parameters
    ----------
    hierarchies : mapping from column to a Hierarchy or the path of its CSV file (ARX form).
    levels : the level of each column; one for all, or a mapping. 0 keeps the value.
    widths : bands of numbers; one width for all, or a mapping. They start at multiples of it.
    k, l, diversity, c, t : records in classes that do not satisfy these are left out.
    suppression : the share of records that may be left out; more are refused.
    columns, sensitive, others, shuffle_rows : as for MondrianAnonymizer.

    Attributes
    ----------
    rows_ : the rows that were released.
    """

    def __init__(self, hierarchies: Any = None, levels: Any = 1, *, widths: Any = None,  # noqa: PLR0913
                 k: Any = None, l: Any = None, diversity: str = "distinct",  # noqa: E741
                 c: float = 3.0, t: Any = None, suppression: float = 0.0, columns: Any = None,
                 sensitive: Any = None, others: str = "refuse",
                 shuffle_rows: bool = True) -> None:
        self.hierarchies = hierarchies
        self.levels = levels
        self.widths = widths
        self.k = k
        self.l = l
        self.diversity = diversity
        self.c = c
        self.t = t
        self.suppression = suppression
        self.columns = columns
        self.sensitive = sensitive
        self.others = others
        self.shuffle_rows = shuffle_rows

    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        GENERALIZE.check(self)
        roles = roles_of("Generalizer", table, self.columns, self.sensitive, self.others)
        trees = hierarchies_of(self.hierarchies)
        refuse_strange(trees, roles.quasi, roles.sensitive)
        rows = table.arrow(roles.quasi)
        parts = {name: self._level(name, rows[name], trees.get(name)) for name in roles.quasi}
        kept = self._kept(table, roles, {name: part[0] for name, part in parts.items()})
        self._refuse_nothing(roles, trees, kept)
        self.rows_ = np.arange(table.rows) if kept is None else kept
        changed = {name: part[0] if kept is None else part[0].take(pa.array(kept))
                   for name, part in parts.items()}
        about = {name: part[1] for name, part in parts.items()}
        mechanism = {"name": GENERALIZE.name, "columns": about}
        seed = fresh_seed()
        release = made(table, roles, changed, kept, mechanism,
                       self._promise(table, roles, about), seed, False)
        return keyed(release, table, seed, self.shuffle_rows, kept)

    def _level(self, name: str, column: Any, tree: Hierarchy | None) -> tuple[Any, dict[str, Any]]:
        values, width = coded(column), of_column(self.widths, name)
        if tree is not None:
            return _raised(name, values, tree, int(of_column(self.levels, name) or 0))
        if width is not None and is_number(column.type):
            return _banded(values, float(width)), {"form": "interval", "width": float(width)}
        return column, {"form": "value"}

    def _refuse_nothing(self, roles: Roles, trees: Mapping[str, Hierarchy],
                        kept: Ints | None) -> None:
        """Refuse parameters that would leave every record as it is."""
        raised = any(name in trees and of_column(self.levels, name) for name in roles.quasi)
        banded = any(of_column(self.widths, name) is not None for name in roles.quasi)
        if not (raised or banded) and kept is None:
            raise InputError("Generalizer: nothing would change, because there are neither "
                             "'widths' nor 'hierarchies' with levels above 0. Use widths={'age': "
                             "10} for bands, hierarchies={'city': 'city.csv'}, or "
                             "OptimalRecoder(k=5), which builds hierarchies and finds the levels.")

    def _asks_nothing(self) -> bool:
        return self.k is None and self.l is None and self.t is None

    def _kept(self, table: Table, roles: Roles, changed: Mapping[str, Any]) -> Ints | None:
        """Return the rows in classes that satisfy the demand; None for all."""
        if self._asks_nothing():
            return None
        demand = demand_of(self, table, roles)
        owner = stats.classes([coded(changed[name]).codes for name in roles.quasi])
        fine = demand(np.arange(owner.size), owner)[owner]
        out = int((~fine).sum())
        if out > self.suppression * table.rows:
            raise DataError(
                f"Generalizer: {out / table.rows:.2%} of the records are in classes that are too "
                f"small, and at most {self.suppression:.2%} may be left out ('suppression'). "
                "Raise the levels or widths, or allow more to be left out.")
        return np.flatnonzero(fine) if out else None

    def _promise(self, table: Table, roles: Roles, about: Mapping[str, Any]) -> Any:
        if self._asks_nothing():
            return Masked("Values were brought to one level of coarseness.",
                          ("no size of a group is promised: set k",), {"columns": list(about)})
        left = table.rows - self.rows_.size
        return anonymous(demand_of(self, table, roles), roles, {"left_out": int(left)})

    def fit(self, X: Any, y: Any = None) -> Generalizer:
        """Do nothing but check the parameters: levels and widths are given."""
        GENERALIZE.check(self)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X: Any) -> Floats:
        """Return numbers brought to the middles of their bands, where widths are given."""
        data = np.array(X, np.float64)
        for index in range(data.shape[1]):
            width = of_column(self.widths, f"x{index}")
            if width is not None:
                data[:, index] = (np.floor(data[:, index] / width) + 0.5) * width
        return data


def _raised(name: str, values: Coded, tree: Hierarchy, level: int) -> tuple[Any, dict[str, Any]]:
    if level > tree.levels:
        raise InputError(f"Generalizer: the hierarchy of '{name}' has {tree.levels} levels. "
                         f"Got level {level} in 'levels'.")
    labels = [tree.label(int(at), level) for at in tree.places(name, values.values())]
    texts = pa.array([*labels, None], pa.string())
    return texts.take(pa.array(values.codes)), {"form": "set", "groups": tree.leaves(level)}


def _banded(column: Coded, width: float) -> Any:
    values = np.asarray(to_numbers(column.labels), np.float64)
    low = np.floor(values / width) * width
    texts = [f"[{_plain(a)}, {_plain(a + width)})" for a in low]
    return pa.array([*texts, None], pa.string()).take(pa.array(column.codes))


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))

"""DataSwapper, SampleReleaser and CellSuppressor (vcz2006 section 2.1).

Who learns what. Swapping leaves every column's own distribution as it is, and every value is
real; what was tied to the swapped columns is wrong for those who were swapped, and who they
are is not disclosed. A sample leaves most people out: a person who matches a record need not be its
owner. Suppressed cells are blank where a record would stand out. None of them promises a size of a
group by itself; the audit measures what an informed adversary still finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.anonymity.masking.masking_method import (
    Masked,
    Roles,
    anonymous,
    demand_of,
    made,
    roles_of,
)
from unspoken.methods.anonymity.masking.refuse_unchanged import ALREADY, refuse_same_rows
from unspoken.methods.anonymity.masking.swap_partners import swapped_rows
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.method import SAMPLE, SUPPRESS_CELLS, SWAP
from unspoken.numerics.random import generator, seed_from
from unspoken.release.distorted import chosen_columns
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

KINDS = ("numeric", "ordinal", "categorical")
CHANGED = "changed"
"""Where a description says which share of a column's values differ from those before the swap."""
LEAST_CHANGED = 0.1
"""The part of the asked share that must really differ where partners are near."""


class DataSwapper(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Swap the values of columns between records, each column on its own.

    Parameters
    ----------
    share : the share of records whose value of a column is swapped.
    within : partners lie at most this share of the ranks apart; None takes anybody. Near partners
        keep correlations and protect less.
    columns : the columns that are swapped; None for all features.
    others : "refuse", "keep" or "drop" the other features.
    shuffle_rows : release the rows in a random order; the key says which record is which.
    random_state : for tests and experiments only; a release made with it says so.

    Examples
    --------
    >>> release, key = DataSwapper(share=0.2).protect(table)  # doctest: +SKIP
    """

    def __init__(self, share: float = 0.1, within: Any = None, *, columns: Any = None,
                 others: str = "refuse", shuffle_rows: bool = True, random_state: Any = None
                 ) -> None:
        self.share = share
        self.within = within
        self.columns = columns
        self.others = others
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        SWAP.check(self, table)
        names = chosen_columns("DataSwapper", table.schema, KINDS, self.columns)
        secret = [name for name in table.schema.with_role("sensitive") if name not in names]
        roles = roles_of("DataSwapper", table, names, secret, self.others)
        seed, rows = seed_from(self.random_state), table.arrow(names)
        changed, about = {}, {}
        for name in names:
            codes = coded(rows[name]).codes
            source = swapped_rows(np.argsort(codes, kind="stable"), self.share, self.within,
                                  generator(seed, "swap", name))
            changed[name] = rows[name].take(pa.array(source))
            about[name] = {"form": "value", **({} if self.within is None else {
                CHANGED: float((codes[source] != codes).mean())})}
        promise = Masked(f"In each of {len(names)} columns about {self.share:.0%} of the records "
                         f"got the value of another record{self._reached(about)}.",
                         ("who was swapped is not published",),
                         {"share": float(self.share), "within": self.within})
        mechanism = {"name": SWAP.name, "share": float(self.share), "within": self.within,
                     "columns": about}
        release = made(table, roles, changed, None, mechanism, promise, seed,
                       self.random_state is not None)
        refuse_same_rows("DataSwapper", table, release, "Use a larger 'share', or release it "
                         "another way: a column of equal values, or one that goes out alone, "
                         "cannot be hidden by swapping.")
        return keyed(release, table, seed, self.shuffle_rows)

    def _reached(self, about: Mapping[str, Any]) -> str:
        """Say how many values really differ where partners are near; too few are refused."""
        if self.within is None:
            return ""
        reached = [one[CHANGED] for one in about.values()]
        if max(reached) < self.share * LEAST_CHANGED:
            raise DataError(f"DataSwapper: partners within {self.within:g} of the ranks hold equal "
                            f"values: at most {max(reached):.2%} of the values of a column would "
                            f"change, and a share of {self.share:.0%} is asked for. Use a larger "
                            "'within', or leave it out.")
        return f", nearby in rank; {min(reached):.1%} to {max(reached):.1%} of the values differ"

    def fit(self, X: Any, y: Any = None) -> DataSwapper:
        """Check the parameters and the columns; nothing is learnt."""
        SWAP.check(self)
        validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        return self

    def transform(self, X: Any) -> Any:
        """Return numbers with some values swapped, column by column."""
        check_is_fitted(self, "n_features_in_")
        data = validate_data(self, X, reset=False, dtype=np.float64, copy=True,
                             ensure_all_finite="allow-nan")
        seed = seed_from(self.random_state)
        for index in range(data.shape[1]):
            order = np.argsort(data[:, index], kind="stable")
            source = swapped_rows(order, self.share, self.within, generator(seed, "swap", index))
            data[:, index] = data[source, index]
        return data

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class SampleReleaser(BaseEstimator):  # type: ignore[misc]
    """Release a random sample of the records, as they are, shuffled (vcz2006 section 2.1).

    Parameters
    ----------
    share : the share of the records that is released.
    others : "keep", "drop" or "refuse" features that are neither quasi-identifiers nor sensitive.
    shuffle_rows : release the rows in a random order.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    rows_ : the rows that were released. They stay with the custodian.
    """

    def __init__(self, share: float = 0.05, *, others: str = "keep",
                 shuffle_rows: bool = True, random_state: Any = None) -> None:
        self.share = share
        self.others = others
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        SAMPLE.check(self, table)
        quasi = table.schema.with_role("quasi") or table.schema.features
        if not quasi:
            raise SchemaError("SampleReleaser: the table has no features; a sample would be its "
                              "target alone. Read it with a feature, or without a target.")
        roles = roles_of("SampleReleaser", table, [n for n in quasi if n not in
                         table.schema.with_role("sensitive")], None, self.others)
        seed = seed_from(self.random_state)
        size = round(self.share * table.rows)
        if size < 1:
            raise InputError(f"SampleReleaser: 'share' of {self.share:g} leaves no record of "
                             f"{table.rows:,}. Use a larger share.")
        if size == table.rows:
            raise InputError(f"SampleReleaser: 'share' of {self.share:g} leaves out none of "
                             f"{table.rows:,} records, so that nothing would change. Use a "
                             "smaller share.")
        self.rows_ = np.sort(generator(seed, "sample").permutation(table.rows)[:size])
        about = {name: {"form": "value"} for name in roles.quasi}
        promise = Masked(f"{self.share:.1%} of the records were drawn at random; the others are "
                         "not in the release.", ("nobody outside knows who was drawn",),
                         {"share": float(self.share)})
        mechanism = {"name": SAMPLE.name, "share": float(self.share), "columns": about}
        release = made(table, roles, {}, self.rows_, mechanism, promise, seed,
                       self.random_state is not None)
        return keyed(release, table, seed, self.shuffle_rows, self.rows_)


class CellSuppressor(BaseEstimator):  # type: ignore[misc]
    """Leave cells blank until every record agrees with k - 1 others (blank agrees with blank).

    Columns with the most values are blanked first, and only for records that still stand out.
    Records that stand out even when all is blank are left out, up to `suppression`.

    Parameters
    ----------
    k : the least size of a class.
    l, diversity, c, t : what the sensitive values of a class must satisfy: "distinct", "entropy",
        "recursive" (with c) or "strong" L, and closeness t to the whole table.
    suppression : the share of records that may be left out.
    columns, sensitive : names in place of the schema's roles.
    others : "refuse", "keep" or "drop" columns that are neither.
    shuffle_rows : release the rows in a random order.

    Attributes
    ----------
    rows_ : the rows that were released. blanks_ : how many cells were left blank, by column.
    """

    def __init__(self, k: int = 5, *, l: Any = None, diversity: str = "distinct",  # noqa: E741, PLR0913
                 c: float = 3.0, t: Any = None, suppression: float = 0.01, columns: Any = None,
                 sensitive: Any = None, others: str = "refuse", shuffle_rows: bool = True) -> None:
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

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        SUPPRESS_CELLS.check(self, table)
        roles = roles_of("CellSuppressor", table, self.columns, self.sensitive, self.others)
        demand = demand_of(self, table, roles)
        rows = table.arrow(roles.quasi)
        codes = {name: coded(rows[name]) for name in roles.quasi}
        blank = {name: np.zeros(table.rows, np.bool_) for name in roles.quasi}
        fine = self._blanked(codes, blank, demand)
        out = int((~fine).sum())
        if out > self.suppression * table.rows:
            raise DataError(
                f"CellSuppressor: {out / table.rows:.2%} of the records stand out even with all "
                f"cells blank, and at most {self.suppression:.2%} may be left out "
                "('suppression'). Ask for a smaller k.")
        return self._release(table, roles, rows, blank, fine, demand)

    def _blanked(self, codes: Mapping[str, Any], blank: dict[str, Any], demand: Any) -> Any:
        now = {name: values.codes.copy() for name, values in codes.items()}
        everybody = np.arange(next(iter(now.values())).size)
        for name in [*sorted(now, key=lambda n: -codes[n].missing), None]:
            owner = stats.classes(list(now.values()))
            fine = demand(everybody, owner)[owner]
            if name is None or fine.all():
                return fine
            blank[name] |= ~fine & (now[name] != codes[name].missing)
            now[name][~fine] = codes[name].missing
        raise AssertionError

    def _release(self, table: Table, roles: Roles, rows: Any, blank: Mapping[str, Any],
                 fine: Any, demand: Any) -> tuple[Release, Key]:
        self.rows_ = np.flatnonzero(fine)
        self.blanks_ = {name: int(mask[fine].sum()) for name, mask in blank.items()}
        kept = None if fine.all() else self.rows_
        changed = {}
        for name in roles.quasi:
            column = pc.if_else(pa.array(~blank[name]), rows[name],
                                pa.scalar(None, rows[name].type))
            changed[name] = column if kept is None else column.take(pa.array(kept))
        about = {name: {"form": "value"} for name in roles.quasi}
        promise = anonymous(demand, roles, {"left_out": int((~fine).sum())})
        seed = seed_from(None)
        release = made(table, roles, changed, kept, {"name": SUPPRESS_CELLS.name,
                                                     "columns": about}, promise, seed, False)
        refuse_same_rows("CellSuppressor", table, release, ALREADY)
        return keyed(release, table, seed, self.shuffle_rows, kept)

"""The custodian's training rows, as the miner's learner saw them and as they were.

Decoding by replay (bu2007 Theorem 2 decodes a threshold by the inverse function alone, which is
never exact) needs both sides of every row in the released order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError, InputError
from unspoken.methods.encoding.decode.code_ranks import (
    Places,
    Ranks,
    codes_at,
    ranks_by_sorting,
    ranks_from,
)
from unspoken.methods.encoding.decode.decoder_protocol import Codebook
from unspoken.methods.encoding.threshold_facts import SKLEARN_GAP

SOME = 1000


@dataclass(frozen=True)
class Rows:
    """Training rows in released order: original values, codes, released labels, weights."""

    book: Codebook
    values: Floats
    codes: Floats
    y: npt.NDArray[Any] | None = None
    weight: Floats | None = None
    trusted: bool = False
    """Whether leaf values are taken as they are, without a look at the labels."""
    part: bool = False
    """Whether these are some of the released rows, not all."""
    places: Places | None = None
    """Where each code stands in the code table of its column, if the book tells."""

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return int(self.values.shape[0])

    def bag(self, weight: npt.NDArray[Any] | None = None) -> Ints:
        """Return the rows whose weight is not zero: learners leave the others out."""
        weights = self.weight if weight is None else weight
        return np.arange(self.count) if weights is None else np.flatnonzero(weights != 0)

    def weights_of(self, bag: Ints) -> Floats:
        """Return the weights of some rows, one each if there are none."""
        return np.ones(bag.size) if self.weight is None else self.weight[bag]

    def numbers_of(self, classes: Sequence[Any]) -> Ints:
        """Return the place of each row's label among the classes, made once for all trees."""
        cached = self.__dict__.setdefault("_numbers", {})
        names = tuple(classes)
        if names not in cached:
            cached[names] = class_numbers(self.labels("leaves are compared with them"), names)
        return np.asarray(cached[names])

    @cached_property
    def permuted(self) -> bool:
        """Return True if codes do not follow the order of values everywhere (max-mono)."""
        return any(self._permuted(column) for column in range(self.values.shape[1]))

    @cached_property
    def close_columns(self) -> tuple[int, ...]:
        """Return the columns with values that scikit-learn's splitter takes for equal."""
        close = []
        for column in range(self.values.shape[1]):
            narrow = np.unique(self.book.column(column)[0].astype(np.float32))
            if np.any(narrow[1:] <= narrow[:-1] + SKLEARN_GAP):
                close.append(column)
        return tuple(close)

    @cached_property
    def narrow(self) -> npt.NDArray[np.float32]:
        """Return the codes as float32, which holds them exactly, row by row."""
        return np.ascontiguousarray(self.codes, np.float32)

    @cached_property
    def narrow_values(self) -> npt.NDArray[np.float32]:
        """Return the original values as scikit-learn's trees see them, row by row."""
        return np.ascontiguousarray(self.values, np.float32)

    def narrow_of(self, bag: Ints) -> npt.NDArray[np.float32]:
        """Return the codes of some rows as float32; all of them are not copied."""
        whole = bag.size == self.count and np.array_equal(bag, np.arange(bag.size))
        return self.narrow if whole else self.narrow.take(bag, axis=0)

    @cached_property
    def ranks(self) -> Ranks | None:
        """Return the codes by their places; None unless each stands for one value, in order."""
        if not self.book.increasing:
            return None
        if self.places is None:
            return ranks_by_sorting(self.codes, self.values)
        tables = [self.book.column(column)[1].astype(np.float64)
                  for column in range(self.codes.shape[1])]
        return ranks_from(self.places, tables, self.values)

    def columns(self, chosen: Ints, book: Codebook | None = None) -> Rows:
        """Return the rows with some of the columns, in another order."""
        narrowed = replace(self, book=book or self.book, values=self.values[:, chosen],
                           codes=self.codes[:, chosen], places=None)
        narrowed.__dict__["ranks"] = None if self.ranks is None else self.ranks.of_columns(chosen)
        return narrowed

    def _permuted(self, column: int) -> bool:
        values, table = self.book.column(column)
        steps = np.diff(table) if self.book.increasing else -np.diff(table)
        if np.any(steps <= 0) or values.size == 0:
            return bool(values.size)
        # A code drawn for each record differs from the table's; a few records show it.
        some = self.values[:SOME, column].astype(np.float32)
        known = ~np.isnan(some)
        at = np.minimum(np.searchsorted(values.astype(np.float32), some[known]), table.size - 1)
        return bool(np.any(table[at] != self.codes[:SOME, column][known]))

    def labels(self, why: str) -> npt.NDArray[Any]:
        """Return the released labels; if there are none, the error names why they are needed."""
        if self.y is None:
            raise DecodeError(f"'y' is needed: {why}. Pass the training labels.")
        return self.y


def training_rows(book: Codebook, data: npt.ArrayLike, y: npt.ArrayLike | None = None,
                  weight: npt.ArrayLike | None = None, trusted: bool = False,
                  chosen: npt.ArrayLike | None = None) -> Rows:
    """Encode original rows and bring everything into the released order.

    `chosen`: the released rows that the model was fitted on, in the order in which it met them;
    weights are given for all rows.
    """
    values = np.asarray(data, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(book.features):
        raise InputError(f"The training data must have the shape (rows, {len(book.features)}). "
                         f"Got {values.shape}.")
    places = book.places(values) if hasattr(book, "places") else None
    codes = None if places is not None else np.asarray(book.encode(values), dtype=np.float64)
    order = book.order(values.shape[0])
    labels = None if y is None else released_labels(book, np.asarray(y))
    weights = None if weight is None else np.asarray(weight, dtype=np.float64)
    for name, array in (("y", labels), ("sample_weight", weights)):
        if array is not None and array.shape != (values.shape[0],):
            raise InputError(f"'{name}' must have the shape ({values.shape[0]},). "
                             f"Got {array.shape}.")
    if chosen is not None:
        kept = _places(chosen, values.shape[0])
        order = kept if order is None else order[kept]
    places = _moved_maybe(places, order)
    return Rows(book, _moved(values, order), _codes(book, places, _moved_maybe(codes, order)),
                _moved_maybe(labels, order), _moved_maybe(weights, order), trusted,
                chosen is not None, places)


def _codes(book: Codebook, places: Places | None, codes: Floats | None) -> Floats:
    """Return codes that are known, or those at the places of the values."""
    if codes is not None or places is None:
        return np.zeros((0, 0)) if codes is None else codes
    return codes_at(places, [book.column(column)[1] for column in range(places.shape[1])])


def _places(chosen: npt.ArrayLike, rows: int) -> Ints:
    """Return the places of the chosen rows; a mask chooses the rows where it is true."""
    wanted = np.asarray(chosen)
    if wanted.dtype == np.bool_ and wanted.shape == (rows,):
        return np.flatnonzero(wanted)
    whole = wanted.ndim == 1 and wanted.dtype.kind in "iu"
    if not whole or not wanted.size or wanted.min() < 0 or wanted.max() >= rows:
        raise InputError(f"'rows' must be places of released rows, 0 to {rows - 1}, or a mask of "
                         f"{rows}. Got something else.")
    return wanted.astype(np.int64)


def _moved(values: npt.NDArray[Any], order: Ints | None) -> npt.NDArray[Any]:
    return values if order is None else values.take(order, axis=0)


def _moved_maybe(values: npt.NDArray[Any] | None, order: Ints | None) -> npt.NDArray[Any] | None:
    return None if values is None else _moved(values, order)


def released_labels(book: Codebook, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the labels that the miner saw for original labels."""
    units = getattr(book, "units", None)
    if units is not None:
        return np.asarray(units.encode(_numbers(y)))
    if book.classes is None:
        return y
    back = {original: released for released, original in book.classes.items()}
    try:
        return np.array([back[label] for label in y.tolist()])
    except KeyError as error:
        raise InputError("'y' must hold the original class labels. "
                         f"{error.args[0]!r} is not one of them.") from None


def _numbers(y: npt.NDArray[Any]) -> Floats:
    """Return an original target as numbers."""
    try:
        numbers = y.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(1, np.nan)
    if not np.all(np.isfinite(numbers)):
        raise InputError("'y' must hold the original target, a finite number per row. Got others.")
    return numbers


def class_numbers(y: npt.NDArray[Any], classes: Sequence[Any]) -> Ints:
    """Return the place of each label among the model's classes."""
    labels = y.tolist()
    places = _class_places(set(labels), classes)
    return np.fromiter((places[label] for label in labels), np.int64, len(labels))


def _class_places(known: set[Any], classes: Sequence[Any]) -> dict[Any, int]:
    """Return the place of each known label.

    A miner may have numbered the classes in their sorted order, as XGBoost wants them; under any
    other names they would be taken for one another.
    """
    places = {label: place for place, label in enumerate(classes)}
    if known <= set(places):
        return places
    if len(known) != len(places) or list(classes) != list(range(len(places))):
        raise DecodeError(f"The model has {len(places)} classes, and the labels have "
                          f"{len(known)} that are not the same. Pass the labels that were "
                          "released, or decode with the right key.")
    return {label: place for place, label in enumerate(sorted(known, key=_sortable))}


def check_classes(classes: Sequence[Any], y: npt.NDArray[Any] | None) -> None:
    """Refuse classes that are not the labels, in the sorted order that scikit-learn always has.

    Exchanged names would turn every prediction around, and no leaf would show it.
    """
    if y is not None and len(classes):
        _class_places(set(y.tolist()), classes)
    if list(classes) != sorted(classes, key=_sortable):
        raise DecodeError("model field 'classes' must be in sorted order, as scikit-learn keeps "
                          "them. They are not: the model was changed after it was mined.")


def _sortable(label: Any) -> Any:
    return (isinstance(label, str), label)


def original_label(book: Codebook, label: Any) -> Any:
    """Return the original class label of a released one."""
    plain = label.item() if isinstance(label, np.generic) else label
    if book.classes is None:
        return plain
    if plain not in book.classes:
        raise DecodeError(f"The model has the class {plain!r}, which the release does not have. "
                          "Is this the key of another release?")
    return book.classes[plain]


def original_names(book: Codebook, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return original feature names; the model must have the released columns in order."""
    if names == tuple(book.released_features):
        return tuple(book.features)
    if names in (tuple(f"x{i}" for i in range(len(names))),
                 tuple(f"Column_{i}" for i in range(len(names)))):
        check_width(book, len(names))
        return names
    raise DecodeError("The model's feature names are not those of the release in its order: "
                      f"{', '.join(names[:8])}. Is this the key of another release?")


def check_width(book: Codebook, width: int) -> None:
    """Refuse a model of another number of features."""
    if width != len(book.features):
        raise DecodeError(f"The model has {width} features, and the release has "
                          f"{len(book.features)}. Is this the key of another release?")

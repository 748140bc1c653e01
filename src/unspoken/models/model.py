"""Model: the one interface of everything that mining yields.

Every model answers `kind`, `format`, `summary`, `to_text`, `same_as`, `to_json`, `from_json`,
`save`, `load` and `_repr_html_`. Some answer more, and then they are of a class that says so:

- `Predictor`: `features` and `predict`, by column name (trees, Bayes, regressions, clusters, ...)
- `TreeLike`: `nodes`, `leaves` and `depth`, over all trees of an ensemble
- `Ensemble`: `trees`, one by one

A question that makes no sense is not there: a regression has no `depth`. Ask
`isinstance(model, TreeLike)`. `unspoken.models.MODELS` lists all models, and one test holds all of
them to this.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.models.comparison import Comparison
from unspoken.models.json_files import JsonFile
from unspoken.models.named_columns import number_rows
from unspoken.models.tree_text import join_lines
from unspoken.table.engines.frames_out import notebook_text

_LINES, _WIDE = 20, 160
"""What a screen shows of a model."""


class Model(JsonFile):
    """Something mined: frozen, JSON in and out, with a summary.

    Attributes
    ----------
    format : str
        What the field "format" of the file says, by which `unspoken.load_model` knows the kind.
    """

    format: ClassVar[str] = ""

    def __init_subclass__(cls, **more: Any) -> None:
        """Keep `dataclass` from writing a `__repr__` that lists every node."""
        super().__init_subclass__(**more)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Model.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Return the beginning of the summary, as much as fits a screen."""
        lines = self.summary().splitlines()
        shown = [f"{line[:_WIDE]}..." if len(line) > _WIDE else line for line in lines[:_LINES]]
        more = [f"... {len(lines) - _LINES} more lines: summary()"] if len(lines) > _LINES else []
        return "\n".join([*shown, *more])

    @property
    def kind(self) -> str:
        """Return the name of the kind of model, such as "Tree"."""
        return type(self).__name__

    def summary(self) -> str:
        """Return what a reader needs in a few lines; long lists are cut, and say so.

        Returns
        -------
        str
            Printable text. It holds nothing that the model does not hold.
        """
        return join_lines(self._lines(full=False))

    def to_text(self) -> str:
        """Return the whole model as text: nothing is cut, and numbers have all their digits.

        Returns
        -------
        str
            The same text for the same model, always.
        """
        return join_lines(self._lines(full=True))

    @abstractmethod
    def _lines(self, full: bool) -> Sequence[str]:
        """Return the summary line by line, or the full text."""

    def same_as(self, other: object) -> Comparison:
        """Compare with another model, bit for bit.

        Parameters
        ----------
        other : object
            Usually a model of the same kind; anything else differs in its kind.

        Returns
        -------
        Comparison
            True if nothing differs; otherwise `.difference` names the first difference.
        """
        if not isinstance(other, type(self)):
            return Comparison(f"kind: {self.kind} and {type(other).__name__}")
        return self._compare(other)

    @abstractmethod
    def _compare(self, other: Self) -> Comparison:
        """Compare with another model of the same kind."""

    def _repr_html_(self) -> str:
        """Return the summary for a notebook; names in it are text, never markup."""
        return notebook_text(self.summary())


class Predictor(Model):
    """A model that predicts for records, given its columns by name.

    Attributes
    ----------
    features : tuple of str
        The columns it was mined from, in the order that a bare array must have.
    """

    if TYPE_CHECKING:  # Dataclasses would take a property of a base for the default of a field.

        @property
        def features(self) -> tuple[str, ...]: ...  # noqa: D102

    @abstractmethod
    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Predict for every record.

        Parameters
        ----------
        data : Table, pandas or polars frame, Arrow table, mapping of columns, or array
            Columns are found by their names, in any order; others are ignored, and a missing one
            is refused by name. A bare array must have the model's columns in the model's order.

        Returns
        -------
        numpy.ndarray
            One class, number or cluster per record.

        Examples
        --------
        >>> model.predict({"age": [30, 41], "income": [2100.0, 1800.0]})  # doctest: +SKIP
        array(['no', 'yes'], dtype='<U3')
        """

    def _numbers(self, data: Any) -> Floats:
        """Return the records as rows of numbers in the order of `features`."""
        return number_rows(data, self.features)


class TreeLike(Model):
    """A tree, or several: `nodes` and `leaves` in all, and the `depth` of the deepest leaf."""

    if TYPE_CHECKING:

        @property
        def nodes(self) -> int: ...  # noqa: D102
        @property
        def leaves(self) -> int: ...  # noqa: D102
        @property
        def depth(self) -> int: ...  # noqa: D102


class Ensemble(TreeLike):
    """Several trees that decide together; `trees` has them one by one."""

    if TYPE_CHECKING:

        @property
        def trees(self) -> tuple[Any, ...]: ...  # noqa: D102

    @property
    def nodes(self) -> int:
        """Return the number of nodes of all trees."""
        return sum(int(tree.nodes) for tree in self.trees)

    @property
    def leaves(self) -> int:
        """Return the number of leaves of all trees."""
        return sum(int(tree.leaves) for tree in self.trees)

    @property
    def depth(self) -> int:
        """Return the depth of the deepest tree."""
        return max((int(tree.depth) for tree in self.trees), default=0)

"""What everybody knows about a regression before it begins: response, terms, and how it is fitted.

Columns and who has them, products of columns, ridge, and who learns the model. Numbers of records
are not part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.column_checks import numbers as finite
from unspoken.joint.tasks.common.noise_in_parts import NoiseSettings
from unspoken.joint.tasks.common.study_parameters import EXPECTED_PARAM
from unspoken.joint.tasks.param_rules import Between, Flag, Numbers, RealBetween, Word, Words
from unspoken.joint.tasks.task import RECORDS
from unspoken.joint.tasks.task_params import TaskSettings, agreed, as_study, check_declared
from unspoken.models.coefficients import TIMES
from unspoken.release.parameters import OneOf, Real

MOST_TERMS = 200
METHODS = ("forward", "backward", "stepwise", "best")
CRITERIA = ("aic", "bic", "adjusted", "cp")
RIDGE = agreed(RealBetween(0.0, 1e12), "the penalty, as scikit-learn's alpha",
               "It is scikit-learn's alpha; 0 is least squares.")
CONDITION_PARAM = agreed(Real(1.0, 2.0**28), "the greatest condition of the matrix that is "
                         "inverted", "Use 2**20.")
INFERENCE = agreed(Flag(), "open standard errors and sums of squares as well",
                   "False opens coefficients alone.")
BITS = agreed(Between(4, 48), "how finely the model's numbers are opened: in steps of 2^-bits of "
              "the spread of columns, without it with 50 bits",
              "Half the binary digits of the number of records and 6 more are a small part of a "
              "standard error.")
METHOD = agreed(OneOf(METHODS), "choose terms", "Use 'stepwise'.", name="select")
CRITERION = agreed(OneOf(CRITERIA), "by which terms are chosen, bic without it", "Use 'bic'.")


@dataclass(frozen=True)
class RegressionParams:
    """How a model is fitted, and who learns it (all if nobody is named).

    Attributes
    ----------
    ridge : float, default 0.0
        Scikit-learn's alpha; 0 is least squares.
    condition : float, default 2**20
        A bound on the condition of the matrix that is inverted.
    inference : bool, default True
        Whether more than coefficients is opened, such as standard errors.
    receivers : tuple of str, default ()
        Who learns the model.
    smaller : tuple of tuple of str, default ()
        Terms of models inside this one; their residual sums of squares are opened too, for tests
        and C_p.
    bits : int, optional
        How finely numbers are opened: in steps of 2^-bits of the spread of columns. Default: with
        50 bits.
    """

    ridge: float = field(default=0.0, metadata=RIDGE)
    condition: float = field(default=2.0**20, metadata=CONDITION_PARAM)
    inference: bool = field(default=True, metadata=INFERENCE)
    receivers: tuple[str, ...] = ()
    smaller: tuple[tuple[str, ...], ...] = ()
    bits: int | None = field(default=None, metadata=BITS)

    def __post_init__(self) -> None:
        """Refuse what cannot be fitted."""
        check_declared("regression", self)
        if self.smaller and (self.ridge or not self.inference):
            raise InputError("'smaller' models need least squares with inference. Ridge has no "
                             "such test.")


@dataclass(frozen=True)
class Selection:
    """How terms are chosen; `keep` names terms that are always in the model."""

    method: str = field(default="stepwise", metadata=METHOD)
    criterion: str = field(default="bic", metadata=CRITERION)
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        check_declared("selection", self)
        if self.keep and self.method == "best":
            raise InputError("'keep' must be empty for method 'best'. It is not.")


@dataclass(frozen=True, kw_only=True)
class ModelSettings(TaskSettings):
    """What studies of linear and logistic models say: terms, and how they are fitted."""

    response: str = field(metadata=agreed(Word(), "the column that is explained"))
    columns: tuple[str, ...] = field(metadata=agreed(
        Words('a list of different columns; of several owners ["north:age", "south:stay"]'),
        "the columns that explain it"))
    products: tuple[str, ...] = field(default=(), metadata=agreed(
        Words('a list such as ["age*stay"]', 0), "products of two columns that are terms as well"))
    held: str = field(default="", metadata=agreed(
        Word('an owner, "all", or "split" (a sum of parts)'), "who has the response",
        split="columns", required=True))
    ridge: float = field(default=0.0, metadata=RIDGE)
    condition: float = field(default=2.0**20, metadata=CONDITION_PARAM)
    expected: int = field(default=RECORDS, metadata=EXPECTED_PARAM)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the products as pairs of names."""
        return as_study(lambda: tuple(pair_of(text) for text in self.products))


@dataclass(frozen=True, kw_only=True)
class RegressionSettings(NoiseSettings, ModelSettings):
    """What a study of a linear model says."""

    inference: bool = field(default=True, metadata=INFERENCE)
    smaller: tuple[str, ...] = field(default=(), metadata=agreed(
        Words('a list such as ["age+stay"]', 0), "models inside this one to test against"))
    bits: int | None = field(default=None, metadata=BITS)
    select: str | None = field(default=None, metadata=METHOD)
    criterion: str | None = field(default=None, metadata=CRITERION)
    keep: tuple[str, ...] = field(default=(), metadata=agreed(
        Words("a list of terms", 0), "terms that are always in the model"))
    rows: tuple[str, ...] = field(default=(), metadata=agreed(
        Words("a list of different owners", 0), "owners that have all columns and the response of "
        "further records, beside those that have columns of the same ones", name="having_rows",
        split="columns"))
    ranges: Mapping[str, tuple[float, ...]] = field(default_factory=dict, metadata=agreed(
        Numbers("[lowest, highest]", (2,)), "with epsilon, what a value of a column or of the "
        "response counts as at least and at most", name="range.NAME", split="rows"))

    def __post_init__(self) -> None:
        """Refuse what belongs to noise where there is none."""
        self.check_noise()
        if self.epsilon is None and self.ranges:
            raise StudyError("'range.NAME' belongs to 'epsilon', which is missing.")
        if self.epsilon is not None and self.bits is not None:
            raise StudyError("'bits' says how finely exact numbers are opened, and 'epsilon' adds "
                             "noise to sums. The study has both. Leave one of them out.")

    def selection(self) -> Selection | None:
        """Return how terms are chosen, if they are."""
        if self.select is None:
            for name in ("criterion", "keep"):
                if getattr(self, name):
                    raise StudyError(f"Parameter '{name}' needs 'select', the way terms are "
                                     "chosen.")
            return None
        method = self.select
        return as_study(lambda: Selection(method, self.criterion or "bic", self.keep))


@dataclass(frozen=True)
class RegressionTerms:
    """The response, the columns and the products of two of them.

    Attributes
    ----------
    response : str
        The name of the response.
    columns : tuple of str
        The names of the columns.
    products : tuple of pairs of str, default ()
        Products of two columns that are terms as well.
    """

    response: str
    columns: tuple[str, ...]
    products: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse names that stand twice, are missing, or could be taken for products."""
        names = (*self.columns, self.response)
        for name in names:
            if not isinstance(name, str) or not name or TIMES in name:
                raise InputError(explain("The name of a column", f"a text without '{TIMES}'", name))
        twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
        if twice is not None:
            raise InputError(f"Every column must stand once, with one owner. '{twice}' stands "
                             "twice. Leave it out in one place.")
        for pair in self.products:
            self._check_product(pair)
        if not self.columns or len(self.features) > MOST_TERMS:
            raise InputError(explain("A regression", f"of 1 to {MOST_TERMS} terms",
                                     len(self.features)))

    def _check_product(self, pair: tuple[str, str]) -> None:
        for name in pair:
            if name not in self.columns:
                raise InputError(explain("A product", "of two of " + ", ".join(self.columns), name))
        if self.products.count(pair) + self.products.count(pair[::-1]) > 1 + (pair[0] == pair[1]):
            raise InputError(f"Every product must stand once. '{TIMES.join(pair)}' stands twice.")

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of all terms."""
        return (*self.columns, *(TIMES.join(pair) for pair in self.products))

    def place(self, name: str) -> int:
        """Return where a term stands; an unknown one is refused."""
        if name not in self.features:
            raise InputError(explain("A term", "of " + ", ".join(self.features), name))
        return self.features.index(name)

    def table(self, data: Mapping[str, Any]) -> Floats:
        """Return rows of all terms and, last, the response; the data must have every column."""
        values = numbers(data, (*self.columns, self.response))
        at = {name: values[:, i] for i, name in enumerate(self.columns)}
        terms = [at[one] * at[other] for one, other in self.products]
        return np.column_stack([values[:, :-1], *terms, values[:, -1]])


def pair_of(text: str) -> tuple[str, str]:
    """Return the two names of a product such as "age*income"."""
    parts = text.split(TIMES)
    if len(parts) != 2:
        raise InputError(explain("A product", f"two names with '{TIMES}' between", text))
    return parts[0], parts[1]


def numbers(data: Mapping[str, Any], names: Sequence[str]) -> Floats:
    """Return columns as float64; a missing column or value is refused by name."""
    columns = []
    for name in names:
        if name not in data:
            raise DataError(explain("The data", f"with a column '{name}'",
                                    ", ".join(map(str, data)) or "none",
                                    "All owners must agree on the columns."))
        columns.append(finite(name, data[name]))
    if len({column.size for column in columns}) > 1:
        raise DataError(explain("Columns", "of one length",
                                sorted({column.size for column in columns})))
    return np.column_stack(columns) if columns else np.zeros((0, 0))

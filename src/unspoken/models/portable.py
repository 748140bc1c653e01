"""Models that go on living in other tools: scikit-learn, SHAP, ONNX.

A column of categories is a number there. `matrix` turns records into those numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from unspoken.arrays import Floats
from unspoken.models.category_groups import Groups
from unspoken.models.model import Predictor
from unspoken.models.named_columns import number_rows
from unspoken.models.onnx_export import onnx_bytes
from unspoken.models.rebuilt_estimators import with_names


class Portable(Predictor):
    """A predictor that can be handed on as a fitted estimator or as an ONNX file."""

    if TYPE_CHECKING:

        @property
        def categories(self) -> Groups: ...  # noqa: D102

    @abstractmethod
    def _estimator(self) -> Any:
        """Return a fitted estimator without column names, built from checked data."""

    def to_sklearn(self) -> Any:
        """Return a fitted estimator of the library that the model came from.

        Nothing is unpickled or trained: its arrays are the model's. SHAP's TreeExplainer, partial
        dependence and everything else that takes a fitted estimator work on it.

        Returns
        -------
        object
            An estimator of scikit-learn, XGBoost or LightGBM. It knows its columns by name and
            takes categories as numbers; `matrix` has those. XGBoost numbers its classes: their
            names are in `classes`.

        Examples
        --------
        >>> shap.TreeExplainer(model.to_sklearn()).shap_values(model.matrix(table))
        ... # doctest: +SKIP
        """
        return with_names(self._estimator(), self.features)

    def matrix(self, data: Any) -> Floats:
        """Return records as the rows of numbers that `to_sklearn` and `to_onnx` take.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            As in `predict`: columns by name in any order.

        Returns
        -------
        numpy.ndarray
            One column per feature, in the order of `features`; NaN where missing.
        """
        return number_rows(data, self.features, self.categories)

    def to_onnx(self) -> bytes:
        """Return the model as an ONNX file, by the maintained converters; needs the extra `onnx`.

        Its input `X` is `matrix` as float32. Values that differ beyond float32 are one there,
        and sums are rounded to float32, so probabilities may differ in their last digits.

        Returns
        -------
        bytes
            The content of a .onnx file.
        """
        return onnx_bytes(self._estimator(), len(self.features))

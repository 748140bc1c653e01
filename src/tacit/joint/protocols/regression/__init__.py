"""Regression of several owners (vcz2006 chapter 5): rows or columns may be spread among them.

    from tacit.joint.protocols.regression import Terms, mine_regression_horizontal

    models, ledgers = mine_regression_horizontal([north, south], Terms("cost", ("age", "stay")))
    print(models[0].summary())

`moments` brings everybody's second moments into shares, `fitting` centres, scales, inverts and
opens the model, `guards` refuses what would give data away. `horizontal` and `vertical` are the
two ways in which data can lie, `selecting` chooses terms, `diagnostics` makes residual plots that
can be shared, `logistic` and `powell` (with `searching`) are other roads. `central` is the same on
pooled data, `costs` what plans say.
"""

from tacit.joint.protocols.regression.central import central
from tacit.joint.protocols.regression.columns import Columns
from tacit.joint.protocols.regression.diagnostics import (
    mine_residuals_horizontal,
    mine_residuals_vertical,
)
from tacit.joint.protocols.regression.horizontal import mine_regression_horizontal
from tacit.joint.protocols.regression.logistic import central_logistic, mine_logistic_horizontal
from tacit.joint.protocols.regression.logistic_columns import mine_logistic_vertical
from tacit.joint.protocols.regression.powell import mine_regression_powell
from tacit.joint.protocols.regression.residuals import open_residuals_vertical
from tacit.joint.protocols.regression.selecting import Selection
from tacit.joint.protocols.regression.terms import Rules, Terms
from tacit.joint.protocols.regression.vertical import mine_regression_vertical

__all__ = ["Columns", "Rules", "Selection", "Terms", "central", "central_logistic",
           "mine_logistic_horizontal", "mine_logistic_vertical", "mine_regression_horizontal",
           "mine_regression_powell", "mine_regression_vertical", "mine_residuals_horizontal",
           "mine_residuals_vertical", "open_residuals_vertical"]

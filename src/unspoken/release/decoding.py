"""decode: from a mined model to the model of the original data, exactly or not at all."""

from __future__ import annotations

from typing import Any

from unspoken.errors import DecodeError
from unspoken.release.key import Key
from unspoken.release.method import method_of
from unspoken.release.release import Release


def decode(model: Any, key: Key, data: Any = None, y: Any = None, release: Any = None,
           **options: Any) -> Any:
    """Turn a mined model into the one that the original data would have given.

    Parameters
    ----------
    model : Tree, Forest, or fitted model
        Also a fitted scikit-learn tree, forest or boosting object, an XGBoost JSON or a LightGBM
        text model.
    key : Key
        The key of the release.
    data : Table, DataFrame or array, default None
        The original table, its rows in any order; another table is refused. What has no names of
        columns, or not all that were released, must stand in its original order. Without data
        only histogram learners and C4.5 can be decoded exactly; everything else is refused.
    y : array, default None
        The original target, if `data` is not a Table.
    release : Release or path, default None
        The release that the model was mined from; it is refused if it is not, bit for bit, what was
        released under this key.
    **options
        Options of the method's decoder: `recipe`, how the model was mined, which names the rows
        that it learned from and those that stopped it early, or `rows` and `sample_weight`.

    Returns
    -------
    model
        The decoded model.

    Notes
    -----
    The training rows are sent through the mined trees, and every threshold is put where the
    learner would have put it between the original values (bu2007 Theorem 2 decodes thresholds by
    the inverse function, which is never exact).

    Examples
    --------
    >>> decoded = decode(mined, key, table)  # doctest: +SKIP
    """
    if release is not None:
        key.fits(release if isinstance(release, Release) else Release.load(release))
    decoder = method_of(key.mechanism).decode
    if decoder is None:
        raise DecodeError(f"No models are decoded for the method '{key.mechanism}'.")
    return decoder(model, key, data, y, **options)

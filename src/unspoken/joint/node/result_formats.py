"""A study's result in the format that an organisation's people use, by the end of a file's name."""

from __future__ import annotations

from pathlib import Path

from unspoken.errors import InputError
from unspoken.joint.node.front_door import result_in
from unspoken.models.handed_on import handed_on
from unspoken.models.model import Model

FORMS = {".json": "unspoken's JSON, which unspoken.load_model reads",
         ".onnx": "ONNX, for the extra onnx"}


def result_bytes(result: Path, suffix: str) -> bytes:
    """Return a kept result as the content of a file with this suffix.

    Pickles are not written: whoever loads one runs what is in it. `handed_on(model).to_sklearn()`
    is the fitted estimator.
    """
    if suffix not in FORMS:
        raise InputError(f"A result is written as {', '.join(FORMS)}. Got "
                         f"'{suffix or 'no suffix'}'.")
    if suffix == ".json":
        return result.read_bytes()
    model = result_in(result)
    if not isinstance(model, Model):
        raise InputError(f"The result holds numbers and no model. Write it as .json, not as "
                         f"'{suffix}'.")
    return handed_on(model).to_onnx()

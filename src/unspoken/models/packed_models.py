"""Large models in few bytes: the JSON document, its long lists as arrays behind it.

A file is `UNSPMODL`, a version, two lengths, a JSON header, the compressed arrays and nothing else.
The header is the model's document in which `{"$array": 3}` stands for the third array, and the type
and length of every array. Read as hostile input: sizes are checked against the limits before
anything is unpacked, an array may stand only where the document has a list of numbers, and its
values pass the same checks as those of a list (`hostile_json.Fields`).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unspoken.errors import ModelError, explain
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, Packed, parse_json, refuse

MAGIC = b"UNSPMODL"
SUFFIX = ".unspoken"
VERSION = 1
EXPANDS = 4
"""Arrays may unpack to this many times the bytes that a file may have."""

_FRONT = struct.Struct("<8sIQQ")
_TYPES = ("|i1", "<i2", "<i4", "<i8", "<f4", "<f8")
_PLACE = "$array"
_CODEC = "zstd"


def pack(document: Mapping[str, Any]) -> bytes:
    """Return the file of a document in which numpy arrays may stand for lists of numbers."""
    arrays: list[npt.NDArray[Any]] = []
    placed = _placed(document, arrays)
    header = {"document": placed, "arrays": [[one.dtype.str, one.size] for one in arrays]}
    head = json.dumps(header, allow_nan=False).encode()
    body = pa.compress(b"".join(one.tobytes() for one in arrays), codec=_CODEC, asbytes=True)
    return _FRONT.pack(MAGIC, VERSION, len(head), len(body)) + head + bytes(body)


def _placed(value: Any, arrays: list[npt.NDArray[Any]]) -> Any:
    """Return a document with a place in it for every array; our own documents are never deep."""
    if isinstance(value, np.ndarray):
        arrays.append(narrow(value))
        return {_PLACE: len(arrays) - 1}
    if isinstance(value, Mapping):
        if _PLACE in value:
            raise ModelError(f"A model with a column named '{_PLACE}' must be saved as JSON. "
                             "Choose a name that ends in .json.")
        return {name: _placed(each, arrays) for name, each in value.items()}
    return [_placed(each, arrays) for each in value] if isinstance(value, list) else value


def narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the same numbers in the narrowest type that holds every one of them exactly."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind == "b":
        return flat.astype("|i1")
    if flat.dtype.kind == "f":
        with np.errstate(over="ignore"):
            small = flat.astype("<f4")
        # Bits are compared: 0.0 and -0.0 are equal, and not the same.
        same = np.array_equal(small.astype("<f8").view("<i8"), flat.astype("<f8").view("<i8"))
        return small if same else flat.astype("<f8")
    ends = (int(flat.min()), int(flat.max())) if flat.size else (0, 0)
    kind = next(kind for kind in _TYPES[:4] if np.iinfo(kind).min <= ends[0]
                and ends[1] <= np.iinfo(kind).max)
    return flat.astype(kind)


def is_packed(content: bytes) -> bool:
    """Return True if a file begins as packed models do."""
    return content[:len(MAGIC)] == MAGIC


def unpack(content: bytes, limits: Limits = DEFAULT_LIMITS) -> dict[str, Any]:
    """Return the document of a packed model; anything malformed is a ModelError."""
    limits.check("file", len(content), limits.max_bytes)
    if len(content) < _FRONT.size or not is_packed(content):
        refuse("file", "a packed model", "one that ends in its first bytes")
    _, version, head_size, body_size = _FRONT.unpack_from(content)
    if version != VERSION:
        refuse("version", f"{VERSION}", version)
    if _FRONT.size + head_size + body_size != len(content):
        refuse("file", f"{_FRONT.size + head_size + body_size} bytes long", f"{len(content)}")
    fields = Fields(parse_json(content[_FRONT.size:_FRONT.size + head_size], limits),
                    limits=limits)
    arrays = _arrays(fields, content[_FRONT.size + head_size:], limits)
    document = fields.raw("document")
    if not isinstance(document, dict):
        refuse("document", "an object", type(document).__name__)
    return _filled(document, arrays)


def _arrays(fields: Fields, body: bytes, limits: Limits) -> list[Packed]:
    listed = [_described(place, one) for place, one in
              enumerate(fields.items("arrays", limits.max_containers))]
    size = sum(np.dtype(kind).itemsize * count for kind, count in listed)
    limits.check("arrays", size, EXPANDS * limits.max_bytes)
    whole = _decompressed(body, size)
    arrays, start = [], 0
    for kind, count in listed:
        arrays.append(Packed(np.frombuffer(whole, kind, count, start)))
        start += count * np.dtype(kind).itemsize
    return arrays


def _described(place: int, entry: Any) -> tuple[str, int]:
    """Return type and length of an array; both come from outside."""
    if not (isinstance(entry, list) and len(entry) == 2 and entry[0] in _TYPES
            and type(entry[1]) is int and 0 <= entry[1] < 1 << 48):
        refuse(f"arrays[{place}]", f"one of {', '.join(_TYPES)} and a length", entry)
    return entry[0], entry[1]


def _decompressed(body: bytes, size: int) -> bytes:
    if size == 0:
        return b""
    try:
        whole = pa.decompress(body, decompressed_size=size, codec=_CODEC, asbytes=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ModelError(explain("the arrays of a model file", f"{size} bytes, compressed",
                                 str(error)[:100])) from None
    if len(whole) != size:
        refuse("arrays", f"{size} bytes", f"{len(whole)}")
    return bytes(whole)


def _filled(document: dict[str, Any], arrays: list[Packed]) -> dict[str, Any]:
    """Put arrays where the document has a place for them, without recursion."""
    waiting: list[Any] = [document]
    while waiting:
        one = waiting.pop()
        for name, value in one.items() if isinstance(one, dict) else enumerate(one):
            if isinstance(value, dict) and set(value) == {_PLACE}:
                one[name] = _array(value[_PLACE], arrays)
            elif isinstance(value, dict | list):
                waiting.append(value)
    return document


def _array(place: Any, arrays: list[Packed]) -> Packed:
    if type(place) is not int or not 0 <= place < len(arrays):
        refuse(_PLACE, f"a number from 0 to {len(arrays) - 1}", place)
    return arrays[place]

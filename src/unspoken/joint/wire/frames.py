"""Frames: the only thing that travels between parties.

A message is one array with a purpose and a public label, cut into frames of at most
`CHUNK` bytes. A frame is a header of fixed width followed by its piece of the array. Every
field of the header is checked against a closed list or a hard limit before a byte of the
payload is read, and a reader only ever keeps bytes that really arrived: a header that promises
a gigabyte costs nothing. There is no pickle and no compression, and lengths depend on nothing
but dtype and shape, which are public.

Hostile input raises FrameError, which names the field; nothing else ever leaves this module.
"""

from __future__ import annotations

import enum
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import FrameError
from unspoken.joint.wire.hollow_arrays import is_dry, is_hollow

Array = npt.NDArray[np.generic]

MAGIC = b"TCJF"
VERSION = 2
CHUNK = 1 << 20
MAX_MESSAGE = 1 << 30
MAX_CONTROL = 1 << 16
MAX_DIMENSIONS = 4
SESSION_BYTES = 16
NO_SESSION = bytes(SESSION_BYTES)
DTYPES = ("|u1", "<u2", "<u4", "<u8", "<i8", "<f8")
_BYTES = {dtype: np.dtype(dtype).itemsize for dtype in DTYPES}
LABEL_BYTES = 48
LABEL = re.compile(r"[a-z0-9][a-z0-9 ._/-]{0,47}", re.ASCII)
# magic, version, kind, purpose, dtype, dimensions, reserved, session, sequence, step,
# chunk, length of this piece, shape, label
_HEADER = struct.Struct("<4s6B6x16sQIII4Q48s")
HEADER_BYTES = _HEADER.size


class Kind(enum.IntEnum):
    """What a frame is for the transport; only DATA reaches a program, STREAM an engine."""

    DATA = 1
    HELLO = 2
    BEAT = 3
    ABORT = 4
    DONE = 5
    STREAM = 6
    HEAD = 7
    LAST = 8


class Purpose(enum.IntEnum):
    """What a message may disclose to its receiver; the ledger is sorted by it."""

    CONTROL = 1
    MASKED = 2
    ENCRYPTED = 3
    SHARE = 4
    DISCLOSURE = 5
    RESULT = 6


_KINDS = {int(kind): kind for kind in Kind}
_PURPOSES = {int(purpose): purpose for purpose in Purpose}


@dataclass(frozen=True)
class Message:
    """One array on its way, with what may be known about it by everybody."""

    label: str
    array: Array
    purpose: Purpose
    step: int = 0
    kind: Kind = Kind.DATA


@dataclass(frozen=True)
class Header:
    """The checked header of one frame."""

    kind: Kind
    purpose: Purpose
    dtype: str
    shape: tuple[int, ...]
    session: bytes
    sequence: int
    step: int
    chunk: int
    length: int
    label: str

    @property
    def total(self) -> int:
        """Return the bytes of the whole message."""
        return math.prod(self.shape) * _BYTES[self.dtype]

    @property
    def chunks(self) -> int:
        """Return how many frames the whole message has."""
        return max(1, -(-self.total // CHUNK))

    def belongs_to(self, first: Header) -> bool:
        """Return True if this frame continues the message that `first` opened."""
        return (self.kind, self.purpose, self.dtype, self.shape, self.step, self.label) == (
            first.kind, first.purpose, first.dtype, first.shape, first.step, first.label)


def wire_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    """Return what a message of this dtype and shape costs on the wire, headers included."""
    total = math.prod(shape) * np.dtype(dtype).itemsize
    return total + HEADER_BYTES * max(1, -(-total // CHUNK))


def framed(message: Message, session: bytes,
           sequence: int) -> Iterator[tuple[Header, bytes]]:
    """Yield the frames of a message with what is in their headers.

    What may not travel raises InputError before the first.
    """
    array, dtype = _travelling(message.array)
    _check_label(message.label)
    dims = (*array.shape, *(1,) * (MAX_DIMENSIONS - array.ndim))
    label = message.label.encode().ljust(LABEL_BYTES, b"\0")
    body = memoryview(array.reshape(-1).view(np.uint8).data)
    for chunk in range(max(1, -(-len(body) // CHUNK))):
        piece = body[chunk * CHUNK:(chunk + 1) * CHUNK]
        raw = _HEADER.pack(
            MAGIC, VERSION, message.kind, message.purpose, DTYPES.index(dtype), array.ndim, 0,
            session, sequence + chunk, message.step, chunk, len(piece), *dims, label)
        yield Header(message.kind, message.purpose, dtype, array.shape, session,
                     sequence + chunk, message.step, chunk, len(piece), message.label), raw + piece


def _travelling(array: Array) -> tuple[Array, str]:
    """Return the array as it travels (little-endian, contiguous) and the name of its dtype."""
    if is_dry() or is_hollow(array):
        raise InputError("Nothing is sent in a dry run: no mask was drawn.")
    return np.ascontiguousarray(array, np.dtype(sendable(array))).reshape(
        array.shape), sendable(array)


def sendable(array: Array) -> str:
    """Return the name of the dtype as which an array travels; what may not travel is refused."""
    little = array.dtype.newbyteorder("<").str
    if little not in DTYPES:
        raise InputError(explain("The dtype of a message", "one of " + ", ".join(DTYPES),
                                 array.dtype.str))
    if array.ndim > MAX_DIMENSIONS:
        raise InputError(f"A message may have at most {MAX_DIMENSIONS} dimensions. This one has "
                         f"{array.ndim}.")
    if array.nbytes > MAX_MESSAGE:
        raise InputError(f"A message may have at most {MAX_MESSAGE} bytes. This one has "
                         f"{array.nbytes}. Send it in several messages.")
    return little


def _check_label(label: str) -> None:
    if not LABEL.fullmatch(label):
        raise InputError(explain("A label", "1 to 48 of a-z, 0-9, space and ._/-", label))


def parse(data: bytes, limit: int = MAX_MESSAGE) -> Header:
    """Check the fixed-width header of a frame field by field."""
    if len(data) != HEADER_BYTES:
        raise FrameError("header", f"A frame header must be {HEADER_BYTES} bytes. "
                                   f"Got {len(data)}.")
    (magic, version, kind, purpose, dtype, ndim, reserved, session, sequence, step, chunk, length,
     *rest) = _HEADER.unpack(data)
    _must("magic", magic == MAGIC, "ours", "something else")
    _must("version", version == VERSION, VERSION, version)
    _must("reserved", reserved == 0 and data[10:16] == bytes(6), 0, "something else")
    _must("kind", kind in _KINDS, "a known kind", kind)
    _must("purpose", purpose in _PURPOSES, "a known purpose", purpose)
    _must("dtype", dtype < len(DTYPES), "a known dtype", dtype)
    header = Header(_KINDS[kind], _PURPOSES[purpose], DTYPES[dtype], _shape(ndim, rest[:4]),
                    session, sequence, step, chunk, length, _label(rest[4]))
    _check_sizes(header, limit)
    return header


def _shape(ndim: int, dims: list[int]) -> tuple[int, ...]:
    _must("dimensions", ndim <= MAX_DIMENSIONS, f"at most {MAX_DIMENSIONS}", ndim)
    _must("shape", all(size == 1 for size in dims[ndim:]), "1 in unused dimensions", "another")
    _must("shape", all(size <= MAX_MESSAGE for size in dims), f"at most {MAX_MESSAGE}", max(dims))
    return tuple(dims[:ndim])


@lru_cache(1024)
def _label(raw: bytes) -> str:
    text = raw.rstrip(b"\0").decode("ascii", "replace")
    _must("label", LABEL.fullmatch(text) is not None, "a label", "other characters")
    return text


def _check_sizes(header: Header, limit: int) -> None:
    """Check all sizes before anything is allocated or read."""
    total = header.total
    if header.kind is not Kind.DATA:
        limit = min(limit, CHUNK if header.kind is Kind.STREAM else MAX_CONTROL)
    _must("shape", total <= limit, f"at most {limit} bytes in all", total)
    _must("chunk", header.chunk < header.chunks, f"below {header.chunks}", header.chunk)
    expected = min(CHUNK, total - header.chunk * CHUNK)
    _must("length", header.length == expected, expected, header.length)


def _must(field: str, holds: bool, allowed: object, got: object) -> None:
    if not holds:
        raise FrameError(field, explain(f"The frame's '{field}'", str(allowed), str(got)))


class Assembler:
    """Puts the frames of one link together; anything out of order raises FrameError."""

    def __init__(self, session: bytes = NO_SESSION, limit: int = MAX_MESSAGE) -> None:
        self.session = session
        self.sequence = 0
        self.limit = limit
        self._first: Header | None = None
        self._pieces: list[bytes] = []

    def header(self, data: bytes) -> Header:
        """Check a header against the link: session, sequence, and the message it continues."""
        header = parse(data, self.limit)
        # Signs of life and of failure may come before all parties have met.
        early = header.kind in (Kind.BEAT, Kind.ABORT) and header.session == NO_SESSION
        _must("session", early or header.session == self.session, "this run's", "another")
        _must("sequence", header.sequence == self.sequence, self.sequence, header.sequence)
        if self._first is None or header.kind is Kind.ABORT:
            _must("chunk", header.chunk == 0, 0, header.chunk)
        else:
            _must("chunk", header.chunk == len(self._pieces), len(self._pieces), header.chunk)
            _must("header", header.belongs_to(self._first), "the same message", "another")
        return header

    def add(self, header: Header, piece: bytes) -> Message | None:
        """Take a checked header with its piece; return the message when it is whole."""
        _must("length", len(piece) == header.length, header.length, len(piece))
        self.sequence += 1
        if header.kind is Kind.ABORT:
            # It may cut into a longer message, of which nothing more will come.
            self._pieces = []
        self._first = self._first or header
        self._pieces.append(piece)
        if len(self._pieces) < header.chunks:
            return None
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._first, self._pieces = None, []
        array = np.frombuffer(body, header.dtype).reshape(header.shape)
        return Message(header.label, array, header.purpose, header.step, header.kind)

    def feed(self, frame: bytes) -> Message | None:
        """Take one whole frame."""
        header = self.header(frame[:HEADER_BYTES])
        return self.add(header, frame[HEADER_BYTES:])


def text_array(text: str) -> Array:
    """Return text as the array in which it travels."""
    return np.frombuffer(text.encode(), np.uint8)

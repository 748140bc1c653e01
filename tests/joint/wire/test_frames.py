"""Frames: what comes in from outside either is a message or raises FrameError, cheaply."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unspoken.errors import InputError
from unspoken.joint.joint_errors import FrameError
from unspoken.joint.wire import frames
from unspoken.joint.wire.frames import (
    CHUNK,
    DTYPES,
    HEADER_BYTES,
    NO_SESSION,
    Assembler,
    Kind,
    Message,
    Purpose,
    framed,
    parse,
    wire_bytes,
)


def encode(*given_):
    """Return the frames of a message."""
    return (frame for _, frame in framed(*given_))


arrays = hnp.arrays(st.sampled_from([np.dtype(d) for d in DTYPES]),
                    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))


def message(array, **kind):
    return Message("a label", np.asarray(array), Purpose.SHARE, step=7, **kind)


def through(frames_, assembler=None):
    assembler = assembler or Assembler()
    found = [assembler.feed(frame) for frame in frames_]
    assert all(part is None for part in found[:-1])
    return found[-1]


@pytest.mark.slow
@given(arrays)
def test_what_goes_in_comes_out(array):
    back = through(encode(message(array), NO_SESSION, 0))
    assert back.array.dtype == array.dtype
    assert back.array.tobytes() == array.tobytes()
    assert back.array.shape == array.shape
    assert (back.label, back.purpose, back.step) == ("a label", Purpose.SHARE, 7)


@pytest.mark.slow
@given(arrays)
def test_what_the_ledger_is_told_of_a_frame_is_what_its_header_holds(array):
    for header, frame in framed(message(array), NO_SESSION, 3):
        assert parse(frame[:HEADER_BYTES]) == header


@pytest.mark.parametrize("array", [np.arange(12).reshape(3, 4).T, np.arange(9, dtype=">u8")[::2]])
def test_layout_and_byte_order_do_not_matter(array):
    back = through(encode(message(array), NO_SESSION, 0))
    assert np.array_equal(back.array, array)


def test_a_large_array_travels_in_chunks_of_known_size():
    array = np.arange(3 * CHUNK // 8 + 5, dtype=np.uint64)
    pieces = list(encode(message(array), NO_SESSION, 0))
    assert len(pieces) == 4
    assert max(map(len, pieces)) == CHUNK + HEADER_BYTES
    assert sum(map(len, pieces)) == wire_bytes("<u8", array.shape)
    assert np.array_equal(through(pieces).array, array)


@pytest.mark.parametrize(("array", "word"), [
    (np.array(["x"]), "dtype"), (np.array([None]), "dtype"), (np.zeros(2, complex), "dtype"),
    (np.zeros((1,) * 5), "dimensions"), (np.array([True]), "dtype"),
    (np.broadcast_to(np.zeros(1), (1 << 28,)), "bytes"),
])
def test_what_may_not_travel_is_refused_before_it_is_sent(array, word):
    with pytest.raises(InputError, match=word):
        next(encode(message(array), NO_SESSION, 0))


@pytest.mark.parametrize("label", ["", "A", "x" * 49, "a\n", "ü", "a\0"])
def test_labels_are_plain(label):
    with pytest.raises(InputError, match="label"):
        next(encode(Message(label, np.zeros(1), Purpose.SHARE), NO_SESSION, 0))


# Offsets of the fields in the header, and a value that none of them may have.
FIELDS = [("magic", 0, b"\0"), ("version", 4, b"\7"), ("kind", 5, b"\xff"),
          ("purpose", 6, b"\0"), ("dtype", 7, b"\x09"), ("dimensions", 8, b"\x05"),
          ("reserved", 9, b"\1"), ("reserved", 12, b"\1"), ("session", 16, b"\1"),
          ("sequence", 32, b"\1"), ("chunk", 44, b"\1"), ("length", 48, b"\1"),
          ("shape", 84 - 8, b"\2"), ("shape", 59, b"\xff"), ("label", 84, b"\n")]


@pytest.mark.parametrize(("field", "offset", "value"), FIELDS)
def test_each_field_is_named(field, offset, value):
    frame = bytearray(next(iter(encode(message(np.arange(3)), NO_SESSION, 0))))
    frame[offset:offset + 1] = value
    with pytest.raises(FrameError) as caught:
        Assembler().feed(bytes(frame))
    assert caught.value.field == field


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(data):
    with pytest.raises(FrameError):
        Assembler().feed(data)


@pytest.mark.slow
@settings(max_examples=300)
@given(arrays, st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1,
                        max_size=4))
def test_mutated_frames_are_a_message_or_refused(array, changes):
    frame = bytearray(next(iter(encode(message(array), NO_SESSION, 0))))
    for place, value in changes:
        frame[place % len(frame)] = value
    try:
        got = Assembler().feed(bytes(frame))
    except FrameError:
        return
    assert got is None or got.array.nbytes <= len(frame)


@given(st.integers(0, 200))
def test_cut_frames_are_refused(cut):
    frame = next(iter(encode(message(np.arange(9)), NO_SESSION, 0)))
    if cut < len(frame):
        with pytest.raises(FrameError):
            Assembler().feed(frame[:cut])


def test_a_promise_of_a_gigabyte_allocates_nothing():
    frame = next(iter(encode(message(np.zeros(frames.MAX_MESSAGE // 8)), NO_SESSION, 0)))
    tracemalloc.start()
    header = Assembler().header(frame[:HEADER_BYTES])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert header.total == frames.MAX_MESSAGE
    assert peak < 1 << 20


def test_more_than_the_limit_is_refused_from_the_header():
    frame = next(iter(encode(message(np.zeros(1000)), NO_SESSION, 0)))
    with pytest.raises(FrameError, match="at most 800 bytes"):
        parse(frame[:HEADER_BYTES], limit=800)


def test_control_frames_are_small():
    frame = next(iter(encode(message(np.zeros(10_000), kind=Kind.ABORT), NO_SESSION, 0)))
    with pytest.raises(FrameError, match="shape"):
        parse(frame[:HEADER_BYTES])


def test_chunks_of_two_messages_do_not_mix():
    first = list(encode(message(np.zeros(CHUNK // 4)), NO_SESSION, 0))
    second = list(encode(Message("other", np.zeros(CHUNK // 4), Purpose.SHARE), NO_SESSION, 0))
    assembler = Assembler()
    assembler.feed(first[0])
    with pytest.raises(FrameError, match="same message"):
        assembler.feed(second[1])


def test_an_abort_may_cut_into_a_longer_message():
    long = list(encode(message(np.zeros(CHUNK // 4)), NO_SESSION, 0))
    abort = next(iter(encode(Message("abort", frames.text_array("{}"), Purpose.CONTROL,
                                     kind=Kind.ABORT), NO_SESSION, 1)))
    assembler = Assembler()
    assert assembler.feed(long[0]) is None
    assert assembler.feed(abort).kind is Kind.ABORT


@pytest.mark.parametrize("kind", list(Kind))
def test_only_signs_of_life_and_failure_come_before_the_session(kind):
    frame = next(iter(encode(message(np.zeros(1), kind=kind), NO_SESSION, 0)))
    assembler = Assembler(session=b"s" * 16)
    if kind in (Kind.BEAT, Kind.ABORT):
        assert assembler.feed(frame).kind is kind
    else:
        with pytest.raises(FrameError, match="session"):
            assembler.feed(frame)


def test_a_frame_sent_twice_is_refused():
    frame = next(iter(encode(message(np.arange(3)), NO_SESSION, 0)))
    assembler = Assembler()
    assembler.feed(frame)
    with pytest.raises(FrameError, match="sequence"):
        assembler.feed(frame)


def test_a_frame_of_another_run_is_refused():
    frame = next(iter(encode(message(np.arange(3)), b"x" * 16, 0)))
    with pytest.raises(FrameError, match="session"):
        Assembler().feed(frame)

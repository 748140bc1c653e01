"""What all parties of a run see together, compared for two inputs that give the same output.

A run in memory is watched frame by frame. What holders open is added up (and put together by
exclusive or), because shares alone are uniform whatever is wrong: only the sum of both sides shows
what a comparison or a product really opens, and what is disclosed beside the result. The opened
words of two inputs with equal output must then look alike, and so must what one side alone sends as
a share; they must not depend on the input in any of these ways:

- *shape*: labels, steps and lengths of all frames are the same;
- *bits*: at every place of every label, how often a bit comes again in the next run of the same
  input is how often it comes again in a run of the other input (a mask that is missing, halved or
  fixed shows the same bit again);
- *pairs*: the same for the differences of neighbouring words, of any two openings, and of the
  halves and thirds of openings (a mask that is used twice cancels);
- *repetition*: no word of 64 bits that a holder sends comes twice in a run.

Power: with n bits at a place over all runs, a bit whose chance of coming again differs by d between
the inputs is found with probability above 0.999 once n d^2 > 60; false alarms come once in about
10^6 checks, because every test counts at ALARM over the number of tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import erfc, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import InputError
from unspoken.joint.joint_errors import PartyError
from unspoken.joint.session.own_loop import finished
from unspoken.joint.session.play import Program, in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, Purpose, parse

ALARM = 1e-6
PAIRS = 3000
FEW = 30
"""Of fewer hits nothing is said: the normal law does not hold."""
LEAST = 16
"""Parts of fewer bytes are not compared with each other."""
DEALT = ("deal.", "proof.")
"""What is dealt, and proofs of it, depend on nobody's input."""
Bits = npt.NDArray[np.uint8]
Place = tuple[int, str]


@dataclass
class View:
    """Everything that went over the links of one run, and what came out."""

    names: Sequence[str] = ()
    """The parties that run the program: a dealer beside them has nothing to hide."""
    lengths: list[tuple[str, str, str, int, int]] = field(default_factory=list)
    sent: dict[tuple[int, str, str], npt.NDArray[Any]] = field(default_factory=dict)
    opened: dict[tuple[int, str, str], npt.NDArray[Any]] = field(default_factory=dict)
    output: list[Any] = field(default_factory=list)
    pieces: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def tap(self, source: str, target: str, frame: bytes) -> bytes:
        """Keep a frame and pass it on."""
        header = parse(frame[:HEADER_BYTES])
        if header.kind is Kind.DATA:
            self.lengths.append((source, target, header.label, header.step, len(frame)))
            if header.purpose in (Purpose.MASKED, Purpose.SHARE, Purpose.DISCLOSURE):
                words = np.frombuffer(frame[HEADER_BYTES:], header.dtype)
                self.sent[header.step, header.label, source] = words
                if (header.purpose is Purpose.SHARE and source in self.names
                        and not header.label.startswith(DEALT)):
                    self._keep(header.step, header.label, f"{source} sends {target}", words)
                # What is disclosed is the result, which both inputs share, or it is too much.
                disclosed = header.purpose is Purpose.DISCLOSURE and words.dtype.kind == "u"
                if header.purpose is Purpose.MASKED or disclosed:
                    self._add((header.step, header.label), source, words)
        return frame

    def _add(self, place: Place, source: str, words: npt.NDArray[Any]) -> None:
        """Add what one side sends to what the others do, once for each source."""
        step, label = place
        known = f"{label} from {source}"
        if (step, label, known) in self.opened:
            return
        for way in ("sum", "xor"):
            before = self.opened.get((step, label, way), np.zeros_like(words))
            joined = before + words if way == "sum" else before ^ words
            self.opened[step, label, way] = joined
        self.opened[step, label, known] = words[:0]

    def _keep(self, step: int, label: str, link: str, words: npt.NDArray[Any]) -> None:
        """Keep what one side alone sends, which has to hide by itself what it depends on."""
        before = self.opened.get((step, label, link), words[:0])
        self.opened[step, label, link] = np.concatenate([before, words])

    def openings(self) -> dict[tuple[int, str, str], npt.NDArray[Any]]:
        """Return the joined openings of every step and label, and each side's shares."""
        return {key: words for key, words in self.opened.items()
                if key[2] in ("sum", "xor") or " sends " in key[2]}


def joint_views(program: Program, inputs: Sequence[Any], others: Sequence[Any],
                mode: str = "dealer", holders: Sequence[str] | None = None,
                runs: int = 4) -> list[str]:
    """Return what the parties' joint view tells about inputs beyond the output; empty if nothing.

    Parameters
    ----------
    program : async callable
        Called as `program(party, data)`, decorated with `declares`.
    inputs, others : sequence
        Two inputs per owner, for which the program must return the same.
    mode : str, default 'dealer'
        The mode to run in.
    holders : sequence of str, optional
        The parties that hold shares. Default: as the mode says.
    runs : int, default 4
        How often each input is run; more runs see smaller differences.

    Returns
    -------
    list of str
        One sentence for each thing that differs.

    Examples
    --------
    >>> assert not joint_views(program, [3, 4], [4, 3])  # doctest: +SKIP
    """
    sides = [[_watched(program, side, mode, holders) for _ in range(runs)]
             for side in (inputs, others)]
    first = sides[0][0].output
    if any(not _same(view.output, first) for side in sides for view in side):
        raise InputError("The views of two inputs can be compared only if the program returns the "
                         "same for both. It does not.")
    if any(sorted(view.lengths) != sorted(sides[0][0].lengths) for side in sides for view in side):
        return ["The labels, steps or lengths of frames depend on the input or on chance."]
    return [*_repeated(sides), *_coming_again(sides)]


def _watched(program: Program, inputs: Sequence[Any], mode: str,
             holders: Sequence[str] | None) -> View:
    roles = roles_for([f"p{i}" for i in range(len(inputs))], mode, holders)
    view = View(roles.program)
    outcomes = finished(in_memory(program, list(inputs), roles, tap=view.tap))
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, PartyError))
    view.output = [outcome.output for outcome in outcomes]
    view.pieces = _pieces(view)
    return view


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(np.array_equal(one, other)) if one is not None else other is None


def _repeated(sides: Sequence[Sequence[View]]) -> Iterator[str]:
    """Complain of words that are sent twice; among uniform words of 64 bits none is."""
    for view in (view for side in sides for view in side):
        counts: Counter[int] = Counter()
        for words in view.sent.values():
            if words.dtype.itemsize == 8:
                counts.update(set(words.tolist()))
        twice = sum(count - 1 for count in counts.values())
        if twice:
            yield f"{twice} masked or shared words were sent twice in one run."
            return


def _coming_again(sides: Sequence[Sequence[View]]) -> Iterator[str]:
    tests = [(name, *_chances(name, sides)) for name in _names(sides[0][0])]
    limit = ALARM / max(1, len(tests))
    for (place, what), p_value, share in tests:
        if p_value < limit:
            yield (f"What is opened at {place} ({what}) depends on the input: its bits come again "
                   f"{share:.0%} of the time (p = {p_value:.1e}).")


def _names(view: View) -> list[tuple[str, str]]:
    """Return the openings, and the pairs of them and of their parts."""
    pieces = view.pieces
    single = [(name, what) for name in pieces for what in ("alone", "neighbours")]
    keys = sorted(pieces)
    pairs = [(one, other) for i, one in enumerate(keys) for other in keys[i + 1:]
             if _comparable(pieces[one], pieces[other]) and _way(one) == _way(other)]
    step = max(1, -(-len(pairs) // PAIRS))
    return single + pairs[::step]


def _way(name: str) -> str:
    return name.rsplit("|", 1)[-1]


def _comparable(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.dtype == other.dtype and min(one.size, other.size) * one.dtype.itemsize >= LEAST


def _pieces(view: View) -> dict[str, npt.NDArray[Any]]:
    """Return every opening, its halves and its thirds, by name."""
    pieces = {}
    for (step, label, way), words in view.openings().items():
        for parts in (1, 2, 3):
            if words.size % parts == 0 and words.size >= parts:
                for i, piece in enumerate(words.reshape(parts, -1)):
                    pieces[f"{step} {label}, part {i + 1} of {parts}|{way}"] = piece
    return pieces


def _chances(name: tuple[str, str], sides: Sequence[Sequence[View]]) -> tuple[float, float]:
    """Return whether bits come again in the same input as often as in the other, and how often."""
    drawn = [[_bits(name, view) for view in side] for side in sides]
    same = np.concatenate([one == other for side in drawn
                           for one, other in zip(side[::2], side[1::2], strict=False)])
    mixed = np.concatenate([one == other for one, other in zip(*drawn, strict=True)])
    p_values = [*_two_rates(same, mixed), *_two_rates(same.reshape(-1, 1), mixed.reshape(-1, 1))]
    share = float(same.mean()) if same.size else 0.0
    return min(1.0, min(p_values) * len(p_values)), share


def _bits(name: tuple[str, str], view: View) -> Bits:
    """Return the bits of an opening or of a difference, one row for each word."""
    pieces = view.pieces
    one, other = name
    words = pieces[one]
    if other == "neighbours":
        words = words[1:] ^ words[:-1] if _way(one) == "xor" else words[1:] - words[:-1]
    elif other != "alone":
        size = min(words.size, pieces[other].size)
        words, rest = words[:size], pieces[other][:size]
        words = words ^ rest if _way(one) == "xor" else words - rest
    raw = np.ascontiguousarray(words).view(np.uint8).reshape(words.size, words.dtype.itemsize)
    return np.unpackbits(raw, axis=1, bitorder="little")


def _two_rates(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> list[float]:
    """Return, column by column, the p-value that two samples of hits have the same rate."""
    if min(len(one), len(other)) < FEW:
        return [1.0]
    hits = one.sum(axis=0) + other.sum(axis=0)
    rate = hits / (len(one) + len(other))
    spread = np.sqrt(rate * (1 - rate) * (1 / len(one) + 1 / len(other)))
    distance = np.abs(one.mean(axis=0) - other.mean(axis=0)) / np.maximum(spread, 1e-12)
    return [erfc(each / sqrt(2)) for each in distance]

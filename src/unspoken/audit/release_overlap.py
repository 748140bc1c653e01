"""What the next release would add to those that are out already (the register's question).

Two encodings of one column align by order. Two strict ones show the same order twice; a strict
one shows the order that a max-mono one hides; two max-mono ones with different classes cut their
permuted runs differently and show a finer order together than each alone.

Two published tables of the same people are intersected: an adversary who finds a person in a
class of each knows that the sensitive value is in both. K and L of each say nothing about that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.disclosure.adversary import View
from unspoken.errors import ReleaseError
from unspoken.methods.anonymity.adversaries.table_adversary import TableView
from unspoken.methods.anonymity.audit import intersection
from unspoken.methods.encoding.adversaries.two_releases import overlaps, ranges
from unspoken.release.method import methods, name_in
from unspoken.release.register import Entry, Register, digest, release_entry
from unspoken.release.release import Release
from unspoken.table.table import Table


@dataclass(frozen=True)
class Added:
    """What one earlier release and the next one disclose together about one column.

    Attributes
    ----------
    column : str
        The column.
    earlier : str
        The fingerprint of the earlier release.
    to : str
        Its recipient.
    before, next_alone, together : float or None
        The share of codes whose rank is known exactly from the earlier release, the next one, and
        both; for a sensitive column of published tables the share of people whose value is guessed
        correctly. None if the earlier release could not be read.
    words : str
        The same in a sentence.
    """

    column: str
    earlier: str
    to: str
    before: float | None
    next_alone: float | None
    together: float | None
    words: str


def attack_together(first: Release, second: Release,
                    columns: Mapping[str, str]) -> dict[str, tuple[float, float, float]]:
    """Return for each shared column the share of codes in exact order: first, second, together.

    Parameters
    ----------
    first, second : Release
        Two releases of the same rows.
    columns : mapping of str to str
        Released names of the first to released names of the second.

    Returns
    -------
    dict of str to tuple of three floats
        By released name of the first.
    """
    one, two = View.of(first, rows=True), View.of(second, rows=True)
    usable = {a: b for a, b in columns.items()
              if a in one.columns and b in two.columns and one.rows == two.rows}
    there = overlaps(one, two, usable)
    back = overlaps(two, one, {b: a for a, b in usable.items()})
    return {a: (ranges(one[a]).exact(one[a]), ranges(two[b]).exact(two[b]),
                max(there[a].exact(one[a]), back[b].exact(two[b])))
            for a, b in usable.items()}


def what_it_adds(register: Register, table: Table, release: Release,
                 released: Mapping[str, str] | None = None, *,
                 random_state: Any = None) -> tuple[Added, ...]:
    """Return for every earlier release of the same columns what this one adds to it.

    Parameters
    ----------
    register : Register
        What was released before.
    table : Table
        The original.
    release : Release
        The next release.
    released : mapping of str to str, default None
        Original names to released names, where they differ.
    random_state : int, default None
        Draws the people who are looked for in two published tables.

    Returns
    -------
    tuple of Added

    Notes
    -----
    Studies and query answers of the register are listed there, but not attacked together.

    Examples
    --------
    >>> what_it_adds(Register.load("register.jsonl"), table, release)  # doctest: +SKIP
    """
    mine = release_entry(table, release, "", None, released)
    out: list[Added] = []
    for entry in register.before(digest(table)):
        shared = _shared(entry, mine)
        if entry.kind != "release" or entry.what == mine.what or not shared:
            continue
        if _of_people(entry.mechanism) and _of_people(mine.mechanism):
            out += _people(entry, table, release, shared, random_state)
        else:
            out += _against(entry, mine, release, shared)
    return tuple(out)


def _of_people(mechanism: Mapping[str, Any]) -> bool:
    """Return True if a release shows people, who can be looked for in two releases at once."""
    method = methods().get(name_in(mechanism))
    return method is not None and method.together is not None


def _shared(entry: Entry, mine: Entry) -> list[tuple[str, str]]:
    """Return (earlier name, own name) of columns with the same digest."""
    earlier = {digest: name for name, digest in entry.columns.items()}
    return [(earlier[digest], name) for name, digest in mine.columns.items() if digest in earlier]


def _against(entry: Entry, mine: Entry, release: Release,
             shared: Sequence[tuple[str, str]]) -> list[Added]:
    measured: dict[str, tuple[float, float, float]] = {}
    earlier = _load(entry)
    if earlier is not None:
        names = {entry.released.get(a, a): mine.released.get(b, b) for a, b in shared}
        measured = attack_together(earlier, release, names)
    out = []
    for a, b in shared:
        errors = measured.get(entry.released.get(a, a))
        if errors is None and earlier is not None:
            continue
        before, alone, both = errors or (None, None, None)
        out.append(Added(b, entry.what, entry.to, before, alone, both,
                         _words(b, entry, mine, errors)))
    return out


def _people(entry: Entry, table: Table, release: Release, shared: Sequence[tuple[str, str]],
            random_state: Any) -> list[Added]:
    """Intersect two published tables of the same people, for every sensitive column of both."""
    earlier, own = _load(entry), TableView.of(release).secrets
    before = own if earlier is None else TableView.of(earlier).secrets
    out = []
    for a, b in shared:
        if b not in own or a not in before or a != b:
            continue
        overlap = None if earlier is None else intersection(table, earlier, release, b,
                                                            random_state=random_state)
        first, second, both = (None if overlap is None else overlap[part]
                               for part in ("first", "second", "both"))
        out.append(Added(b, entry.what, entry.to, first, second, both, _guessed(b, entry, overlap)))
    return out


def _guessed(column: str, entry: Entry, measured: Mapping[str, float] | None) -> str:
    who = f"release {entry.what[:12]} to {entry.to or 'an unnamed recipient'}"
    if measured is None:
        return (f"'{column}': also in {who}, which could not be read; both together may disclose "
                "the values of more people than either alone")
    return (f"'{column}': together with {who} the value of {measured['both']:.1%} of the people is "
            f"guessed correctly, {measured['first']:.1%} and {measured['second']:.1%} from each "
            f"alone, {measured['baseline']:.1%} without any; for "
            f"{measured['sure']:.1%} it is certain")


def _load(entry: Entry) -> Release | None:
    if entry.place is None or not Path(entry.place).is_dir():
        return None
    try:
        return Release.load(entry.place)
    except ReleaseError:
        return None


def _words(column: str, entry: Entry, mine: Entry,
           shares: tuple[float, float, float] | None) -> str:
    who = f"release {entry.what[:12]} to {entry.to or 'an unnamed recipient'}"
    modes = (entry.mechanism.get("mode"), mine.mechanism.get("mode"))
    if shares is None and modes == ("strict", "strict"):
        return f"'{column}': nothing about order that {who} does not show already"
    if shares is None:
        return (f"'{column}': also in {who}, which could not be read; together they may show more "
                "order")
    before, alone, both = shares
    if both <= max(before, alone):
        return (f"'{column}': together with {who} no more order than the better of the two alone "
                f"({max(before, alone):.1%} of the codes)")
    return (f"'{column}': together with {who} {both:.1%} of the codes are in exact order, "
            f"{before:.1%} and {alone:.1%} alone")

"""What the next release would add to those that are out already (the register's question).

Two encodings of one column align by order. Two strict ones show the same order twice; a strict
one shows the order that a max-mono one hides; two max-mono ones with different classes cut their
permuted runs differently and show a finer order together than each alone.

Two published tables of the same people are intersected: an adversary who finds a person in a
class of each knows that the sensitive value is in both. K and L of each say nothing about that.

Two noisy reports of one value are averaged: whoever holds both releases and links their records has
less noise than either recipient. Every other pair, whatever made it, is searched for the same
people (`linked_releases`). What cannot be read counts as not measured, which fails a policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unspoken.audit.added_disclosure import Added
from unspoken.audit.averaged_reports import averaged_columns, averages
from unspoken.audit.people.own_release import renamed
from unspoken.audit.two_tables import MIXED, load_entered, mixes_columns, not_read, two_tables
from unspoken.disclosure.adversary import View
from unspoken.methods.anonymity.adversaries.table_adversary import TableView
from unspoken.methods.anonymity.audit import intersection
from unspoken.methods.encoding.adversaries.two_releases import overlaps, ranges
from unspoken.release.method import methods, name_in
from unspoken.release.people_sketch import SAME
from unspoken.release.register import Entry, Register, release_entry
from unspoken.release.release import Release
from unspoken.table.table import Table


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
    An audit lays published models, query answers and results of studies beside the release as
    well.

    Examples
    --------
    >>> what_it_adds(Register.load("register.jsonl"), table, release)  # doctest: +SKIP
    """
    if not register.entries:
        return ()
    mine = register.keyed(release_entry(table, release, "", None, released))
    known = {one.what for one in register.before(table)}
    people = register.known_people(table)
    out: list[Added] = []
    for place, entry in enumerate(register.entries):
        shared = _shared(entry, mine, people.get(place, 0.0) >= SAME)
        if entry.kind != "release" or entry.what == mine.what or not shared \
                or entry.what not in known:
            continue
        out += _pair(entry, mine, table, release, shared, random_state)
    return tuple(out)


def _pair(entry: Entry, mine: Entry, table: Table, release: Release,
          shared: Sequence[tuple[str, str]], random_state: Any) -> list[Added]:
    """Attack two releases of the same people by the attack that is made for their kinds."""
    if _of_people(entry.mechanism) and _of_people(mine.mechanism):
        out = _people(entry, table, release, shared, random_state)
        secret = {one.column for one in out}
        return out + [one for one in _linked(entry, mine, table, release, shared, random_state)
                      if one.column not in secret and (one.gains or one.together is None)]
    if _codes(entry.mechanism) and _codes(mine.mechanism):
        return _against(entry, mine, release, shared)
    both = averaged_columns(entry, mine, shared)
    out = averages(entry, table, both, random_state) if both else []
    averaged = {one.column for one in out}
    if averaged >= {b for _, b in shared}:
        return out
    return out + [one for one in _linked(entry, mine, table, release, shared, random_state)
                  if one.column not in averaged]


def _codes(mechanism: Mapping[str, Any]) -> bool:
    """Return True if a release shows codes whose key says what they stand for."""
    method = methods().get(name_in(mechanism))
    return method is not None and method.truths is not None and method.law is None


def _linked(entry: Entry, mine: Entry, table: Table, release: Release,
            shared: Sequence[tuple[str, str]], random_state: Any) -> list[Added]:
    """Search both releases for the same people, whatever made them."""
    earlier = load_entered(entry)
    if earlier is None:
        return not_read(entry, shared, "which could not be read")
    if mixes_columns(mine, release):
        return not_read(entry, shared, MIXED)
    second = renamed(release.table, dict(mine.released))
    return two_tables(entry, mine, table, (earlier, second), shared, random_state)


def _of_people(mechanism: Mapping[str, Any]) -> bool:
    """Return True if a release shows people, who can be looked for in two releases at once."""
    method = methods().get(name_in(mechanism))
    return method is not None and method.together is not None


def columns_in_both(register: Register, entry: Entry, mine: Entry,
                    table: Table) -> list[tuple[str, str]]:
    """Return (earlier name, own name) of the columns that an entry and a table have in common."""
    same = register.known_people(table).get(register.entries.index(entry), 0.0) >= SAME
    return _shared(entry, mine, same)


def _shared(entry: Entry, mine: Entry, same_people: bool) -> list[tuple[str, str]]:
    """Return (earlier name, own name) of columns with the same digest; of the same people also
    those with the same name, whose values may have been edited since."""
    earlier = {digest: name for name, digest in entry.columns.items()}
    pairs = [(earlier[digest], name) for name, digest in mine.columns.items() if digest in earlier]
    if same_people:
        found = {name for _, name in pairs}
        pairs += [(name, name) for name in mine.columns if name in entry.columns
                  and name not in found]
    return pairs


def _against(entry: Entry, mine: Entry, release: Release,
             shared: Sequence[tuple[str, str]]) -> list[Added]:
    measured: dict[str, tuple[float, float, float]] = {}
    earlier = load_entered(entry)
    if earlier is not None:
        names = {entry.released.get(a, a): mine.released.get(b, b) for a, b in shared}
        measured = attack_together(earlier, release, names)
    out = []
    for a, b in shared:
        shares = measured.get(entry.released.get(a, a))
        if shares is None and earlier is not None and not _hidden(earlier, release, a, b):
            continue
        words = _words(b, entry, mine, shares)
        if shares is None and _strict(entry, mine):
            shares = (1.0, 1.0, 1.0)
        before, alone, both = shares or (None, None, None)
        out.append(Added(b, entry.what, entry.to, before, alone, both, words))
    return out


def _strict(entry: Entry, mine: Entry) -> bool:
    """Return True if both show the whole order, so that neither can add to it."""
    return entry.mechanism.get("mode") == mine.mechanism.get("mode") == "strict"


def _hidden(earlier: Release, release: Release, a: str, b: str) -> bool:
    """Return True if both hold a column of numbers whose records cannot be put side by side."""
    return (earlier.table.rows != release.table.rows
            and a in earlier.schema.of_kind("numeric", "ordinal")
            and b in release.schema.of_kind("numeric", "ordinal"))


def _people(entry: Entry, table: Table, release: Release, shared: Sequence[tuple[str, str]],
            random_state: Any) -> list[Added]:
    """Intersect two published tables of the same people, for every sensitive column of both."""
    earlier, own = load_entered(entry), TableView.of(release).secrets
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


def _words(column: str, entry: Entry, mine: Entry,
           shares: tuple[float, float, float] | None) -> str:
    who = f"release {entry.what[:12]} to {entry.to or 'an unnamed recipient'}"
    if shares is None and _strict(entry, mine):
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

"""The book's rules over columns by commutative encryption (vcz2006 section 6.2.2), by name only.

Both need a counter: the first receiver, which must not own data. Neither needs shares or a dealer.

**EncryptedColumns** ("encrypted"): every attribute is encrypted once, and Apriori runs on the
ciphertexts, so that the cost does not grow with the number of itemsets. The book sends them to all
parties. Any site then finds its own baskets by the patterns of its own items that occur once, and
reads the others' items in them: 49 to 60% of the baskets of T10I4D100K at a site with a third of
the items, as these fall, and 53 to 65% of all foreign occurrences. So they go to the counter alone.
Every owner numbers the baskets and its items in a secret order of its own and lets everybody's key
onto the numbers, once a basket and not once an occurrence; equal ciphertexts are the same basket.
  discloses: to the counter, the whole table of who has what, under names and in an order that it
    does not know; to each owner, which of its items are frequent; to the receivers, which itemsets
    and rules there are.
  breaks if: the counter works with any owner, who knows its own columns in both orders. A counter
    who knows how often items are sold can guess their names (see `attack.baskets`).
  cost: a hash and m multiplications for each basket and owner, 32 bytes for each of them and hop.

**ByIntersection** ("intersection"): each candidate is a set intersection of its own, with lists
padded to all baskets. The counter learns the support of every candidate, and overlaps of parts; the
others which itemsets are frequent. For few candidates: each costs as much as all of the above.

`exposure` measures for an owner's own data what the literal protocol would give to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from unspoken.arrays import Ints, Words
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.ristretto import POINT_BYTES
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.intersection import intersection_disclosures, intersection_size
from unspoken.joint.museum.ciphertext_counter import (
    Bits,
    Found,
    decided,
    encrypted_rows,
    hand_on,
    in_order_of_points,
    mined,
    named,
    told_words,
)
from unspoken.joint.session.own_loop import finished
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.processes import run_processes
from unspoken.joint.tasks.rules.candidate_levels import Ladder
from unspoken.joint.tasks.rules.item_sites import Parts, Sites, columns_of, own_counts
from unspoken.joint.tasks.rules.params import (
    FEWEST,
    RULES,
    SETS,
    SUPPORTS,
    RuleParams,
    digest,
)
from unspoken.joint.tasks.rules.program_columns import (
    ROWS,
    begun,
    check_items,
    least_of,
)
from unspoken.joint.tasks.rules.program_rows import from_counts
from unspoken.joint.wire.endpoint import Roles
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.associations import Associations
from unspoken.table.baskets import Baskets

TABLE = "who has what in which basket, without the names and the order of items and baskets"
OWN = "which of its own items are frequent"
CANDIDATES = "in how many baskets each candidate is"
NOTES = {
    "encrypted": ("an owner who gets hold of the encrypted columns knows its own baskets among "
                  "them by unique patterns: 49 to 60% of T10I4D100K at each of three owners, and "
                  "with them 53 to 65% of the others' items: the counter must collude with no one"),
    "intersection": "the counter learns the support of every candidate, frequent or not",
}


def refuse_owner(owners: Sequence[str], receivers: Sequence[str]) -> None:
    """Refuse a counter that has data."""
    if not receivers or receivers[0] in owners:
        raise RefusedError("Encrypted columns must go to a counter without data, the first "
                           "receiver: an owner would find its own baskets among them by unique "
                           "patterns. Name a receiver without data, or use method 'bitmaps'.")


def safe(owners: Sequence[str]) -> str:
    """Return which coalitions learn nothing more."""
    return (f"any {len(owners) - 1} of the {len(owners)} owners together, or the counter, but "
            "never the counter with an owner")


def notes(method: str) -> tuple[str, ...]:
    """Return what an owner must know before it agrees."""
    return (NOTES[method],)


def plan(method: str, widths: Sequence[int], rows: int) -> dict[str, int]:
    """Return rounds and bytes; by intersection for one candidate."""
    m = len(widths)
    lists = POINT_BYTES * rows * m * m
    columns = sum(widths) * 8 * -(-rows // 64) if method == "encrypted" else 0
    return {"rounds": m + 6, "bytes": lists + columns}


def exposure(baskets: Baskets) -> float:
    """Return the share of baskets that an owner would find again among encrypted columns.

    They are those whose pattern of the owner's own items occurs once.
    """
    times = Counter(codes.tobytes() for codes in baskets)
    return sum(count == 1 for count in times.values()) / max(len(baskets), 1)


class Counted:
    """What both programs are given: terms, sites, and receivers, the first of which counts."""

    def __init__(self, terms: RuleParams, sites: Sites, receivers: Sequence[str],
                 fewest: int = FEWEST) -> None:
        refuse_owner(tuple(sites.items), receivers)
        check_items(terms, sites)
        self.terms, self.sites, self.receivers = terms, sites, tuple(receivers)
        self.fewest = fewest
        self.disclosures = (*self._told(), *(
            [Disclosure(SUPPORTS, self.receivers)] if terms.shown else []))

    def _told(self) -> tuple[Disclosure, ...]:
        """Return what is disclosed whether supports are shown or not."""
        raise NotImplementedError


class EncryptedColumns(Counted):
    """The program: every attribute encrypted once, mined by a counter without data."""

    def _told(self) -> tuple[Disclosure, ...]:
        return (Disclosure(ROWS), Disclosure(TABLE, self.receivers[:1]),
                Disclosure(OWN, tuple(self.sites.items)), Disclosure(SETS, self.receivers),
                Disclosure(RULES, self.receivers))

    async def __call__(self, party: Party, data: Baskets | None) -> Associations | None:
        """Encrypt, collect, mine and hand on; parties that are no receivers get None."""
        agreed = digest("encrypted", self.terms, list(self.sites.items.items()), self.receivers,
                        self.fewest)
        baskets, rows = await begun(party, self.terms, self.sites, data, agreed)
        least = least_of(self.terms, rows, self.fewest)
        for each in self.disclosures[1:]:
            party.opening(each.because, each.to, (rows,) if each.because == TABLE else ())
        order = group.fresh_order(len(self.sites.items.get(party.name, ())))
        tables = await self._collected(party, baskets, order, rows)
        by_code = None if tables is None else mined(tables, self.terms, least, rows)
        return await self._named(party, by_code, order)

    async def _collected(self, party: Party, baskets: Baskets | None, order: Ints,
                         rows: int) -> list[Bits] | None:
        """Return all columns to the counter, their baskets in one order; None to the others."""
        counter, owners = self.receivers[0], tuple(self.sites.items)
        numbers = group.fresh_order(rows) if baskets is not None else np.zeros(0, np.int64)
        points = await encrypted_rows(party, owners, numbers, rows, counter)
        party.begin("columns")
        width = -(-rows // 64)
        if baskets is not None:
            own = baskets.take(numbers).bitmaps(order)
            await party.send(counter, "rules.columns", own.ravel(), Purpose.DISCLOSURE)
        if points is None:
            return None
        columns = [(await party.receive(owner, "rules.columns", "<u8",
                                        (len(items) * width,), Purpose.DISCLOSURE)).reshape(
                                            -1, width) for owner, items in self.sites.items.items()]
        return in_order_of_points(party, owners, points, columns, rows)

    async def _named(self, party: Party, by_code: Found | None,
                     order: Ints) -> Associations | None:
        """Have the owners name what is frequent, and give the result to the receivers."""
        counter = self.receivers[0]
        names = await named(party, self.sites, by_code, order, counter)
        associations = None
        if by_code is not None and names is not None:
            sets, counts, rows = by_code
            coded = [tuple(sorted(names[code] for code in one)) for one in sets]
            turn = sorted(range(len(coded)), key=lambda i: (len(coded[i]), coded[i]))
            associations = from_counts(self.terms, tuple(coded[i] for i in turn), counts[turn],
                                       rows)
        return await hand_on(party, associations, self.receivers)


class ByIntersection(Counted):
    """The program: the support of each candidate as the size of an intersection."""

    def _told(self) -> tuple[Disclosure, ...]:
        return (Disclosure(ROWS), Disclosure(SETS), Disclosure(RULES, self.receivers),
                *intersection_disclosures(CANDIDATES, tuple(self.sites.items), self.receivers[:1],
                                          SetRules(least=0, pad_to=1)))

    async def __call__(self, party: Party, data: Baskets | None) -> Associations | None:
        """Count one candidate after the other; the counter says which are frequent."""
        agreed = digest("intersection", self.terms, list(self.sites.items.items()),
                        self.receivers, self.fewest)
        baskets, rows = await begun(party, self.terms, self.sites, data, agreed)
        least = least_of(self.terms, rows, self.fewest)
        bitmaps = None if baskets is None else baskets.bitmaps()
        ladder, kept = Ladder(len(self.terms.items), self.terms.longest), []
        while ladder.going:
            counts = await self._level(party, ladder.sets, bitmaps, rows)
            flags = None if counts is None else counts >= least
            frequent = await decided(party, flags, self.receivers[0], len(ladder.sets))
            kept.append(np.zeros(0, np.int64) if counts is None else counts[frequent])
            ladder.keep(frequent)
        associations = None
        if party.name == self.receivers[0]:
            associations = from_counts(self.terms, ladder.frequent(), np.concatenate(kept), rows)
        for each in self.disclosures[2:4 if self.terms.shown else 3]:
            party.opening(each.because, each.to, ())
        return await hand_on(party, associations, self.receivers)

    async def _level(self, party: Party, sets: Ints, bitmaps: Words | None,
                     rows: int) -> Ints | None:
        """Return the counts of candidates to the counter."""
        owner, counter = self.sites.owner_of(sets), self.receivers[0]
        alone = np.all(owner == owner[:, :1], axis=1)
        party.begin("own counts")
        party.opening(CANDIDATES, (counter,), (int(alone.sum()),))
        start = self.sites.place(party.name)[0] if bitmaps is not None else 0
        counts = np.zeros(len(sets), np.int64)
        for place, name in enumerate(self.sites.items):
            mine = alone & (owner[:, 0] == place)
            own = own_counts(bitmaps, sets[mine], start) \
                if bitmaps is not None and name == party.name else None
            counts[mine] = await told_words(party, own, name, counter, int(mine.sum()))
        parts = Parts.of(sets[~alone], owner[~alone], len(self.sites.items))
        for at, chosen in zip(np.flatnonzero(~alone), parts.chosen, strict=True):
            ids = None if bitmaps is None else self._rows(party, parts, chosen, bitmaps, rows)
            size = await intersection_size(party, ids, because=CANDIDATES, to=[counter],
                                           rules=SetRules(least=0, pad_to=rows))
            counts[at] = size or 0
        return counts if party.name == counter else None

    def _rows(self, party: Party, parts: Parts, chosen: Sequence[int], bitmaps: Words,
              rows: int) -> list[int]:
        """Return the baskets that hold this owner's part of a candidate; all if it has none."""
        place = list(self.sites.items).index(party.name)
        first = sum(len(sets) for sets in parts.sets[:place])
        mine = [parts.sets[place][i - first] for i in chosen
                if first <= i < first + len(parts.sets[place])]
        if not mine:
            return list(range(rows))
        bits = columns_of(bitmaps, mine, self.sites.place(party.name)[0])[0]
        flags = np.unpackbits(bits.astype("<u8", copy=False).view(np.uint8), count=rows,
                              bitorder="little")
        return [int(row) for row in np.flatnonzero(flags)]


def mine_rules_by_counter(
    parts: Mapping[str, Baskets],
    terms: RuleParams,
    method: str = "encrypted",
    *,
    counter: str = "counter",
    fewest: int = FEWEST,
    processes: bool = False,
) -> tuple[Associations, dict[str, Ledger]]:
    """Mine with a counter who has no data; return what it learns, and every ledger by name."""
    sites = Sites.of({name: part.items for name, part in parts.items()})
    if method not in NOTES:
        raise InputError(explain("'method'", "one of " + ", ".join(NOTES), method))
    method_class = EncryptedColumns if method == "encrypted" else ByIntersection
    program = method_class(terms, sites, (counter,), fewest)
    roles = Roles((*parts, counter), tuple(parts))
    inputs = [*parts.values(), None]
    outcomes = run_processes(program, inputs, "sums", roles) if processes else finished(
        in_memory(program, inputs, roles))
    errors = [one.error for one in outcomes if one.error is not None]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, PartyError))
    return outcomes[-1].output, {one.name: one.ledger for one in outcomes}

"""Programs on sets, importable by other processes."""

from __future__ import annotations

from unspoken.joint import align, intersection_size, union
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.sets.alignment import align_disclosures
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.intersection import intersection_disclosures
from unspoken.joint.mpc.sets.union import union_disclosures

ANY = SetRules(least=0)
WHY = "in common"
UNIVERSE = list(range(12))


def names(parties):
    return [f"p{i}" for i in range(parties)]


def counting(owners, to=(), rules=ANY, universe=None):
    """Return a program for the size of an intersection, with all that it discloses declared."""
    @declares(*intersection_disclosures(WHY, owners, to or owners, rules))
    async def program(party, data):
        return await intersection_size(party, data, because=WHY, to=to, rules=rules,
                                       universe=universe)

    return program


def aligning(owners, counter=None, rules=ANY):
    @declares(*align_disclosures(WHY, owners, counter or owners[0], rules))
    async def program(party, data):
        return await align(party, data, because=WHY, counter=counter, rules=rules)

    return program


def uniting(owners, universe, method, to=(), rules=ANY):
    @declares(*union_disclosures(WHY, owners, to or owners, rules, method))
    async def program(party, data):
        return await union(party, data, universe, because=WHY, to=to, method=method, rules=rules)

    return program


@declares(*intersection_disclosures(WHY, ["p0", "p1", "p2"], ["p0", "p1", "p2"], ANY),
          *align_disclosures("same rows", ["p0", "p1", "p2"], "p0", ANY))
async def in_processes(party, data):
    """Count, then align."""
    size = await intersection_size(party, data, because=WHY, rules=ANY)
    return size, await align(party, data, because="same rows", rules=ANY)


RUNS = {"count": counting(names(3)), "align": aligning(names(3)),
        "union": uniting(names(3), UNIVERSE, "encryption")}

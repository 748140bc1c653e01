"""Linkage of two owners by a linkage unit: precision, recall and time, each party a process.

    python bench/linkage.py 100000 [--salt born] [--encoding minhash]
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

import link_people
from unspoken.joint.mpc.linkage.field_tokens import LinkColumn
from unspoken.joint.mpc.linkage.linkage_rules import LinkRules
from unspoken.joint.mpc.linkage.linkage_unit import LinkageUnit, link_records
from unspoken.joint.mpc.linkage.record_encodings import EncodingRules
from unspoken.joint.session.processes import run_processes
from unspoken.joint.wire.endpoint import Roles


class Linking:
    """The program: link, and return the own rows."""

    def __init__(self, rules: LinkRules) -> None:
        self.rules = rules
        self.disclosures = rules.disclosures(("p0", "p1"), "unit")

    async def __call__(self, party: Any, data: Any) -> Any:
        """Return the rows in the common order."""
        return await link_records(party, data, self.rules)

    async def link(self, seam: Any, roles: Roles) -> None:
        """Be the linkage unit."""
        await LinkageUnit(seam, roles, self.rules).serve()


def main() -> None:
    """Measure one size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("records", type=int)
    parser.add_argument("--encoding", default="minhash")
    parser.add_argument("--bits", type=int, default=512)
    parser.add_argument("--salt", default="")
    args = parser.parse_args()
    mine, theirs, here, there = link_people.owners(args.records)
    rules = LinkRules(tuple(map(LinkColumn.of, link_people.LINK)),
                      EncodingRules(args.encoding, args.bits, args.salt))
    roles = Roles(("p0", "p1"), ("p0", "p1"), mode="sums", linker="unit")
    began = time.perf_counter()
    one, two, unit = run_processes(Linking(rules), [mine, theirs], "sums", roles)
    seconds = time.perf_counter() - began
    for each in (one, two, unit):
        if each.error is not None:
            raise each.error
    right = int((here[one.output] == there[two.output]).sum())
    common = len(np.intersect1d(here, there))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{args.encoding} {args.bits} {args.salt}: {args.records:,} x {args.records:,}, "
          f"{seconds:.1f} s, right {right / len(one.output):.4f}, found {right / common:.4f}, "
          f"largest process {peak:.0f} MB; {one.ledger.linkage}", flush=True)


if __name__ == "__main__":
    main()

"""Several owners, one result: each keeps its data, all learn what was agreed and nothing else.

    from tacit.joint import declares, run_local

    @declares("total per month")
    async def program(party, data):
        counts = await party.share_sum(data, shape=(12,), low=0, high=10**6)
        return await party.reveal(counts, because="total per month")

    run_local(program, [north, south, east])

Layers, each testable without those above it: frames, transport, ledger, study, party, primitives.
Everything assumes semi-honest parties: they follow the protocol and keep what they see. tacit's
own engine is not vetted by anybody outside; docs/concepts/joint.md says what that means.
"""

from tacit.joint.budget import QueryBudget
from tacit.joint.identity import Identity, load_identity, make_identity
from tacit.joint.ledger import Ledger
from tacit.joint.party import Party, declares
from tacit.joint.primitives.alignment import align_disclosures
from tacit.joint.primitives.circle import SetRules
from tacit.joint.primitives.intersection import intersection_disclosures
from tacit.joint.primitives.union import union_disclosures
from tacit.joint.ring import Shared, concatenate
from tacit.joint.run import Outcome, run_local, run_outcomes
from tacit.joint.study import Disclosure, Member, Study
from tacit.joint.transport import Limits
from tacit.joint.wide import Wide, join_wide

__all__ = ["Disclosure", "Identity", "Ledger", "Limits", "Member", "Outcome", "Party",
           "QueryBudget", "SetRules", "Shared", "Study", "Wide", "align_disclosures",
           "concatenate", "declares", "intersection_disclosures", "join_wide", "load_identity",
           "make_identity", "run_local", "run_outcomes", "union_disclosures"]

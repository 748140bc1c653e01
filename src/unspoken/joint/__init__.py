"""Several owners, one result: each keeps its data, all learn what was agreed and nothing else.

    from unspoken.joint import declares, run_local

    @declares("total per month")
    async def program(party, data):
        counts = await party.share_sum(data, shape=(12,), low=0, high=10**6)
        return await party.reveal(counts, because="total per month")

    run_local(program, [north, south, east])

Layers, each testable without those above it: frames, transport, ledger, study, party, primitives.
Everything assumes semi-honest parties: they follow the protocol and keep what they see. unspoken's
own engine is not vetted by anybody outside; docs/concepts/joint.md says what that means.
"""

from unspoken.joint.mpc.multi_limb import Wide, join_wide
from unspoken.joint.mpc.sets.alignment import align_disclosures
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.intersection import intersection_disclosures
from unspoken.joint.mpc.sets.union import union_disclosures
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.answer_budget import QueryBudget
from unspoken.joint.session.identity import Identity, load_identity, make_identity
from unspoken.joint.session.ledger import Ledger
from unspoken.joint.session.party import Party, declares
from unspoken.joint.session.run import Outcome, run_local, run_outcomes
from unspoken.joint.session.study import Disclosure, Member, Study
from unspoken.joint.wire.transports import Limits

__all__ = ["Disclosure", "Identity", "Ledger", "Limits", "Member", "Outcome", "Party",
           "QueryBudget", "SetRules", "Shared", "Study", "Wide", "align_disclosures",
           "concatenate", "declares", "intersection_disclosures", "join_wide", "load_identity",
           "make_identity", "run_local", "run_outcomes", "union_disclosures"]

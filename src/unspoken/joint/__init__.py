"""Several owners, one result: each keeps its data, all learn what was agreed and nothing else.

    from unspoken.joint import declares, reveal, run_local, share_sum

    @declares("total per month")
    async def program(party, data):
        counts = await share_sum(party, data, shape=(12,), low=0, high=10**6)
        return await reveal(party, counts, because="total per month")

    run_local(program, [north, south, east])

Layers, each testable without those above it: wire (frames, links, ledger), mpc (the party, shared
values and their operations), session (study, identity, run), tasks. `museum` holds published
protocols that are weak (vcz2006), each to be imported by name.
Everything assumes semi-honest parties: they follow the protocol and keep what they see. unspoken's
own engine has had no outside review; docs/concepts/joint.md says what that means.
"""

from unspoken.joint.mpc.declared import Disclosure, declares
from unspoken.joint.mpc.multi_limb import Wide, join_wide, public_wide
from unspoken.joint.mpc.ops.argmin import argmin
from unspoken.joint.mpc.ops.choice import (
    absolute,
    argmax,
    floor,
    maximum,
    minimum,
    select,
    sign,
    sums_less,
)
from unspoken.joint.mpc.ops.determinant import determinant, log_determinant, norm
from unspoken.joint.mpc.ops.division import divide, reciprocal
from unspoken.joint.mpc.ops.less_than import equal, less_than
from unspoken.joint.mpc.ops.limb_products import gram, sum_product, wide_matmul, wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import (
    lift,
    narrow,
    rescale,
    share_columns,
    share_sum_wide,
    share_wide,
)
from unspoken.joint.mpc.ops.logarithm import log, sqrt, x_log_x
from unspoken.joint.mpc.ops.matrix_inverse import inverse
from unspoken.joint.mpc.ops.oblivious_polynomial import evaluate
from unspoken.joint.mpc.ops.products import dot, matmul, multiply
from unspoken.joint.mpc.ops.secure_sum import secure_sum
from unspoken.joint.mpc.ops.selection import keep
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share, share_sum
from unspoken.joint.mpc.ops.split_comparison import split
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.alignment import align, align_disclosures
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.intersection import intersection_disclosures, intersection_size
from unspoken.joint.mpc.sets.union import union, union_disclosures
from unspoken.joint.mpc.shared import Shared, concatenate, public
from unspoken.joint.session.identity import load_identity, make_identity
from unspoken.joint.session.play import Outcome
from unspoken.joint.session.run import run_local, run_outcomes
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Identity, Member
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports import Limits

__all__ = [
    "Disclosure", "Identity", "Ledger", "Limits", "Member", "Outcome", "Party", "QueryBudget",
    "SetRules", "Shared", "Study", "Wide", "absolute", "align", "align_disclosures", "argmax",
    "argmin", "concatenate", "declares", "determinant", "divide", "dot", "equal", "evaluate",
    "floor", "gram", "intersection_disclosures", "intersection_size", "inverse", "join_wide",
    "keep", "less_than", "lift", "load_identity", "log", "log_determinant", "make_identity",
    "matmul", "maximum", "minimum", "multiply", "narrow", "norm", "public", "public_wide",
    "reciprocal", "rescale", "reveal", "run_local", "run_outcomes", "secure_sum", "select",
    "share", "share_columns", "share_sum", "share_sum_wide", "share_wide", "sign", "split",
    "sqrt", "sum_product", "sums_less", "to_numbers", "truncate", "union", "union_disclosures",
    "wide_matmul", "wide_multiply", "x_log_x",
]

"""A small table, its budget and a policy, for tests of the query service."""

import numpy as np
import pyarrow as pa

import unspoken
from unspoken.methods.queries.service.analyst_access import hash_of
from unspoken.methods.queries.service.question_service import QueryService
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.release.budget import Budget

TOKEN = "a token of alice"


def people(rows=400, seed=1, **changed):
    rng = np.random.default_rng(seed)
    data = {"age": rng.integers(18, 90, rows), "income": rng.normal(3000, 900, rows).round(2),
            "sex": rng.choice(["F", "M"], rows), "work": rng.choice(["state", "private", "none"],
                                                                    rows),
            "ill": rng.random(rows) < 0.2, **changed}
    return unspoken.read(pa.table(data), show=False, keep=["income"])


def policy_data(columns=None, **service):
    return {"service": {"budget": "b", "log": "log", "head": "head", "each": 0.1, "rate": 1000.0,
                        **service},
            "columns": columns or {
                "age": {"bounds": [18, 90], "step": 1}, "sex": {"public": True},
                "income": {"bounds": [0, 10_000], "step": 1}, "ill": {},
                "work": {"values": ["state", "private", "none"]}},
            "analysts": {"alice": hash_of(TOKEN)}}


def service(folder, table=None, epsilon=100.0, terms=None, **settings):
    table = people() if table is None else table
    if not (folder / "b").exists():
        Budget.start(folder / "b", table, epsilon=epsilon, **(terms or {}))
    return QueryService(table, ServicePolicy.parse(policy_data(**settings), folder))

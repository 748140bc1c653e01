"""Members of studies for the tests of tasks."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from unspoken.joint.session.identity import make_identity
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member

ROLES = {"north": ("owner", "holder", "receiver"), "south": ("owner", "holder"),
         "east": ("owner",), "dora": ("dealer",)}


def members_in(folder, roles=ROLES):
    """Return members with fresh identities."""
    found = []
    for place, (name, role) in enumerate(roles.items()):
        one = make_identity(name, folder)
        found.append(Member(name, f"{name}.example:770{place}", role, one.fingerprint,
                            one.certificate))
    return tuple(found)


def to_all(members):
    """Return members of whom none is chosen to learn the result."""
    return tuple(replace(m, roles=tuple(r for r in m.roles if r != "receiver")) for m in members)


def stated(task, parameters):
    """Return parameters that say how records come into one order: as they are, unless by ids."""
    if not (task.endswith("-columns") or task == "network") or \
            {"ids", "same_order"} & set(parameters):
        return parameters
    return {**parameters, "same_order": True}


def study_of(members, task, parameters, mode="dealer"):
    """Return a study with its disclosures, and its task."""
    parameters = stated(task, parameters)
    draft = Study("trial", task, mode, members, parameters)
    found = task_of(draft)
    return Study("trial", task, mode, members, parameters,
                 disclosures=found.disclosures(draft)), found


def saved(folder, parts):
    """Write each part as a Parquet file."""
    paths = []
    for place, part in enumerate(parts):
        paths.append(folder / f"{place}.parquet")
        pq.write_table(pa.table({n: pa.array(list(c)) for n, c in part.items()}), paths[-1])
    return paths

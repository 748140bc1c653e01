"""From names to a proposal: members from the pairing, parameters from the owners' catalogues."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unspoken.errors import InputError, UnspokenError, unknown
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.engines.mode import Mode
from unspoken.joint.mpc.engines.modes import mode_of
from unspoken.joint.node.catalogue import MOST_TABLES, Catalogue, TableView
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_link import ask
from unspoken.joint.node.node_state import NodeState
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.node.prediction_service import TASK, Offer
from unspoken.joint.node.proposal import Proposal, date_text, signed_verdict
from unspoken.joint.node.schema_handshake import (
    Agreement,
    columns_of,
    compare,
    compare_owned,
    filled,
    with_schema,
)
from unspoken.joint.session.run_roles import with_roles
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.new_study import completed
from unspoken.joint.tasks.task_list import all_tasks
from unspoken.joint.tasks.task_params import check_study
from unspoken.joint.wire.credentials import Member

DAY = 86400
SCHEMA = "schema"


@dataclass(frozen=True)
class Wanted:
    """What somebody wants to compute with whom; owners have their tables, this node's included."""

    name: str
    task: str
    mode: Mode
    tables: Mapping[str, str]
    parameters: Mapping[str, Any]
    dealers: Sequence[str] = ()
    receivers: Sequence[str] = ()
    begin: int = field(default_factory=lambda: int(time.time()))
    within: int = DAY
    attempts: int = 20
    schema: Mapping[str, Any] = field(default_factory=dict)
    settled: bool = False
    """Whether the parameters are complete, so that catalogues need not be compared."""
    linkers: Sequence[str] = ()


def trusted(state: NodeState, name: str) -> Peer:
    """Return a trusted peer by its name."""
    for peer in state.peers():
        if peer.name == name:
            return peer
    raise InputError(f"'{name}' is not a trusted node. Pair with it first: unspoken node invite")


def asked_catalogue(config: NodeConfig, peer: Peer) -> list[TableView]:
    """Return the tables that a peer shows to this node, checked."""
    return [TableView.from_json(table) for table in _asked(config, peer, "tables")]


def asked_services(config: NodeConfig, peer: Peer) -> list[Offer]:
    """Return the services that a peer offers to this node, checked."""
    return [Offer.from_json(offer) for offer in _asked(config, peer, "services")]


def _asked(config: NodeConfig, peer: Peer, what: str) -> list[Any]:
    answer = asyncio.run(ask(config.identity, peer, {"ask": "catalogue"}))
    rows = answer.get(what)
    if not isinstance(rows, list) or len(rows) > MOST_TABLES:
        raise StudyError(f"'{peer.name}' sent no catalogue.")
    return rows


def write_proposal(config: NodeConfig, state: NodeState, wanted: Wanted
                   ) -> tuple[Proposal, Agreement]:
    """Return a checked proposal, and what the owners' catalogues say together."""
    if wanted.task not in all_tasks():
        raise InputError(unknown("A task", wanted.task, all_tasks()))
    if wanted.begin + wanted.within <= time.time():
        raise InputError(f"The study's time would be over already, at "
                         f"{date_text(wanted.begin + wanted.within)}. Let it begin later, or give "
                         "it more time.")
    agreement = with_schema(_agreement(config, state, wanted), wanted.schema)
    parameters = wanted.parameters if wanted.settled else filled(
        all_tasks()[wanted.task], wanted.parameters, agreement)
    members = _members(config, state, wanted)
    study = completed(Study(wanted.name, wanted.task, wanted.mode.name, members, parameters,
                            author=config.name))
    proposal = Proposal(study, wanted.tables, wanted.begin, wanted.begin + wanted.within,
                        wanted.attempts)
    return Proposal.from_json(proposal.to_json()), agreement


def schema_from(config: NodeConfig, state: NodeState, study: str, tables: Mapping[str, str]
                ) -> dict[str, Any]:
    """Return what a study of task `schema` over the same tables found, from this node's result."""
    kept = state.find(study)
    if kept.proposal.study.task != SCHEMA or dict(kept.proposal.tables) != dict(tables):
        raise InputError(f"Study '{study}' is not of task '{SCHEMA}' over the same tables.")
    result = config.study_folder(kept.proposal.id) / "result.json"
    if kept.result != "complete" or not result.exists():
        raise InputError(f"Study '{study}' has no result here: {kept.story or 'it has not ended'}.")
    return dict(json.loads(result.read_text(encoding="utf-8")))


def put_forward(config: NodeConfig, state: NodeState, proposal: Proposal, approver: str) -> None:
    """Keep a proposal with this node's own consent; the running node sends it to the others."""
    with state.together():
        state.keep(proposal)
        state.answer(signed_verdict(config.identity, proposal.id, True, approver))


def asked_for(offer: Offer, of: str, own: str, table: str, records: int) -> Wanted:
    """Return the study by which this node has records of its own classified by a peer's service."""
    if records > offer.left:
        raise InputError(f"Service '{offer.name}' of '{of}' has {offer.left} records left for "
                         f"'{own}'. The table has {records}.")
    mode = mode_of(offer.modes[0])
    parameters = {**offer.parameters, "model": of, "asks": own, "most": records,
                  "expected": records}
    return Wanted(f"{offer.name}-{int(time.time()):x}", TASK, mode, {of: offer.name, own: table},
                  parameters, offer.dealers[:1] if mode.dealer_outside else (), (own,), attempts=1,
                  settled=True)


def _agreement(config: NodeConfig, state: NodeState, wanted: Wanted) -> Agreement:
    """Compare the owners' catalogues, where the study names columns."""
    names = columns_of(wanted.parameters)
    if wanted.settled:
        return Agreement({})
    if all_tasks()[wanted.task].over_columns:
        return _owned(config, state, wanted)
    if not names:
        return Agreement({})
    return compare({owner: _view(config, state, owner, table)
                    for owner, table in wanted.tables.items()}, names)


def _owned(config: NodeConfig, state: NodeState, wanted: Wanted) -> Agreement:
    """Hold a study over columns against the tables; who shows none now is waited for all the same.

    Nothing but names depends on it, and the owner's own node looks at those again.
    """
    task, views, notes = all_tasks()[wanted.task], dict[str, TableView](), list[str]()
    # What is given must be in range before columns are taken out of it; more may be filled in.
    check_study(task.name, [replace(param, required=False) for param in task.params],
                wanted.parameters)
    for owner, table in wanted.tables.items():
        if owner != config.name:
            trusted(state, owner)
        try:
            views[owner] = _view(config, state, owner, table)
        except UnspokenError as error:
            if owner == config.name:
                raise
            notes.append(f"the columns of '{owner}' were not compared: {error}")
    return replace(compare_owned(views, wanted.parameters), notes=tuple(notes))


def _view(config: NodeConfig, state: NodeState, owner: str, table: str) -> TableView:
    """Return an owner's table as its catalogue shows it."""
    shown = Catalogue(config).shown_to(None) if owner == config.name else asked_catalogue(
        config, trusted(state, owner))
    view = next((one for one in shown if one.name == table), None)
    if view is None:
        raise InputError(f"'{owner}' shows no table '{table}' to this node. It shows: "
                         f"{', '.join(one.name for one in shown) or 'none'}.")
    if not view.readable:
        raise InputError(f"'{owner}' cannot read its table '{table}' now. Its people see why "
                         "in the log of their node.")
    return view


def _members(config: NodeConfig, state: NodeState, wanted: Wanted) -> tuple[Member, ...]:
    own = config.identity
    self_ = Member(config.name, config.address, (), own.fingerprint, own.certificate)
    owners = [replace(self_ if name == config.name else trusted(state, name).member,
                      roles=("owner",)) for name in wanted.tables]
    outside = [replace(trusted(state, name).member, roles=(role,)) for role, names in (
        ("linker", wanted.linkers), ("dealer", wanted.dealers)) for name in names]
    receivers = wanted.receivers or tuple(wanted.tables)
    return (*with_roles(owners, wanted.mode, receivers), *outside)

"""`unspoken node propose`: from names to a study that fits the owners' tables."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime

from unspoken.cli.common import emit, pairs
from unspoken.cli.joint_evidence import agree
from unspoken.cli.joint_steps import chosen_mode, given_settings
from unspoken.cli.node_steps import opened, plan_text
from unspoken.errors import InputError


def propose(args: argparse.Namespace) -> int:
    """Propose a study, and agree to it for this node."""
    from unspoken.joint.node.node_state import Kept
    from unspoken.joint.node.proposing import Wanted, put_forward, schema_from, write_proposal

    config, state = opened(args)
    args.party = [config.name, *args.others]
    tables = _tables(args)
    schema = {} if args.schema is None else schema_from(config, state, args.schema, tables)
    proposal, agreement = write_proposal(config, state, Wanted(
        args.name, args.task, chosen_mode(args), tables, given_settings(args), args.dealer,
        args.receivers, _begin(args.at), args.within, args.attempts, schema,
        linkers=args.linker))
    for note in agreement.notes:
        print(f"unspoken: note: {note}", file=sys.stderr)
    approver = agree(args, plan_text(config, Kept(proposal, "", "", "", 0.0)))
    put_forward(config, state, proposal, approver)
    others = [name for name in proposal.study.names if name != config.name]
    emit(args, {"study": proposal.id, "name": proposal.study.name,
                "parameters": dict(proposal.study.parameters)},
         f"{proposal.id[:16]}: proposed to {', '.join(others)}")
    return 0


def predict(args: argparse.Namespace) -> int:
    """Ask a peer's service for the classes of records of this node."""
    from unspoken.joint.node.node_state import Kept
    from unspoken.joint.node.proposing import (
        asked_for,
        asked_services,
        put_forward,
        trusted,
        write_proposal,
    )
    from unspoken.table.read import read

    config, state = opened(args)
    offers = {offer.name: offer for offer in asked_services(config, trusted(state, args.of))}
    if args.service not in offers:
        raise InputError(f"'{args.of}' offers no service '{args.service}' to this node. It offers: "
                         f"{', '.join(offers) or 'none'}.")
    table = config.table(args.table)
    records = read(table.path, show=False, **dict(table.reading)).rows
    proposal, _ = write_proposal(config, state, asked_for(
        offers[args.service], args.of, config.name, args.table, records))
    approver = agree(args, plan_text(config, Kept(proposal, "", "", "", 0.0)))
    put_forward(config, state, proposal, approver)
    emit(args, {"study": proposal.id, "name": proposal.study.name, "records": records},
         f"{proposal.study.name}: asked for {records} records. The classes come with: unspoken "
         f"node results {proposal.study.name}")
    return 0


def _tables(args: argparse.Namespace) -> dict[str, str]:
    named = pairs(args.table_of, "--table-of")
    tables = {owner: named.get(owner, args.table) for owner in args.party}
    for owner, table in tables.items():
        if table is None:
            raise InputError(f"Which table does '{owner}' take? Add --table NAME, or --table-of "
                             f"{owner}=NAME.")
    return {owner: str(table) for owner, table in tables.items()}


def _begin(text: str | None) -> int:
    """Return when a study may begin."""
    if text is None:
        return int(time.time())
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--at must be a time such as 2026-11-17T06:00. Got {text!r}.") from None
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())

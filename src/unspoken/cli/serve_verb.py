"""`unspoken serve`: a query service over a table, on this machine unless told otherwise."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from unspoken.cli.common import Adder, add_reading, emit, read_table, verb
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.cli.enter_register import add_register, register_of
from unspoken.errors import InputError


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "serve", run,
                  "Answer statistics over HTTP to analysts who never hold the table. Every answer "
                  "carries noise and is booked in the budget before it is given. Only on this "
                  "machine unless --host says otherwise, and then only over TLS.")
    parser.add_argument("data", type=data_place, nargs="?", metavar="DATA",
                        help=DATA_HELP)
    parser.add_argument("--policy", type=Path, metavar="FILE",
                        help="what may be answered to whom (TOML; see docs/concepts/service.md)")
    parser.add_argument("--new-token", action="store_true",
                        help="draw a token for an analyst, and the hash of it for the policy")
    parser.add_argument("--host", default="127.0.0.1", metavar="HOST",
                        help="where to listen (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8642, metavar="PORT",
                        help="(default: %(default)s)")
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="certificate for TLS, PEM")
    parser.add_argument("--private-key", type=Path, metavar="FILE",
                        help="the key of the certificate, PEM")
    parser.add_argument("--target", metavar="COLUMN", help="the column that is to be predicted")
    add_register(parser, "the service, with its analysts,", to=False)
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Serve, or draw a token."""
    if args.new_token:
        return _token(args)
    if args.data is None or args.policy is None:
        raise InputError("A service needs a table and a policy. Type: unspoken serve DATA --policy "
                         "FILE")
    from unspoken.methods.queries.service.http_service import serve
    from unspoken.methods.queries.service.question_service import QueryService
    from unspoken.methods.queries.service.service_policy import ServicePolicy

    policy = ServicePolicy.load(args.policy)
    if policy.register is None or args.register is not None:
        policy = replace(policy, register=register_of(args))
    service = QueryService(read_table(args, args.data, args.target), policy)
    scheme = "http" if args.certificate is None else "https"
    print(f"unspoken: answering on {scheme}://{args.host}:{args.port}; "
          f"{service.budget.left():g} of the budget is left.", file=sys.stderr, flush=True)
    serve(service, args.host, args.port, certificate=args.certificate, key=args.private_key)
    return 0


def _token(args: argparse.Namespace) -> int:
    from unspoken.methods.queries.service.analyst_access import new_token

    token, hashed = new_token()
    emit(args, {"token": token, "hash": hashed},
         f"token  {token}\nhash   {hashed}\nThe token goes to the analyst and is shown this once. "
         "The hash goes into [analysts] of the policy, as NAME = \"HASH\".")
    return 0

"""`unspoken relay`: a meeting point for parties that can only dial out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from unspoken.cli.common import Adder, verb
from unspoken.errors import InputError, explain

if TYPE_CHECKING:
    from unspoken.joint.wire.relay.relay_server import Relay


def add(verbs: Adder) -> None:
    """Add the verb and what is under it."""
    parser = verb(verbs, "relay", _one_of, "Run a relay: parties of joint studies behind NAT or a "
                  "firewall meet there over outgoing connections. It sees only ciphertext.")
    under = parser.add_subparsers(title="verbs", dest="relay_verb", metavar="VERB")
    serve = verb(under, "serve", run, "Serve parties until it is ended (Ctrl-C or SIGTERM).")
    serve.add_argument("--as", dest="name", required=True, metavar="NAME",
                       help="the relay's own identity (`unspoken joint identity NAME`)")
    serve.add_argument("--identity", type=Path, default=Path(), metavar="DIR",
                       help="where NAME.key and NAME.crt lie (default: here)")
    serve.add_argument("--listen", default="0.0.0.0:7799", metavar="HOST:PORT",
                       help="where to listen (default: %(default)s)")
    serve.add_argument("--allow", type=Path, action="append", required=True, metavar="CERT",
                       help="the certificate of a party that may use the relay (repeat)")
    serve.add_argument("--connections", type=int, default=256, metavar="N",
                       help="connections at the same time, at most (default: %(default)s)")
    serve.add_argument("--each", type=int, default=32, metavar="N",
                       help="connections of one party, at most (default: %(default)s)")
    serve.add_argument("--waiting", type=float, default=600.0, metavar="SECONDS",
                       help="how long a party may wait for its peer (default: %(default)s)")


def _one_of(args: argparse.Namespace) -> int:
    raise InputError("'unspoken relay' needs a verb: serve.")


def run(args: argparse.Namespace) -> int:
    """Serve until the end."""
    import asyncio
    import contextlib

    from unspoken.joint.session.identity import load_identity, read_certificate
    from unspoken.joint.wire.credentials import fingerprint
    from unspoken.joint.wire.relay.relay_server import Relay, RelayLimits

    host, _, port = args.listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise InputError(explain("'--listen'", "HOST:PORT", args.listen))
    limits = RelayLimits(args.connections, args.each, waiting=args.waiting)
    allowed = frozenset(fingerprint(read_certificate(path)) for path in args.allow)
    relay = Relay(load_identity(args.name, args.identity), allowed, limits)
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_serve(relay, host.strip("[]"), int(port)))
    print(f"{relay.joined} links were joined, {relay.refused} connections refused.", flush=True)
    return 0


async def _serve(relay: Relay, host: str, port: int) -> None:
    import asyncio
    import signal

    task = asyncio.current_task()
    server = await relay.listen(host, port)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: task and task.cancel())
    where = server.sockets[0].getsockname()[1]
    print(f"listening on {host}:{where}; the address of a party that waits here:\n"
          f"relay://{relay.identity.fingerprint}@HOST:{where}", flush=True)
    async with server:
        await server.serve_forever()

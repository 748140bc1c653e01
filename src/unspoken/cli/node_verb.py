"""`unspoken node`: what an organisation runs every day to mine together with others."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from unspoken.cli.common import Adder, names, nested_verb, verb

FOLDER = "UNSPOKEN_NODE"
_STUDY = "the number of a study, its beginning, or its name"


def add(verbs: Adder) -> None:
    """Add the verb and those under it."""
    parser = verb(verbs, "node", run, "Run a node: agree on studies with other organisations, and "
                                      "run them. docs/guides/operate-a-node.md is the manual.")
    under = parser.add_subparsers(title="verbs", dest="node_verb", metavar="VERB", required=True)
    _add_init(under)
    _verb(under, "serve", "Run the node until it is stopped.")
    _qr(_verb(under, "status", "Show identity, peers and studies of this node."))
    _add_peers(under)
    _add_propose(under)
    _add_predict(under)
    _verb(under, "studies", "List the studies that this node knows, with their states.")
    show = _verb(under, "show", "Show the whole plan of a study and what happened to it.")
    show.add_argument("study", metavar="STUDY", help=_STUDY)
    consent = _verb(under, "consent", "Agree to a study, after its plan was shown.")
    consent.add_argument("study", metavar="STUDY", help=_STUDY)
    _add_agreeing(consent)
    refuse = _verb(under, "refuse", "Refuse a study, or withdraw one that this node leads.")
    refuse.add_argument("study", metavar="STUDY", help=_STUDY)
    refuse.add_argument("--reason", required=True, metavar="TEXT",
                        help="why; everybody who takes part sees it")
    refuse.add_argument("--approver", metavar="NAME", help="who refuses (default: your user name)")
    results = _verb(under, "results", "List what there is of a study: result, report, ledgers.")
    results.add_argument("study", metavar="STUDY", help=_STUDY)
    results.add_argument("--out", type=Path, metavar="FILE",
                         help="write the result there: FILE.json (unspoken.load_model reads it), "
                              "or FILE.onnx")


def _verb(under: Adder, name: str, text: str) -> argparse.ArgumentParser:
    """Add a verb under `node`, with the option that all of them have."""
    parser = nested_verb(under, name, run, text)
    parser.add_argument("--folder", type=Path, default=Path(os.environ.get(FOLDER, ".")),
                        metavar="DIR", help=f"the node's folder (default: ${FOLDER}, or here)")
    return parser


def _qr(parser: argparse.ArgumentParser) -> None:
    """Let a verb that shows a code or an invitation show it as a QR code, too."""
    parser.add_argument("--qr", action="store_true",
                        help="show it as a QR code, too, for people who see each other's screens")


def _add_init(under: Adder) -> None:
    parser = _verb(under, "init", "Make a node: a folder with an identity and node.toml.")
    parser.add_argument("name", metavar="NAME", help="the organisation's name in studies")
    parser.add_argument("--address", required=True, metavar="HOST:PORT",
                        help="how other nodes reach this one, such as north.example:7700; or a "
                             "relay, where it waits: relay://FINGERPRINT@HOST:PORT")
    parser.add_argument("--listen", action="append", default=[], metavar="HOST:PORT",
                        help="where this machine listens (repeat; default: all its addresses, at "
                             "the port of --address; behind a relay none)")
    parser.add_argument("--health", default="127.0.0.1:7780", metavar="HOST:PORT",
                        help="where health and metrics are shown (default: %(default)s)")
    parser.add_argument("--table", action="append", default=[], metavar="NAME=FILE",
                        help="a table of this organisation (repeat)")


def _add_peers(under: Adder) -> None:
    _qr(_verb(under, "invite", "Print an invitation for one other organisation, valid for a day."))
    accept = _verb(under, "accept", "Accept an invitation: exchange identities with that node.")
    accept.add_argument("invitation", metavar="INVITATION", help="unspoken:HOST:PORT#TOKEN")
    _qr(accept)
    trust = _verb(under, "trust", "Trust a node whose people read you this code by telephone.")
    trust.add_argument("peer", metavar="NAME", help="the other node's name")
    trust.add_argument("code", metavar="CODE", help="the code that they read to you")
    forget = _verb(under, "forget", "Forget a node: it can no longer talk to this one.")
    forget.add_argument("peer", metavar="NAME", help="the other node's name")
    rotate = _verb(under, "rotate", "Give this node a new key, signed by the old one; the people "
                                    "of every peer confirm it by telephone.")
    rotate.add_argument("--finish", action="store_true",
                        help="put the new key in place, while the node is stopped")
    rotate.add_argument("--anyway", action="store_true",
                        help="of --finish: although some peers have not confirmed it")
    _qr(rotate)
    confirm = _verb(under, "confirm", "Confirm the new identity of a node whose people read you "
                                      "this code by telephone.")
    confirm.add_argument("peer", metavar="NAME", help="the other node's name")
    confirm.add_argument("code", metavar="CODE", help="the code that they read to you")
    catalogue = _verb(under, "catalogue", "Show the tables of this node, or those that another "
                                          "one shows to it. Never rows.")
    catalogue.add_argument("peer", nargs="?", metavar="NAME", help="another node")


def _add_propose(under: Adder) -> None:
    parser = _verb(under, "propose", "Propose a study to other nodes. Categories, classes and "
                                     "ranges come from the owners' catalogues.")
    parser.add_argument("--name", required=True, metavar="NAME", help="the study's name")
    parser.add_argument("--task", default="sum", metavar="TASK",
                        help="what to compute (default: sum); `unspoken joint tasks` lists them")
    parser.add_argument("--with", dest="others", type=names, required=True, metavar="A,B",
                        help="the other owners, as they are paired")
    parser.add_argument("--dealer", action="append", default=[], metavar="NAME",
                        help="a node that deals and has no data")
    parser.add_argument("--linker", action="append", default=[], metavar="NAME",
                        help="a node that is the linkage unit: it has no data, and compares keyed "
                             "encodings of records where people have no common id (--set "
                             "link=[...])")
    parser.add_argument("--table", metavar="NAME", help="the table, as every owner calls it")
    parser.add_argument("--table-of", action="append", default=[], metavar="OWNER=NAME",
                        help="the table of one owner, where it has another name (repeat)")
    parser.add_argument("--set", action="append", default=[], dest="settings",
                        metavar="NAME=VALUE", help="a parameter of the task (repeat)")
    parser.add_argument("--schema", metavar="STUDY",
                        help="a study of task schema over the same tables, whose categories and "
                             "ranges are used where catalogues leave them open")
    parser.add_argument("--columns", type=names, default=(), metavar="A,B",
                        help="the same as --set columns=[...]")
    parser.add_argument("--scale", type=int, metavar="BITS",
                        help="fractional bits, for columns that are not whole numbers")
    parser.add_argument("--mode", metavar="MODE", help="as in `unspoken joint new`")
    parser.add_argument("--receivers", type=names, default=(), metavar="A,B",
                        help="the parties that learn the result (default: every owner)")
    parser.add_argument("--at", metavar="TIME",
                        help="when it may begin, such as 2026-11-17T06:00 (UTC; default: now)")
    parser.add_argument("--within", type=int, default=86400, metavar="SECONDS",
                        help="how long after that nodes are waited for and it may begin again "
                             "(default: a day)")
    parser.add_argument("--attempts", type=int, default=20, metavar="N",
                        help="how often it may begin, if parties are lost (default: 20)")
    _add_agreeing(parser)


def _add_predict(under: Adder) -> None:
    parser = _verb(under, "predict", "Have records of this node classified by a service of another "
                                     "one: it does not see them, and its model stays there.")
    parser.add_argument("service", metavar="SERVICE", help="the service; `unspoken node catalogue "
                                                           "NAME` lists those of a node")
    parser.add_argument("--of", required=True, metavar="NAME", help="the node that offers it")
    parser.add_argument("--table", required=True, metavar="TABLE",
                        help="the table of this node with the records")
    _add_agreeing(parser)


def _add_agreeing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--approver", metavar="NAME",
                        help="who agrees to the plan, for the ledger (default: your user name)")
    parser.add_argument("--yes", action="store_true", help="agree to the plan without asking")


def run(args: argparse.Namespace) -> int:
    """Run the verb under `node`."""
    from unspoken.cli import node_propose, node_rotation, node_steps, node_views

    homes = (node_steps, node_views, node_rotation, node_propose)
    step = next(getattr(home, args.node_verb) for home in homes if hasattr(home, args.node_verb))
    return int(step(args))

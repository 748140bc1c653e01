"""`unspoken joint`: several owners, one result. Identities, studies, plans, runs and ledgers."""

from __future__ import annotations

import argparse
from pathlib import Path

from unspoken.cli.common import Adder, add_file_options, names, nested_verb, verb
from unspoken.cli.data_places import data_place
from unspoken.cli.enter_register import add_register
from unspoken.cli.joint_prepare import add_prepare


def add(verbs: Adder) -> None:
    """Add the verb and those under it."""
    parser = verb(verbs, "joint", run, "Compute with other owners without showing them your data. "
                                       "Each owner runs its own process.")
    under = parser.add_subparsers(title="verbs", dest="joint_verb", metavar="VERB", required=True)
    _add_identity(under)
    _add_new(under)
    tasks = _verb(under, "tasks", "List what can be computed, or explain one task.")
    tasks.add_argument("task", nargs="?", metavar="TASK", help="explain this one")
    plan = _verb(under, "plan", "Show what each party will learn and what it costs. "
                                "Nothing is sent.")
    plan.add_argument("study", type=Path, metavar="STUDY", help="study.toml")
    plan.add_argument("--records", type=int, metavar="N",
                      help="plan for N records (default: what the study expects, or 1000)")
    _add_join(under)
    _add_dealer(under)
    _add_local(under)
    add_prepare(_verb(under, "prepare", "Prepare your own table by results of the tasks summary, "
                                        "quantiles and bins: limits, missing values, scales, bins. "
                                        "Nothing is sent."))
    ledger = _verb(under, "ledger", "Show what a party learned and what was sent.")
    ledger.add_argument("ledger", type=Path, metavar="FILE", help="a ledger that a run wrote")
    ledger.add_argument("--result", type=Path, metavar="FILE",
                        help="check that this file is the result of the run (needs your key)")
    ledger.add_argument("--identity", type=Path, default=Path(), metavar="DIR",
                        help="where NAME.key and NAME.crt lie, for --result (default: here)")
    audit = _verb(under, "audit", "Hold the ledgers of several parties of one run against each "
                                  "other, and show who deviates from whom.")
    audit.add_argument("ledgers", type=Path, nargs="+", metavar="FILE",
                       help="the parties' ledgers, one each")
    audit.add_argument("--study", type=Path, metavar="FILE",
                       help="the study.toml of the run: refuse ledgers that its parties' "
                            "certificates did not sign")
    museum = _verb(under, "museum", "Play weak protocols of the book on invented data, and work "
                                    "out of the messages what they give away.")
    museum.add_argument("exhibit", nargs="?", metavar="PROTOCOL",
                        help="play this one (default: all; their names are printed)")
    museum.add_argument("--values", type=int, default=40, metavar="N",
                        help="how many values an owner has (default: %(default)s)")
    museum.add_argument("--seed", type=int, default=0, metavar="N",
                        help="of the invented values (default: %(default)s)")


def _verb(under: Adder, name: str, text: str) -> argparse.ArgumentParser:
    return nested_verb(under, name, run, text)


def _add_identity(under: Adder) -> None:
    parser = _verb(under, "identity", "Make a key and a certificate. The key stays on this "
                                      "machine; the certificate goes into the study.")
    parser.add_argument("name", metavar="NAME", help="the party's name in studies")
    parser.add_argument("--folder", type=Path, default=Path(), metavar="DIR",
                        help="where to put NAME.key and NAME.crt (default: here)")


def _add_new(under: Adder) -> None:
    parser = _verb(under, "new", "Make a study from the parties' certificates. "
                                 "Every party must use the same file.")
    parser.add_argument("study", type=Path, metavar="STUDY", help="the file to write")
    parser.add_argument("--name", required=True, metavar="NAME", help="the study's name")
    parser.add_argument("--author", default="", metavar="NAME",
                        help="who makes the study: a party's name, or words; all others see it")
    parser.add_argument("--task", default="sum", metavar="TASK",
                        help="what to compute (default: sum); `unspoken joint tasks` lists them")
    parser.add_argument("--set", action="append", default=[], dest="settings",
                        metavar="NAME=VALUE", help="a parameter of the task (repeat)")
    parser.add_argument("--columns", type=names, default=(), metavar="A,B",
                        help="the same as --set columns=[...]")
    parser.add_argument("--scale", type=int, metavar="BITS",
                        help="fractional bits, for columns that are not whole numbers")
    parser.add_argument("--mode", metavar="MODE",
                        help="sums, dealer, authenticated, two-party, three-party, "
                             "three-party-verified or spu (default: authenticated if a dealer "
                             "is named, sums for sums, else spu where it is installed)")
    parser.add_argument("--party", action="append", default=[], metavar="CERT=HOST:PORT",
                        help="an owner: certificate file and address (repeat)")
    parser.add_argument("--dealer", action="append", default=[], metavar="CERT=HOST:PORT",
                        help="a dealer, which holds no data; the first two owners then hold shares")
    parser.add_argument("--linker", action="append", default=[], metavar="CERT=HOST:PORT",
                        help="a linkage unit, which has no data and compares keyed encodings of "
                             "records where people have no common id (--set link=[...])")
    parser.add_argument("--wait", type=int, default=0, metavar="SECONDS",
                        help="how long parties wait until all have come (default: 60)")
    parser.add_argument("--three-party", action="store_const", dest="mode", const="three-party",
                        help="the same as --mode three-party")
    parser.add_argument("--receiver", action="append", default=[], metavar="CERT=HOST:PORT",
                        help="a party without data that gets the result (repeat)")
    parser.add_argument("--receivers", type=names, default=(), metavar="A,B",
                        help="the parties that learn the result (default: every owner, or the "
                             "--receiver)")


def _add_join(under: Adder) -> None:
    parser = _verb(under, "join", "Take part in a study as one party. Shows the plan and asks "
                                  "before anything is sent. A dealer needs no data.")
    parser.add_argument("study", type=Path, metavar="STUDY", help="study.toml")
    parser.add_argument("--as", dest="name", required=True, metavar="NAME",
                        help="your party's name in the study")
    parser.add_argument("--data", type=data_place, metavar="DATA", help="your table")
    add_register(parser, "the study", to=False)
    parser.add_argument("--budget", type=Path, metavar="FILE",
                        help="the budget of your table, in which the study is booked before "
                             "anything is shared (default: DATA.budget, where there is one)")
    add_file_options(parser)
    _add_running(parser)


def _add_dealer(under: Adder) -> None:
    parser = _verb(under, "dealer", "Be the dealer of a study: give the others correlated "
                                    "randomness. A dealer has no data and learns no result.")
    parser.add_argument("study", type=Path, metavar="STUDY", help="study.toml")
    parser.set_defaults(name=None, data=None)
    _add_running(parser)


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--identity", type=Path, default=Path(), metavar="DIR",
                        help="where NAME.key and NAME.crt lie (default: here)")
    parser.add_argument("--ledger", type=Path, metavar="FILE",
                        help="where to write the ledger (default: NAME.ledger, or NAME-2.ledger "
                             "and so on where that exists; no ledger is ever overwritten)")
    parser.add_argument("--approver", metavar="NAME",
                        help="who agrees to the plan, for the ledger (default: your user name)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write the result")
    parser.add_argument("--listen", metavar="HOST:PORT",
                        help="where to listen on this machine, such as 0.0.0.0:7700, if that is "
                             "not the address in the study: behind NAT, in a container")
    parser.add_argument("--wait", type=float, metavar="SECONDS",
                        help="how long to wait until all have come (default: as the study says)")
    parser.add_argument("--limit", type=float, default=10.0, metavar="SECONDS",
                        help="end within this time when another party fails (default: 10)")
    parser.add_argument("--yes", action="store_true", help="agree to the plan without asking")


def _add_local(under: Adder) -> None:
    parser = _verb(under, "local", "Run all parties of a study as processes on this machine, "
                                   "to try it out. New keys and ports are used.")
    parser.add_argument("study", type=Path, metavar="STUDY", help="study.toml")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=FILE",
                        help="an owner's table (repeat)")
    add_register(parser, "the study", to=False)
    add_file_options(parser)
    parser.add_argument("--ledgers", type=Path, metavar="DIR", help="write every ledger there")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="where to write the result of the first party that learns one")


def run(args: argparse.Namespace) -> int:
    """Run the verb under `joint`."""
    from unspoken.cli import joint_evidence, joint_museum, joint_prepare, joint_steps

    homes = {"ledger": joint_evidence, "audit": joint_evidence, "museum": joint_museum,
             "prepare": joint_prepare}
    return int(getattr(homes.get(args.joint_verb, joint_steps), args.joint_verb)(args))

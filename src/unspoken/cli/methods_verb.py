"""`unspoken methods`: which release methods there are, and what each takes and promises."""

from __future__ import annotations

import argparse
import json
from typing import Any

from unspoken.cli.common import Adder, columns, emit, verb
from unspoken.cli.method_examples import as_typed, default_of
from unspoken.release.method import Method, method_of, methods
from unspoken.release.parameters import Parameter

_KEYS = {"always": "key undoes it", "records": "key for the audit"}


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "methods", run,
                  "List the release methods, or say of one what it does, promises and takes, and "
                  "which adversaries the audit sends against it.")
    parser.add_argument("name", nargs="?", metavar="METHOD",
                        help="one method, in full (default: a line for each)")


def run(args: argparse.Namespace) -> int:
    """Print all methods, or one."""
    if args.name is None:
        listed = list(methods().values())
        emit(args, {"methods": [described(method) for method in listed]}, columns(
            [[method.name, _KEYS[method.keyed], method.summary] for method in listed]))
    else:
        method = method_of(args.name)
        emit(args, described(method), _text(method))
    return 0


def described(method: Method) -> dict[str, Any]:
    """Return a method as plain data."""
    return {
        "name": method.name, "class": method.transformer.__name__, "summary": method.summary,
        "promise": method.promise, "key": method.keyed, "forms": list(method.forms),
        "guarantees": [one.name for one in method.guarantees],
        "parameters": [_parameter(method, name, one) for name, one in method.parameters.items()],
        "adversaries": [{"name": one.name, "gets": one.gets} for one in method.adversaries],
    }


def _parameter(method: Method, name: str, parameter: Parameter) -> dict[str, Any]:
    return {"name": name, "help": parameter.help, "allowed": parameter.rule.allowed(),
            "default": default_of(method, name), "flag": parameter.flag}


def _text(method: Method) -> str:
    lines = [f"{method.name} ({_KEYS[method.keyed]}): {method.summary}", method.promise, "",
             "Parameters, given as --option NAME=VALUE or by their own flags:"]
    for name, parameter in method.parameters.items():
        flag = f" ({parameter.flag})" if parameter.flag else ""
        shown = json.dumps(default_of(method, name), default=str)
        lines += [f"  {name}{flag}: {parameter.help}",
                  f"      {parameter.rule.allowed()}; default: {shown}",
                  f"      for example: {as_typed(method, name, parameter)}"]
    lines += ["", "Adversaries of the audit, each somebody who:"]
    lines += [f"  {one.name}: {one.gets}" for one in method.adversaries]
    return "\n".join(lines)

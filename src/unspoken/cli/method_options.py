"""The options of `unspoken protect`, made from what the release methods declare."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unspoken.cli.common import pairs
from unspoken.errors import InputError, explain, unknown
from unspoken.release.method import Method, method_of, methods
from unspoken.release.parameters import OneOf, OrNone, Parameter, PerColumn

_DEST = "method_{}"


def flagged() -> dict[str, dict[str, list[tuple[Method, Parameter]]]]:
    """Return every flag with the parameters behind it: flag -> parameter -> who has it."""
    by_flag: dict[str, dict[str, list[tuple[Method, Parameter]]]] = {}
    for method in methods().values():
        for name, parameter in method.parameters.items():
            if parameter.flag:
                by_flag.setdefault(parameter.flag, {}).setdefault(name, []).append(
                    (method, parameter))
    return by_flag


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add one option for every flag that some method declares."""
    for flag, named in flagged().items():
        for name, users in named.items():
            switch = users[0][1].switch
            shape: dict[str, Any] = {"metavar": _shown(users)} if switch is None else {
                "action": "store_const", "const": json.dumps(switch)}
            parser.add_argument(flag, dest=_DEST.format(name), help=_help(users), **shape)


def _shown(users: list[tuple[Method, Parameter]]) -> str:
    """Return the values of a flag for its line in the help."""
    words = dict.fromkeys(word for _, one in users for word in _choices(one.rule))
    return "|".join(words) if words else "VALUE"


def _choices(rule: Any) -> list[str]:
    if isinstance(rule, PerColumn | OrNone):
        return [word for inner in getattr(rule, "rules", None) or [rule.rule]  # type: ignore[union-attr]
                for word in _choices(inner)]
    return [str(value) for value in rule.values] if isinstance(rule, OneOf) else []


def _help(users: list[tuple[Method, Parameter]]) -> str:
    """Return what a flag does, and for which methods."""
    groups: dict[str, list[str]] = {}
    for method, parameter in users:
        groups.setdefault(parameter.help, []).append(method.name)
    words = "; ".join(f"of {', '.join(names)}: {text}" for text, names in groups.items())
    if users[0][1].switch is False:
        words = words.replace(": release", ": do not release")
    return words.replace("%", "%%")


def build(args: argparse.Namespace) -> Any:
    """Return the method with the parameters that the command line gives."""
    return method_of(args.method).build(chosen_parameters(args), quick=True)


def chosen_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that were given, by flags and by `--option`, checked by name."""
    method = method_of(args.method)
    options = {name: value_of(text) for name, text in pairs(args.option, "--option").items()}
    form = method.form(options.get(method.chooser) or getattr(
        args, _DEST.format(method.chooser), None)) if method.chooser else method.form()
    known = {**({method.chooser: method.parameters[method.chooser]} if method.chooser else {}),
             **form.parameters}
    flags = dict(_flags(args, method, known))
    for name, value in options.items():
        _check(f"'--option {name}' of '{method.name}'", name, value, known)
        if name in flags:
            raise InputError(f"'{name}' must be given once. Got '{known[name].flag}' and "
                             f"'--option {name}'. Leave one out.")
    return {**options, **flags}


def _flags(args: argparse.Namespace, method: Method,
           known: dict[str, Parameter]) -> Iterator[tuple[str, Any]]:
    for flag, named in flagged().items():
        for name in named:
            text = getattr(args, _DEST.format(name))
            if text is None:
                continue
            if name not in known:
                raise InputError(_strange(method, flag, named[name], known))
            _check(f"'{flag}' of '{method.name}'", name, value_of(text), known)
            yield name, value_of(text)


def _strange(method: Method, flag: str, users: list[tuple[Method, Parameter]],
             known: dict[str, Parameter]) -> str:
    owners = ", ".join(f"--method {user.name}" for user, _ in users)
    return (f"The method '{method.name}' has no option '{flag}', which belongs to {owners}. It has "
            f"{', '.join(sorted(known))}, given as --option NAME=VALUE.")


def _check(what: str, name: str, value: Any, known: dict[str, Parameter]) -> None:
    if name not in known:
        raise InputError(unknown(what, name, known))
    rule = known[name].rule
    if not rule.admits(value):
        raise InputError(explain(what, rule.allowed(), value, known[name].advice))


def value_of(text: str) -> Any:
    """Read a value as JSON; what is not JSON is text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def key_place(args: argparse.Namespace) -> Path:
    """Return where the key goes; one that undoes the release needs a place that was chosen."""
    if args.key is not None:
        return Path(args.key)
    if not isinstance(args.out, Path):
        raise InputError("A release in a database has its key in a file. Use --key FILE to choose "
                         "where to write it.")
    if method_of(args.method).keyed == "always":
        raise InputError(f"The method '{args.method}' makes a key. Use --key FILE to choose where "
                         "to write it.")
    return Path(args.out.with_name(args.out.name + ".key"))


def key_words(args: argparse.Namespace) -> str:
    """Return what the key that was written is for."""
    words = ("Without it nothing can be decoded; with it and the release everything can."
             if method_of(args.method).keyed == "always" else
             "It undoes nothing, but says which record is whose; the audit needs it.")
    return f"Key written to {args.key}: it stays with you. {words}"

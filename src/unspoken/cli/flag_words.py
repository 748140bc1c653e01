"""Messages of the library in the words of the command line: flags in place of Python arguments.

The library speaks Python to Python users, as in `encoding='latin-1'`. Whoever typed a command is
shown `--encoding latin-1`, where the verb has that flag, or `--option encoding=latin-1` where
its method takes it; every other text stays as it is.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

_CALL = re.compile(r"unspoken\.\w+\([^()]*?\b(\w+)=\.\.\.\)")
_WORD = re.compile(r"(?<![\w'\-=.?&])([a-z][a-z_]*)=('[^']*'|\"[^\"]*\"|-?\d[\w.]*|\[[^\]]*\]|"
                   r"\w+|\.\.\.)?(?=[\s,;:)]|\.(?:\s|$)|$)")
_PYTHON = re.compile(r"[A-Z]\w*\.\w+(?:\([^()]*\))?, or on the command line:? ")
"""What Python users write, where the text says as well what the command line writes."""
_TWICE = re.compile(r"(--[a-z-]+(?: [^\s()]+)?) \((?:on the command line )?\1\)")


_OF_METHODS = {("missing", value) for value in ("refuse", "blank", "mean")}
"""Values of parameters of methods, where the flag of that name is about reading files."""


def in_flags(text: str, top: argparse.ArgumentParser, args: argparse.Namespace) -> str:
    """Return a message with the Python arguments written as the flags of the verb that ran."""
    flags = flags_of(top, args)
    # On the command line an option is left out.
    text = text.replace(" must be None or ", " must be ")
    text = _CALL.sub(lambda call: f"{call[1]}=", _PYTHON.sub("", text))
    return _TWICE.sub(r"\1", _WORD.sub(lambda word: _as_flag(word, flags), text))


def flags_of(top: argparse.ArgumentParser, args: argparse.Namespace) -> set[str]:
    """Return the flags of the verb that was chosen, and those before it."""
    return set(_flags(top, vars(args)))


def verb_parser(top: argparse.ArgumentParser,
                args: argparse.Namespace) -> argparse.ArgumentParser:
    """Return the parser of the verb that was chosen, the innermost one."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = action.choices.get(str(getattr(args, action.dest, None)))
            return top if below is None else verb_parser(below, args)
    return top


def _flags(parser: argparse.ArgumentParser, chosen: dict[str, object]) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            verb = action.choices.get(str(chosen.get(action.dest)))
            if verb is not None:
                yield from _flags(verb, chosen)


def _as_flag(word: re.Match[str], flags: set[str]) -> str:
    name, value = word[1], (word[2] or "").strip("'\"").replace("...", "")
    flag = f"--{name.replace('_', '-')}"
    if flag in flags and (name, value) not in _OF_METHODS:
        listed = value if value[:1] != "[" else ",".join(
            part.strip(" '\"") for part in value[1:-1].split(","))
        return flag if listed in ("", "True") else f"{flag} {listed}"
    return f"--option {name}={value}" if "--option" in flags and value else word[0]

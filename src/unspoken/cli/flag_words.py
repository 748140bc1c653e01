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
_WORD = re.compile(r"(?<![\w'\-=.])([a-z][a-z_]*)=('[^']*'|\"[^\"]*\"|-?\d[\w.]*|\[[^\]]*\]|\w+)?"
                   r"(?=[\s,;:)]|\.(?:\s|$)|$)")


_OF_METHODS = {("missing", value) for value in ("refuse", "blank", "mean")}
"""Values of parameters of methods, where the flag of that name is about reading files."""


def in_flags(text: str, top: argparse.ArgumentParser, args: argparse.Namespace) -> str:
    """Return a message with the Python arguments written as the flags of the verb that ran."""
    flags = set(_flags(top, vars(args)))
    text = _CALL.sub(lambda call: f"{call[1]}=", text)
    return _WORD.sub(lambda word: _as_flag(word, flags), text)


def _flags(parser: argparse.ArgumentParser, chosen: dict[str, object]) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            verb = action.choices.get(str(chosen.get(action.dest)))
            if verb is not None:
                yield from _flags(verb, chosen)


def _as_flag(word: re.Match[str], flags: set[str]) -> str:
    name, value = word[1], (word[2] or "").strip("'\"")
    flag = f"--{name.replace('_', '-')}"
    if flag in flags and (name, value) not in _OF_METHODS:
        return flag if value in ("", "True") else f"{flag} {value}"
    return f"--option {name}={value}" if "--option" in flags and value else word[0]

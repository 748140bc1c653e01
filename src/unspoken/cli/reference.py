"""Writes docs/reference/cli.md from the parsers: `python -m unspoken.cli.reference FILE`.

A test compares the file with what is written here, so that no verb or option goes undocumented.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from unspoken.cli.main import parser

_HEAD = """# The command line

*Written by `make docs` from the parsers; do not edit.*

Exit status: 0 done, 1 the answer is no (models differ, a policy fails), 2 it could not be done;
then stderr has one line, stdout nothing, and nothing was written. `UNSPOKEN_DEBUG=1` shows the
traceback of an error. Progress bars appear on a terminal only. Passphrases are read from a file
or asked for, never taken from the command line.
"""


def reference() -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *(_verb(name, each) for name, each in verbs().items())])


def verbs() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of every verb by name, those under a verb as `joint plan`."""
    return dict(_below(parser(), ""))


def _below(
    top: argparse.ArgumentParser, before: str
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, verb in action.choices.items():
                yield before + name, verb
                yield from _below(verb, f"{before}{name} ")


def options(verb: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield what a verb takes, `--help` left out."""
    return (action for action in verb._actions if not isinstance(action, argparse._HelpAction))


def _verb(name: str, verb: argparse.ArgumentParser) -> str:
    rows = [f"| {_spelled(action)} | {_help(action)} |" for action in options(verb)]
    return "\n".join([f"## unspoken {name}", "", str(verb.description), "",
                      "| argument | meaning |", "| --- | --- |", *rows, ""])


def _spelled(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`" + (" (optional)" if action.nargs == "?" else "")
    words = f"`{', '.join(action.option_strings)}{_value(action)}`"
    return words + (" (required)" if action.required else "")


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.choices is not None:
        return " " + "\\|".join(str(choice) for choice in action.choices)
    return f" {action.metavar or action.dest.upper()}"


def _help(action: argparse.Action) -> str:
    return str(action.help or "").replace("%(default)s", str(action.default)).replace("|", "\\|")


def main(path: str) -> None:
    """Write the page."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

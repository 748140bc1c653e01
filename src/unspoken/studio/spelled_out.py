"""The same step as a command line and as Python, to be kept, repeated and put into a script."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from unspoken.release.method import Method
from unspoken.studio.table_source import Source

_DEMANDS = ("k", "l", "t", "epsilon")
"""What a reader wants to know even where it is the usual value."""
_FLAGS = (("target", "target"), ("identifier", "identifiers"), ("quasi", "quasi"),
          ("sensitive", "sensitive"))


def command_line(source: Source, method: Method, parameters: Mapping[str, Any],
                 data: str = "") -> str:
    """Return the command that makes the same release; `data` stands for the path."""
    words = ["unspoken", "protect", data or str(source.path)]
    words += [f"--table={source.table}"] if source.table else []
    for role, flag in _FLAGS:
        words += [f"--{flag}={_listed(source.named(role))}"] if source.named(role) else []
    words += [f"--keep={name}" for name in source.keep]
    words += [f"--kind={name}={kind}" for name, kind in source.kinds.items()]
    words += [f"--method={method.name}"]
    words += [f"--option={name}={json.dumps(value)}" for name, value in parameters.items()]
    return " ".join(shlex.quote(one) for one in [*words, "--out=release", "--key=release.key"])


def _listed(names: Sequence[str]) -> str:
    """Return names as the command line reads them: one with a comma stands in quotes."""
    return ",".join('"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
                    for name in names)


def python_lines(source: Source, method: Method, parameters: Mapping[str, Any]) -> str:
    """Return the Python that makes the same release."""
    target = source.named("target")
    options: dict[str, Any] = {"target": target[0] if target else None, "table": source.table,
                               "identifiers": source.named("identifier"),
                               "quasi": source.named("quasi"),
                               "sensitive": source.named("sensitive"),
                               "keep": list(source.keep), "kinds": dict(source.kinds)}
    read = ", ".join([repr(str(source.path)),
                      *(f"{name}={value!r}" for name, value in options.items() if value)])
    name = method.transformer.__name__
    chosen = ", ".join(f"{one}={value!r}" for one, value in parameters.items())
    return "\n".join(["import unspoken", f"from unspoken.protect import {name}", "",
                      f"table = unspoken.read({read})",
                      f"release, key = {name}({chosen}).protect(table)",
                      'release.save("release")', 'key.save("release.key")'])


def method_words(method: Method, parameters: Mapping[str, Any]) -> str:
    """Return a method with its parameters in one line."""
    usual = {name: one for name, one in method.defaults().items()
             if name in _DEMANDS and one is not None}
    listed = ", ".join(f"{name} = {value}" for name, value in {**usual, **parameters}.items())
    return f"{method.name} ({listed})" if listed else method.name

"""Writes docs/reference/api.md from docstrings: `python docs/api_reference.py FILE`.

Public is what the doors below list in `__all__`; everything else may change without notice. A
public name without a docstring, or whose docstring leaves out a parameter, is an error.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOORS = ("unspoken", "unspoken.protect", "unspoken.mine", "unspoken.attack", "unspoken.risk",
         "unspoken.report", "unspoken.joint", "unspoken.checks", "unspoken.errors")
MOST_NAMES = 300
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "Examples",
            "See Also", "References", "Warns")
HEAD = """# Python reference

Written by `make docs` from the docstrings. Public is what stands here; everything else may change
without notice.
"""


def public_names() -> Iterator[tuple[str, str, Any]]:
    """Yield door, name and object of everything that is public, each object once."""
    seen: set[int] = set()
    for door in DOORS:
        module = importlib.import_module(door)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or id(thing) in seen:
                continue
            if callable(thing):
                seen.add(id(thing))
            yield door, name, thing


def signature_of(thing: Any) -> str:
    """Return the parameters of a function or class as they are written, without types."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return ""
    return "(" + ", ".join(_parameter(one) for one in parameters if one.name != "self") + ")"


def _parameter(one: inspect.Parameter) -> str:
    star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    if one.default is inspect.Parameter.empty:
        return star + one.name
    shown = repr(one.default)
    return f"{one.name}={shown if len(shown) < 40 and ' at 0x' not in shown else '...'}"


def problems_of(name: str, thing: Any) -> Iterator[str]:
    """Yield what the docstring of a public name leaves out."""
    text = inspect.getdoc(thing) or ""
    if not callable(thing):
        return
    if not text or (inspect.isclass(thing) and "__doc__" not in vars(thing)):
        yield f"{name} has no docstring"
        return
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return
    listed = _listed(text)
    for parameter in _wanted(thing):
        if parameter not in listed:
            yield f"{name} does not document the parameter '{parameter}'"


def _wanted(thing: Any) -> list[str]:
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in found
            if one.name not in ("self", "cls") and not one.name.startswith("_")]


def _listed(text: str) -> set[str]:
    """Return the parameters that the sections Parameters and Attributes describe."""
    out: set[str] = set()
    for title in ("Parameters", "Attributes"):
        for line in _section(text, title).splitlines():
            match = re.match(r"^(\*{0,2}[A-Za-z_][\w, *]*) *(:.*)?$", line)
            if match:
                out |= {part.strip(" *") for part in match.group(1).split(",")}
    return out


def _section(text: str, title: str) -> str:
    match = re.search(rf"^{title}\n-{{3,}}\n(.*?)(?=^(?:{'|'.join(SECTIONS)})\n-{{3,}}\n|\Z)",
                      text, re.M | re.S)
    return match.group(1) if match else ""


def written(thing: Any) -> str:
    """Return a docstring as Markdown: sections in bold, descriptions as they are."""
    text = inspect.getdoc(thing) or ""
    for title in SECTIONS:
        text = re.sub(rf"^{title}\n-{{3,}}$", f"**{title}**\n", text, flags=re.M)
    text = re.sub(r"^(\*{0,2}\w[\w, *]*) : (.*)$", r"- `\1` ( \2 )", text, flags=re.M)
    return text.replace("( ", "(").replace(" )", ")")


def page() -> str:
    """Return the whole reference."""
    lines, door = [HEAD], ""
    for home, name, thing in public_names():
        if home != door:
            door = home
            about = (inspect.getdoc(importlib.import_module(door)) or "").partition("\n")[0]
            lines += [f"## `{door}`", "", about, ""]
        if callable(thing):
            lines += [f"### `{name}{signature_of(thing)}`", "", written(thing), ""]
        else:
            lines += [f"### `{name}`", "", f"A constant: `{type(thing).__name__}`.", ""]
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"


def main() -> int:
    """Write the reference, or name what is not documented."""
    names = list(public_names())
    problems = [line for _, name, thing in names for line in problems_of(name, thing)]
    for line in problems:
        print(line, file=sys.stderr)
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    return 1 if problems or len(names) > MOST_NAMES else 0


if __name__ == "__main__":
    sys.exit(main())

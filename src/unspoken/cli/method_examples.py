"""An example of every option of every release method, for `--help` and `unspoken methods`.

An example is a value that the rule of the option admits, other than its default where there is
another; a test holds every one against its rule.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from unspoken.release.method import Method, methods
from unspoken.release.parameters import KeyIn, KeysIn, OneOf, OrNone, Parameter, PerColumn, Rule

_PLAIN: tuple[Any, ...] = (5, 10, 2, 0.5, 0.1, 3.0, 1, ["age"], "age", True)
_CELLS: tuple[Any, ...] = ("0.9*x + 10", [18, 95], [18, 40, 60, 95], ["Ulm", "Bonn"], 10, 2, 0.5,
                           "towns.csv", [[0.8, 0.2], [0.2, 0.8]], {"Ulm": "south"})
_SPECIAL: dict[str, Any] = {
    "pairs": [["age", "income"]], "choices": {"age": "age_choice"},
    "hierarchies": {"town": "towns.csv"}, "levels": {"town": 2}, "widths": {"age": 10},
    "population": "population.csv", "tree": {"max_depth": 4}, "known_rows": [0, 17],
    "withhold": 0.1, "matrix": {"smoker": [[0.8, 0.2], [0.2, 0.8]]},
    "values": {"town": ["Ulm", "Bonn"]}, "other": "other", "edges": {"age": [18, 40, 65, 95]},
    "top": {"income": 500}, "bottom": {"income": 10}, "t": 0.2, "c": 2.5, "privacy": 0.5,
    "thresholds": 0.2, "noise": 0.1, "tail": 1.0, "category_weight": 0.5, "variance": 0.2,
    "items": ["bread", "milk"], "sizes": [0.2, 0.3, 0.5], "rows": 1000, "epsilon": 0.5,
    "delta": 1e-7, "columns": ["age", "income"], "sensitive": ["income"], "clear_target": "cost",
    "suppression": 0.05,
}
"""Values that say more than the first number or name that an option admits."""


def default_of(method: Method, name: str) -> Any:
    """Return the default of a parameter, of the first form that has it."""
    if name == method.chooser:
        return next(iter(method.forms))
    return next(defaults[name] for form in method.forms or [None]
                if name in (defaults := method.defaults(form)))


def example_of(method: Method, name: str, parameter: Parameter) -> Any:
    """Return a value that an option may have, rather than its default."""
    default = default_of(method, name)
    admitted = [value for value in _tried(name, parameter.rule)
                if parameter.rule.admits(value)]
    others = [value for value in admitted if value != default and value is not None]
    return next(iter([*others, *admitted]), default)


def _tried(name: str, rule: Rule) -> Iterator[Any]:
    if name in _SPECIAL:
        yield _SPECIAL[name]
    yield from _values(rule)
    yield from _PLAIN
    yield from ({"age": value} for value in (*_CELLS, *_values(rule)))
    yield from ([value] for value in _CELLS)


def _values(rule: Any) -> Iterator[Any]:
    """Yield the values that a rule lists."""
    if isinstance(rule, OrNone):
        for one in rule.rules:
            yield from _values(one)
    elif isinstance(rule, PerColumn):
        yield from _values(rule.rule)
    elif isinstance(rule, KeysIn):
        yield list(rule.values[:1])
    elif isinstance(rule, OneOf | KeyIn):
        yield from reversed(rule.values)


def as_typed(method: Method, name: str, parameter: Parameter) -> str:
    """Return the example as it is typed: by its own flag, or as --option."""
    value = example_of(method, name, parameter)
    if parameter.flag and parameter.switch is not None:
        return parameter.flag
    text = value if isinstance(value, str) else json.dumps(value)
    quoted = f"'{text}'" if set(text) & set(' "{}[]*<>()') else text
    return f"{parameter.flag} {quoted}" if parameter.flag else f"--option {name}={quoted}"


def all_options() -> str:
    """Return every option of every method, with an example each, for the end of a help."""
    lines = ["", "options of the methods, each with an example:"]
    for method in methods().values():
        lines.append(f"  {method.name}")
        for name, parameter in method.parameters.items():
            lines.append(f"    {as_typed(method, name, parameter)}")
            lines += textwrap.wrap(parameter.help, 76, initial_indent=" " * 8,
                                   subsequent_indent=" " * 8)
    return "\n".join([*lines, ""])

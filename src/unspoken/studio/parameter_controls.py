"""Controls made from what a method declares of its parameters, and what they bring back.

A range becomes a slider beside a number, a choice a list, yes or no a box. What may be left out has
a box of its own. Parameters that no control can show (paths, matrices, hierarchies, one value for
each column) are left at their default; the command line has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.release.method import Method
from unspoken.release.parameters import (
    SHUFFLE,
    YES_NO,
    KeyIn,
    KeysIn,
    NotNegative,
    OneOf,
    OrNone,
    Parameter,
    PerColumn,
    Real,
    Share,
    Whole,
)
from unspoken.studio.elements import Markup, el

_FIELD, _ASKED = "p.", "on."
_REACH = {"l": (1.0, 10.0, 0.5), "t": (0.01, 1.0, 0.01)}
"""Ends and steps of sliders of what is measured the same way in every method, and has no bound."""


@dataclass(frozen=True)
class Control:
    """One parameter as a control: a number from `low` to `high` in steps, or one of `values`."""

    name: str
    parameter: Parameter
    start: Any
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0
    values: tuple[Any, ...] = ()
    optional: bool = False

    @property
    def whole(self) -> bool:
        """Return True if only whole numbers are meant."""
        return self.step == 1 and float(self.low).is_integer()

    def markup(self, owner: str, value: Any) -> Markup:
        """Return the control; `owner` tells the same control of several methods apart."""
        place = f"{owner}-{self.name}"
        title = self.name.replace("_", " ")
        words = el("span", f" {self.parameter.help}", class_="soft")
        if self.values == (True, False):
            return el("label", el("input", type="checkbox", name=_FIELD + self.name, value="true",
                                  checked=bool(value)), title, words, class_="check")
        asked = self._asked(title, value) if self.optional else None
        label = el("label", title, words, for_=place)
        return el("div", label, asked, self._field(place, title, value), class_="control")

    def _asked(self, title: str, value: Any) -> Markup:
        return el("label", el("input", type="checkbox", name=_ASKED + self.name, value="1",
                              checked=value is not None), f"ask for {title}", class_="check")

    def _field(self, place: str, title: str, value: Any) -> Markup:
        name = _FIELD + self.name
        if self.values:
            return el("select", [el("option", one, value=one, selected=one == value)
                                 for one in self.values], name=name, id=place)
        shown = self._rounded(self.start if value is None else value)
        slider = el("input", type="range", min=f"{self.low:g}", max=f"{self.high:g}",
                    step=f"{self.step:g}", value=shown, id=place)
        number = el("input", type="number", name=name, value=shown, step="any",
                    aria_label=f"{title}, as a number")
        return el("div", slider, number, class_="pair")

    def _rounded(self, value: Any) -> str:
        return str(int(value)) if self.whole else f"{float(value):.6g}"

    def read(self, fields: Mapping[str, str]) -> Any:
        """Return the value that a form brought, or refuse it by name."""
        text = fields.get(_FIELD + self.name, "").strip()
        if self.values == (True, False):
            return text == "true"
        if self.optional and _ASKED + self.name not in fields:
            return None
        value = self._parsed(text)
        if not self.parameter.rule.admits(value):
            raise InputError(explain(f"'{self.name}'", self.parameter.rule.allowed(), text,
                                     self.parameter.advice))
        return value

    def _parsed(self, text: str) -> Any:
        if self.values:
            return next((one for one in self.values if str(one) == text), text)
        try:
            number = float(text)
        except ValueError:
            return text
        return int(number) if self.whole and number.is_integer() else number


def controls(method: Method) -> tuple[Control, ...]:
    """Return the controls of a method, in the order in which it declares its parameters."""
    form, defaults = method.form(), method.defaults()
    made = (_control(name, one, started(method, name, defaults.get(name)))
            for name, one in form.parameters.items() if one is not SHUFFLE)
    return tuple(one for one in made if one is not None)


def started(method: Method, name: str, default: Any) -> Any:
    """Return where a control starts: as advised, and other columns are left out, not refused."""
    if name in method.advised:
        return method.advised[name]
    return "drop" if name == "others" and default == "refuse" else default


def _control(name: str, parameter: Parameter, start: Any) -> Control | None:
    rule: Any = parameter.rule
    optional = False
    if isinstance(rule, OrNone):
        numbers = [one for one in rule.rules if isinstance(one, Real | Whole)]
        optional, rule = True, numbers[0] if numbers else None
    elif isinstance(rule, PerColumn) or (hasattr(rule, "rule") and hasattr(rule, "none")):
        if not getattr(rule, "single", True):
            return None
        optional, rule = rule.none, rule.rule
    if isinstance(rule, KeyIn) and not isinstance(rule, KeysIn):
        return Control(name, parameter, start, values=rule.values, optional=optional)
    if isinstance(rule, OneOf):
        values = (True, False) if rule == YES_NO else rule.values
        plain = all(isinstance(one, str | bool | int) for one in values)
        return Control(name, parameter, start, values=values) if plain else None
    return _number(name, parameter, start, rule, optional)


def _number(name: str, parameter: Parameter, start: Any, rule: Any,
            optional: bool) -> Control | None:
    if isinstance(start, bool) or not (start is None or isinstance(start, int | float)):
        return None
    if isinstance(rule, Whole):
        base = rule.least + 1 if start is None else int(start)
        return Control(name, parameter, base, rule.least, max(50, base * 5), 1, optional=optional)
    if isinstance(rule, Share):
        return Control(name, parameter, start or 0.0, 0.0, 0.99, 0.01, optional=optional)
    if isinstance(rule, NotNegative):
        return Control(name, parameter, start or 0.0, 0.0, max(10.0, (start or 0) * 4), 0.1,
                       optional=optional)
    return _real(name, parameter, start, rule, optional) if isinstance(rule, Real) else None


def _real(name: str, parameter: Parameter, start: Any, rule: Real,
          optional: bool) -> Control | None:
    if rule.above == float("-inf"):
        return None
    low = max(rule.above, 0.0)
    if name in _REACH and rule.below == float("inf"):
        least, most, step = _REACH[name]
        middle = start if start is not None else min(2.0, most / 5)
        return Control(name, parameter, middle, least, most, step, optional=optional)
    base = float(start) if start is not None else _inside(low, rule.below)
    high = rule.below if rule.below <= low + 2 else max(low + 4 * abs(base - low), low + 1.0)
    step = _step(high - low)
    ends = min(low + step, base), high - (step if high == rule.below else 0)
    return Control(name, parameter, base, round(ends[0], 6), max(round(ends[1], 6), base), step,
                   optional=optional)


def _inside(low: float, below: float) -> float:
    return low + 1.0 if below > low + 2 else (low + below) / 2


def _step(width: float) -> float:
    for step in (0.01, 0.05, 0.1, 0.5, 1.0):
        if width / step <= 200:
            return step
    return 5.0


def read_parameters(method: Method, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return what a form asks for, without what is the default anyway."""
    defaults, chosen = method.defaults(), {}
    for control in controls(method):
        value = control.read(fields) if _brought(control, fields) else control.start
        if control.optional and not _brought(control, fields):
            value = started(method, control.name, defaults.get(control.name))
        if value != defaults.get(control.name):
            chosen[control.name] = value
    return chosen


def _brought(control: Control, fields: Mapping[str, str]) -> bool:
    """Return True if a form had this control; a box that is not ticked sends nothing."""
    return _FIELD + control.name in fields or (bool(fields) and control.values == (True, False))


def start_values(method: Method) -> dict[str, Any]:
    """Return where every control starts."""
    defaults = method.defaults()
    return {one.name: started(method, one.name, defaults.get(one.name))
            for one in controls(method)}

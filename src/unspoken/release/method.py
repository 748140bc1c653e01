"""Method: all that the toolkit knows about one way of releasing data, declared in one place.

Every family of methods has a module `method.py` with a tuple METHODS; `unspoken.methods.FAMILIES`
lists those modules, one line each. Nothing else registers a method, and nothing else asks a
manifest for the name of its mechanism.

Families stand right of this package and are heavy to import. So a Method names its classes and
functions as "module:name", and they are imported when they are first asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from unspoken.errors import DecodeError, InputError, explain, unknown
from unspoken.release.lazy_imports import modules_in, resolve
from unspoken.release.parameters import Parameter, check_columns, check_parameters
from unspoken.release.uses import Use

if TYPE_CHECKING:
    from unspoken.release.guarantee import Guarantee
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.table import Table

FAMILIES = "unspoken.methods:FAMILIES"
UNDECLARED = "random_state"
"""The one parameter of a class that no command line takes: it makes a release worthless."""


@dataclass(frozen=True)
class Form:
    """One of several classes behind a method's name, with its own parameters."""

    transformer: str
    parameters: Mapping[str, Parameter]


@dataclass(frozen=True)
class Method:
    """One release method.

    `name` is the same in Python, on the command line, in manifests and keys, and in the docs.
    `summary` and `promise` say in a sentence each what it does and what it promises. The fields
    that end in `_at` are places; the property without the ending imports what stands there.
    `adversaries_in` is the folder of its family's adversaries; each says which methods it attacks.

    Every release has a key. `keyed`: "always" where the key undoes the release, "records" where it
    only says which record is which. `law_at`: (column of the manifest) -> what a miner may know of
    its distortion. `together_at`: what two releases of the same people disclose. `promise_at`:
    (table, release, key, original row of every released one) -> where it is not what it says.
    `of_people`: every released record is somebody's; False where nobody's are drawn. `streams`: it
    counts and changes rows where they are; False where it needs all of them in one memory.
    `quick_at`: a class of the transformer's parameters that only makes releases, and loads sooner.
    `forms`: further classes under the same name, chosen by the parameter `chooser`. `uses`: the
    scenarios that it serves by itself, none for what is a part of others; `needs` what a table must
    have for them, and `advised` the parameters to start with (see `unspoken.advice`).
    """

    name: str
    summary: str
    promise: str
    transformer_at: str
    parameters: Mapping[str, Parameter]
    guarantees_at: tuple[str, ...]
    adversaries_in: str
    audit_at: str
    keyed: Literal["always", "records"] = "records"
    partial: bool = False
    takes_baskets: bool = False
    decode_at: str = ""
    in_released_order_at: str = ""
    released_names_at: str = ""
    truths_at: str = ""
    law_at: str = ""
    promise_at: str = ""
    together_at: str = ""
    note: str = ""
    of_people: bool = True
    streams: bool = False
    quick_at: str = ""
    chooser: str = ""
    forms: Mapping[str, Form] = field(default_factory=dict)
    uses: tuple[Use, ...] = ()
    needs: tuple[str, ...] = ()
    advised: Mapping[str, Any] = field(default_factory=dict)

    @property
    def transformer(self) -> type:
        """Return the class; of several forms the first."""
        return resolve(self.transformer_at)  # type: ignore[no-any-return]

    @property
    def guarantees(self) -> tuple[type[Guarantee], ...]:
        """Return the classes of the guarantees that its releases carry."""
        return tuple(resolve(place) for place in self.guarantees_at)

    @property
    def adversaries(self) -> tuple[type[Any], ...]:
        """Return the classes of all adversaries in its family's folder that attack its releases."""
        return tuple(one for one in adversaries_in(self.adversaries_in)
                     if one.attacks is None or self.name in one.attacks)

    @property
    def audit(self) -> Callable[..., Any]:
        """Return the audit of its family: (table, release, key, request) -> Audit."""
        return resolve(self.audit_at)  # type: ignore[no-any-return]

    @property
    def decode(self) -> Callable[..., Any] | None:
        """Return what turns mined models back, None if nothing does."""
        return self._optional(self.decode_at)

    @property
    def truths(self) -> Callable[..., Any] | None:
        """Return what says which codes stand for which values, None if columns have no codes."""
        return self._optional(self.truths_at)

    @property
    def law(self) -> Callable[..., Any] | None:
        """Return what reads the law of a column, None if values were not distorted by one."""
        return self._optional(self.law_at)

    @property
    def broken_promises(self) -> Callable[..., Any] | None:
        """Return what says in sentences where a release is not what it says, for the audit."""
        return self._optional(self.promise_at)

    @property
    def together(self) -> Callable[..., Any] | None:
        """Return what measures two releases of the same people, None for the general measure."""
        return self._optional(self.together_at)

    @staticmethod
    def _optional(place: str) -> Callable[..., Any] | None:
        return resolve(place) if place else None

    def released_names(self, key: Key | None, release: Release) -> dict[str, str]:
        """Return the released name of every original column that went out."""
        if key is None or not self.released_names_at:
            return {name: name for name in release.schema.names}
        names: dict[str, str] = resolve(self.released_names_at)(key, release)
        return names

    def in_released_order(self, key: Key, table: Table) -> Table:
        """Return the original of what was released, row by row, to mine it in the same way."""
        if not self.in_released_order_at:
            raise DecodeError(f"Models mined on a release by '{self.name}' are not decoded, so "
                              "there is nothing to compare with the original's.")
        ordered: Table = resolve(self.in_released_order_at)(key, table)
        return ordered

    def form(self, chosen: str | None = None) -> Form:
        """Return the class and the parameters that the chooser names."""
        if not self.forms:
            return Form(self.transformer_at, self.parameters)
        name = chosen or next(iter(self.forms))
        if name not in self.forms:
            raise InputError(unknown(f"'{self.chooser}' of '{self.name}'", name, self.forms))
        return self.forms[name]

    def defaults(self, chosen: str | None = None) -> dict[str, Any]:
        """Return the default of every parameter, from the class."""
        signature = inspect.signature(resolve(self.form(chosen).transformer))
        return {name: one.default for name, one in signature.parameters.items()
                if name != UNDECLARED}

    def build(self, values: Mapping[str, Any], quick: bool = False) -> Any:
        """Return the transformer with these parameters; unknown names and values are refused.

        With `quick` it may be a class that does nothing but `protect`.
        """
        wanted = dict(values)
        form = self.form(wanted.pop(self.chooser, None) if self.chooser else None)
        for name, value in wanted.items():
            parameter = form.parameters.get(name)
            if parameter is None:
                raise InputError(unknown(f"A parameter of '{self.name}'", name, form.parameters))
            if not parameter.rule.admits(value):
                raise InputError(explain(f"'{name}' of '{self.name}'", parameter.rule.allowed(),
                                         value, parameter.advice))
        return resolve((quick and self.quick_at) or form.transformer)(**wanted)

    def check(self, estimator: Any, table: Table | None = None) -> None:
        """Refuse parameters of an estimator that are out of range, and a table out of reach."""
        check_parameters(type(estimator).__name__, self.parameters, estimator.get_params())
        if table is None:
            return
        self.check_columns(estimator, table.schema.names)
        if not self.streams:
            self._check_reach(table)

    def check_columns(self, estimator: Any, names: Sequence[str]) -> None:
        """Refuse parameters of an estimator that name a column which is not among some names."""
        rules = {name: one.rule for name, one in self.parameters.items()}
        check_columns(type(estimator).__name__, rules, estimator.get_params(), names)

    def _check_reach(self, table: Table) -> None:
        """Refuse a table whose engine would not bring all of its rows into this process."""
        most, cells = table.engine.most_cells, table.rows * len(table.schema.names)
        if most is not None and cells > most:
            others = ", ".join(name for name, one in methods().items() if one.streams)
            raise InputError(
                f"'{self.name}' needs all rows in the memory of one process. Got {table.rows:,} "
                f"rows of {len(table.schema.names)} columns on the engine '{table.engine.name}', "
                f"which brings at most {most:,} cells there. Protect a sample of the rows, or use "
                f"a method that works where the rows are: {others}.")


@cache
def methods() -> Mapping[str, Method]:
    """Return every release method by name, in the order of the families."""
    by_name: dict[str, Method] = {}
    for family in resolve(FAMILIES):
        for method in resolve(f"{family}:METHODS"):
            if method.name in by_name:
                raise ValueError(f"Two methods have the name '{method.name}'.")
            by_name[method.name] = method
    return by_name


def name_in(mechanism: Mapping[str, Any]) -> str:
    """Return the name of the method that a public description of a mechanism gives."""
    return str(mechanism.get("name"))


def method_of(described: str | Mapping[str, Any]) -> Method:
    """Return a method by name, or by the mechanism of a release; an unknown one is refused."""
    name = described if isinstance(described, str) else name_in(described)
    known = methods()
    if name not in known:
        raise InputError(unknown("A release method", name, known))
    return known[name]


@cache
def adversaries_in(folder: str) -> tuple[type[Any], ...]:
    """Return every adversary of a folder: each class there with a name of its own.

    A file that lies there is enough, and nothing has to list it. One that names methods that do not
    exist would never run and look harmless, so it is refused.
    """
    here = (one for module in modules_in(folder) for one in vars(module).values()
            if getattr(one, "__module__", "") == module.__name__)
    classes: tuple[Any, ...] = tuple(one for one in here if hasattr(one, "attacks") and one.name)
    for one in classes:
        for wrong in (one.attacks or frozenset()) - set(methods()):
            raise ValueError(f"'{one.name}' attacks '{wrong}', which is no method.")
    return classes


def adversary_classes(chosen: Iterable[Method] | None = None) -> dict[str, type[Any]]:
    """Return every adversary that attacks some method, by name."""
    listed = methods().values() if chosen is None else chosen
    return {one.name: one for method in listed for one in method.adversaries}

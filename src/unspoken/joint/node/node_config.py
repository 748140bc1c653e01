"""The one file that an operator writes: node.toml.

    name = "north"
    listen = ["0.0.0.0:7700"]          # where this machine listens
    address = "north.example:7700"     # how the others reach it, or relay://FINGERPRINT@HOST:PORT
    health = "127.0.0.1:7780"          # health and metrics; "" for none

    [[table]]
    name = "patients"
    path = "patients.csv"
    show_to = ["south", "east"]        # who may see the schema; never rows

    [table.column.age]
    unit = "years"
    range = [0, 120]                   # from public knowledge, never from the data

    [table.column.smoker]
    categories = ["no", "yes"]         # or "data": the values that occur, which the others then see

    [[standing]]                       # consent in advance, by rule
    tasks = ["sum"]
    from = ["south"]
    receivers = ["south", "north"]
    tables = ["patients"]
    columns = ["age"]
    modes = ["authenticated"]
    dealers = ["dora"]
    studies = 10

    [[service]]                        # a model that peers may ask, within a budget of records
    name = "risk"
    model = "risk.json"
    for = ["south"]
    records = 1000
    modes = ["authenticated"]
    dealers = ["dora"]

Unknown fields are refused by name. Beside it lie the identity (0600), the state and the studies.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.node.prediction_service import PredictionService
from unspoken.joint.node.standing_rules import StandingRule
from unspoken.joint.session.identity import load_identity
from unspoken.joint.session.study import is_address
from unspoken.joint.session.study_fields import list_of_texts, only_keys, tables_in
from unspoken.joint.tasks.param_rules import is_number
from unspoken.joint.wire.credentials import Identity, check_name
from unspoken.joint.wire.relay.relay_words import SCHEME, RelayAddress
from unspoken.table.atomic_files import named_path

FILE = "node.toml"
READING = ("delimiter", "encoding", "missing", "decimal", "thousands", "table")
_TOP = ("name", "listen", "address", "health", "sync_seconds", "meeting_seconds", "limit_seconds",
        "at_once", "table", "standing", "service")


@dataclass(frozen=True)
class ColumnFacts:
    """What an owner says of a column: unit, public range, categories (a list, or "data")."""

    unit: str = ""
    range: tuple[float, float] | None = None
    categories: tuple[str, ...] | str = ()

    @classmethod
    def of(cls, where: str, data: Any) -> ColumnFacts:
        """Read [table.column.NAME]."""
        only_keys(where, data, ("unit", "range", "categories"))
        span, categories = data.get("range"), data.get("categories", [])
        if span is not None and not (isinstance(span, list) and len(span) == 2
                                     and all(map(is_number, span)) and span[0] < span[1]):
            raise StudyError(explain(f"'range' of {where}", "two increasing numbers", span))
        words = categories if categories == "data" else list_of_texts(
            f"categories of {where}", categories)
        return cls(str(data.get("unit", "")), None if span is None else (span[0], span[1]), words)


@dataclass(frozen=True)
class OwnTable:
    """A table of this organisation: where it lies, how it is read, and who may see its schema."""

    name: str
    path: Path
    show_to: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, ColumnFacts] = field(default_factory=dict)
    budget: Path | None = None
    is_model: bool = False

    @classmethod
    def of(cls, folder: Path, data: Any) -> OwnTable:
        """Read [[table]]; paths are relative to the folder of the node."""
        only_keys("table", data, ("name", "path", "show_to", "budget", "column", *READING))
        name = check_name(data.get("name", ""), "A table's name")
        if not isinstance(data.get("path"), str):
            raise StudyError(explain(f"'path' of table '{name}'", "a file", data.get("path")))
        columns = {column: ColumnFacts.of(f"column '{column}'", facts)
                   for column, facts in data.get("column", {}).items()}
        budget = folder / data["budget"] if "budget" in data else None
        return cls(name, folder / data["path"], list_of_texts("show_to", data.get("show_to", [])),
                   {key: data[key] for key in READING if key in data}, columns, budget)


@dataclass(frozen=True)
class NodeConfig:
    """What node.toml says."""

    folder: Path
    name: str
    listen: tuple[str, ...]
    address: str
    health: str = ""
    sync_seconds: float = 5.0
    meeting_seconds: float = 60.0
    limit_seconds: float = 10.0
    at_once: int = 4
    tables: tuple[OwnTable, ...] = ()
    standing: tuple[StandingRule, ...] = ()
    services: tuple[PredictionService, ...] = ()

    @classmethod
    def load(cls, folder: Path | str) -> NodeConfig:
        """Read and check node.toml in a folder."""
        folder = named_path(folder)
        try:
            data = tomllib.loads((folder / FILE).read_text(encoding="utf-8"))
        except OSError:
            raise InputError(f"There is no node in '{folder}': '{folder / FILE}' cannot be read. "
                             "Make one with: unspoken node init NAME --folder DIR --address "
                             "HOST:PORT") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"'{folder / FILE}' is not valid TOML: {error}.") from None
        return cls.of(folder, data)

    @classmethod
    def of(cls, folder: Path, data: Mapping[str, Any]) -> NodeConfig:
        """Check every field by name."""
        only_keys(FILE, data, _TOP)
        listen = data.get("listen", [])
        listen = (listen,) if isinstance(listen, str) else list_of_texts("listen", listen)
        services = tuple(PredictionService.of(folder, one) for one in tables_in(data, "service"))
        models = (OwnTable(one.name, one.path, is_model=True) for one in services)
        config = cls(folder, check_name(data.get("name", "")), listen,
                     _address("address", data.get("address")), str(data.get("health", "")),
                     _positive(data, "sync_seconds", 5), _positive(data, "meeting_seconds", 60),
                     _positive(data, "limit_seconds", 10), int(_positive(data, "at_once", 4)),
                     (*(OwnTable.of(folder, entry) for entry in tables_in(data, "table")),
                      *models),
                     tuple(StandingRule.of(entry) for entry in tables_in(data, "standing")),
                     services)
        for address in (*config.listen, *([config.health] if config.health else [])):
            _address("listen" if address in config.listen else "health", address)
        if not config.listen and config.relay is None:
            raise InputError(f"'{FILE}' needs 'listen', such as [\"0.0.0.0:7700\"].")
        return config

    def table(self, name: str) -> OwnTable:
        """Return a table by its name."""
        for table in self.tables:
            if table.name == name:
                return table
        raise StudyError(f"'{self.name}' has no table '{name}' in its {FILE}.")

    @property
    def identity(self) -> Identity:
        """Return this node's identity; a key that others can read is refused."""
        if not (self.folder / "identity" / f"{self.name}.key").exists():
            raise InputError(f"The key of node '{self.name}' is not in "
                             f"'{self.folder / 'identity'}'. Put it back from your "
                             "copy. If there is none, make a new node, which the others pair "
                             "with anew.")
        return load_identity(self.name, self.folder / "identity")

    @property
    def relay(self) -> RelayAddress | None:
        """Return the relay at which this node waits; None for one that others dial."""
        return RelayAddress.of(self.address)

    @property
    def state_path(self) -> Path:
        """Return where the state lies."""
        return self.folder / "state.db"

    def study_folder(self, proposal: str) -> Path:
        """Return where everything about a study lies, for this organisation alone."""
        path = self.folder / "studies" / proposal
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path


def config_text(data: Mapping[str, Any]) -> str:
    """Return node.toml as `init` writes it, for people to go on with."""
    top = tomli_w.dumps({key: value for key, value in data.items() if key != "table"})
    tables = [f"[[table]]\n{tomli_w.dumps(table)}" for table in data.get("table", [])]
    return "\n".join([top, *tables])


def _address(what: str, value: Any) -> str:
    if what != "address" and isinstance(value, str) and value.startswith(SCHEME):
        raise InputError(f"'{what}' in {FILE} is a relay. Name an address of this machine; the "
                         "relay belongs to 'address'.")
    if not isinstance(value, str) or not is_address(value):
        raise InputError(explain(f"'{what}' in {FILE}", "HOST:PORT, such as north.example:7700, "
                                 "10.0.0.5:7700 or [2001:db8::5]:7700, or a relay's "
                                 "relay://FINGERPRINT@HOST:PORT", value))
    return value


def _positive(data: Mapping[str, Any], name: str, usual: float) -> float:
    value = data.get(name, usual)
    if not is_number(value) or value <= 0:
        raise InputError(explain(f"'{name}' in {FILE}", "a number above 0", value))
    return float(value)

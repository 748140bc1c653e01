"""The query service of a studio: one table, one budget, one log; the same as `unspoken serve`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.methods.queries.service.question_service import QueryService
from unspoken.methods.queries.service.question_text import read_question
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.release.budget_places import known_place
from unspoken.studio.desk import Dataset, Desk
from unspoken.studio.table_source import Source

POLICY = "queries.toml"


def start_service(desk: Desk, columns: str, each: float) -> QueryService:
    """Start to answer about the table on the desk, and keep the policy for the next start."""
    import tomli_w

    from unspoken.table.atomic_files import write_file

    dataset = desk.dataset
    place, _ = known_place(dataset.source.known_budget(desk.folder.root), dataset.source.path,
                           dataset.table)
    if place is None:
        raise InputError("Questions are paid out of a budget, and this table has none. Start one "
                         "on the page 'History'.")
    try:
        declared = tomllib.loads(columns)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The columns must be TOML. {error}.") from None
    root = desk.folder.root
    data = {"service": {"budget": str(place), "log": str(root / "queries.log"), "each": each,
                        "register": str(desk.folder.register)}, "columns": declared}
    service = QueryService(dataset.table, ServicePolicy.parse(data, root))
    source = {name: value for name, value in dataset.source.to_json().items()
              if value is not None}
    write_file(root / POLICY, tomli_w.dumps({"policy": data, "source": source}).encode(), 0o600)
    desk.common.queries = service
    return service


def service_of(desk: Desk) -> QueryService | None:
    """Return the service, also one that an earlier studio started in this folder."""
    with desk.common.starting:
        if desk.common.queries is None and (desk.folder.root / POLICY).is_file():
            desk.common.queries = _kept_service(desk, desk.folder.root / POLICY)
        service: QueryService | None = desk.common.queries
        return service


def _kept_service(desk: Desk, file: Path) -> QueryService:
    """Return a service that was started before; its table must still be one that may be opened."""
    try:
        kept = tomllib.loads(file.read_text(encoding="utf-8"))
        source, policy = Source.from_json({"table": None, **kept["source"]}), kept["policy"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"'{file.name}' in the folder of the studio is damaged: what may be asked "
                         "is not known. Restore a copy of it, or remove it and start to answer "
                         "again.") from None
    desk.check_place(source.path)
    return QueryService(source.read(), ServicePolicy.parse(policy, file.parent))


def ask(desk: Desk, analyst: str, text: str) -> dict[str, Any]:
    """Ask one question; what the budget refuses says so."""
    service = service_of(desk)
    if service is None:
        raise InputError("No questions are answered yet. A custodian starts that.")
    return service.ask(analyst, read_question(text))


def template(dataset: Dataset) -> str:
    """Return what a policy could say about the columns, to be completed from public knowledge."""
    lines = ["# Bounds and values come from what anybody knows, never from the data.",
             "# Columns that are not named here can be asked about in conditions only."]
    for column in dataset.table.schema.columns:
        if column.role == "identifier":
            continue
        name = column.name if column.name.replace("-", "").replace("_", "").isalnum() \
            and column.name.isascii() else '"' + column.name.replace("\\", "\\\\").replace(
                '"', '\\"') + '"'
        words = "bounds = [0, 100], step = 1" if column.kind in ("numeric", "ordinal") else \
            'values = ["first", "second"]'
        lines.append(f"# {name} = {{ {words} }}")
    return "\n".join(lines)


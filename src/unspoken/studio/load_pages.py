"""Walk 1: load a table, see what it holds and what is risky about it, say what its columns are."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from unspoken.errors import DataError
from unspoken.report.drawing import percent
from unspoken.studio.brought_pages import brought_part
from unspoken.studio.desk import Dataset, Desk, open_dataset
from unspoken.studio.desks import desk_of, desks_of
from unspoken.studio.elements import Markup, el, whole, wrapped
from unspoken.studio.form_fields import MEANT, check_still, is_place, read_form
from unspoken.studio.kept_desks import put_and_keep
from unspoken.studio.layout import (
    button,
    facts,
    form,
    fragment,
    hidden,
    html,
    job_box,
    table,
    verdict,
)
from unspoken.studio.replies import off_the_loop, see_other, text_reply
from unspoken.studio.table_risks import table_risks, takes_long
from unspoken.studio.uploads import save_upload
from unspoken.studio.visitor import OFFICER
from unspoken.table.formats.file_formats import format_of
from unspoken.table.identify.law import NO_ADVICE
from unspoken.table.schema import KINDS, ROLES

MOST_LISTED, MOST_SHOWN_ROWS = 200, 8
ROLE_WORDS = {"identifier": "identifier: never released",
              "quasi": "quasi-identifier: could be looked up", "sensitive": "sensitive: a secret",
              "target": "target: to be predicted", "plain": "plain"}


async def show(request: Any) -> Any:
    """GET /: what is loaded, or how to load something."""
    desk: Desk = desk_of(request)
    if not desk.loaded:
        return html(request, "Load a table", _notice(desk), _others(request),
                    _loading(request, desk), brought_part(request, desk),
                    lead="Look at what it holds before anything leaves. Nothing is sent anywhere.")
    dataset = desk.dataset
    risks = await off_the_loop(_risks_part, request, desk)
    return html(request, dataset.name, _notice(desk), _first_words(dataset),
                el("section", risks, id="risks"), _columns(request, dataset), _first_rows(dataset),
                el("details", el("summary", "Load another table"), _others(request),
                   _loading(request, desk), brought_part(request, desk), form(
                       request, "/data/clear", button("Clear the desk", class_="plain"),
                       el("p", "The table is taken off, and what was tried on it is forgotten. "
                          "Files and drafts stay.", class_="help"))),
                lead=f"{dataset.table.rows:,} rows, {len(dataset.table.schema.names)} columns.")


def _notice(desk: Desk) -> Markup | None:
    """Say why the table of an earlier visit is not here."""
    return verdict("raised", "Your table could not be put back on the desk", desk.notice) \
        if desk.notice else None


def _loading(request: Any, desk: Desk) -> Markup:
    files = _listed(desk)
    options = [el("option", value=name) for name in files]
    drop = el("div", el("label", "Choose a file, or drop it here", for_="file"),
              el("input", type="file", autocomplete="off", id="file"),
              el("p", "CSV, Parquet, DuckDB and others. It stays on this machine.", class_="help"),
              el("p", "", role="status"), class_="drop", data_upload="/data/upload")
    path = form(request, "/data/open",
                el("label", "Or a file, or a folder of files that make up one table, under ",
                   el("code", desk.data_root), _addresses(desk), for_="path"),
                el("input", type="text", name="path", id="path", list="files", required=True,
                   autocomplete="off"), el("datalist", options, id="files"),
                el("label", "Table ", el("span", "of a database; left empty where it holds one",
                                         class_="soft"), for_="inside"),
                el("input", type="text", name="table", id="inside", autocomplete="off"),
                button("Load"))
    return el("div", drop, path, class_="two")


def _addresses(desk: Desk) -> Markup | None:
    return el("span", ", or an address such as postgresql://USER@HOST/DB", class_="soft") \
        if desk.common.addresses else None


def _others(request: Any) -> Markup | None:
    """Show an officer what lies on the desks of others."""
    visitor = request.scope["unspoken.visitor"]
    tables = desks_of(request).tables(visitor) if visitor.may(OFFICER) else {}
    buttons = [button(f"{table_name}, on the desk of {name}", name="user", value=name,
                      class_="plain") for name, table_name in tables.items()]
    return el("section", el("h2", "Tables of others"),
              form(request, "/data/look", *buttons)) if buttons else None


def _listed(desk: Desk) -> list[str]:
    """Return the files and folders of the chosen folder, as far as they look like tables."""
    here = sorted(desk.data_root.iterdir()) if desk.data_root.is_dir() else []
    shown = [one for one in here if not one.name.startswith(".") and one != desk.folder.root
             and one.resolve().is_relative_to(desk.data_root.resolve())]
    return [f"{one.name}/" if one.is_dir() else one.name for one in shown
            if _is_table(one)][:MOST_LISTED]


def _is_table(path: Path) -> bool:
    """Return True for a file that looks like a table, and for a folder with some."""
    try:
        if path.is_dir():
            first = islice((one for one in path.iterdir() if one.is_file()), MOST_LISTED)
            return any(map(_is_table, first))
        return format_of(path).open is not None
    except (DataError, OSError):
        return False


def _first_words(dataset: Dataset) -> Markup:
    withheld = [f for f in dataset.findings if f.withheld]
    named = sorted({f.column for f in withheld
                    if dataset.table.schema[f.column].role == "identifier"})
    kept = sorted({f.column for f in withheld} - set(named))
    if kept:
        return verdict("high", "Columns that seem to name people would be released",
                       f"{', '.join(kept)}: choose 'identifier' below to withhold them.")
    if named:
        seem = "1 column seems" if len(named) == 1 else f"{len(named)} columns seem"
        return verdict("calm", f"{seem} to name people and will be withheld",
                       ", ".join(named) + ".")
    return verdict("calm", "No column seems to name people", "That is no proof. Look at what is "
                   "flagged below, and at what together singles people out.")


def _risks_part(request: Any, desk: Desk) -> Any:
    """Return the raw risks, or the work that counts them."""
    if "risks" not in desk.found:
        if takes_long(desk.dataset.table):
            return _counting(desk)
        desk.found["risks"] = table_risks(desk.dataset.table)
    return risks_markup(desk.found["risks"])


def _counting(desk: Desk) -> Markup:
    job = desk.found.get("risks_job")
    if job is None or job.state in ("failed", "cancelled"):
        counted = desk.found
        job = desk.jobs.start("risks", {"source": desk.dataset.source.to_json()},
                              "Raw risks are being counted",
                              lambda result: counted.__setitem__("risks", result))
        desk.found["risks_job"] = job
    return job_box(job.name, job.words, "/")


def risks_markup(risks: dict[str, Any] | None) -> Any:
    """Return what is risky about the table as it is."""
    if risks is None:
        return verdict("calm", "Nothing is declared that somebody could look up",
                       "Choose 'quasi-identifier' for columns that an outsider may know, such as "
                       "age, place or occupation. The risks are counted from these.")
    unique = risks["uniqueness"]["sample"]
    level = "low" if unique < 0.005 else "raised" if unique < 0.05 else "high"
    word = f"{percent(unique)} of the people are the only one like them"
    words = f"by {', '.join(risks['quasi'])}. Released as it is, each of them could be found."
    return [el("h2", "As it is"), verdict(level, word, words), _figures(risks),
            el("div", _pairs(risks), _exposed(risks), class_="two")]


def _figures(risks: dict[str, Any]) -> Markup:
    small = risks["risk"]["small"]
    return facts([("Smallest group (K)", f"{risks['k']:,}"), ("Alone in their group",
                                                              f"{risks['singles']:,}"),
                  ("In groups below 5", percent(small)),
                  ("Average chance of being found", percent(risks["risk"]["prosecutor_average"])),
                  ("Fewest sensitive values in a group (L)",
                   "–" if risks["l"] is None else f"{risks['l']:,}")])


def _pairs(risks: dict[str, Any]) -> Any:
    rows = [[" and ".join(one["columns"]), percent(one["unique"]), percent(max(one["alone"]))]
            for one in risks["pairs"][:6]]
    return el("div", table(["columns", "singled out", "by the better one alone"], rows,
                           "Pairs of columns that single people out", [1, 2])) if rows else None


def _exposed(risks: dict[str, Any]) -> Any:
    rows = [[whole(f"row {one['row']:,}"), f"{one['columns']}",
             ", ".join(f"{name} {value}" for name, value in one["values"].items())]
            for one in risks["exposed"]]
    return el("div", table(["record", "columns that suffice", "values"], rows,
                           "Most exposed records", [1])) if rows else None


def _columns(request: Any, dataset: Dataset) -> Markup:
    rows = [_column_row(dataset, place, one)
            for place, one in enumerate(dataset.table.schema.columns)]
    grid = table(["column", "kind", "role", "noticed"], rows, "What the columns are")
    return el("section", el("h2", "Columns"),
              form(request, "/data/roles", hidden(MEANT, dataset.mark), grid, button("Apply"),
                   el("p", NO_ADVICE, class_="help")))


def _column_row(dataset: Dataset, place: int, column: Any) -> list[Any]:
    kind = _select(f"kind.{place}", f"kind of {column.name}", column.kind, {k: k for k in KINDS})
    role = _select(f"role.{place}", f"role of {column.name}", column.role,
                   {one: ROLE_WORDS[one] for one in ROLES})
    return [wrapped(column.name), kind, role,
            [_noticed(one) for one in dataset.findings if one.column == column.name]]


def _select(name: str, label: str, chosen: str, options: dict[str, str]) -> Markup:
    return el("select", [el("option", words, value=value, selected=value == chosen)
                         for value, words in options.items()], name=name, aria_label=label)


def _noticed(finding: Any) -> Markup:
    tone = "stop" if finding.withheld else "care" if finding.special else ""
    law = [el("span", f"{name}: {words}", class_="tag") for name, words in
           (("HIPAA", finding.hipaa), ("GDPR", finding.gdpr)) if words]
    return el("div", el("span", finding.what, class_=f"tag {tone}".strip(), title=finding.reason),
              law)


def _first_rows(dataset: Dataset) -> Markup:
    names = [c.name for c in dataset.table.schema.columns if c.role != "identifier"][:12]
    rows = dataset.sample.arrow(names).slice(0, MOST_SHOWN_ROWS).to_pylist()
    body = [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
    return el("details", el("summary", "A few rows"),
              table(names, body, "Some rows, without identifiers"))


async def risks(request: Any) -> Any:
    """GET /data/risks: the raw risks alone."""
    return fragment(await off_the_loop(_risks_part, request, desk_of(request)))


async def upload(request: Any) -> Any:
    """POST /data/upload: the body is a file."""
    desk: Desk = desk_of(request)
    place = await save_upload(request, desk)
    try:
        dataset = await off_the_loop(open_dataset, place)
    except BaseException:
        Path(place).unlink(missing_ok=True)
        raise
    await off_the_loop(put_and_keep, desk, dataset)
    return text_reply("/")


async def open_path(request: Any) -> Any:
    """POST /data/open: a path under the chosen folder."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    place = desk.place_of(fields["path"])
    dataset = await off_the_loop(open_dataset, place, fields["table"] or None)
    await off_the_loop(put_and_keep, desk, dataset)
    return see_other("/")


async def look(request: Any) -> Any:
    """POST /data/look: put the table of somebody else before an officer, as it is declared."""
    fields = await read_form(request)
    visitor = request.scope["unspoken.visitor"]
    there = await off_the_loop(desks_of(request).table_of, fields["user"], visitor)
    await off_the_loop(put_and_keep, desk_of(request), there)
    return see_other("/")


async def declare(request: Any) -> Any:
    """POST /data/roles: what the columns are."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    dataset = desk.dataset
    check_still(fields, dataset.mark)
    names = dataset.table.schema.names
    roles, kinds = ({names[int(place)]: word for place, word in fields.under(part).items()
                     if is_place(place) and int(place) < len(names)}
                    for part in ("role.", "kind."))
    await off_the_loop(put_and_keep, desk, dataset.declared(roles, kinds))
    return see_other("/")


async def clear(request: Any) -> Any:
    """POST /data/clear: take the table off the desk, and forget what was tried on it."""
    await read_form(request)
    await off_the_loop(put_and_keep, desk_of(request), None)
    return see_other("/")

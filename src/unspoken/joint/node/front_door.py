"""One front door for every joint task: on this machine, or with nodes of other organisations."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from unspoken.errors import InputError, explain, unknown
from unspoken.joint.joint_errors import JointError, PartyError
from unspoken.joint.mpc.engines.mode import DEALER
from unspoken.joint.mpc.engines.modes import mode_of, usual_mode
from unspoken.joint.node.catalogue import ColumnView, TableView, occurring
from unspoken.joint.node.schema_handshake import Agreement, columns_of, compare, filled
from unspoken.joint.node.study_progress import shown_on_terminal, waited_for
from unspoken.joint.session.own_loop import finished
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.processes import run_processes
from unspoken.joint.session.run_roles import roles_of, with_roles
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.new_study import announced
from unspoken.joint.tasks.task import Task
from unspoken.joint.tasks.task_list import all_tasks, task_of
from unspoken.joint.wire.credentials import Member
from unspoken.table.formats.read_options import ReadOptions
from unspoken.table.read import read, read_file

Source = Any
MODEL = ".json"
"""A file that is no table: an owner may bring a model."""


def mine(task: str, data: Mapping[str, Source] | Sequence[Source], *, over: str = "rows",
         mode: str | None = None, processes: bool = False, node: Path | str | None = None,
         dealer: str | None = None, progress: Callable[[str], None] | None = None,
         **parameters: Any) -> Any:
    """Mine a pattern from the data of several owners, and return what the first of them learns.

    Without `node` all owners are on this machine, for trying out: they are not protected from each
    other. With it the running node of this organisation proposes the study to the others, waits
    until it has ended, and returns this organisation's result.

    Parameters
    ----------
    task : str
        A task, such as 'tree', 'bayes', 'regression' or 'kmeans' (`unspoken joint tasks`).
    data : sequence, or mapping of str to table
        Every owner's table: a path, or anything that `unspoken.read` takes. With `node` the name of
        the table in each owner's catalogue, by owner.
    over : {'rows', 'columns'}, default 'rows'
        Whether owners have different rows of the same columns, or columns of the same rows.
    mode : str, optional
        'dealer', 'authenticated', 'sums', 'two-party', 'three-party', 'three-party-verified' or
        'spu': who holds shares and who deals. Default: 'dealer' on this machine, the usual
        one of a study with a node.
    processes : bool, default False
        Whether each owner on this machine is a process of its own, connected over TLS.
    node : path, optional
        The folder of this organisation's running node.
    dealer : str, optional
        The node that deals.
    progress : callable, optional
        Called with a line of text whenever the study is further: who has not answered, which
        attempt runs, and about how much of it is done. Default: shown on a terminal.
    **parameters
        The parameters of the task. A mapping stands for one per column:
        `categories={"smoker": ["no", "yes"]}`. Categories, classes and ranges that are left out
        come from the data on this machine, or from the owners' catalogues.

    Returns
    -------
    object
        The result: a model, or a dict of numbers.

    Examples
    --------
    >>> mine("tree", ["north.csv", "south.csv", "east.csv"], target="ill",
    ...      attributes=["age", "smoker"]).summary()  # doctest: +SKIP
    """
    chosen, plain = _task(task, over), _plain(parameters)
    tell = progress or shown_on_terminal
    if node is not None:
        return _with_nodes(Path(node), chosen, dict(data) if isinstance(data, Mapping) else {},
                           (mode, dealer), plain, tell)
    owners = dict(data) if isinstance(data, Mapping) else {
        f"p{place}": source for place, source in enumerate(data)}
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: _file(source, Path(folder) / f"{name}.parquet")
                 for name, source in owners.items()}
        if not chosen.over_columns and columns_of(plain):
            views = {name: _view(path, columns_of(plain)) for name, path in paths.items()
                     if path.suffix != MODEL}
            plain = filled(chosen, plain, _agreement(views, plain))
        tell(f"'{chosen.name}' runs for {len(owners)} owners on this machine")
        return _on_this_machine(_study(chosen, list(owners), mode or DEALER, plain), paths,
                                processes)


def _task(name: str, over: str) -> Task:
    tasks = all_tasks()
    if over not in ("rows", "columns"):
        raise InputError(explain("'over'", "'rows' or 'columns'", over))
    full = name if over == "rows" or (name in tasks and tasks[name].over_columns) else \
        f"{name}-columns"
    if full not in tasks or tasks[full].over_columns != (over == "columns"):
        known = [one.removesuffix("-columns") for one, task in tasks.items()
                 if task.over_columns == (over == "columns")]
        raise InputError(unknown(f"A task over {over}", name, known))
    return tasks[full]


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a study has them: one level, and lists in place of tuples."""
    plain: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            plain |= {f"{name}.{column}": _listed(one) for column, one in value.items()}
        else:
            plain[name] = _listed(value)
    return plain


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value


def _file(source: Source, path: Path) -> Path:
    """Return a file with an owner's table."""
    if isinstance(source, str | Path):
        return Path(source)
    table = read(source, show=False)
    pq.write_table(table.arrow(list(table.schema.names)), path)
    return path


def _view(path: Path, columns: Sequence[str]) -> TableView:
    """Return what a study may need to know of a table that lies here: categories and ranges."""
    rows = read_file(path, ReadOptions())
    views = []
    for name in (name for name in columns if name in rows.schema.names):
        kind = rows.schema[name].kind
        if kind == "numeric":
            ends = pc.min_max(rows.arrow([name])[name]).as_py()
            views.append(ColumnView(name, kind, range=_span(ends["min"], ends["max"]),
                                    categories=None))
        else:
            views.append(ColumnView(name, "categorical", categories=occurring(rows, name)))
    return TableView("data", tuple(views))


def _span(least: Any, greatest: Any) -> tuple[int, int] | None:
    """Return whole numbers around all values of a column; None where it has none."""
    if least is None:
        return None
    low = math.floor(least)
    return low, max(math.ceil(greatest), low + 1)


def _agreement(views: Mapping[str, TableView], parameters: Mapping[str, Any]) -> Agreement:
    """Hold tables against each other; who asks for classes has none."""
    goal = [name for name in columns_of(parameters) if name == parameters.get("target")]
    labelled = {name: view for name, view in views.items() if name != parameters.get("asks")}
    rest = compare(views, [name for name in columns_of(parameters) if name not in goal])
    about = compare(labelled, goal) if labelled else Agreement(
        {name: ColumnView(name, "categorical", categories=None) for name in goal})
    return Agreement({**rest.columns, **about.columns}, (*rest.problems, *about.problems),
                     (*rest.notes, *about.notes))


def _study(task: Task, names: Sequence[str], mode: str, parameters: dict[str, Any]) -> Study:
    facts = mode_of(mode)
    owners = [Member(name, f"{name}:1", ("owner",), "", b"") for name in names]
    outside = [Member(DEALER, f"{DEALER}:1", (DEALER,), "", b"")] if facts.dealer_outside else []
    return announced(Study("mine", task.name, mode,
                           (*with_roles(owners, facts, names), *outside), parameters))


def _on_this_machine(study: Study, paths: Mapping[str, Path], processes: bool) -> Any:
    task, roles = task_of(study), roles_of(study)
    program = task.program(study)
    inputs = [task.load(paths[name], study) if name in paths else None for name in roles.program]
    outcomes = run_processes(program, inputs, study.mode, roles) if processes else finished(
        in_memory(program, inputs, roles))
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, PartyError))
    return next((outcome.output for outcome in outcomes if outcome.output is not None), None)


def _with_nodes(folder: Path, task: Task, tables: Mapping[str, str],
                trust: tuple[str | None, str | None], parameters: dict[str, Any],
                tell: Callable[[str], None]) -> Any:
    """Propose through the node of this organisation, wait, and return its own result."""
    from unspoken.joint.node.node_config import NodeConfig
    from unspoken.joint.node.node_state import NodeState
    from unspoken.joint.node.proposing import Wanted, put_forward, write_proposal

    config, (mode, dealer) = NodeConfig.load(folder), trust
    if config.name not in tables:
        raise InputError(explain("'data'", "the name of each owner's table by owner, this node's "
                                 f"('{config.name}') too", list(tables)))
    facts = mode_of(mode) if mode is not None else usual_mode(
        dealer=dealer is not None, shares=task.name not in ("sum", "intersection"))
    state = NodeState(config.state_path)
    try:
        proposal, _ = write_proposal(config, state, Wanted(
            f"mine-{int(time.time()):x}", task.name, facts, tables, parameters,
            () if dealer is None else (dealer,)))
        put_forward(config, state, proposal, "whoever called unspoken.joint.mine")
        kept = waited_for(config, state, proposal, tell)
    finally:
        state.close()
    if kept.result != "complete":
        raise JointError(f"The study ended: {kept.result}. {kept.story}.")
    return result_in(config.study_folder(proposal.id) / "result.json")


def result_in(path: Path) -> Any:
    """Return a result from the file that a node keeps: a model, or plain data; None for none."""
    import json

    from unspoken.models.load_model import load_model

    if not path.exists():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    is_model = isinstance(data, dict) and str(data.get("format", "")).startswith("unspoken-")
    return load_model(path) if is_model else data

"""The study tasks `kmeans` and `kmeans-columns`: clusters over rows or columns of owners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.mode import UNVETTED
from unspoken.joint.result_control.opened_forms import Decisions, Opened, Quotients, Totals
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import part_of, table_of_numbers
from unspoken.joint.tasks.common.column_files import (
    check_owners,
    owner_of,
    read_matrix,
    with_shares,
)
from unspoken.joint.tasks.common.public_sizes import SIZES
from unspoken.joint.tasks.common.study_parameters import (
    names_of,
    outlined,
    owners_of,
)
from unspoken.joint.tasks.kmeans import program_columns, program_rows
from unspoken.joint.tasks.kmeans.all_on_shares import MOVED
from unspoken.joint.tasks.kmeans.nearest_centre import WON
from unspoken.joint.tasks.kmeans.params import FINER, KMeansSettings, rules_of
from unspoken.joint.tasks.kmeans.pooled import pooled
from unspoken.joint.tasks.kmeans.program_columns import EVERY, KMeansOverColumns, KMeansSite
from unspoken.joint.tasks.kmeans.program_rows import TOTALS, KMeansOverRows
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared

ROWS_HELP = """k-means over the rows of several owners.

    unspoken joint new study.toml --name care --task kmeans --set k=4
        --set 'columns=["age", "stay"]' ...

Receivers learn the centres."""
COLUMNS_HELP = """k-means over the columns of several owners.

    unspoken joint new study.toml --name care --task kmeans-columns --set k=4
        --set 'columns=["north:age", "south:stay"]' --set ids=patient ...

With `ids` records are aligned first; with same_order=true all files list them in one order.
Receivers learn the cluster of every record, and each owner the centres in its own columns."""
EXPOSED = "one record that moves between two rounds is the difference of what is opened"


def way_of(parameters: Mapping[str, Any]) -> str:
    """Return what is opened on the way: nothing, unless it is named."""
    return KMeansSettings.of(parameters).way_rows


def _ways(parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Return how assignments are kept, and how the nearest centre is found."""
    settings = KMeansSettings.of(parameters)
    return settings.way_columns, settings.closest


class RowsStudy(KMeansOverRows):
    """The program of a study over rows."""

    def __init__(self, study: Study) -> None:
        super().__init__(rules_of(study.parameters), names_of(study.parameters),
                         study.having("owner"), way_of(study.parameters),
                         study.having("receiver"))
        self.disclosures = study.disclosures


class ColumnsStudy(KMeansOverColumns):
    """The program of a study over columns."""

    def __init__(self, study: Study) -> None:
        owners = owners_of(study.parameters)
        super().__init__(rules_of(study.parameters), {n: len(c) for n, c in owners.items()},
                         study.having("holder"), *_ways(study.parameters),
                         study.having("receiver"))
        self.disclosures = study.disclosures


def _fits_rows(parameters: Mapping[str, Any]) -> None:
    as_study(lambda: KMeansOverRows(rules_of(parameters), names_of(parameters),
                                    ("one", "two", "three"), way_of(parameters)))


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    widths = {name: len(columns) for name, columns in owners_of(parameters).items()}
    as_study(lambda: KMeansOverColumns(rules_of(parameters), widths, (), *_ways(parameters)))


def _rows_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return program_rows.disclosures(rules_of(study.parameters), study.having("owner"),
                                    way_of(study.parameters), study.having("receiver"))


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return program_columns.disclosures(study.having("owner"), study.having("holder"),
                                       rules_of(study.parameters), *_ways(study.parameters),
                                       study.having("receiver"))


def _assumes(study: Study) -> str:
    count = rules_of(study.parameters).iterations
    return f"{count} iterations, the most that may be run"


def _rows_outlook(study: Study) -> Outlook:
    owners = len(study.having("owner"))
    if way_of(study.parameters) == "hidden":
        with_shares(study)
        return outlined(study, _rows_disclosures(study), assumes=_assumes(study))
    if owners < 3 or study.facts.has_shares or len(study.names) != owners:
        raise StudyError("Way 'revealed' needs mode 'sums' and three owners or more, and nobody "
                         f"else. Got mode '{study.mode}' and {owners} owners.")
    learns = {name: [d.because for d in _rows_disclosures(study)] for name in study.names}
    return Outlook(learns, "nobody, once one record moves between two rounds; otherwise two "
                   "owners less than all", (UNVETTED, EXPOSED), _assumes(study))


def _columns_outlook(study: Study) -> Outlook:
    with_shares(study)
    check_owners(owners_of(study.parameters), study)
    nearest = _ways(study.parameters)[1]
    if nearest == "permuted" and set(study.having("owner")) <= set(study.having("holder")):
        raise StudyError("Permuted comparisons need a party that holds no share and draws the "
                         "orders. All owners hold shares. Use closest=shares.")
    return outlined(study, _columns_disclosures(study), assumes=_assumes(study))


def _load_rows(path: Path, study: Study) -> Floats:
    return read_matrix(path, names_of(study.parameters))


def _load_columns(path: Path, study: Study) -> KMeansSite:
    owners = owners_of(study.parameters)
    names = owners[owner_of(path, owners)]
    return KMeansSite(read_matrix(path, names), names)


def _blank_rows(study: Study, name: str, records: int) -> Floats:
    most = rules_of(study.parameters).most
    return table_of_numbers(part_of(records, study), len(names_of(study.parameters)), -most / 2,
                            most / 2)


def _blank_columns(study: Study, name: str, records: int) -> KMeansSite:
    names = owners_of(study.parameters)[name]
    most = rules_of(study.parameters).most
    return KMeansSite(table_of_numbers(records, len(names), -most / 2, most / 2), names)


def _rows_answers(study: Study, records: int, name: str) -> Answers:
    """Assume that centres move in every round, and that clusters are equally large."""
    each, k = part_of(records, study), rules_of(study.parameters).k
    totals = iter(range(1, 1 << 30))

    def sums(shape: tuple[int, ...]) -> Any:
        return np.full(shape, -(-each * len(study.having("owner")) // k)) + (
            next(totals) % 2) * np.eye(*shape, dtype=np.int64)

    return {SIZES: lambda shape: np.full(shape, each), MOVED: np.ones, TOTALS: sums}


def _columns_answers(study: Study, records: int, name: str) -> Answers:
    """Assume that centres move in every round."""
    turns = iter(range(1, 1 << 30))

    def assigned(shape: tuple[int, ...]) -> Any:
        hot = np.zeros(shape)
        np.put_along_axis(hot, ((np.arange(shape[1]) + next(turns)) % shape[0])[None], 1, 0)
        return hot

    outside = next((n for n in study.names if n not in study.having("holder")), "")

    def won(shape: tuple[int, ...]) -> Any:
        # Who draws the orders learns the winners first, and then everybody learns the centres.
        return np.full(shape, (next(turns) + 1) // (2 if name == outside else 1) % 2)

    return {SIZES: lambda shape: np.full(shape, records), MOVED: np.ones, EVERY: assigned,
            WON: won}


def _rows_opens(study: Study) -> tuple[Opened, ...]:
    """Return what centres are: with one cluster, whose size everybody knows, a sum."""
    rules, columns = rules_of(study.parameters), len(names_of(study.parameters))
    sums = "the sums and sizes of clusters"
    if way_of(study.parameters) == "revealed":
        return (Totals(f"{sums} in every round"),)
    bits, to = rules.scale + FINER if rules.bits is None else rules.bits, study.having("receiver")
    if rules.k == 1:
        mean = "the mean of each column"
        return (Totals(mean, to) if rules.bits is None else Quotients(mean, bits, 2, to),)
    return (Quotients(sums, bits, columns * rules.k, to),)


def _columns_opens(study: Study) -> tuple[Opened, ...]:
    return (Decisions("equality of values in a column", "where only some values give these "
                    "clusters", study.having("receiver")),)


TASKS = (
    Task("kmeans", ROWS_HELP, declared(KMeansSettings, "rows"), _fits_rows, _rows_disclosures,
         _rows_outlook, _load_rows, RowsStudy, _blank_rows, pooled, _rows_answers,
         opens=_rows_opens),
    Task("kmeans-columns", COLUMNS_HELP, declared(KMeansSettings, "columns"), _fits_columns,
         _columns_disclosures, _columns_outlook, _load_columns, ColumnsStudy, _blank_columns,
         pooled, _columns_answers, over_columns=True, opens=_columns_opens))

"""The study task `schema`: what other studies over rows must agree on, found privately."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_schema.params import (
    MOST_BYTES,
    OwnSchema,
    SchemaParams,
    widened,
)
from unspoken.joint.tasks.column_schema.pooled import pooled
from unspoken.joint.tasks.column_schema.program_rows import ENDS, UNION, SchemaOverRows
from unspoken.joint.tasks.common.study_parameters import outlined, read_own
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """All categories of columns and the ends of numbers, without showing whose they are.

    unspoken node propose --name columns --task schema --with south,east --table patients
        --set 'columns=["smoker", "age"]' --set 'numbers=["age"]'
    unspoken node propose --name heart --task tree --schema columns ...

Receivers learn the union of the owners' categories, and for every column of numbers two round
numbers beyond all values. The next study takes its categories and ranges from there."""


def _fits(parameters: Mapping[str, Any]) -> None:
    SchemaParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    params, to = SchemaParams.of(study.parameters), study.having("receiver")
    return (*([Disclosure(UNION, to)] if params.categories_of else []),
            *([Disclosure(ENDS, to)] if params.numbers else []))


def _outlook(study: Study) -> Outlook:
    if not study.facts.has_shares:
        raise StudyError(explain("Task 'schema'", "given shares", f"mode '{study.mode}'"))
    notes = ["a rare category may be about one person: leave such columns out",
             "an owner can bring made-up categories or ends"]
    if len(study.having("owner")) == 2:
        notes.append("of two owners each learns which categories the other has and it lacks")
    return outlined(study, _disclosures(study), notes)


def _load(path: Path, study: Study) -> OwnSchema:
    """Return this owner's categories and widened ends; what does not fit is refused here."""
    params = SchemaParams.of(study.parameters)
    table = read_own(path, params.columns)
    words = {name: _own_words(table, name, params.most) for name in params.categories_of}
    ends = [widened(name, table.numbers([name])[:, 0], params.margin) for name in params.numbers]
    return OwnSchema(words, np.array(ends, np.int64).reshape(-1, 2))


def _own_words(table: Any, name: str, most: int) -> tuple[str, ...]:
    values = set(table.arrow([name])[name].to_pylist()) - {None, ""}
    words = tuple(sorted(str(value) for value in values))
    if len(words) > most:
        raise StudyError(f"Column '{name}' has more than {most} categories here.")
    if any(len(word.encode()) > MOST_BYTES or "\0" in word for word in words):
        raise StudyError(f"A category of column '{name}' here is longer than {MOST_BYTES} bytes, "
                         "or holds a zero byte.")
    return words


def _blank(study: Study, name: str, records: int) -> OwnSchema:
    params = SchemaParams.of(study.parameters)
    ends = np.tile(np.array([0, 1 << 20], np.int64), (len(params.numbers), 1))
    return OwnSchema(dict.fromkeys(params.categories_of, ("a",)), ends)


def _opens(study: Study) -> tuple[Opened, ...]:
    params, to = SchemaParams.of(study.parameters), study.having("receiver")
    alone = len(study.having("owner")) == 2
    lacking = Decisions("categories that it lacks itself", "the union less its own" if alone else
                        "where nobody has any", to,
                        certainty=Certainty.ALWAYS if alone else Certainty.SOMETIMES)
    ends = Decisions("lowest and highest values", "where they are just within the ends", to)
    return (*([lacking] if params.categories_of else []), *([ends] if params.numbers else []))


TASKS = (Task("schema", HELP, declared(SchemaParams), _fits, _disclosures, _outlook, _load,
              SchemaOverRows, _blank, pooled, opens=_opens),)

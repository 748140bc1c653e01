"""The study task `bayes-columns`: naive Bayes over the columns of several sites, in one run.

    tacit joint new study.toml --name care --task bayes-columns --set class_site=north
        --set target=outcome --set 'classes=["no", "yes"]' --set 'north=[3, 2, "number"]'
        --set 'south=["number", "number"]' ...

Each site's parameter lists its columns: how many categories, or "number". Records whose class is
missing at the class site are new: the model is learned from the others, stays on shares, and the
classes of the new ones come out. With `ids` rows are aligned first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InputError, explain
from tacit.joint.errors import StudyError
from tacit.joint.party import Party
from tacit.joint.primitives.alignment import align_disclosures
from tacit.joint.protocols.aligned import COMMON, ROWS, same_everywhere
from tacit.joint.protocols.bayes import costs
from tacit.joint.protocols.bayes.layout import Floats, Rules
from tacit.joint.protocols.bayes.parameters import rules_of
from tacit.joint.protocols.bayes.parts import BayesPart, Part, Shape, Site, coding_of
from tacit.joint.protocols.bayes.private import PREDICTED
from tacit.joint.protocols.bayes.vertical import kept, learn, own_site, predicted
from tacit.joint.protocols.parameters import aligning, everybody, learns, text, texts, weight
from tacit.joint.protocols.trees.layout import Ints
from tacit.joint.study import Disclosure, Study
from tacit.joint.tasks import Plan, Task, notes_of, safe_against

NEW = "which records have no class yet"
KNOWN = ("target", "classes", "class_site", "alpha", "var_smoothing", "ids", "least", "expected")
EXPECTED = 10_000
Own = tuple[Ints | None, Floats | None, Ints | None]


class ColumnsStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        self.shape, self.align = shape_of(study.parameters), aligning(study.parameters)
        self.rules, self.receivers = _rules(study.parameters), study.having("receiver")
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Loaded | None) -> dict[str, Any] | None:
        """Learn from records with a class and classify the others."""
        own, rows, order = await self._aligned(party, data)
        new = await self._new(party, own[2], rows)
        old, fresh = np.flatnonzero(~new), np.flatnonzero(new)
        if not old.size or not fresh.size:
            raise StudyError("Some records must have a class, and some must not. All or none "
                             "have. Leave the class of new records empty.")
        table = await learn(party, self.shape, self.rules, _chosen(own, old), old.size)
        part = BayesPart(self.shape, party.name, None, b"", party.holders, kept(party, table))
        hot, z, _ = _chosen(own, fresh)
        found = await predicted(party, part, hot, z, fresh.size)
        opened = await party.reveal(found, because=PREDICTED, to=self.receivers)
        if opened is None:
            return None
        return {"rows": order[fresh].tolist(),
                PREDICTED: np.array(self.shape.classes, object)[opened].tolist()}

    async def _aligned(self, party: Party, data: Loaded | None) -> tuple[Own, int, Any]:
        """Return this site's rows in the common order, their number, and their names."""
        site = own_site(party, self.shape, None if data is None else data.site)
        places = None
        if self.align is not None:
            places = await party.align(None if site is None else site.ids, because=COMMON,
                                       rules=self.align)
        hot = z = labels = None
        if site is not None and data is not None:
            hot, z, _ = replace(site, labels=None).take(self.shape, places)
            known = data.codes is None or places is None
            labels = data.codes if known else data.codes[places]
        rows = await same_everywhere(party, -1 if hot is None else hot.shape[0])
        order = np.arange(rows) if places is None else np.asarray(places)
        if site is not None and site.ids is not None:
            order = np.array(site.ids, object)[order]
        return (hot, z, labels), rows, order

    async def _new(self, party: Party, labels: Any, rows: int) -> Any:
        mine = None if party.name != self.shape.class_site else (labels < 0).astype(np.int64)
        shared = await party.share(mine, self.shape.class_site, (rows,), 0, 1)
        return np.asarray(await party.reveal(shared, because=NEW)).astype(bool)


def _chosen(own: Own, rows: Any) -> Own:
    hot, z, labels = own
    return (None if hot is None else hot[rows], None if z is None else z[rows],
            None if labels is None else labels[rows])


@dataclass(frozen=True)
class Loaded:
    """A site, and its classes as numbers, -1 for new records."""

    site: Site
    codes: Any


def _rules(parameters: Mapping[str, Any]) -> Rules:
    return rules_of({n: v for n, v in parameters.items() if n in ("alpha", "var_smoothing")})


def shape_of(parameters: Mapping[str, Any]) -> Shape:
    """Return what is public about the sites."""
    parts = tuple(_part(site, listed) for site, listed in parameters.items() if site not in KNOWN)
    try:
        return Shape(parts, tuple(texts(parameters, "classes")), text(parameters, "class_site"),
                     text(parameters, "target"))
    except InputError as error:
        raise StudyError(str(error)) from None


def _part(site: str, listed: Any) -> Part:
    good = isinstance(listed, list) and listed and all(
        item == "number" or (type(item) is int and 1 <= item <= 4096) for item in listed)
    if not good:
        raise StudyError(explain(f"Parameter '{site}' of task 'bayes-columns'", "one of "
                                 + ", ".join(KNOWN) + ", or a site with its columns, each a number "
                                 "of categories or \"number\"", listed))
    return Part(site, tuple(i for i in listed if i != "number"), listed.count("number"))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no model."""
    shape_of(parameters)
    _rules(parameters)
    aligning(parameters)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    sites, rules = study.having("owner"), aligning(study.parameters)
    aligned = () if rules is None else align_disclosures(COMMON, sites, sites[0], rules)
    return (Disclosure(PREDICTED, study.having("receiver")), Disclosure(NEW), Disclosure(ROWS),
            *aligned)


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    shape = shape_of(study.parameters)
    if study.mode == "sums" or {p.site for p in shape.parts} != set(study.having("owner")):
        raise StudyError(explain("Task 'bayes-columns'", "given shares, and columns of each owner",
                                 f"mode '{study.mode}', columns of "
                                 + ", ".join(p.site for p in shape.parts)))
    rows, cells = int(study.parameters.get("expected", EXPECTED)), sum(shape.sizes)
    kinds, receivers = len(shape.classes), len(study.having("receiver")) or len(everybody(study))
    cost = costs.learning(rows, cells, shape.numbers, kinds) + costs.classifying(
        rows // 10, cells, shape.numbers, kinds, receivers)
    notes = (*notes_of(study), f"cost is for {rows:,} records and a tenth as many new ones, "
             "without aligning", *weight(study.mode))
    return Plan(cost.rounds, cost.bytes, learns(study, told(study)), safe_against(study), notes)


def load(path: Path, study: Study) -> Loaded:
    """Return a site's columns; every column but ids and class is used."""
    from tacit.core.read import read

    parameters, shape = study.parameters, shape_of(study.parameters)
    table = read(path, show=False)
    rows = table.arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    labels = columns.pop(shape.target, None)
    ids = columns.pop(str(parameters["ids"]), None) if "ids" in parameters else None
    if "ids" in parameters and ids is None:
        raise StudyError(explain("The columns of this site's file",
                                 f"such that '{parameters['ids']}' is there",
                                 ", ".join(rows.column_names)))
    numeric = [n for n in columns if table.schema[n].kind in ("numeric", "ordinal")]
    site = Site(coding_of(columns, numeric), columns, labels, None if ids is None else ids.tolist())
    return Loaded(site, None if labels is None else _codes(labels, shape))


def _codes(labels: Any, shape: Shape) -> Any:
    place = {name: code for code, name in enumerate(shape.classes)}
    listed = [None if v is None or v == "" else str(v) for v in labels.tolist()]
    codes = np.array([-1 if v is None else place.get(v, -2) for v in listed], np.int64)
    if (codes == -2).any():
        raise StudyError(f"Column '{shape.target}' must hold the agreed classes, or nothing for "
                         "new records. Some rows have another.")
    return codes


TASK = Task("bayes-columns", check, told, plan, load, ColumnsStudy)

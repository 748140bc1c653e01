"""The study task `bayes-columns`: naive Bayes over the columns of several sites, in one run.

    unspoken joint new study.toml --name care --task bayes-columns --set class_site=north
        --set target=outcome --set 'classes=["no", "yes"]' --set 'north=[3, 2, "number"]'
        --set 'south=["number", "number"]' ...

Each site's parameter lists its columns: how many categories, or "number". Records whose class is
missing at the class site are new: the model is learned from the others, stays on shares, and the
classes of the new ones come out. With `ids` rows are aligned first. With class_known=true all files
have the class: every site learns its own columns in the clear, and scores alone are shared.
Smoothing as over rows: alpha (1), var_smoothing (1e-9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_bayes import PREDICTED
from unspoken.joint.tasks.common.aligned_records import (
    ROWS,
)
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    count,
    everybody,
    flag,
    learns,
    text,
    texts,
)
from unspoken.joint.tasks.common.unlabelled_rows import NEW, codes_of, parted
from unspoken.joint.tasks.naive_bayes import costs
from unspoken.joint.tasks.naive_bayes.params import BayesParams
from unspoken.joint.tasks.naive_bayes.program_columns import (
    counted,
    kept,
    learn,
    own_site,
    own_table,
    predicted,
)
from unspoken.joint.tasks.naive_bayes.read_params import rules_of
from unspoken.joint.tasks.naive_bayes.site_parts import (
    BayesPart,
    BayesShape,
    BayesSite,
    Part,
    coding_of,
)
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.joint.tasks.tree.program_columns import same_labels

KNOWN = ("target", "classes", "class_site", "class_known", "alpha", "var_smoothing", "expected")
EXPECTED = 10_000
Own = tuple[Ints | None, Floats | None, Ints | None]


class ColumnsStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        self.shape = shape_of(study.parameters)
        self.rules, self.receivers = _rules(study.parameters), study.having("receiver")
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Loaded | None) -> dict[str, Any] | None:
        """Learn from records with a class and classify the others."""
        own, rows = await self._same_rows(party, data)
        old, fresh = await parted(party, own[2], self.shape.class_site, rows)
        own = own[0], None if own[1] is None else trained(own[1], old), own[2]
        part = await self._learned(party, _chosen(own, old), old.size)
        hot, z, _ = _chosen(own, fresh)
        found = await predicted(party, part, hot, z, fresh.size)
        opened = await reveal(party, found, because=PREDICTED, to=self.receivers)
        if opened is None:
            return None
        return {"rows": fresh.tolist(),
                PREDICTED: np.array(self.shape.classes, object)[opened].tolist()}

    async def _learned(self, party: Party, own: Own, rows: int) -> BayesPart:
        """Learn on shares, or every site for itself if all know the class."""
        hot, z, labels = own
        if not self.shape.class_known:
            table = await learn(party, self.shape, self.rules, own, rows)
            return BayesPart(self.shape, party.name, None, b"", party.holders,
                             kept(party, table))
        await same_labels(party, labels)
        known = None if hot is None or z is None or labels is None else own_table(
            self.shape, party.name, (hot, z, labels), self.rules)
        return BayesPart(self.shape, party.name, None, b"", table=known)

    async def check_first(self, party: Party, data: Any) -> None:
        """Check a site before its rows are aligned."""
        own_site(party, self.shape, None if data is None else data.site)

    async def _same_rows(self, party: Party, data: Loaded | None) -> tuple[Own, int]:
        """Return this site's rows, and their number, which all sites share."""
        site = own_site(party, self.shape, None if data is None else data.site)
        hot = z = labels = None
        if site is not None and data is not None:
            hot, z, _ = replace(site, labels=None).coded(self.shape)
            labels = data.codes
        return (hot, z, labels), await counted(party, hot)


def trained(z: Floats, old: Ints) -> Floats:
    """Return numbers in the range of the records that have a class: new ones may lie far off."""
    centre = z[old].mean(axis=0)
    reach = np.abs(z[old] - centre).max(axis=0)
    return np.asarray(np.clip((z - centre) / np.where(reach > 0, reach, 1.0), -1.0, 1.0))


def _chosen(own: Own, rows: Any) -> Own:
    hot, z, labels = own
    return (None if hot is None else hot[rows], None if z is None else z[rows],
            None if labels is None else labels[rows])


@dataclass(frozen=True)
class Loaded:
    """A site, and its classes as numbers, -1 for new records."""

    site: BayesSite
    codes: Any

    def take_rows(self, places: Ints) -> Loaded:
        """Return the site with some of its records."""
        codes = None if self.codes is None else self.codes[places]
        return Loaded(self.site.take_rows(places), codes)


def _rules(parameters: Mapping[str, Any]) -> BayesParams:
    return rules_of({n: v for n, v in parameters.items() if n in ("alpha", "var_smoothing")})


def shape_of(parameters: Mapping[str, Any]) -> BayesShape:
    """Return what is public about the sites."""
    parts = tuple(_part(site, listed) for site, listed in parameters.items() if site not in KNOWN)
    try:
        return BayesShape(
            parts,
            tuple(texts(parameters, "classes")),
            text(parameters, "class_site"),
            text(parameters, "target"),
            flag(parameters, "class_known"),
        )
    except InputError as error:
        raise StudyError(str(error)) from None


def _part(site: str, listed: Any) -> Part:
    good = isinstance(listed, list) and listed and all(
        item == "number" or (type(item) is int and 1 <= item <= 4096) for item in listed)
    if not good:
        raise StudyError(explain(f"Parameter '{site}' of task 'bayes-columns'", "one of "
                                 + ", ".join((*KNOWN, *RECORD_ORDER)) + ", or a site with its "
                                 "columns, each a number of categories or \"number\"", listed))
    return Part(site, tuple(i for i in listed if i != "number"), listed.count("number"))


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no model."""
    shape_of(parameters)
    _rules(parameters)
    count(parameters, "expected", EXPECTED)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return (Disclosure(PREDICTED, study.having("receiver")), Disclosure(NEW), Disclosure(ROWS))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    shape = shape_of(study.parameters)
    if not study.facts.has_shares or {p.site for p in shape.parts} != set(study.having("owner")):
        raise StudyError(explain("Task 'bayes-columns'", "given shares, and columns of each owner",
                                 f"mode '{study.mode}', columns of "
                                 + ", ".join(p.site for p in shape.parts)))
    rows, cells = count(study.parameters, "expected", EXPECTED), sum(shape.sizes)
    kinds, receivers = len(shape.classes), len(study.having("receiver")) or len(everybody(study))
    cost = costs.learning(rows, cells, shape.numbers, kinds) + costs.classifying(
        rows // 10, cells, shape.numbers, kinds, receivers)
    if shape.class_known:
        cost = costs.adding(rows // 10, kinds, len(shape.parts), receivers)
    notes = (*notes_of(study), f"cost is for {rows:,} records and a tenth as many new ones",
             *study.facts.cost_notes)
    return Plan(cost.rounds, cost.bytes, learns(study, told(study)), safe_against(study), notes,
                records=rows + rows // 10)


def load(path: Path, study: Study) -> Loaded:
    """Return a site's columns; every column but ids and class is used."""
    shape, table = shape_of(study.parameters), party_table(path)
    rows = table.arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    labels = columns.pop(shape.target, None)
    numeric = [n for n in columns if table.schema[n].kind in ("numeric", "ordinal")]
    site = BayesSite(coding_of(columns, numeric), columns, labels)
    codes = None if labels is None else codes_of(labels, shape.classes, shape.target)
    return Loaded(site, codes)


TASK = Task("bayes-columns", check, told, plan, load, ColumnsStudy, over_columns=True)

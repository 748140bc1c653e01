"""Naive Bayes over the columns of several sites in one run: learned, used, and gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_bayes import PREDICTED
from unspoken.joint.tasks.common.blank_data import choices, scattered
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.unlabelled_rows import blank_codes, codes_of, parted
from unspoken.joint.tasks.naive_bayes.class_scoring import SharedTable
from unspoken.joint.tasks.naive_bayes.params import BayesSettings, rules_of
from unspoken.joint.tasks.naive_bayes.program_columns import (
    counted,
    learn,
    own_site,
    own_table,
    predicted,
)
from unspoken.joint.tasks.naive_bayes.score_tables import Table
from unspoken.joint.tasks.naive_bayes.site_parts import (
    BayesShape,
    BayesSite,
    Coding,
    Part,
    coding_of,
)
from unspoken.joint.tasks.task_params import as_study
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.joint.tasks.tree.program_columns import same_labels

Own = tuple[Ints | None, Floats | None, Ints | None]


class ColumnsStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        self.shape = shape_of(study.parameters)
        self.rules, self.receivers = rules_of(study.parameters), study.having("receiver")
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Loaded | None) -> dict[str, Any] | None:
        """Learn from records with a class and classify the others."""
        own, rows = await self._same_rows(party, data)
        old, fresh = await parted(party, own[2], self.shape.class_site, rows)
        own = own[0], None if own[1] is None else trained(own[1], old), own[2]
        model = await self._learned(party, _chosen(own, old), old.size)
        hot, z, _ = _chosen(own, fresh)
        classes = await predicted(party, self.shape, model, (hot, z), fresh.size)
        opened = await reveal(party, classes, because=PREDICTED, to=self.receivers)
        if opened is None:
            return None
        return {"rows": fresh.tolist(),
                PREDICTED: np.array(self.shape.classes, object)[opened].tolist()}

    async def _learned(self, party: Party, own: Own, rows: int) -> Table | SharedTable | None:
        """Learn on shares, or every site for itself if all know the class."""
        hot, z, labels = own
        if not self.shape.class_known:
            return await learn(party, self.shape, self.rules, own, rows)
        await same_labels(party, labels)
        return None if hot is None or z is None or labels is None else own_table(
            self.shape, party.name, (hot, z, labels), self.rules)

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


def shape_of(parameters: Mapping[str, Any]) -> BayesShape:
    """Return what is public about the sites."""
    settings = BayesSettings.of(parameters)
    parts = tuple(Part(site, tuple(size for size in listed if size != "number"),
                       listed.count("number")) for site, listed in settings.sites.items())
    return as_study(lambda: BayesShape(parts, settings.classes, settings.class_site,
                                       settings.target, settings.class_known))


def fits_columns(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no model."""
    shape_of(parameters)
    rules_of(parameters)


def blank_columns(study: Study, name: str, records: int) -> Loaded:
    """Return a blank site; which of its records are new is assumed elsewhere."""
    shape = shape_of(study.parameters)
    part, knows = shape.part(name), shape.class_known or name == shape.class_site
    texts_of = {f"c{i}": tuple(map(str, range(size))) for i, size in enumerate(part.sizes)}
    columns = {n: choices(records, values, i) for i, (n, values) in enumerate(texts_of.items())}
    columns |= {f"n{i}": scattered(records, i) for i in range(part.numbers)}
    coding = Coding(tuple(Attribute(n, values) for n, values in texts_of.items()),
                    tuple((f"n{i}", 0.0, 1.0) for i in range(part.numbers)))
    codes = blank_codes(records, len(shape.classes)) if knows else None
    labels = choices(records, shape.classes) if knows else None
    return Loaded(BayesSite(coding, columns, labels), codes)


def load_columns(path: Path, study: Study) -> Loaded:
    """Return a site's columns; every column but ids and class is used."""
    shape, table = shape_of(study.parameters), party_table(path)
    rows = table.arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    labels = columns.pop(shape.target, None)
    numeric = [n for n in columns if table.schema[n].kind in ("numeric", "ordinal")]
    site = BayesSite(coding_of(columns, numeric), columns, labels)
    codes = None if labels is None else codes_of(labels, shape.classes, shape.target)
    return Loaded(site, codes)

"""Naive Bayes over columns that are spread among sites (vcz2006 section 4.5.2).

**The class is at one site.** Counts of categories by class, and sums of numbers and squares, are
matrix products of shared columns with shared classes. Logarithms (smoothing inside), means and
deviations are found on shares once and kept as shares: the model stays split between the holders,
and no party ever has a parameter. A new record is classified on shares (`scoring`).
**All sites know the class** (`class_known`): every site learns its own columns in the clear, and
only the scores of new records are shared and added up.

  discloses: the class of new records, to the receivers; how many records there are. Sizes of
    columns are public (see `parts`). Aligning shows which ids are in common.
    Not: counts, parameters, scores.
  improves on the book: no n_i of the class site is used in the clear; no homomorphic encryption of
    each value; deviations by one product, not by a second pass.
  smoothing: alpha as over rows; `var_smoothing` of the column's own variance (scikit-learn takes
    that of the widest column), and no deviation below 1/256 of the reach.
  safe against: as products and comparisons in the mode. The kept shares are as good as the model
    for both holders together; they are of use to the same holders only.
  cost: 16 N (categories + 2 numbers + 2 classes) bytes, and about 4 kB for each category and class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.choice import argmax
from unspoken.joint.mpc.ops.normalise import FRACTION
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.ops.sharing import reveal, share, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.classify.program_bayes import PREDICTED
from unspoken.joint.tasks.common.aligned_records import (
    ROWS,
    same_everywhere,
)
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.naive_bayes.class_moments import means_and_variances
from unspoken.joint.tasks.naive_bayes.class_scoring import (
    ONE,
    SharedTable,
    classes_of,
    learn_table,
    start_bound,
)
from unspoken.joint.tasks.naive_bayes.class_tallies import one_hot
from unspoken.joint.tasks.naive_bayes.kept_model import again, kept
from unspoken.joint.tasks.naive_bayes.params import MOST, BayesParams
from unspoken.joint.tasks.naive_bayes.score_tables import Table, learned, worst
from unspoken.joint.tasks.naive_bayes.site_parts import BayesPart, BayesShape, BayesSite
from unspoken.joint.tasks.tree.program_columns import same_labels
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.ledger import Ledger

Records = tuple[BayesPart, Mapping[str, Any]]


class BayesOverColumns:
    """The program that learns: every site gives a Site and gets its part of the model."""

    def __init__(self, shape: BayesShape, rules: BayesParams | None = None) -> None:
        self.shape, self.rules = shape, rules or BayesParams()
        self.disclosures = (Disclosure(ROWS),)

    async def check_first(self, party: Party, data: BayesSite | None) -> None:
        """Check a site before its rows are aligned."""
        own_site(party, self.shape, data)

    async def __call__(self, party: Party, data: BayesSite | None) -> BayesPart:
        """Learn, and return this party's part."""
        site = own_site(party, self.shape, data)
        hot, z, labels, rows = await self._same_rows(party, site)
        coding = None if site is None else site.coding
        run = party.seam.session
        if self.shape.class_known:
            table = None if hot is None or z is None or labels is None else own_table(
                self.shape, party.name, (hot, z, labels), self.rules)
            return BayesPart(self.shape, party.name, coding, run, table=table)
        shared = await learn(party, self.shape, self.rules, (hot, z, labels), rows)
        return BayesPart(self.shape, party.name, coding, run, party.holders, kept(party, shared))

    async def _same_rows(self, party: Party, site: BayesSite | None) -> tuple[
            Ints | None, Floats | None, Ints | None, int]:
        """Return coded columns, classes, and how many records all sites have."""
        hot, z, labels = (None, None, None) if site is None else site.coded(self.shape)
        rows = await counted(party, hot)
        if self.shape.class_known:
            await same_labels(party, labels)
        return hot, z, labels, rows


async def counted(party: Party, hot: Ints | None) -> int:
    """Return how many records all sites have."""
    rows = await same_everywhere(party, -1 if hot is None else hot.shape[0])
    if rows > MOST:
        raise RefusedError(f"There must be at most {MOST:,} records. There are more.")
    return rows


def own_site(party: Party, shape: BayesShape, data: BayesSite | None) -> BayesSite | None:
    """Check a site before anything is sent."""
    if party.name not in party.roles.owners:
        return None
    if data is None:
        raise DataError("Every site must give its columns. This one gave nothing.")
    return data.fits(shape, party.name)


async def learn(party: Party, shape: BayesShape, rules: BayesParams,
                own: tuple[Ints | None, Floats | None, Ints | None], rows: int) -> SharedTable:
    """Return the model of all sites' columns on shares."""
    hot, z, labels = own
    kinds = len(shape.classes)
    mine = one_hot(labels[None], (kinds,)) if party.name == shape.class_site \
        and labels is not None else None
    classes = await share(party, mine, shape.class_site, (rows, kinds), 0, 1)
    places, values, extra = await _columns(party, shape, rules, (hot, z), rows)
    first = classes.sum(0).within(0, rows).reshape(1, -1)
    counts = first
    if shape.sizes:
        by_category = (await matmul(party, places.T, classes)).within(0, rows)
        counts = concatenate([first, by_category])
    if not shape.numbers:
        return await learn_table(party, counts, shape.sizes, None, None, rules)
    sums = await matmul(party, values.T, classes)
    moments = await means_and_variances(party, counts[0], sums.within(-rows * ONE, rows * ONE))
    return await learn_table(party, counts, shape.sizes, moments, extra, rules)


async def _columns(party: Party, shape: BayesShape, rules: BayesParams,
                   own: tuple[Ints | None, Floats | None],
                   rows: int) -> tuple[Shared, Shared, Shared]:
    """Return places, numbers with their squares behind them, and what smoothing adds."""
    hots, zs, squares, extras = [], [], [], []
    for part in shape.parts:
        hot, z = own if part.site == party.name else (None, None)
        square = None if z is None else z**2
        extra = None if z is None else rules.var_smoothing * z.var(axis=0)
        wide = rows, part.numbers
        hots.append(await share(party, hot, part.site, (rows, sum(part.sizes)), 0, 1))
        zs.append(await share(party, z, part.site, wide, -ONE, ONE, FRACTION))
        squares.append(await share(party, square, part.site, wide, -ONE, ONE, FRACTION))
        extras.append(await share(party, extra, part.site, (part.numbers,), 0, ONE, FRACTION))
    return concatenate(hots, 1), concatenate([*zs, *squares], 1), concatenate(extras)


def own_table(
    shape: BayesShape, site: str, own: tuple[Ints, Floats, Ints], rules: BayesParams
) -> Table:
    """Return a site's own table; the prior is counted at the class site alone."""
    hot, z, labels = own
    classes = one_hot(labels[None], (len(shape.classes),)).astype(np.float64)
    table = plain_table(hot, z, classes, shape.part(site).sizes, rules)
    if site == shape.class_site:
        return table
    counts = classes.sum(axis=0)
    empty = 2 * worst(len(shape.part(site).sizes), z.shape[1]) * (counts == 0)
    prior = np.log(np.maximum(1.0, counts)) - empty
    return Table(table.start - prior, table.logs, table.means, table.roots)


def plain_table(hot: Ints, z: Floats, classes: Floats, sizes: tuple[int, ...],
                rules: BayesParams) -> Table:
    """Return the table of rows in the clear; `classes` is one place a class."""
    each = classes.sum(axis=0)
    means = z.T @ classes / np.maximum(1.0, each)
    gaps = (z - means.T[classes.argmax(axis=1)]) ** 2
    variances = gaps.T @ classes / np.maximum(1.0, each)
    counts = np.vstack([each, hot.T @ classes])
    return learned(counts, sizes, means, variances, rules.var_smoothing * z.var(axis=0), rules)


class ClassifyOverColumns:
    """The program that classifies: every site gives its part and its columns of new records."""

    def __init__(self, receivers: Sequence[str] = ()) -> None:
        self.receivers = tuple(receivers)
        self.disclosures = (Disclosure(PREDICTED, self.receivers), Disclosure(ROWS))

    async def __call__(self, party: Party, data: Records) -> npt.NDArray[Any] | None:
        """Return the class of every record to the receivers."""
        part, columns = data
        hot = z = None
        if part.coding is not None:
            hot, z = part.coding.hot(columns), part.coding.z(columns)
        party.begin("model")
        run = np.frombuffer(part.run, np.uint8)
        theirs = await party.swap(party.peers, "model", run, Purpose.CONTROL)
        if part.site != party.name or any(not np.array_equal(run, each) for each in theirs):
            raise DataError("Sites must give their own parts of one model. They did not.")
        rows = await same_everywhere(party, -1 if hot is None else hot.shape[0])
        model = part.table if part.shape.class_known else again(party, part)
        classes = await predicted(party, part.shape, model, (hot, z), rows)
        opened = await reveal(party, classes, because=PREDICTED, to=self.receivers)
        return None if opened is None else np.array(part.shape.classes, object)[opened]


async def predicted(party: Party, shape: BayesShape, model: Table | SharedTable | None,
                    records: tuple[Ints | None, Floats | None], rows: int) -> Shared:
    """Return the number of the class of every record on shares; a model is one's own or shared."""
    hot, z = records
    if not isinstance(model, SharedTable):
        own = None if model is None or hot is None or z is None else model.scores(hot, z)
        bound = start_bound(len(shape.sizes), shape.numbers)
        total = await share_sum(party, own, (rows, len(shape.classes)), -bound, bound, FRACTION)
        return (await argmax(party, total))[0]
    hots, zs = [], []
    for each in shape.parts:
        mine = each.site == party.name
        hots.append(await share(party, hot if mine else None, each.site,
                                (rows, sum(each.sizes)), 0, 1))
        zs.append(await share(party, z if mine else None, each.site, (rows, each.numbers), -ONE,
                              ONE, FRACTION))
    return await classes_of(party, model, concatenate(hots, 1), concatenate(zs, 1))


def mine_bayes_columns(
    sites: Mapping[str, BayesSite],
    shape: BayesShape,
    rules: BayesParams | None = None,
    mode: str = "dealer",
    *,
    align: SetRules | None = None,
    **how: Any,
) -> tuple[dict[str, BayesPart], dict[str, Ledger]]:
    """Learn from the columns of all sites; return each site's part of the model and ledger.

    Parameters
    ----------
    sites : mapping of str to BayesSite
        Each site's training columns, by its name.
    shape : BayesShape
        What is public: the sites' parts, the classes, the class site.
    rules : BayesParams, optional
        What everybody agreed on. Default: `BayesParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    align : SetRules, optional
        Rules for aligning rows by ids. Default: same records in the same order everywhere.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (dict of str to BayesPart, dict of str to Ledger)
        Each site's part of the model and its ledger, by site.

    Examples
    --------
    >>> parts, ledgers = mine_bayes_columns({'a': a, 'b': b}, shape)  # doctest: +SKIP
    """
    names = list(sites)
    program = InOneOrder(BayesOverColumns(shape, rules), names, align)
    outputs = run_local(program, list(sites.values()), mode, names=names, **how)
    return ({name: part for name, (part, _) in zip(names, outputs, strict=True)},
            {name: ledger for name, (_, ledger) in zip(names, outputs, strict=True)})


def classify_columns(parts: Mapping[str, BayesPart], records: Mapping[str, Mapping[str, Any]],
                      mode: str = "dealer", *, receivers: Sequence[str] = (),
                      **how: Any) -> tuple[dict[str, Any], dict[str, Ledger]]:
    """Classify new records of which every site has its columns."""
    names = list(parts)
    inputs = [(parts[name], records[name]) for name in names]
    outputs = run_local(ClassifyOverColumns(receivers), inputs, mode, names=names, **how)
    return ({name: classes for name, (classes, _) in zip(names, outputs, strict=True)},
            {name: ledger for name, (_, ledger) in zip(names, outputs, strict=True)})

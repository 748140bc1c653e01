"""`measure`: how well the people of a table hide among each other.

Quasi-identifiers are what an outsider could know, sensitive columns what must not become known.
Both are taken from the roles of the schema or named. A class is all records that agree on every
quasi-identifier, where missing is a value like any other. A missing sensitive value protects
nobody and counts as no value. The numbers are about this table: pass a release to judge it, the
original to see where it starts.

What K does not say: that the sensitive values inside a class differ (L, t), that several tables
do not cut classes in pieces together, or that anyone who knows more than the quasi-identifiers
is kept out. In doubt, count a column as a quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import InputError, SchemaError
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.anonymity_result import (
    Anonymity,
    Diversity,
    Reidentification,
    Uniqueness,
)
from unspoken.methods.anonymity.measures.diversity_rules import Secret
from unspoken.methods.anonymity.measures.population_columns import as_in_table
from unspoken.methods.anonymity.measures.population_uniqueness import (
    fit_pitman,
    individual_risk,
    zayatz,
)
from unspoken.release.release import Release
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

Names = str | Sequence[str] | None

SMALL_FRACTION = 0.1
"""Up to this sampling fraction the Pitman model estimates, above it Zayatz."""


def measure(table: Table | Release, quasi: Names = None, sensitive: Names = None, *,
            population: Table | int | None = None) -> Anonymity:
    """Measure K, L, t and the risks of re-identification of a table or of a release.

    `quasi`, `sensitive`: names in place of the schema's roles. `population`: the table that an
    outsider holds (with the same quasi-identifiers), or only its size; without it everybody is
    taken to be in the table, so that journalist and marketer know what the prosecutor knows.
    """
    table = table.table if isinstance(table, Release) else table
    quasi, sensitive = columns_of(table, quasi, sensitive)
    # Counted where the rows are: what comes here is every combination of values, once.
    rows, often = table.engine.groups(table.frame, [*quasi, *sensitive])
    owner = stats.classes(coded(rows[name]).codes for name in quasi)
    sizes = stats.sizes(owner, often)
    parts = tuple(_diversity(owner, Secret.of(name, rows[name], table.schema[name].kind,
                                              order=table.schema[name].order), often)
                  for name in sensitive)
    return Anonymity(
        table.rows, quasi, sensitive, int(sizes.min()), int(sizes.size),
        stats.average_class_size(sizes), stats.discernibility(sizes),
        int((sizes == 1).sum()), _histogram(sizes), parts,
        _reidentification(rows, quasi, owner, sizes, population), _unique(sizes, population))


def _histogram(sizes: Ints) -> tuple[tuple[int, int], ...]:
    distinct_sizes, counts = np.unique(sizes, return_counts=True)
    return tuple(zip(distinct_sizes.tolist(), counts.tolist(), strict=True))


def columns_of(table: Table, quasi: Names, sensitive: Names) -> tuple[tuple[str, ...], ...]:
    """Return quasi-identifiers and sensitive columns, as named or by role."""
    known = _listed(table, quasi, "quasi")
    secret = _listed(table, sensitive, "sensitive")
    if not known:
        raise SchemaError("The table has no quasi-identifiers. Name them: quasi=[...], here or "
                          "when reading.")
    both = sorted(set(known) & set(secret))
    if both:
        raise SchemaError(f"Column '{both[0]}' is named both as a quasi-identifier and as "
                          "sensitive. It can only be one of them.")
    return known, secret


def class_codes(table: Table, quasi: Sequence[str]) -> Ints:
    """Return the number of each record's class."""
    rows = table.arrow(list(quasi))
    return stats.classes(coded(rows[name]).codes for name in quasi)


def _listed(table: Table, names: Names, role: str) -> tuple[str, ...]:
    if names is None:
        return table.schema.with_role(role)
    listed = (names,) if isinstance(names, str) else tuple(names)
    return tuple(table.schema[name].name for name in listed)


def _diversity(owner: Ints, secret: Secret, often: Ints | None) -> Diversity:
    """Measure a sensitive column; ordinal texts without an order lie equally far apart."""
    name, ordered, sizes = secret.name, secret.ordered, stats.sizes(owner, often)
    spread = stats.spread(owner, secret.codes, secret.missing, often)
    distinct = stats.distinct(spread)
    least = int(distinct.min())
    return Diversity(
        name, least, float(stats.entropy(spread).min()), float(stats.strong(spread).min()),
        float(stats.recursive(spread, max(least, 1)).max()),
        float(stats.closeness(spread, ordered).max()), ordered,
        float(sizes[distinct <= 1].sum() / sizes.sum()),
        float(1.0 / max(np.max(spread.overall), 1.0 / sizes.sum())))


def _reidentification(rows: Any, quasi: tuple[str, ...], owner: Ints, sizes: Ints,
                      population: Table | int | None) -> Reidentification:
    prosecutor = 1.0 / sizes
    outside = _outside(rows, quasi, owner, sizes, population)
    return Reidentification(
        float(prosecutor.max()), float(sizes.size / sizes.sum()),
        float(outside.max()), float((outside * sizes).sum() / sizes.sum()),
        float(sizes[sizes < 5].sum() / sizes.sum()), _source(population))


def _outside(rows: Any, quasi: tuple[str, ...], owner: Ints, sizes: Ints,
             population: Table | int | None) -> Any:
    """Return for every class one over its size in the population, counted or expected."""
    if population is None:
        return 1.0 / sizes
    if isinstance(population, Table):
        return 1.0 / np.maximum(_counted(rows, quasi, owner, population), sizes)
    total = int(sizes.sum())
    if isinstance(population, bool) or int(population) < total:
        raise InputError("'population' must be a table or a number of at least the "
                         f"{total:,} records of the table. Got {population!r}.")
    return individual_risk(sizes, total / int(population))


def _counted(rows: Any, quasi: tuple[str, ...], owner: Ints, population: Table) -> Any:
    """Count the people of the population in each class of the table."""
    import pyarrow as pa

    theirs, often = population.engine.groups(population.frame, list(quasi))
    columns = []
    for name in quasi:
        mine, other = rows[name], as_in_table(name, rows[name], theirs[name])
        columns.append(coded(pa.chunked_array([*mine.chunks, *other.chunks])).codes)
    joint = stats.classes(columns)
    everybody = np.bincount(joint[owner.size:], often, int(joint.max()) + 1)
    first = np.unique(owner, return_index=True)[1]
    return everybody[joint[first]]


def _source(population: Table | int | None) -> str:
    if population is None:
        return "the table is the population"
    return "the table of the population" if isinstance(population, Table) else \
        f"a random sample of {int(population):,} people (Benedetti and Franconi 1998)"


def _unique(sizes: Ints, population: Table | int | None) -> Uniqueness:
    total = int(sizes.sum())
    whole = total if population is None else \
        population.rows if isinstance(population, Table) else int(population)
    singles = int((sizes == 1).sum())
    if whole <= total:
        return Uniqueness(singles / total, singles / total, 1.0 if singles else 0.0, whole, "none")
    model = fit_pitman(sizes) if total / whole <= SMALL_FRACTION else None
    if model is not None:
        return Uniqueness(singles / total, model.unique_share(whole),
                          model.stays_unique(total, whole), whole, "pitman")
    stays = zayatz(sizes, whole)
    return Uniqueness(singles / total, min(1.0, stays * singles / total), stays, whole, "zayatz")

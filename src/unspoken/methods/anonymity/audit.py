"""The audit of published tables: who is re-identified, and what is disclosed.

Every number stands beside what guessing gives: any record for identity, the commonest value for
sensitive columns. Measures:

    k               the smallest class of the release
    l, t            of a sensitive column: the fewest different values of a class, and the largest
                    distance of a class's values from the whole table's
    identified      expected share of targets that are re-identified correctly
    confident       share of targets in the sample re-identified correctly and with confidence
    false matches   share of confident re-identifications that are wrong
    records, domain share of targets whose sensitive value is guessed; per record, per value
    sure            share whose value is guessed correctly with a chance of at least 90%
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import Adversary, chosen_of
from unspoken.disclosure.audit_request import AuditRequest, Progress
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row, Suggestion
from unspoken.disclosure.measures import estimate
from unspoken.disclosure.record_scores import by_value
from unspoken.methods.anonymity.adversaries.informed_microdata import (
    InformedMicrodata,
    intersected,
)
from unspoken.methods.anonymity.adversaries.record_linking import Homogeneity, without
from unspoken.methods.anonymity.adversaries.table_adversary import (
    ORDER,
    Matches,
    TableAdversary,
    TableView,
)
from unspoken.methods.anonymity.class_rows import ALL, class_rows
from unspoken.methods.anonymity.named_values import MEMBERS, hidden_in
from unspoken.methods.anonymity.table_knowledge import Granted, People, people_of, tell
from unspoken.numerics.random import replayed, seed_from
from unspoken.release.key import Key
from unspoken.release.record_key import original_rows
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

Scores = dict[tuple[str, str], float]

MAX_TRIALS = 20
SURE = 0.9
ACCEPTABLE = 0.13
"""Confident re-identifications that Moore (1996) calls acceptably low (vcz2006 section 2.1)."""
_LIMITS = (
    "only the listed adversaries were tried; a better one may exist",
    "people are looked for by the published quasi-identifiers; other columns are not used",
    "one release at a time: risk.intersection measures what two of them disclose together",
)
_KEPT = ("it leaves as it is, and no adversary looks at it: it was declared neither "
         "quasi-identifier nor sensitive")
_UNKNOWN = ("records were left out or shuffled, and only the key says which is which: every "
            "target is taken to be among its matches, and 'informed-microdata' was not tried; "
            "pass the key to score both")


def audit_tables(  # noqa: PLR0913
    table: Table, release: Release, key: Key | None = None, *, sample: Any = None,
    trials: int = 10, random_state: Any = None,
    adversaries: Iterable[str | Adversary] | None = None, radius: float = 0.02,
    progress: Progress | None = None, rows: npt.ArrayLike | None = None,
) -> Audit:
    """Attack a published table with every adversary that applies (fu2010, vcz2006 section 2.1).

    Parameters
    ----------
    table, release, key : the original table, its release, and the key that links their records.
    sample : not used by these adversaries.
    trials : repetitions of each attack, at most 20.
    random_state : a seed, to repeat an audit.
    adversaries : names or objects; None tries all that apply.
    radius : how close a guess of a number must be, as a share of the column's range.
    progress : called with the numbers of attacks done and of all.
    rows : the original row of every released one, in place of the key.

    Returns
    -------
    Audit : one row per adversary, level of knowledge, column and measure, with its baseline.
    """
    # Who attacks may know a hierarchy that the release does not hold.
    view = TableView.of(release, members=hidden_in(key, MEMBERS))
    chosen = chosen_of(TableAdversary, release, adversaries)
    where = _rows(table, release, rows, key)
    people = people_of(table, view, where)
    setting = _Setting(max(1, min(int(trials), MAX_TRIALS)), float(radius),
                       seed_from(random_state))
    about = {"fingerprint": release.fingerprint, "rows": release.table.rows,
             "mechanism": dict(release.mechanism), "data_sha256": release.data_sha256,
             "columns": {name: name for name in view.secrets}}
    result = Audit((*class_rows(view, release, table, key),
                    *_run(view, people, chosen, setting, progress)),
                   float(radius), setting.trials, about, {one.name: one.gets for one in chosen},
                   _unscored(view, release, table), limits=_LIMITS if people.row is not None
                   else (*_LIMITS, _UNKNOWN))
    return replace(result, suggestions=_suggestions(result))


def audit_published(table: Table, release: Release, key: Key | None,
                    request: AuditRequest) -> Audit:
    """Audit a published table where the general audit was called."""
    return audit_tables(table, release, key, trials=request.trials, radius=request.radius,
                        random_state=request.random_state, adversaries=request.adversaries,
                        progress=request.progress)


@dataclass(frozen=True)
class _Setting:
    trials: int
    radius: float
    seed: bytes

    def rng(self, *purpose: str | int) -> np.random.Generator:
        return replayed(self.seed, *purpose)


def _rows(table: Table, release: Release, rows: npt.ArrayLike | None,
          key: Key | None) -> Ints | None:
    """Return the released row of every person, -1 for none; None where it cannot be known."""
    if rows is None and key is not None:
        rows = original_rows(key, release.table.rows)
    if rows is None:
        return None
    where = np.asarray(rows, np.int64)
    out = np.full(table.rows, -1, np.int64)
    out[where] = np.arange(where.size)
    return out


def _unscored(view: TableView, release: Release, table: Table) -> dict[str, str]:
    """Say what leaves without a number: a kept column would else count as protected.

    A column of group numbers is the method's own, and holds nothing of the original.
    """
    attacked = {*view.quasi, *view.secrets, release.schema.target}
    numbers = {release.mechanism.get("group")} - {*table.schema.names}
    kept = [name for name in release.schema.names if name not in attacked | numbers]
    none = {} if view.secrets else {"(sensitive)": "no sensitive column is in the release"}
    return none | dict.fromkeys(kept, _KEPT)


def _run(view: TableView, people: People, chosen: Sequence[TableAdversary], setting: _Setting,
         progress: Progress | None) -> list[Row]:
    todo = [(one, *level) for one in chosen for level in one.levels(people, view)]
    rows: list[Row] = []
    for done, (one, label, column) in enumerate(todo, 1):
        rows += _case(view, people, one, label, column, setting)
        if progress is not None:
            progress(done, len(todo))
    return rows


def _case(view: TableView, people: People, one: TableAdversary, label: str, column: str,
          setting: _Setting) -> list[Row]:
    parts, bases = [], []
    for trial in range(setting.trials):
        rng = setting.rng("tables", one.name, column, trial)
        disclosed = tell(label, column, people, view, rng)
        parts.append(_scored(view, people, one, disclosed, setting.radius))
        bases.append(_blind(view, people, disclosed, setting.radius))
    shown = f"{label} {column}" if label == ORDER else label
    out = []
    for place, measure in parts[0]:
        share = estimate(np.array([part[place, measure] for part in parts]))
        base = float(np.median([part.get((place, measure), 0.0) for part in bases]))
        out.append(Row(one.name, shown, place, measure, share.value, share.low, share.high, base,
                       share.trials))
    return out


def _scored(view: TableView, people: People, one: TableAdversary, disclosed: Granted,
            radius: float) -> Scores:
    out: Scores = {}
    if isinstance(one, InformedMicrodata):
        return _confident(view, people, one, disclosed)
    matches = one.attack(view, disclosed.knowledge)
    if "identified" in one.measures:
        out[ALL, "identified"] = float(_identified(view, people, matches, disclosed).mean())
    for name, shares in matches.shares.items():
        out |= _guessed(people, name, shares, disclosed, radius)
    return out


def _identified(view: TableView, people: People, matches: Matches, disclosed: Granted) -> Floats:
    """Return for every target the chance that it is re-identified correctly."""
    if people.row is None:
        return np.asarray(matches.named(view).max(axis=1))
    own = people.row[disclosed.targets]
    chance = matches.named(view)[np.arange(own.size), view.owner[np.maximum(own, 0)]]
    return np.where(own >= 0, chance, 0.0)


def _confident(view: TableView, people: People, one: InformedMicrodata,
               disclosed: Granted) -> Scores:
    assert people.row is not None
    records, sure = one.records(view, disclosed.knowledge)
    own = people.row[disclosed.targets]
    right, there = records == own, own >= 0
    named = int(sure.sum())
    return {(ALL, "identified"): float(right[there].mean()),
            (ALL, "confident"): float((right & sure)[there].mean()),
            (ALL, "false matches"): float((sure & ~right).sum() / named) if named else 0.0}


def _guessed(people: People, name: str, shares: Floats, disclosed: Granted,
             radius: float) -> Scores:
    truth = people.secrets[name][disclosed.targets]
    hit = _hits(people, name, shares.argmax(axis=1), truth, radius)
    sure = hit & (shares.max(axis=1) >= SURE - 1e-12)
    return {(name, "records"): float(hit.mean()),
            (name, "domain"): by_value(hit, truth.astype(np.float64)),
            (name, "sure"): float(sure.mean())}


def _hits(people: People, name: str, guess: Ints, truth: Ints, radius: float) -> Any:
    """Return which guesses are right; numbers within the radius of their range."""
    labels = people.values[name].labels
    if not is_number(labels.type):
        return guess == truth
    values = np.r_[np.asarray(to_numbers(labels), np.float64), np.nan]
    reach = radius * (float(np.ptp(values[:-1])) if values.size > 1 else 0.0)
    return (guess == truth) | (np.abs(values[guess] - values[truth]) <= reach)


def _blind(view: TableView, people: People, disclosed: Granted, radius: float) -> Scores:
    """Score guessing: any record, and for every sensitive column its commonest value."""
    out: Scores = {(ALL, "identified"): 1.0 / view.rows, (ALL, "confident"): 1.0 / view.rows,
                   (ALL, "false matches"): 1.0 - 1.0 / view.rows}
    for place, name in enumerate(view.secrets):
        whole = view.counts(name).sum(axis=0)
        shares = np.broadcast_to(whole / whole.sum(), (disclosed.targets.size, whole.size))
        if place == 0 and disclosed.knowledge.never is not None:
            shares = without(np.array(shares), disclosed.knowledge.never)
        out |= _guessed(people, name, shares, disclosed, radius)
    return out


def intersection(table: Table, first: Release, second: Release, sensitive: str, *,
                 targets: int = 500, random_state: Any = None) -> dict[str, float]:
    """Return the share of people whose sensitive value is guessed from two releases together.

    Parameters
    ----------
    table : the original table.
    first, second : two releases of it.
    sensitive : the sensitive column.
    targets : how many people are looked for, drawn at random.
    random_state : a seed, to repeat the draw.

    Returns
    -------
    dict : "first", "second" from each release alone; "both" from their intersection (Ganta et al.
        2008); "baseline" the commonest value; "sure" the share guessed correctly from both with
        a chance of at least 90%.
    """
    views = [TableView.of(one) for one in (first, second)]
    rng = np.random.default_rng(int.from_bytes(seed_from(random_state), "little"))
    some = np.sort(rng.permutation(table.rows)[:targets])
    rows = table.take(some)
    truth = np.array([str(value) for value in rows[sensitive].to_pylist()])
    out = {}
    for name, pair in (("first", (views[0], views[0])), ("second", (views[1], views[1])),
                       ("both", (views[0], views[1]))):
        shares, values = intersected(*pair, rows, sensitive)
        hit = np.array(values)[shares.argmax(axis=1)] == truth
        out[name] = float(hit.mean())
    out["sure"] = float((hit & (shares.max(axis=1) >= SURE)).mean())
    out["baseline"] = float(np.unique(truth, return_counts=True)[1].max() / truth.size)
    return out


def _suggestions(result: Audit) -> tuple[Suggestion, ...]:
    out = []
    named = result.select(measure="confident")
    if named and named[0].value > ACCEPTABLE:
        out.append(Suggestion(None, "Release a smaller sample, swap more or coarsen further",
                              f"a well-informed adversary re-identifies {named[0].value:.0%} "
                              f"with confidence; {ACCEPTABLE:.0%} is considered acceptable"))
    for row in result.select(measure="sure"):
        if row.adversary == Homogeneity.name and row.value > row.baseline + 0.01:
            out.append(Suggestion(row.column, f"Ask for l or t on '{row.column}'",
                                  f"{row.value:.0%} of the people are in classes that "
                                  "disclose its value"))
    return tuple(out)

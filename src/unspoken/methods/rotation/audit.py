"""The audit of rotated records: every adversary of liu2006 and the stronger ones, with baselines.

The key only says which released row is which record. Knowledge is drawn from the table, trial by
trial: known records (already found in the release), samples, or nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import chosen_of
from unspoken.disclosure.audit_request import AuditRequest, Progress
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row, Suggestion
from unspoken.disclosure.knowledge import fullest_window
from unspoken.disclosure.measures import estimate
from unspoken.disclosure.record_scores import Scores, aligned, scores
from unspoken.errors import DataError
from unspoken.methods.rotation.adversaries.find_known_records import NormLinking
from unspoken.methods.rotation.adversaries.rotation_adversary import (
    EPSILON,
    RotatedView,
    RowAdversary,
    RowGuesses,
    RowKnowledge,
)
from unspoken.methods.rotation.category_embedding import Embedding, embedding_of, spread_as_in
from unspoken.methods.rotation.category_scores import by_category, informed
from unspoken.numerics.random import replayed, seed_from
from unspoken.release.key import Key
from unspoken.release.record_key import NO_KEY, original_rows
from unspoken.release.release import Release
from unspoken.table.read import read
from unspoken.table.table import Table

MAX_TRIALS = 20
"""Trials of one attack on all records; liu2006 makes as many."""
MAX_ROWS = 20_000
"""Records that are guessed and scored; more would hardly change the result."""
ALL = "(all)"
SHARES = (0.05, 0.01)
_BROKEN = 0.9
_LIMITS = (
    "only the listed adversaries were tried; a better one may exist",
    "samples are drawn from the table itself: no similar data can be better",
    "known records are taken as found in the release; 'norm-linking' says how many can be found",
    "columns that are found up to order and sign are scored as if their names were known",
)


@dataclass(frozen=True)
class RowTruth:
    """The complete records behind a view, in its order."""

    names: tuple[str, ...]
    records: Floats
    view: RotatedView
    centre: Floats
    scale: Floats
    embedding: Embedding | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the original columns."""
        return self.names if self.embedding is None else self.embedding.columns


def audit_rotated(table: Table, release: Release, key: Key | None,
                  request: AuditRequest) -> Audit:
    """Attack a release of rotated records with every adversary that applies (liu2006 and beyond).

    Parameters
    ----------
    table : Table
        The original table, from which knowledge is drawn and against which guesses are scored.
    release : Release
        The release of `table` that is attacked.
    key : Key or None
        Its key, used only to match released rows with records. Without it nothing is scored.
    request : AuditRequest
        Radius, trials, seed, sample and adversaries.

    Returns
    -------
    Audit
        One row per adversary, level of knowledge, column and measure, each with its baseline.

    Examples
    --------
    >>> audit = unspoken.risk.audit(table, release, key)  # doctest: +SKIP
    """
    about = {"fingerprint": release.fingerprint, "rows": release.table.rows,
             "mechanism": dict(release.mechanism), "data_sha256": release.data_sha256}
    chosen = chosen_of(RowAdversary, release, request.adversaries)
    words = {one.name: one.gets for one in chosen}
    blank = Audit((), request.radius, request.trials, about, words, limits=_LIMITS)
    if key is None:
        return replace(blank, unscored={ALL: NO_KEY})
    seed = seed_from(request.random_state)
    truth = truth_of(table, release, key, seed)
    outsiders = None if request.sample is None else _given(request.sample, key)
    setting = _Setting(min(request.trials, MAX_TRIALS), request.radius, seed, outsiders)
    rows, failures = _run(truth, chosen, setting, request.progress)
    about["columns"] = {name: name for name in truth.columns}
    doubts = [f"{who} cannot tell that it succeeded: {why}" for who, why in failures.items()]
    result = replace(blank, rows=tuple(rows), trials=setting.trials, release=about,
                     limits=(*_LIMITS, *doubts))
    return replace(result, suggestions=_suggestions(result))


def truth_of(table: Table, release: Release, key: Key, seed: bytes) -> RowTruth:
    """Bring the original records into the order of the release; leave blank ones out."""
    view = RotatedView.of(release)
    names, embedding = tuple(key.secrets["features"]), embedding_of(key)
    plain = as_compared(table, key)[original_rows(key, release.table.rows)]
    if release.mechanism.get("missing") == "mean":
        plain = np.where(np.isnan(plain), np.nanmean(plain, axis=0), plain)
    plain = plain[view.rows]
    if np.isnan(plain).any() or plain.shape[0] == 0:
        raise DataError("The table must be the one that was released. Records that are complete "
                        "in the release are not in the table. Pass the original table.")
    centre, scale = plain.mean(axis=0), plain.std(axis=0)
    if embedding is not None:
        centre[len(embedding.numbers):], scale[len(embedding.numbers):] = 0.0, 1.0
    if plain.shape[0] > MAX_ROWS:
        rng = replayed(seed, "rows")
        some = np.sort(rng.permutation(plain.shape[0])[:MAX_ROWS])
        plain, view = plain[some], RotatedView(view.mechanism, view.records[some], view.rows[some])
    return RowTruth(names, plain, view, centre, scale, embedding)


def as_compared(table: Table, key: Key) -> Floats:
    """Return records over the columns of the key, indicators in the units of their distances."""
    records = spread_as_in(key, table).numbers(tuple(key.secrets["features"]))
    embedding = embedding_of(key)
    return records if embedding is None else embedding.measured(records)


@dataclass(frozen=True)
class _Setting:
    trials: int
    radius: float
    seed: bytes
    sample: Floats | None

    def rng(self, *purpose: str | int) -> np.random.Generator:
        return replayed(self.seed, *purpose)


def _given(sample: Any, key: Key) -> Floats:
    numbers = as_compared(sample if isinstance(sample, Table) else read(sample, show=False), key)
    return numbers[~np.isnan(numbers).any(axis=1)]


Tell = Callable[[RowTruth, np.random.Generator], RowKnowledge]


def levels(needs: frozenset[str], truth: RowTruth,
           outsiders: Floats | None) -> Iterator[tuple[str, Tell]]:
    """Yield the levels of knowledge at which an adversary with these needs is tried."""
    width = len(truth.names)
    samples: list[float | None] = [None] if outsiders is not None else list(SHARES)
    counts = sorted({1, max(1, width - 1), width + int(truth.view.translated)})
    if not needs:
        yield "ignorant", lambda t, rng: RowKnowledge(width)
    elif needs == {"records"}:
        for count in counts:
            yield f"records {count}", _teller(count, 0.0, None)
    else:
        count = max(1, width - 1) if "records" in needs else 0
        for share in samples:
            label = "sample given" if share is None else f"sample {100 * share:g}%"
            yield (f"records {count}+{label}" if count else label,
                   _teller(count, share or 0.0, outsiders))


def _teller(count: int, share: float, outsiders: Floats | None) -> Tell:
    def tell(truth: RowTruth, rng: np.random.Generator) -> RowKnowledge:
        order = rng.permutation(truth.records.shape[0])
        size = max(2, round(share * order.size)) if share else 0
        known, drawn = order[:count], order[count:count + size]
        sample = outsiders if outsiders is not None else truth.records[drawn] if size else None
        if not count:
            known_frame = (None, None) if truth.embedding is None else (truth.centre, truth.scale)
            return RowKnowledge(len(truth.names), None, None, sample, *known_frame)
        return RowKnowledge(len(truth.names), truth.records[known], known, sample,
                            truth.centre, truth.scale)

    return tell


def _run(truth: RowTruth, chosen: tuple[RowAdversary, ...], setting: _Setting,
         progress: Progress | None) -> tuple[list[Row], dict[str, str]]:
    todo = [(one, label, tell) for one in chosen
            for label, tell in levels(one.needs, truth, setting.sample)]
    rows: list[Row] = []
    failures: dict[str, str] = {}
    for done, (one, label, tell) in enumerate(todo, 1):
        case_rows, reason = _case(truth, one, label, tell, setting)
        rows += case_rows
        if reason:
            failures[f"{one.name} ({label})"] = reason
        if progress is not None:
            progress(done, len(todo))
    return rows, failures


def _case(truth: RowTruth, one: RowAdversary, label: str, tell: Tell,
          setting: _Setting) -> tuple[list[Row], str]:
    """Run one adversary at one level; return its rows, and its own doubts if it always had any."""
    parts, bases, reasons = [], [], []
    for trial in range(setting.trials):
        rng = setting.rng("turned", one.name, label, trial)
        known = tell(truth, rng)
        linking = isinstance(one, NormLinking)
        guesses = one.attack(truth.view, replace(known, where=None) if linking else known, rng)
        parts.append(_scored(truth, guesses, setting.radius))
        bases.append(_baseline(truth, known, guesses, setting.radius))
        if linking and known.where is not None:
            exact = (guesses.records[known.where] == known.records).all(axis=1)
            parts[-1] = {(ALL, "linked"): float(exact.mean())}
            bases[-1] = {(ALL, "linked"): 1.0 / truth.records.shape[0]}
        reasons.append("" if guesses.ok else guesses.reason)
    rows = [_row(one.name, label, column, measure, [part[column, measure] for part in parts],
                 [base[column, measure] for base in bases]) for column, measure in parts[0]]
    return rows, reasons[0] if all(reasons) else ""


def _scored(truth: RowTruth, guesses: RowGuesses, radius: float) -> Scores:
    guess = guesses.records if guesses.named else aligned(guesses.records, truth.records)
    return _scores(truth, guess, radius)


def _scores(truth: RowTruth, guess: Floats, radius: float) -> Scores:
    out = scores(guess, truth.records, truth.names, radius, EPSILON)
    return out if truth.embedding is None else by_category(out, guess, truth.records,
                                                           truth.embedding)


def _baseline(truth: RowTruth, known: RowKnowledge, guesses: RowGuesses, radius: float) -> Scores:
    """Score the mean, and for single columns the fullest window where values are known."""
    drawn = known.sample if known.sample is not None else known.records
    constant = guesses.baseline
    if truth.embedding is not None:
        constant = informed(constant, truth.records, truth.embedding)
    shape = truth.records.shape
    scored = _scores(truth, np.broadcast_to(constant, shape), radius)
    if drawn is None or drawn.shape[0] < 2:
        return scored
    reach = radius * np.ptp(truth.records, axis=0)
    ones = np.ones(drawn.shape[0], np.int64)
    window = np.array([fullest_window(np.sort(drawn[:, i]), ones, float(reach[i]))
                       for i in range(shape[1])])
    better = _scores(truth, np.broadcast_to(window, shape), radius)
    return {**scored, **{at: max(better[at], scored[at]) for at in scored if at[0] != ALL}}


def _row(name: str, label: str, column: str, measure: str, values: list[float],
         bases: list[float]) -> Row:
    share = estimate(np.array(values))
    return Row(name, label, column, measure, share.value, share.low, share.high,
               float(np.median(bases)), share.trials)


def _suggestions(result: Audit) -> tuple[Suggestion, ...]:
    """Return which knowledge suffices to break the release, the least of it first."""
    broken: Mapping[str, Row] = {
        f"{row.adversary}, {row.knowledge}": row for row in result.select(measure="breach")
        if row.value >= _BROKEN and row.value > row.baseline + 0.05}
    if not broken:
        return ()
    listed = "; ".join(f"{what} ({row.value:.0%} of the records)" for what, row in broken.items())
    first = "release it only to parties who cannot know this, or use another method"
    return (Suggestion(None, f"Treat this release as broken: {first}", f"it falls to {listed}"),)

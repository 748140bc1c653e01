"""The parts of an audit that look at more than one column, or at no guess at all.

Subspaces and paths are measured for the adversary that recovers most at each level of knowledge,
and for the polyline, which the paper uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.column_runner import Case, all_blind, cases, recovered_by_column
from unspoken.disclosure.ground_truth import Truth
from unspoken.disclosure.knowledge_levels import Setting, grant
from unspoken.disclosure.measures import estimate
from unspoken.methods.encoding.audit.column_subsets import MAX_COLUMNS
from unspoken.methods.encoding.audit.subspaces import subspace_disclosure
from unspoken.methods.encoding.audit.tree_path_disclosure import PathDisclosure, path_disclosure
from unspoken.models.tree import Tree
from unspoken.numerics.label_runs import attribute_facts
from unspoken.numerics.rank_attack_bounds import worst_case_share
from unspoken.release.decoding import decode
from unspoken.release.key import Key
from unspoken.table.table import Table

BLIND_TRIALS = 20
"""Trials of the baseline of subspaces."""
_ALWAYS = "polyline"
SAMPLED = 50_000
"""Records in which several columns are counted together; a share is then off by 0.2% or so."""


def chosen_cases(rows: Sequence[Row], adversaries: Sequence[Adversary],
                 setting: Setting) -> Iterator[tuple[Case, Adversary]]:
    """Yield at each level the adversary of highest mean domain disclosure, and the polyline."""
    for case in cases(adversaries, setting):
        mean = {one.name: np.mean([row.value for row in rows if row.adversary == one.name
                                   and row.knowledge == case.label and row.measure == "domain"]
                                  or [0.0]) for one in case.adversaries}
        best = max(mean, key=lambda name: mean[name])
        yield from ((case, one) for one in case.adversaries if one.name in (best, _ALWAYS))


def subspace_rows(table: Table, view: View, truths: Mapping[str, Truth], rows: Sequence[Row],
                  adversaries: Sequence[Adversary], setting: Setting, size: int) -> list[Row]:
    """Return the disclosure of all subspaces of 2 to `size` columns (Definition 2)."""
    scored = _riskiest(truths, rows)
    if size < 2 or len(scored) < 2:
        return []
    setting = setting.bounded(max(truth.where.size for truth in scored.values()))
    some = _drawn(table.rows, setting)
    places = {name: truth.rows(table)[some] for name, truth in scored.items()}
    out: list[Row] = []
    base: dict[str, dict[tuple[str, ...], Floats]] = {}
    for case, adversary in chosen_cases(rows, adversaries, setting):
        if case.label not in base:
            blind = all_blind(view, scored, case, setting, BLIND_TRIALS)
            base[case.label] = subspace_disclosure(blind, places, size)
        recovered = recovered_by_column(view, scored, adversary, case, setting)
        for names, shares in subspace_disclosure(recovered, places, size).items():
            share = estimate(shares)
            out.append(Row(adversary.name, case.label, " & ".join(names), "subspace", share.value,
                           share.low, share.high, float(np.median(base[case.label][names])),
                           share.trials))
    return out


def _drawn(rows: int, setting: Setting) -> Ints | slice:
    """Return all records, or as many at random as tell the shares well enough."""
    if rows <= SAMPLED or setting.every_trial:
        return slice(None)
    drawn = setting.rng("subspaces", "records").choice(rows, SAMPLED, replace=False)
    return np.sort(drawn).astype(np.int64)


def limits_of_pairs(rows: int, setting: Setting) -> tuple[str, ...]:
    """Say that columns were counted together on some of the records."""
    if rows <= SAMPLED or setting.every_trial:
        return ()
    return (f"pairs of columns were counted on {SAMPLED:,} records drawn at random",)


def _riskiest(truths: Mapping[str, Truth], rows: Sequence[Row]) -> dict[str, Truth]:
    """Return the columns with values, at most as many as subspaces can hold."""
    worst = {name: max((row.value for row in rows
                        if row.column == name and row.measure == "domain"), default=0.0)
             for name in truths}
    scored = [name for name, truth in truths.items() if truth.values.size]
    kept = sorted(scored, key=lambda name: -worst[name])[:MAX_COLUMNS]
    return {name: truths[name] for name in truths if name in kept}


def formula_rows(view: View, truths: Mapping[str, Truth], setting: Setting) -> list[Row]:
    """Return the worst case of sorting by the formula of Figure 11, for whole numbers."""
    out = []
    for truth in truths.values():
        if truth.values.size == 0:
            continue
        table = np.zeros((truth.values.size, view[truth.released].table.shape[1]), np.int64)
        np.maximum.at(table, truth.owner, view[truth.released].table[truth.where])
        facts = attribute_facts(truth.values, table)
        mono = facts.mono_share if view.mechanism.get("mode") == "max-mono" else 0.0
        value = worst_case_share(facts, setting.radius * truth.width, mono)
        if not np.isnan(value):
            base = min(1.0, 2 * setting.radius)
            out.append(Row("sorting formula", "bounds", truth.name, "worst case", value, value,
                           value, base, 1))
    return out


def path_rows(table: Table, view: View, truths: Mapping[str, Truth], rows: Sequence[Row],
              adversaries: Sequence[Adversary], setting: Setting, tree: Tree,
              key: Key) -> list[Row]:
    """Return the disclosure of the paths of a mined tree (Definition 3), in all and by length."""
    decoded = decode(tree, key, table)
    by_feature = {index: truth for index, name in enumerate(tree.features)
                  for truth in truths.values() if name in (truth.released, truth.name)}
    radii = {index: setting.radius * truth.width for index, truth in by_feature.items()}
    out: list[Row] = []
    for case, adversary in chosen_cases(rows, adversaries, setting):
        def guess_at(feature: int, places: Floats, case: Case = case,
                     adversary: Adversary = adversary) -> Floats:
            truth = by_feature[feature]
            known = grant(case.label, case.parts, truth, view[truth.released], setting)
            rng = setting.rng("guess", adversary.name, truth.name, case.label)
            return adversary.guess_at(view, truth.released, known, places, rng)

        def blind_at(feature: int, places: Floats, case: Case = case) -> Floats:
            truth = by_feature[feature]
            known = grant(case.label, case.parts, truth, view[truth.released], setting)
            blind = known.blind(setting.rng("blind", truth.name, case.label))
            return np.broadcast_to(blind[:, None], (blind.size, places.size))

        base = _path_shares(path_disclosure(tree, decoded, blind_at, radii))
        disclosed = _path_shares(path_disclosure(tree, decoded, guess_at, radii))
        for name, shares in disclosed.items():
            each = estimate(shares)
            out.append(Row(adversary.name, case.label, name, "paths", each.value, each.low,
                           each.high, float(np.median(base[name])), each.trials))
    return out


def _path_shares(disclosed: PathDisclosure) -> dict[str, Floats]:
    return {"(tree)": disclosed.share, **dict(disclosed.shares_by_length())}

"""The audit: every adversary that applies, and what it gets out of a release.

Each family of methods has an audit of its own, which the method names; this is the door to all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from unspoken.audit.people.own_release import with_people
from unspoken.disclosure.adversary import Adversary
from unspoken.disclosure.audit_request import AuditRequest, Progress
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.ground_truth import row_count
from unspoken.disclosure.policy import Policy
from unspoken.errors import InputError
from unspoken.models.tree import Tree
from unspoken.release.key import Key
from unspoken.release.method import method_of
from unspoken.release.parameters import Real, Rule, Whole, check
from unspoken.release.release import Release
from unspoken.table.basket_tables import as_table
from unspoken.table.baskets import Baskets
from unspoken.table.table import Table

_RULES: Mapping[str, tuple[Rule, str]] = {
    "trials": (Whole(1), "Use 100, or 500 as in the paper."),
    "radius": (Real(0.0, 1.0), "Use 0.01, 0.02 or 0.05, a share of the range."),
    "precision": (Real(0.0, 1.0), "Use 0.01 for medians within one percentage point."),
    "subspaces": (Whole(1), "Use 1 for none, 2 for all pairs of columns."),
}


def audit(  # noqa: PLR0913
    table: Table | Baskets,
    release: Release,
    key: Key | None = None,
    sample: Any = None,
    trials: int = 100,
    random_state: Any = None,
    policy: Policy | str | os.PathLike[str] | None = None,
    adversaries: Iterable[str | Adversary] | None = None,
    *,
    radius: float | None = None,
    subspaces: int = 2,
    tree: Tree | None = None,
    precision: float | None = None,
    progress: Progress | None = None,
    control: Any = None,
    people: bool = True,
) -> Audit:
    """Attack a release in every known way and measure how much each way recovers.

    Parameters
    ----------
    table : Table or Baskets
        The original.
    release : Release
        What is attacked.
    key : Key, default None
        The key of the release, for scoring only; adversaries never see it.
    sample : Table or anything that `read` takes, default None
        Similar data that an adversary may have; by default samples of 1% and 0.1% of the table.
    trials : int, default 100
        How often knowledge is drawn.
    random_state : int, default None
        The same seed gives the same audit.
    policy : Policy or path, default None
        Judged at the end, see `Audit.judgement`.
    adversaries : iterable of str or Adversary, default None
        Names or objects; by default all that apply.
    radius : float, default None
        How near a guess must be to count as recovered, as a share of the range; by default the
        policy's, or 0.02.
    subspaces : int, default 2
        The most columns of a subspace.
    tree : Tree, default None
        A tree mined on the release, whose paths are then attacked too; this needs the key.
    precision : float, default None
        How far the medians may be off, with 95% confidence; more trials than `trials` are made
        where that is needed, up to `MAX_TRIALS`.
    progress : callable, default None
        Called with (done, total).
    control : Table or anything that `read` takes, default None
        People of the same population who are not in the release; without them the risks to people
        are upper bounds.
    people : bool, default True
        Measure the risks to people (singling out, linking, inferring, membership) as well; they
        are left out where `adversaries` are chosen.

    Returns
    -------
    Audit

    Notes
    -----
    Measures are those of bu2007 section 3.2, adversaries those of sections 3.3 and 6 and stronger
    ones. Only listed adversaries are tried; `Audit.limits` says what was not tested. The result
    holds original values in `evidence`: keep it in-house.

    Examples
    --------
    >>> found = audit(table, release, key, random_state=0)  # doctest: +SKIP
    >>> print(found.summary())  # doctest: +SKIP
    """
    rules = Policy.load(policy) if isinstance(policy, str | os.PathLike) else policy
    table = as_table(table, release.mechanism)
    size = radius if radius is not None else rules.radius if rules else 0.02
    check("audit", _RULES, {"trials": trials, "radius": size, "subspaces": subspaces,
                            "precision": 0.01 if precision is None else precision})
    _check_parts(table, release, key, tree)
    request = AuditRequest(sample, int(trials), random_state, adversaries, float(size), subspaces,
                           tree, precision, progress)
    audited: Audit = method_of(release.mechanism).audit(table, release, key, request)
    if people and adversaries is None:
        audited = with_people(audited, table, release, key, control, random_state)
    return audited if rules is None else replace(audited, judgement=rules.judge(audited))


def _check_parts(table: Table, release: Release, key: Key | None, tree: Tree | None) -> None:
    row_count(table, release)
    if key is not None:
        key.fits(release)
    elif tree is not None:
        raise InputError("'tree' needs the key, which decodes the tree. Pass the key too.")

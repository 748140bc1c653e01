"""The audit: every adversary that applies, and what it gets out of a release.

Each family of methods has an audit of its own, which the method names; this is the door to all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from unspoken.audit.added_disclosure import counted, never_attacked
from unspoken.audit.kept_promises import (
    ORDER,
    UNREADABLE,
    faults_of,
    order_row,
    unscored,
)
from unspoken.audit.people.audit_people import as_read
from unspoken.audit.people.control_group import outsiders
from unspoken.audit.people.own_release import with_people
from unspoken.audit.release_overlap import what_it_adds
from unspoken.audit.studies_beside import without_results
from unspoken.audit.target_in_clear import ADVERSARY, WORDS, clear_target, target_rows
from unspoken.audit.two_tables import beside_release
from unspoken.disclosure.adversary import Adversary, named_for
from unspoken.disclosure.audit_request import AuditRequest, Progress, finished, part_of
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.ground_truth import row_count
from unspoken.disclosure.policy import Policy
from unspoken.errors import InputError
from unspoken.models.tree import Tree
from unspoken.release.guarantee import epsilon_in
from unspoken.release.key import Key
from unspoken.release.method import method_of
from unspoken.release.parameters import Real, Rule, Whole, check
from unspoken.release.record_key import NO_KEY, as_protected
from unspoken.release.register import Register
from unspoken.release.release import Release
from unspoken.table.basket_tables import as_table
from unspoken.table.baskets import Baskets
from unspoken.table.table import Table

_ATTACKED = 0.85
"""The share of the work that the adversaries of the method take; risks to people follow."""
RECORDS = "(records)"
"""What is not scored without the key: who is who in the release."""
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
    register: Register | str | os.PathLike[str] | None = None,
    control: Any = None,
    people: bool = True,
    shown: Any = None,
) -> Audit:
    """Attack a release in every known way and measure how much each way recovers.

    Parameters
    ----------
    table : Table or Baskets
        The original, its rows in any order. Another table is refused.
    release : Release
        What is attacked.
    key : Key, default None
        The key of the release, for scoring only; adversaries never see it. Without it nothing says
        which record is whose, and the verdict is "not assessed".
    sample : Table or anything that `read` takes, default None
        Similar data that an adversary may have; by default samples of 1% and 0.1% of the table.
    trials : int, default 100
        How often knowledge is drawn; fewer times, at least 20, for columns of more than 20,000
        values, unless a precision is asked for.
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
    register : Register or path, default None
        What went out before; releases of the same people are attacked together with this one.
    control : Table or anything that `read` takes, default None
        People of the same population who are not in the release; without them the risks to people
        are upper bounds.
    people : bool, default True
        Measure the risks to people (singling out, linking, inferring, membership) as well; they
        are left out where `adversaries` are chosen.
    shown : model, default None
        A model mined on the release, whose decoded form is shown to whoever mined it: what can be
        read off it is then measured too; this needs the key.

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
    # A release with faults swallows errors of its adversaries; a misspelt name is none of these.
    adversaries = None if adversaries is None else named_for(release, adversaries)
    table = _original(table, release, key, {"tree": tree, "shown": shown})
    outside, notes = outsiders(table, None if control is None else as_read(control))
    request = AuditRequest(sample, int(trials), random_state, adversaries, float(size), subspaces,
                           tree, precision, part_of(progress, 0.0, _ATTACKED), shown, outside)
    faults = () if key is None else faults_of(table, release, key)
    audited = _completed(_attacked(table, release, key, request, faults), release, key, faults)
    audited = _with_target(audited, table, release)
    finished(part_of(progress, 0.0, _ATTACKED))
    if people and adversaries is None:
        audited = with_people(audited, table, release, key, outside, random_state,
                              part_of(progress, _ATTACKED, 1.0))
    if register is not None:
        audited = _with_earlier(audited, register, table, release, key, random_state)
    finished(part_of(progress, 0.0, 1.0))
    audited = replace(audited, limits=(*audited.limits, *notes))
    return audited if rules is None else replace(audited, judgement=rules.judge(audited))


def _with_target(audited: Audit, table: Table, release: Release) -> Audit:
    """Say that the target leaves as it is; a quantity counts like any other column."""
    name = clear_target(audited, table, release)
    if name is None:
        return audited
    rows = tuple(target_rows(table, name))
    words = {**audited.words, ADVERSARY: WORDS} if rows else audited.words
    return replace(audited, rows=(*audited.rows, *rows), words=words,
                   release={**audited.release, "target_in_clear": name})


def _with_earlier(audited: Audit, register: Register | str | os.PathLike[str], table: Table,
                  release: Release, key: Key | None, random_state: Any) -> Audit:
    """Add what the release discloses together with earlier ones of the same people."""
    known = register if isinstance(register, Register) else Register.load(register)
    names = None if key is None else method_of(release.mechanism).released_names(key, release)
    added = list(what_it_adds(known, table, release, names, random_state=random_state))
    left = []
    for entry in without_results(known.before(table)):
        both = beside_release(entry, table, release, names, random_state)
        added += both or ()
        left += [entry] if both is None and entry.kind != "release" else []
    rows, unscored_before = counted(added)
    return replace(audited, rows=(*audited.rows, *rows), added=tuple(one.words for one in added),
                   unscored={**audited.unscored, **unscored_before, **never_attacked(left)})


def _attacked(table: Table, release: Release, key: Key | None, request: AuditRequest,
              faults: tuple[str, ...]) -> Audit:
    """Run the audit of the family; a release with faults may be none that it can read."""
    attack = method_of(release.mechanism).audit
    try:
        audited: Audit = attack(table, release, key, request)
    except UNREADABLE as error:
        if not faults:
            raise
        return unscored(release, error, request.radius)
    return audited


def _completed(audited: Audit, release: Release, key: Key | None,
               faults: tuple[str, ...]) -> Audit:
    """Add what every audit says: seed and epsilon, and where the release is not what it says."""
    about = {**audited.release, "seeded": bool(release.details.get("seeded")),
             "epsilon": epsilon_in(release.guarantee.facts)}
    if key is None:
        return replace(audited, release=about, unscored={**audited.unscored, RECORDS: NO_KEY})
    placed = None if audited.select(adversary=ORDER) else order_row(release, key)
    rows = audited.rows if placed is None else (*audited.rows, placed)
    return replace(audited, release=about, rows=rows, faults=faults)


def _original(table: Table, release: Release, key: Key | None,
              models: Mapping[str, Any]) -> Table:
    """Return the original as it stood when it was protected; any other table is refused."""
    row_count(table, release)
    if key is not None:
        key.fits(release)
        return as_protected(table, key)
    for name, model in models.items():
        if model is not None:
            raise InputError(f"'{name}' needs the key, which decodes the {name} model. Pass the "
                             "key too.")
    return table

"""The task `rules`: association rules over the baskets of several owners.

    unspoken joint new study.toml --name shops --task rules --set support=0.01 ...

Parameters: support, confidence (0.5), longest (12), most (baskets of an owner, 2^24), supports
("hidden" or "shown"). items: the agreed names, or a number n for items that are called 0 to n - 1
(a list must fit into 50,000 letters: the study is compared in one message). Files as
`unspoken.read_baskets` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, UnspokenError, explain
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.secure_sum import refuse_two
from unspoken.joint.mpc.shared import width_of
from unspoken.joint.mpc.words.masked_comparison import tree
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import party_options
from unspoken.joint.tasks.rules.params import PROBLEMS, RuleParams, own_baskets
from unspoken.joint.tasks.rules.program_rows import RulesOverRows, disclosures
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.table.baskets import Baskets

KNOWN = ("support", "confidence", "items", "longest", "most", "supports")
LETTERS = 50_000
HEADERS = 128


def names_of(items: Any, what: str = "Parameter 'items' of task 'rules'") -> tuple[str, ...]:
    """Return the agreed names: a list, or a number n for 0 to n - 1."""
    if isinstance(items, int) and not isinstance(items, bool) and 0 < items <= 1 << 20:
        return tuple(map(str, range(items)))
    if isinstance(items, list) and items and all(isinstance(i, str | int) for i in items):
        if len(json.dumps(items)) > LETTERS:
            raise StudyError(explain(what, f"at most {LETTERS:,} letters long", "more",
                                     "Number the items, and give how many there are."))
        return tuple(map(str, items))
    raise StudyError(explain(what, "a list of names, or how many numbers", type(items).__name__))


def terms_of(parameters: Mapping[str, Any]) -> RuleParams:
    """Return the terms of a study; what is wrong is a StudyError."""
    given = {"min_support": parameters.get("support"),
             "min_confidence": parameters.get("confidence", 0.5),
             **{name: parameters[name] for name in ("longest", "most", "supports")
                if name in parameters}}
    try:
        terms = RuleParams(names_of(parameters.get("items")), **given)
        _ = terms.support, terms.confidence
    except InputError as error:
        raise StudyError(str(error)) from None
    return terms


def _program(study: Study) -> RulesOverRows:
    return RulesOverRows(terms_of(study.parameters), study.having("receiver"))


def _check(parameters: Mapping[str, Any]) -> None:
    for name in parameters:
        if name not in KNOWN:
            raise StudyError(f"Task 'rules' has no parameter '{name}'. It has " + ", ".join(KNOWN)
                             + ".")
    terms_of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return disclosures(terms_of(study.parameters), study.having("receiver"))


def _plan(study: Study) -> Plan:
    terms, owners, receivers = (terms_of(study.parameters), study.having("owner"),
                                study.having("receiver"))
    _refuse(study, terms)
    told = _disclosures(study)
    learns = {name: [d.because for d in told if name in (d.to or study.names)]
              for name in study.names}
    if study.outside_dealer is not None:
        learns[study.outside_dealer] = ["how many candidates and rules there are of each size"]
    cost = plan(terms, owners=len(owners), receivers=len(receivers), candidates=[len(terms.items)])
    one = comparing(terms, len(owners))
    notes = ("bytes are for the single items; how many candidates follow from them is not known "
             f"before: each of them and of the rules costs about {one:.0f} bytes more",)
    return Plan(cost["rounds"], cost["bytes"], learns, safe_against(study),
                (*notes_of(study), *notes))


def _refuse(study: Study, terms: RuleParams) -> None:
    """Refuse what no run of this study could do."""
    if not study.facts.has_shares or len(study.having("owner")) < 2:
        raise StudyError(explain("Task 'rules'", "given two owners or more, and a mode with shares",
                                 f"mode '{study.mode}'", "Name a dealer, or use three-party."))
    if terms.shown:
        refuse_two(study.having("owner"), study.having("receiver"))


def comparing(terms: RuleParams, owners: int) -> float:
    """Return about how many bytes one candidate costs: sharing, comparing, opening."""
    width = _width(terms, owners)
    opened = next(size for size in (1, 2, 4, 8) if width <= 8 * size)
    nodes = sum(tree(width - 1))
    return 8 * max(0, owners - 2) + 2 * (opened + 3 * nodes / 8) + (width + 2 * nodes) / 8


def _width(terms: RuleParams, owners: int) -> int:
    num, den = terms.support.as_integer_ratio()
    return width_of(-num * terms.most * owners, den * terms.most * owners)


def plan(terms: RuleParams, *, owners: int, receivers: int, candidates: Sequence[int],
         rules: int = 0) -> dict[str, int]:
    """Return rounds and bytes, with a dealer, if the levels have so many candidates each."""
    steps = len(tree(_width(terms, owners) - 1))
    tested = [*candidates, rules]
    messages = len(tested) * (owners + 3 + 2 * steps + 2 * owners)
    data = sum(count * (comparing(terms, owners) + 0.25 * owners) for count in tested)
    shown = 8 * sum(candidates) * (owners + receivers) if terms.shown else 0
    return {"rounds": 2 + len(tested) * (steps + 5),
            "bytes": int(data + shown + HEADERS * messages)}


def load_baskets(path: Path) -> Baskets:
    """Read a file of baskets; what is no such file is refused by name."""
    from unspoken.table.basket_files import baskets_with

    try:
        return baskets_with(path, party_options())
    except UnspokenError as error:
        raise StudyError(f"'{path.name}' must be a file of baskets. {error}") from None


def _load(path: Path, study: Study) -> Baskets:
    """Return this owner's baskets; what the study does not allow is refused here."""
    terms = terms_of(study.parameters)
    found = load_baskets(path)
    baskets, problem = own_baskets(found, terms)
    if baskets is None:
        unknown = sorted(set(found.items) - set(terms.items))[:3]
        more = f" Look at {', '.join(repr(name) for name in unknown)}." if unknown else ""
        raise RefusedError(f"'{path.name}' {PROBLEMS[problem]}.{more} Nothing was sent.")
    return baskets


TASK = Task("rules", _check, _disclosures, _plan, _load, _program)

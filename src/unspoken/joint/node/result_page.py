"""One page about a study that was run: what was computed, with whom, and who learned what.

It is made of what was agreed on, of the signed consents, and of this party's own ledgers, those of
attempts that failed included: what they opened was learned, too. The page holds the result and
stays with this organisation.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from unspoken.errors import UnspokenError
from unspoken.joint.node.proposal import Proposal, Verdict
from unspoken.joint.session.consent import consent
from unspoken.joint.session.play import Outcome
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.ledger import Ledger

STYLE = ("body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
         "pre{background:#f4f4f4;padding:1em;overflow:auto}"
         "table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.3em .6em;"
         "text-align:left;vertical-align:top}")


def result_page(proposal: Proposal, name: str, outcome: Outcome,
                verdicts: Mapping[str, Verdict], folder: Path) -> str:
    """Return the page of a study whose attempt has ended at node `name`, with files in `folder`."""
    study = proposal.study
    parts = [
        ("Result", _block(_result(outcome))),
        ("What was computed", _block(f"{task_of(study).help}\n\n{proposal.text()}")),
        ("With whom", _with_whom(proposal, verdicts)),
        ("Who learns what", _who_learns(proposal)),
        ("What was opened, attempt by attempt", _attempts(folder)),
        ("What was agreed", _block(consent(study, name))),
        ("What this party sent and received", _block(outcome.ledger.table()))]
    body = "".join(f"<h2>{escape(title)}</h2>{part}" for title, part in parts)
    title = escape(f"Study '{study.name}' at '{name}'")
    return (f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
            f"<style>{STYLE}</style><h1>{title}</h1>{body}</html>")


def _result(outcome: Outcome) -> str:
    result = outcome.output
    if outcome.error is not None:
        return f"The latest attempt failed: {outcome.error}\nWhat was opened before is below."
    if result is None:
        return "Nothing was to be learned by this party."
    return str(result.summary() if hasattr(result, "summary") else result)


def _block(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th scope=col>{escape(word)}</th>" for word in heads)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
                    for row in rows)
    return f"<table><tr>{head}</tr>{lines}</table>"


def _with_whom(proposal: Proposal, verdicts: Mapping[str, Verdict]) -> str:
    rows = [(member.name, ", ".join(member.roles), proposal.tables.get(member.name, "none"),
             member.fingerprint, _agreed(verdicts.get(member.name)))
            for member in proposal.study.members]
    return _table(("party", "roles", "table", "certificate", "agreed"), rows)


def _agreed(verdict: Verdict | None) -> str:
    if verdict is None:
        return "no"
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(verdict.time))
    return f"{verdict.approver}, {when}"


def _who_learns(proposal: Proposal) -> str:
    outlook = task_of(proposal.study).outlook(proposal.study)
    rows = [(party, "; ".join(what) or "nothing", "; ".join(outlook.determined.get(party, ())))
            for party, what in outlook.learns.items()]
    return (_table(("party", "learns", "can work out of the others"), rows)
            + f"<p>Safe against: {escape(outlook.safe)}.</p>")


def _attempts(folder: Path) -> str:
    """Return what the ledgers of all attempts say was opened, the failed ones included."""
    rows = [row for path in sorted(folder.glob("attempt-*.ledger"), key=_number)
            for row in _opened_in(path)]
    return _table(("attempt", "ended", "opened", "to"), rows)


def _number(path: Path) -> int:
    return int(path.name.split(".")[0].removeprefix("attempt-"))


def _opened_in(path: Path) -> list[tuple[str, str, str, str]]:
    attempt = str(_number(path))
    try:
        ledger = Ledger.load(path)
    except UnspokenError as error:
        return [(attempt, "not known", str(error), "")]
    ended = ledger.status or "in the middle"
    if ledger.continues:
        ended += f"; went on from {ledger.continues}"
    return [(attempt, ended, one.told, ", ".join(one.to) or "all")
            for one in ledger.openings] or [(attempt, ended, "nothing", "")]

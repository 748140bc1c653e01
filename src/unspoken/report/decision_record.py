"""The decision record: two pages that an officer signs, then the appendix.

Page one says the verdict, by whom people are named and what is inferred, what is released to whom,
why and until when, what is open, and the policy with its hash. Page two has the risks with their
control group, class sizes, and use beside risk, also of other methods.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.people_risk import Risk
from unspoken.disclosure.plain_language import HIGH
from unspoken.disclosure.release_verdict import LOW, Verdict, verdict_of
from unspoken.release.method import name_in
from unspoken.release.record_subject import Subject
from unspoken.release.terms_of_use import Terms
from unspoken.report import summaries
from unspoken.report.drawing import percent
from unspoken.report.page import Page
from unspoken.report.record_parts import (
    checklist,
    page_break,
    risk_table,
    signature_box,
    verdict_box,
)
from unspoken.table.identify.law import NO_ADVICE

NOT_SAID = "not stated"
MOST_LINES = 12
"""Lines of a policy that stand on the first page."""
NOT_COMPARED = ("Other methods were not tried on this table, so what they would have got is not "
                "known. '--compare' tries some of them.")


@dataclass(frozen=True)
class Decision:
    """What the record is about besides the audit.

    Attributes
    ----------
    terms : Terms
        Purpose, legal basis, recipient, retention.
    policy : str
        The text of the policy; empty if there was none.
    seed : int or None
        The seed of the audit.
    compared : tuple of (name, naming, inferring, columns kept, reason)
        What other methods would have got, or why one could not be tried.
    added : tuple of str
        What this release and earlier ones show together.
    source : str
        The name of what was audited.
    when : str
        The date; today by default.
    subject : Subject or None
        The release by name and digest, so that `verify-record` can tell whether it is this one.
    """

    terms: Terms = field(default_factory=Terms)
    policy: str = ""
    seed: int | None = None
    compared: tuple[tuple[str, float | None, float | None, float | None, str], ...] = ()
    added: tuple[str, ...] = ()
    source: str = ""
    when: str = ""
    subject: Subject | None = None

    @property
    def date(self) -> str:
        """Return the date of the decision."""
        return self.when or datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def decision_record(audit: Audit, decision: Decision | None = None) -> Page:
    """Build the record; `Page.save` writes it, with mode 0600 by `save_private`.

    Parameters
    ----------
    audit : Audit
        What was measured.
    decision : Decision, default None
        What it is about: terms, policy, seed, comparisons.

    Returns
    -------
    Page
    """
    about = decision or Decision()
    verdict = verdict_of(audit)
    page = Page("Decision record", _subtitle(audit, about))
    if about.subject is not None:
        page.markup(about.subject.markup())
    verdict_box(page, verdict)
    _terms(page, audit, about)
    _reasons(page, verdict, about)
    _policy(page, audit, about)
    signature_box(page)
    page_break(page)
    _risks(page, audit)
    _classes(page, audit)
    _use(page, audit, about)
    page_break(page)
    _appendix(page, audit, about)
    return page


def _subtitle(audit: Audit, about: Decision) -> str:
    kind = name_in(audit.release.get("mechanism", {}))
    rows = audit.release.get("rows")
    count = f", {rows:,} rows" if isinstance(rows, int) else ""
    name = about.source or str(audit.release.get("fingerprint", "?"))[:12]
    return f"{name} ({kind}{count}). {about.date}."


def _terms(page: Page, audit: Audit, about: Decision) -> None:
    said = {name.replace("_", " "): text or NOT_SAID for name, text in asdict(about.terms).items()}
    columns = [str(name) for name in audit.release.get("columns", {})]
    rows = [["what", f"{about.source or 'the release'}: {_listed(columns)}"],
            *([name, text] for name, text in said.items())]
    page.section("What is released, to whom, why, until when").table(["", ""], rows, align="ll")


def _listed(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) + more) or "see the appendix"


def _reasons(page: Page, verdict: Verdict, about: Decision) -> None:
    lines = [*verdict.reasons[:6]]
    if len(verdict.reasons) > 6:
        lines.append(f"and {len(verdict.reasons) - 6} more, see the appendix")
    lines += [f"{name} is not stated" for name in about.terms.missing()]
    lines += list(about.added[:3])
    page.section("Open points")
    page.bullets(lines or ["None."])


def _risks(page: Page, audit: Audit) -> None:
    page.section("Risks to people")
    if audit.people is None:
        page.text("The risks to people were not measured.")
        return
    worst: list[Risk] = [one for kind in dict.fromkeys(r.kind for r in audit.people.risks)
                         if (one := audit.people.worst(kind)) is not None]
    risk_table(page, worst, audit.people.controlled)


def _classes(page: Page, audit: Audit) -> None:
    """Add class sizes and chances of being found."""
    rows: list[list[Any]] = [[f"smallest class (K), {row.adversary}", f"{row.value:g}"]
                             for row in audit.select(measure="k")]
    persons = audit.people.persons if audit.people is not None else None
    if persons is not None and len(persons.prosecutor):
        spread = persons.spread()
        rows += [["people attacked", f"{len(persons.prosecutor):,}"],
                 ["prosecutor, highest", percent(spread["highest"])],
                 ["prosecutor, worst 1% on average", percent(spread["worst 1% on average"])],
                 ["prosecutor, half of the people at most", percent(spread["50%"])],
                 ["journalist, highest", percent(float(persons.journalist.max()))],
                 ["marketer, expected share of all people", percent(persons.marketer)]]
        known = f"Chance of being found by who knows {_listed(persons.known, 6)}."
    else:
        known = "Chances of being found."
    if rows:
        page.section("Class sizes and who is exposed").table(["", "value"], rows, known, "lr")


def _use(page: Page, audit: Audit, about: Decision) -> None:
    page.section("Use beside risk")
    use = audit.people.utility if audit.people is not None else {}
    verdict = verdict_of(audit)
    row = ["this release", _share(verdict.naming), _share(verdict.inferring),
           _percent(use.get("columns"))]
    others = [[name, *map(_percent, shares)] for name, *shares, _ in about.compared]
    page.table(["method", "naming", "inferring", "columns kept"], [row, *others],
               "Naming and inferring beyond control or guess; columns kept: one less the mean "
               "distance of their distributions.", "lrrr")
    failed = [f"{one[0]}: {one[-1]}" for one in about.compared if one[-1]]
    if failed:
        page.bullets(failed)
    if not about.compared:
        page.text(NOT_COMPARED)


def _percent(share: Any) -> str:
    return "–" if share is None else percent(share)


def _share(one: Any) -> str:
    return NOT_SAID if one is None else percent(one.share)


def _policy(page: Page, audit: Audit, about: Decision) -> None:
    page.section("Policy")
    if not about.policy:
        page.text("No policy was given: the verdict rests on the limits below. "
                  f"Below {percent(LOW)} beyond control a risk is low, from {percent(HIGH)} on it "
                  "is high.")
        return
    digest = hashlib.sha256(about.policy.encode()).hexdigest()
    held = audit.judgement is not None and audit.judgement.passed
    page.text(f"The policy {'holds' if held else 'does not hold'}. SHA-256 {digest}.")
    lines = about.policy.strip().splitlines()
    more = [f"# and {len(lines) - MOST_LINES} more lines, see the appendix"] \
        if len(lines) > MOST_LINES else []
    page.code("\n".join([*lines[:MOST_LINES], *more]))


def _appendix(page: Page, audit: Audit, about: Decision) -> None:
    page.section("Appendix")
    if audit.people is not None:
        page.section("Every attack on people", level=3)
        risk_table(page, audit.people.risks, audit.people.controlled)
        page.table(["column", "how it was read"], [list(p) for p in audit.people.read.items()],
                   "Released columns")
    if audit.judgement is not None and audit.judgement.reasons:
        page.section("Why the policy does not hold", level=3).bullets(audit.judgement.reasons)
    if len(about.policy.strip().splitlines()) > MOST_LINES:
        page.section("The whole policy", level=3).code(about.policy)
    if audit.unscored:
        page.table(["column", "why it was not scored"], [list(p) for p in audit.unscored.items()])
    ranked = summaries.by_column(audit)
    if ranked:
        page.table(["column", "at worst", "interval", "without the release", "beside", "adversary",
                    "knowledge"], ranked, "Columns, riskiest first", "lrrrrll")
    page.section("What was not tested", level=3).bullets([*audit.limits, NO_ADVICE])
    page.section("How it was made", level=3)
    page.table(["what", "value"], [
        ["date", about.date], ["seed of the audit", NOT_SAID if about.seed is None else about.seed],
        ["trials", audit.trials], *_fingerprints(audit.release, about.subject)])
    page.table(["software", "version"], summaries.versions(), "Versions")
    page.section("Checklist", level=3)
    checklist(page)


def _fingerprints(release: Mapping[str, Any], subject: Subject | None) -> list[list[Any]]:
    sums = [["fingerprint of the release", release.get("fingerprint", NOT_SAID)]]
    if release.get("data_sha256"):
        sums.append(["SHA-256 of the data file", release["data_sha256"]])
    elif subject is not None:
        sums.append(["SHA-256 of the manifest", subject.sha256])
    return sums


def save_private(page: Page, path: Path) -> None:
    """Write a page that only its owner may read."""
    from unspoken.table.atomic_files import write_file

    write_file(path, page.html().encode(), 0o600)

"""A release that is ready to be decided on: made, attacked, and described; not yet signed.

The folder of a draft is filled beside its place and moved there at once. It holds the release, its
key (sealed), the report, the decision record, and `draft.json` with what a page shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from unspoken.release.manifest_files import DATA, MANIFEST
from unspoken.studio.draft_seal import file_hashes, register_head, sealed
from unspoken.studio.session_folder import SessionFolder, read_description
from unspoken.studio.table_source import Source

RELEASE, KEY, REPORT, RECORD, ABOUT = ("release", "release.key", "report.html", "record.html",
                                       "draft.json")
FILES = {"record": RECORD, "report": REPORT, "data": f"{RELEASE}/{DATA}",
         "manifest": f"{RELEASE}/{MANIFEST}", "key": KEY}
"""What is signed, by the word that a decision has for it."""
Step = Callable[..., None]


def make_draft(request: Mapping[str, Any], step: Step) -> dict[str, Any]:
    """Make the release that is asked for, attack it, and write the draft."""
    from unspoken.disclosure.policy import Policy
    from unspoken.table.atomic_files import write_folder

    place = Path(request["place"])
    step(0, 100, "The table is read.")
    source = Source.from_json(request["source"])
    table = source.read()
    policy = Policy.parse(request["policy"]) if request["policy"] else None
    about: dict[str, Any] = {}
    write_folder(place, lambda folder: about.update(
        _filled(folder, table, source, policy, request, step)))
    return {"draft": place.name, "may_leave": about["may_leave"]}


def _filled(folder: Path, table: Any, source: Source, policy: Any, request: Mapping[str, Any],
            step: Step) -> dict[str, Any]:
    from unspoken.release.method import method_of
    from unspoken.release.register import Register
    from unspoken.release.terms_of_use import Terms

    folder.chmod(0o700)
    # Before the audit: what is entered while it runs has left since.
    head = register_head(Register.load(request["register"]))
    step(5, 100, "The release is made.")
    terms = Terms(**request["terms"])
    method = method_of(request["method"]).build(request["parameters"])
    release, key = method.protect(table)
    key.save(folder / KEY, request["passphrase"])
    release = terms.onto(release).save(folder / RELEASE)
    _only_for_the_owner(folder / RELEASE)
    result = _attacked(table, release, key, policy, request, step)
    _documents(folder, result, table, release, key, terms, request)
    about = {**_about(result, release, source, request), "register": head,
             "sha256": file_hashes(folder, FILES.values())}
    secret = SessionFolder(Path(request["place"]).parents[1]).draft_secret()
    _write(folder / ABOUT, sealed(about, secret))
    return about


def _only_for_the_owner(release: Path) -> None:
    release.chmod(0o700)
    for file in release.iterdir():
        file.chmod(0o600)


def _attacked(table: Any, release: Any, key: Any, policy: Any, request: Mapping[str, Any],
              step: Step) -> Any:
    """Run the full audit with a control group, and judge it by the policy."""
    from unspoken.audit.trial_release import FEWEST, with_trial
    from unspoken.release.method import method_of
    from unspoken.risk import audit

    register = Path(request["register"])
    result = audit(table, release, key, radius=None if policy is None else policy.radius,
                   people=table.rows < FEWEST, register=register if register.exists() else None,
                   progress=lambda done, total: step(10 + 60 * done / max(total, 1), 100,
                                                     "Every adversary attacks."))
    step(72, 100, "People are attacked beside a control group.")
    result = with_trial(result, table, method_of(request["method"]).build(request["parameters"]))
    step(95, 100, "The report is written.")
    return result if policy is None else replace(result, judgement=policy.judge(result))


def _about(result: Any, release: Any, source: Source, request: Mapping[str, Any]
           ) -> dict[str, Any]:
    from unspoken.disclosure.release_verdict import may_leave, verdict_of

    verdict = verdict_of(result)
    return {"source": source.to_json(), "method": request["method"],
            "parameters": dict(request["parameters"]), "terms": dict(request["terms"]),
            "policy": request["policy"], "verdict": verdict.to_json(),
            "may_leave": may_leave(result, verdict), "fingerprint": release.fingerprint,
            "rows": release.table.rows, "columns": list(release.schema.names),
            "promise": release.guarantee.statement, "added": list(result.added),
            "risks": [asdict(one) for one in result.people.risks] if result.people else [],
            "owner": request.get("owner", ""), "limits": list(result.limits),
            "sealed": request["passphrase"] is not None}


def _documents(folder: Path, result: Any, table: Any, release: Any, key: Any, terms: Any,
               request: Mapping[str, Any]) -> None:
    from unspoken.release.record_subject import Subject, digest_of
    from unspoken.report import audit_page
    from unspoken.report.decision_record import Decision, decision_record, save_private
    from unspoken.table.formats.data_urls import as_place

    name = as_place(request["source"]["path"])
    save_private(audit_page(result, release=release, table=table, key=key, source=name),
                 folder / REPORT)
    decision = Decision(terms, request["policy"], None, (), tuple(result.added), name.name,
                        subject=Subject(RELEASE, digest_of(folder / RELEASE)))
    save_private(decision_record(result, decision), folder / RECORD)


def _write(path: Path, data: Any) -> None:
    from unspoken.table.atomic_files import write_file

    write_file(path, json.dumps(data, indent=2, default=str).encode(), 0o600)


def read_about(folder: Path) -> dict[str, Any]:
    """Return what a draft or a signed decision says about itself."""
    return read_description(folder / ABOUT, "source", "verdict", "method", "may_leave", "terms")

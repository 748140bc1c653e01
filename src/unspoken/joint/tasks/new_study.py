"""Writing a study: parties from their certificates, and what the task opens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from unspoken.joint.session.identity import name_in, read_certificate
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member, fingerprint


def member_of(path: Path | str, address: str, roles: tuple[str, ...]) -> Member:
    """Return a party by its certificate and its address."""
    certificate = read_certificate(path)
    return Member(name_in(certificate), address, roles, fingerprint(certificate), certificate)


def completed(draft: Study) -> Study:
    """Return a study with what its task opens, to whom, and against whom it is safe, checked."""
    return Study.from_json(announced(draft).to_json())


def announced(draft: Study) -> Study:
    """Return the same without checking the parties' certificates, for parties that have none."""
    task = task_of(draft)
    return replace(draft, coalitions=task.outlook(draft).safe,
                   disclosures=task.disclosures(draft))

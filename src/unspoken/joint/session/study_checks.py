"""What only makes sense for all parties of a study together, and what its mode asks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.engines.modes import mode_of

if TYPE_CHECKING:
    from unspoken.joint.session.study import Study


def check_together(study: Study) -> None:
    """Check what only makes sense for all parties together."""
    if not study.members:
        raise StudyError("The study has no parties.")
    for what, values in (("name", study.names), ("address", [m.address for m in study.members]),
                         ("certificate", [m.fingerprint for m in study.members])):
        twice = next((v for i, v in enumerate(values) if v in values[:i]), None)
        if twice is not None:
            raise StudyError(f"Every party needs its own {what}. '{twice}' appears twice.")
    for disclosure in study.disclosures:
        for name in disclosure.to:
            study.member(name)
    mode_of(study.mode).check(study.members)

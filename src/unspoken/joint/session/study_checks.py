"""What only makes sense for all parties of a study together, and what its mode asks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.engines.modes import mode_of
from unspoken.joint.wire.relay.relay_words import SCHEME

if TYPE_CHECKING:
    from unspoken.joint.session.study import Study


def check_together(study: Study) -> None:
    """Check what only makes sense for all parties together."""
    if not study.members:
        raise StudyError("The study has no parties.")
    # Several parties may wait at one relay.
    addresses = [m.address for m in study.members if not m.address.startswith(SCHEME)]
    for what, values in (("name", study.names), ("address", addresses),
                         ("certificate", [m.fingerprint for m in study.members])):
        twice = next((v for i, v in enumerate(values) if v in values[:i]), None)
        if twice is not None:
            raise StudyError(f"Every party needs its own {what}. '{twice}' appears twice.")
    for disclosure in study.disclosures:
        for name in disclosure.to:
            study.member(name)
    mode_of(study.mode).check([m for m in study.members if "linker" not in m.roles])
    _check_linker(study)


def _check_linker(study: Study) -> None:
    """Refuse a linkage unit that has more to do, that is one of several, or that nobody needs."""
    linkers = [m for m in study.members if "linker" in m.roles]
    if len(linkers) > 1 or any(len(m.roles) > 1 for m in linkers):
        raise StudyError("A study has one linkage unit at most, and it has no data, holds no "
                         f"shares, deals nothing and gets no result. Here are {len(linkers)}, or "
                         "one that has another role.")
    if linkers and "link" not in study.parameters:
        raise StudyError(f"'{linkers[0].name}' is a linkage unit, and the study links no records. "
                         "Name the columns, as in --set 'link=[\"last:name\", \"born:date\"]', in "
                         "a task over columns, or leave --linker out.")

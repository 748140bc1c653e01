"""What only makes sense for all parties of a study together, and what its mode asks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError

if TYPE_CHECKING:
    from unspoken.joint.session.study import Study


def check_together(study: Study) -> None:
    """Check what only makes sense for all parties together."""
    if not study.members:
        raise StudyError("A study must have parties. It has none.")
    for what, values in (("name", study.names), ("address", [m.address for m in study.members]),
                         ("certificate", [m.fingerprint for m in study.members])):
        twice = next((v for i, v in enumerate(values) if v in values[:i]), None)
        if twice is not None:
            raise StudyError(f"Every party must have a {what} of its own. '{twice}' stands twice.")
    for disclosure in study.disclosures:
        for name in disclosure.to:
            study.member(name)
    if study.mode == "dealer":
        _check_dealer(study)
    elif study.mode == "two-party":
        _check_two(study)
    elif study.mode == "three-party":
        _check_three(study)
    elif study.mode == "spu":
        _check_spu(study)


def _check_dealer(study: Study) -> None:
    dealers, holders = study.having("dealer"), study.having("holder")
    if len(holders) > 1 and len(dealers) != 1:
        raise StudyError(explain("Mode 'dealer'", "given exactly one dealer", len(dealers)))
    if len(holders) < min(2, len(study.having("owner"))) or not holders:
        raise StudyError("Mode 'dealer' needs two parties with the role 'holder'. There are "
                         f"{len(holders)}. A single holder would see every value.")
    both = set(dealers) & (set(holders) | set(study.having("owner")))
    if both:
        raise StudyError(f"The dealer must not hold shares or data. '{min(both)}' does. A dealer "
                         "who also holds a share learns every value.")


def _check_spu(study: Study) -> None:
    holders, dealer = study.having("holder"), study.having("dealer")
    if len(holders) not in (2, 3) or dealer:
        raise StudyError("Mode 'spu' needs two or three parties with the role 'holder' and no "
                         f"dealer. Got {len(holders)} holders and {len(dealer)} dealers.")


def _check_two(study: Study) -> None:
    holders, dealers = study.having("holder"), study.having("dealer")
    if len(holders) != 2 or dealers:
        raise StudyError("Mode 'two-party' needs exactly two parties with the role 'holder', and "
                         f"no dealer. Got {len(holders)} holders and {len(dealers)} dealers.")


def _check_three(study: Study) -> None:
    holders, dealer = study.having("holder"), study.having("dealer")
    if len(study.members) != 3 or len(holders) != 2 or len(dealer) != 1 or set(dealer) <= set(
            holders):
        raise StudyError("Mode 'three-party' needs exactly three parties: two with the role "
                         f"'holder' and the third with 'dealer'. Got {len(study.members)} parties, "
                         f"{len(holders)} holders and {len(dealer)} dealers.")

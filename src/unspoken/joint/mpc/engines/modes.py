"""Every mode, in one tuple: a new engine is a new folder and one line here."""

from __future__ import annotations

from unspoken.errors import InputError, explain
from unspoken.joint.mpc.authentic.auth_engine import WithTags
from unspoken.joint.mpc.engines.dealt_engine import NoShares, ThreeParties, WithDealer
from unspoken.joint.mpc.engines.mode import Mode
from unspoken.joint.mpc.engines.spu.spu_engine import OnSpu
from unspoken.joint.mpc.engines.two_party.transfer_engine import TwoParties
from unspoken.joint.mpc.verified.verified_engine import VerifiedThree

MODES: tuple[Mode, ...] = (NoShares(), WithDealer(), WithTags(), TwoParties(),
                           ThreeParties(), VerifiedThree(), OnSpu())
MODE_NAMES = tuple(mode.name for mode in MODES)


def mode_of(name: str) -> Mode:
    """Return a mode by its name."""
    for mode in MODES:
        if mode.name == name:
            return mode
    raise InputError(explain("'mode'", "one of " + ", ".join(MODE_NAMES), name))


def usual_mode(*, dealer: bool, shares: bool) -> Mode:
    """Return the default mode of a task: 'authenticated' if there is a dealer, else SPU, whose
    design others have published on, if the task needs shares and this machine has it, else sums.
    """
    if dealer:
        return mode_of(WithTags.name)
    published = mode_of(OnSpu.name)
    return published if shares and published.can_run() else mode_of(NoShares.name)

"""Every error of joint studies.

    JointError
    ├── FrameError             bytes that are not a valid frame; names the field
    ├── PartyError             a party made the run end; has .party and .step
    │   ├── PeerLostError      killed, cut off, or silent
    │   ├── PeerGarbageError   it sent something that is not a message of this run
    │   ├── PeerFinishedError  it ended its program while something was still expected of it
    │   ├── PeerAbortedError   it ended the run because its own program failed
    │   └── BystanderError     a third party failed, as a peer reported
    ├── IdentityError          a certificate that is not the named party's
    ├── PreflightError         two parties do not have the same study
    ├── DisclosureError        a value was to be opened that was not declared
    ├── RefusedError           a protocol that would give no protection here (also an InputError)
    ├── RingError              a value or a plan that does not fit the ring (also an InputError)
    ├── StudyError             a study file that cannot be used (also an InputError)
    ├── StateError             a node's state that cannot be read or written (also an InputError)
    ├── EngineError            an engine that failed on this machine
    └── LedgerError            a ledger file that cannot be read

Messages name parties, steps, labels, fields and sizes; never a value, a share, a mask or a seed.
"""

from __future__ import annotations

from unspoken.errors import InputError, UnspokenError


class JointError(UnspokenError):
    """Base of every error of joint studies."""


class FrameError(JointError):
    """Bytes that are not a valid frame."""

    def __init__(self, field: str, text: str) -> None:
        self.field = field
        super().__init__(text)

    def __reduce__(self) -> tuple[type[FrameError], tuple[str, str]]:
        return type(self), (self.field, str(self))


class PartyError(JointError):
    """A party made the run end."""

    def __init__(self, party: str, step: str, text: str) -> None:
        self.party = party
        self.step = step
        self.what = text
        super().__init__(f"'{party}' {text} at step {step}. The run ended and nothing more was "
                         "sent. Start it again on every side.")

    def __reduce__(self) -> tuple[type[PartyError], tuple[str, str, str]]:
        return type(self), (self.party, self.step, self.what)


class PeerLostError(PartyError):
    """A peer was killed, cut off or silent."""


class PeerGarbageError(PartyError):
    """A peer sent something that is not a message of this run."""


class PeerFinishedError(PartyError):
    """A peer ended its program while something was still expected of it."""


class PeerAbortedError(PartyError):
    """A peer ended the run because its own program failed."""


class BystanderError(PartyError):
    """A third party failed, as a peer reported."""


class IdentityError(JointError):
    """A certificate that is not the named party's."""


class PreflightError(JointError):
    """Two parties do not have the same study."""

    def __init__(self, field: str, text: str) -> None:
        self.field = field
        super().__init__(text)

    def __reduce__(self) -> tuple[type[PreflightError], tuple[str, str]]:
        return type(self), (self.field, str(self))


class DisclosureError(JointError):
    """A value was to be opened that was not declared."""


class RefusedError(JointError, InputError):
    """A protocol that would give no protection here."""


class RingError(JointError, InputError):
    """A value or a plan that does not fit the ring."""


class StudyError(JointError, InputError):
    """A study file that cannot be used."""


class StateError(JointError, InputError):
    """A node's state that cannot be read or written."""


class EngineError(JointError):
    """An engine that failed on this machine."""


class LedgerError(JointError):
    """A ledger file that cannot be read."""

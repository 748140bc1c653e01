"""Which code may book a message as what: purposes are set by primitives, not by programs.

A ledger is worth nothing if a program can send plaintext and call it masked. So only the primitives
of this package, which mask, encrypt or share what they send, may claim these purposes; the tasks
may send words of control; and whatever else a program sends itself is a disclosure, which must have
been declared. Code that goes around this on purpose is other code: parties compare a digest of all
of it before they start.
"""

from __future__ import annotations

from unspoken.joint.wire.frames import Purpose

OPEN = frozenset({Purpose.DISCLOSURE, Purpose.RESULT})
_ALL = frozenset(Purpose)
_CONTROL = frozenset({Purpose.CONTROL, *OPEN})
_MUSEUM = "unspoken.joint.museum."
# The longest name that fits decides.
CLAIMS: dict[str, frozenset[Purpose]] = {
    "unspoken.joint.mpc.": _ALL,
    "unspoken.joint.tasks.": _CONTROL,
    _MUSEUM: OPEN,
    f"{_MUSEUM}encrypted_dot": _ALL,
    f"{_MUSEUM}permuted_sum": _ALL,
    f"{_MUSEUM}ring_sum": frozenset({Purpose.MASKED, *OPEN}),
    f"{_MUSEUM}cycle_sum": frozenset({Purpose.MASKED, *OPEN}),
    f"{_MUSEUM}ciphertext_counter": frozenset({Purpose.ENCRYPTED, *OPEN}),
}


def may_claim(module: str, purpose: Purpose) -> bool:
    """Return True if a module's messages may bear a purpose without an opening in this step."""
    fitting = [name for name in CLAIMS if module.startswith(name)]
    return bool(fitting) and purpose in CLAIMS[max(fitting, key=len)]

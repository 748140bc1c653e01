"""Codes that one person reads aloud and another types: signs that neither sound nor look alike."""

from __future__ import annotations

import hmac

SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""32 signs, 5 bits each, without I, O, 0 and 1, which sound or look alike."""
_GROUP = 4


def spoken(number: int, bits: int) -> str:
    """Return a number of the given length in bits as characters in groups of four."""
    text = "".join(SIGNS[number >> shift & 31] for shift in range(bits - 5, -1, -5))
    return "-".join(text[start:start + _GROUP] for start in range(0, len(text), _GROUP))


def same_code(typed: str, expected: str) -> bool:
    """Return True if a person typed the code that the other side reads aloud."""
    plain = "".join(sign for sign in typed.upper() if sign.isalnum())
    return bool(expected) and equal_texts(plain, expected.replace("-", ""))


def equal_texts(one: str, other: str) -> bool:
    """Return True if two texts of any characters are the same, in a time that tells nothing."""
    return hmac.compare_digest(text_bytes(one), text_bytes(other))


def text_bytes(text: str) -> bytes:
    """Return any text as bytes, one with half a character too."""
    return text.encode("utf-8", "surrogatepass")

"""How one value may be written, turned round, or hashed: what whoever guesses a form tries.

Unsalted digests of what can be listed are no secret (Article 29 Working Party, Opinion 05/2014,
section 4). All of them are tried in full, cut at either end, in hexadecimal and in base 64.
"""

from __future__ import annotations

import base64
import codecs
import datetime
import hashlib
import re
import unicodedata
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from unspoken.audit.people.spelt_dates import days_of
from unspoken.audit.people.spelt_numbers import intervals

Digest = Callable[[str], str]
SHORTEST = 4
"""Characters that a cut digest has at least."""
_HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512",
           "blake2b", "blake2s")
FEW = 8
_DATES = ("%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d")
_DECIMAL, _DIGIT = re.compile(r"[0-9]+"), re.compile(r"[0-9]")
_HEX, _BASE64 = re.compile(r"[0-9a-fA-F]+"), re.compile(r"[0-9A-Za-z+/_\-]+={0,2}")
_EXPONENT = re.compile(r"(\d)(?:\.(\d+))?e\+(\d+)")
_LETTERS = {"letters for digits": "abcdefghij", "letters for digits, from one": "jabcdefghi"}


def spellings(value: Any) -> list[str]:
    """Return the usual spellings of a value; numbers in full and with few decimals."""
    if isinstance(value, datetime.date):
        return [*(value.strftime(form) for form in _DATES), str(value), value.isoformat(),
                f"{value:%Y-%m-%d} 00:00:00", f"{value:%Y-%m-%dT%H:%M:%S}"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = str(value)
        return list(dict.fromkeys((text, text.strip(), text.lower(), text.upper())))
    short = abs(value) < 1e15 and value == int(value)
    whole = [str(int(value)), f"{int(value)}.0"] if short else []
    return list(dict.fromkeys((str(value), *whole, f"{value:g}", f"{value:.1f}", f"{value:.2f}",
                               f"{value:.3f}")))


def _base64(text: str) -> str | None:
    padded = text.rstrip("=").replace("-", "+").replace("_", "/")
    if not _BASE64.fullmatch(text):
        return None
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode()
    except ValueError:
        return None


def _base32(text: str) -> str | None:
    try:
        plain = text.rstrip("=").upper()
        return base64.b32decode(plain + "=" * (-len(plain) % 8)).decode()
    except ValueError:
        return None


def _hexadecimal(text: str) -> str | None:
    plain = text.lower().removeprefix("0x").removeprefix("\\x").replace(":", "").replace(" ", "")
    if large := _EXPONENT.fullmatch(plain):
        # "37352e31" is "75.1" and was taken for a number.
        plain = f"{large[1]}{large[2] or ''}e{int(large[3]) - len(large[2] or '')}"
    try:
        return bytes.fromhex(plain).decode()
    except ValueError:
        return None


def _digits(letters: str) -> Callable[[str], str | None]:
    digits = str.maketrans(letters, "0123456789")

    def back(text: str) -> str | None:
        plain = text.lower()
        # A digit among them stands for itself: "c1" is a label, not 21.
        spelt = any(sign in letters for sign in plain) and not _DIGIT.search(plain)
        return plain.translate(digits) if spelt else None

    return back


REVERSIBLE: Mapping[str, Callable[[str], str | None]] = {
    "spelt backwards": lambda text: text[::-1],
    "in base 64": _base64,
    "in base 32": _base32,
    "in hexadecimal": _hexadecimal,
    "with letters turned by 13": lambda text: codecs.decode(text, "rot13"),
    **{form: _digits(letters) for form, letters in _LETTERS.items()},
}
"""Forms that anybody turns back."""


def digests_like(texts: Sequence[str]) -> Iterator[tuple[str, Digest]]:
    """Yield the digests that a column may hold by its look: one alphabet and one length."""
    first, last = min(texts), max(texts)
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    start = re.sub(r"[0-9A-Za-z]+$", "", first[:same])
    for form, digest in _digests([text[len(start):] for text in texts]):
        yield form, partial(_after, start, digest)


def _after(start: str, digest: Digest, text: str) -> str:
    return start + digest(text)


def _digests(texts: Sequence[str]) -> Iterator[tuple[str, Digest]]:
    sizes = {len(text) for text in texts}
    size = max(sizes, default=0)
    hexadecimal = _all_in(_HEX, texts)
    # Digests without a letter among them are decimal numbers, or very few.
    lettered = len(texts) < FEW or not _all_in(_DECIMAL, texts)
    if len(sizes) == 1 and size >= SHORTEST and hexadecimal and lettered:
        for name in _HASHES:
            yield f"as {name}", partial(_start, name, size)
            yield f"as the end of {name}", partial(_end, name, size)
    elif len(sizes) == 1 and size >= 2 * SHORTEST and _all_in(_BASE64, texts):
        for name in _HASHES:
            yield f"as {name}", partial(_in_base64, name, size, "+/")
            yield f"as {name}", partial(_in_base64, name, size, "-_")
    if size > SHORTEST and hexadecimal and lettered:
        yield "as crc32", lambda text: f"{zlib.crc32(text.encode()):08x}"
    if size > SHORTEST and _all_in(_DECIMAL, texts):
        yield from _decimal_digests(texts, size)


def _decimal_digests(texts: Sequence[str], size: int) -> Iterator[tuple[str, Digest]]:
    """Yield digests as numbers, where the numbers are spread evenly, as those of digests are."""
    if _even(texts, 2**32):
        yield "as crc32", lambda text: str(zlib.crc32(text.encode()))
    if _even(texts, 10**size):
        for name in _HASHES[:4]:
            yield f"as {name}", partial(_rest, name, size)


def _even(texts: Sequence[str], end: int) -> bool:
    """Return whether numbers may be spread evenly below an end (Kolmogorov's distance)."""
    places = np.sort(np.array([int(text) / end for text in texts]))
    steps = np.arange(1, places.size + 1) / places.size
    return bool(np.abs(places - steps).max() < 2.0 / np.sqrt(places.size) + 1 / places.size)


def _all_in(signs: re.Pattern[str], texts: Sequence[str]) -> bool:
    return all(signs.fullmatch(text) for text in texts)


@lru_cache(maxsize=1 << 18)
def _hash(name: str, text: str) -> bytes:
    return hashlib.new(name, text.encode(), usedforsecurity=False).digest()


def _start(name: str, size: int, text: str) -> str:
    return _hash(name, text).hex()[:size]


def _end(name: str, size: int, text: str) -> str:
    return _hash(name, text).hex()[-size:]


def _in_base64(name: str, size: int, signs: str, text: str) -> str:
    return base64.b64encode(_hash(name, text), signs.encode()).decode()[:size]


def _rest(name: str, size: int, text: str) -> str:
    """Return a digest as a number of some decimal digits."""
    return str(int.from_bytes(_hash(name, text), "big") % 10**size)


def plain_keys(texts: Sequence[str]) -> Iterator[Sequence[Hashable] | None]:
    """Yield what texts say as words, as numbers and as days; None where they are no such thing."""
    yield [_word(text) or None for text in texts]
    low, high, known = intervals(list(texts))
    exact = known & (low == high)
    yield [float(one) if there else None for one, there in zip(low, exact, strict=True)] \
        if exact.mean() > 0.5 else None
    days = days_of(texts, np.empty(0))
    yield None if days is None else [None if np.isnan(day) else float(day) for day in days]


def _word(text: str) -> str:
    split = unicodedata.normalize("NFKD", text.casefold())
    return re.sub(r"[\W_]+", "", "".join(one for one in split if not unicodedata.combining(one)))

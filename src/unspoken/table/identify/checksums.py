"""Check digits of numbers that name a person, an account or a card.

Written here because the library that has them all (python-stdnum) is under the LGPL; the tests
compare with it. A function gets the characters without spaces, dots and dashes, and says whether
they are a number of its kind.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Sequence

_FISCAL_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22,
               25, 24, 23)
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_PESEL_WEIGHTS = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
_CENTURIES = {0: 1900, 1: 2000, 2: 2100, 3: 2200, 4: 1800}


def _digits(text: str, *lengths: int) -> list[int] | None:
    """Return the digits, or None if there is anything else or another number of them."""
    if len(text) not in lengths or not (text.isascii() and text.isdigit()):
        return None
    return [int(character) for character in text]


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True))


def luhn(text: str) -> bool:
    """ISO/IEC 7812: double every second digit from the right, and the digit sum ends in 0."""
    digits = _digits(text, len(text))
    if not digits:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def card(text: str) -> bool:
    """Payment cards: 13 to 19 digits of a known industry, check digit by Luhn."""
    return 13 <= len(text) <= 19 and text[0] in "3456" and luhn(text)


def iban(text: str) -> bool:
    """ISO 13616: country and check digits moved to the end, letters as 10 to 35, 1 modulo 97."""
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text, re.ASCII):
        return False
    return int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1


def bsn(text: str) -> bool:
    """Dutch citizen service number: the test of eleven, the last digit counted minus once."""
    digits = _digits(text.zfill(9), 9) if len(text) >= 8 else None
    return bool(digits) and any(digits or ()) and \
        _weighted(digits or (), (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def nhs(text: str) -> bool:
    """British NHS number: modulo 11 with weights 10 to 2."""
    digits = _digits(text, 10)
    if digits is None:
        return False
    check = -_weighted(digits[:9], range(10, 1, -1)) % 11
    return check != 10 and check == digits[9]


def ssn(text: str) -> bool:
    """Social security number of the United States: it has no check digit, only excluded parts."""
    return bool(re.fullmatch(r"(?!000|666|9\d\d)\d{3}(?!00)\d{2}(?!0000)\d{4}", text, re.ASCII))


def insee(text: str) -> bool:
    """French social security number: 97 minus the first 13 digits modulo 97 (Corsica 2A, 2B)."""
    if not re.fullmatch(r"[1278]\d{4}(\d{2}|2A|2B)\d{8}", text, re.ASCII):
        return False
    corsica = {"2A": "19", "2B": "18"}
    body = text[:5] + corsica.get(text[5:7], text[5:7]) + text[7:13]
    return 97 - int(body) % 97 == int(text[13:])


def dni(text: str) -> bool:
    """Spanish DNI and NIE: the letter is the number modulo 23 (X, Y, Z stand for 0, 1, 2)."""
    if not re.fullmatch(r"[XYZ\d]\d{7}[A-Z]", text, re.ASCII):
        return False
    number = text[:8].translate(str.maketrans("XYZ", "012"))
    return _DNI_LETTERS[int(number) % 23] == text[8]


def codice_fiscale(text: str) -> bool:
    """Italian tax code: characters in odd places count by a table, the sum modulo 26."""
    if not re.fullmatch(r"[A-Z]{6}[\dL-NP-V]{2}[A-EHLMPR-T][\dL-NP-V]{2}[A-Z][\dL-NP-V]{3}[A-Z]",
                        text, re.ASCII):
        return False
    places = [int(c) if c.isdigit() else ord(c) - 65 for c in text[:15]]
    total = sum(_FISCAL_ODD[place] for place in places[::2]) + sum(places[1::2])
    return chr(65 + total % 26) == text[15]


def pesel(text: str) -> bool:
    """Polish PESEL: a date of birth, and weights 1, 3, 7, 9 modulo 10."""
    digits = _digits(text, 11)
    if digits is None or (_weighted(digits[:10], _PESEL_WEIGHTS) + digits[10]) % 10:
        return False
    century, month = divmod(int(text[2:4]), 20)
    return _is_day(_CENTURIES.get(century, 0) + int(text[:2]), month, int(text[4:6]))


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True


def ahv(text: str) -> bool:
    """Swiss AHV number: 756, and the check digit of an EAN-13."""
    digits = _digits(text, 13)
    return digits is not None and text.startswith("756") and \
        _weighted(digits, (1, 3) * 6 + (1,)) % 10 == 0


def steuer_id(text: str) -> bool:
    """German tax number: ISO 7064 MOD 11,10; one digit of the first ten twice or thrice."""
    digits = _digits(text, 11)
    if digits is None or digits[0] == 0:
        return False
    repeated = [count for count in Counter(digits[:10]).values() if count > 1]
    return repeated in ([2], [3]) and _mod_11_10(digits)


def _mod_11_10(digits: Sequence[int]) -> bool:
    product = 10
    for digit in digits[:-1]:
        product = ((product + digit) % 10 or 10) * 2 % 11
    return (product + digits[-1]) % 10 == 1


def rijksregister(text: str) -> bool:
    """Belgian national number: 97 minus the first nine digits modulo 97, after 2000 with a 2."""
    if _digits(text, 11) is None or int(text[2:4]) > 12 or int(text[4:6]) > 31:
        return False
    return int(text[9:]) in (97 - int(head + text[:9]) % 97 for head in ("", "2"))


def vin(text: str) -> bool:
    """Vehicle identification number: ISO 3779 with the check digit in place nine."""
    if not re.fullmatch(r"[A-HJ-NPR-Z\d]{17}", text, re.ASCII):
        return False
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"),
                      strict=True))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    total = _weighted([values.get(c, 0) if c.isalpha() else int(c) for c in text], weights)
    return text[8] == ("X" if total % 11 == 10 else str(total % 11))

"""Names of columns: which are refused in every format, and which name was probably meant."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence

from unspoken.errors import SchemaError

_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f"
                     "\uffa0\U000e0000-\U000e0fff]")
"""Characters that show nothing though Unicode does not count them as formats."""


def plain_name(name: str) -> str:
    """Return a name as a reader sees it: two that look the same are the same.

    One normal form (NFKC, so that a full-width digit is a digit), no case, nothing that cannot be
    seen (a byte order mark, a zero-width blank, a soft hyphen), and one blank for any run of them.
    """
    shown = unicodedata.normalize("NFKC", _seen(name)).casefold()
    return " ".join(unicodedata.normalize("NFKC", _seen(shown)).split())


def _seen(text: str) -> str:
    """Return a text without the characters that show nothing; blanks stay."""
    return "".join(one for one in _UNSEEN.sub("", text)
                   if one.isspace() or unicodedata.category(one) not in ("Cf", "Cc"))


def check_names(names: Sequence[str]) -> None:
    """Refuse names that are repeated, empty, or look the same (see `plain_name`).

    Some readers rename such columns silently, and a role declared for one could hit the other.
    """
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise SchemaError(
            f"Column names must be distinct. Got {repeated} more than once. Rename them first."
        )
    first: dict[str, str] = {}
    for place, name in enumerate(names, 1):
        if not plain_name(name):
            raise SchemaError(f"Column {place} must have a name. Its name is empty. "
                              "Write one into the header, or leave the column out.")
        other = first.setdefault(plain_name(name), name)
        if other != name:
            how = f": {letters}" if (letters := _how(other, name)) else ""
            raise SchemaError("Column names must differ by more than case, blanks and forms of a "
                              f"character. Got '{other}' and '{name}'{how}. Rename one of them.")


def with_row_name(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a header whose first one may be missing: that column is called 'row'.

    Several programs write the numbers or names of rows so. A name that is taken gets a number.
    """
    if len(names) < 2 or plain_name(names[0]):
        return tuple(names)
    taken = set(map(plain_name, names))
    free = ("row", *(f"row_{number}" for number in range(1, len(names) + 1)))
    return (next(name for name in free if name not in taken), *names[1:])


def _how(first: str, second: str, whose: tuple[str, str] = ("the first", "the second")) -> str:
    """Return how two names differ that look the same; nothing where it is only case or blanks."""
    bare = [name.strip(" \t") for name in (first, second)]
    if bare[0].lower() == bare[1].lower() and bare[0].upper() == bare[1].upper():
        return ""
    own = [(whose[0], _letters(first, second)), (whose[1], _letters(second, first))]
    parts = [f"{who} holds {letters}" for who, letters in own if letters]
    return " and ".join(parts) or "their characters stand in another order"


def _letters(name: str, other: str) -> str:
    """Return the characters by which a name differs from another one, with their numbers."""
    own = list(dict.fromkeys(one for one in name if one not in other))[:3]
    return ", ".join(f"U+{ord(one):04X} ({unicodedata.name(one, 'no name').lower()})"
                     for one in own)


def near_names(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that were probably meant, whatever their case."""
    plain = {plain_name(other): other for other in reversed(names)}
    close = difflib.get_close_matches(plain_name(str(name)), plain, n=3)
    return [plain[word] for word in close]


def unknown_name(name: str, names: Sequence[str]) -> str:
    """Return the sentence about a name that no column has."""
    near = near_names(name, names)
    quoted = [f"'{other}'" for other in near]
    hint = f"Did you mean {' or '.join(quoted)}?" if near \
        else f"The columns are {list(names)[:20]}."
    twin = next((other for other in near if plain_name(other) == plain_name(str(name))), name)
    if how := _how(str(name), twin, ("what you wrote", "the name in the table")):
        hint = (f"The table has '{twin}', which looks the same, but {how}. Copy the name out of "
                "the header, or rename the column.")
    return f"Column '{name}' must be in the table. {hint}"

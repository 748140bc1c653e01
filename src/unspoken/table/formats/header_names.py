"""Names of columns: which are refused in every format, and which name was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from unspoken.errors import SchemaError


def check_names(names: Sequence[str]) -> None:
    """Refuse names that are repeated, empty, or differ only by case or blanks around them.

    Some readers rename such columns silently, and a role declared for one could hit the other.
    """
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise SchemaError(
            f"Column names must be distinct. Got {repeated} more than once. Rename them first."
        )
    first: dict[str, str] = {}
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise SchemaError(f"Column {place} must have a name. Its name is empty. "
                              "Write one into the header, or leave the column out.")
        other = first.setdefault(name.strip().casefold(), name)
        if other != name:
            raise SchemaError("Column names must differ by more than case and blanks around them. "
                              f"Got '{other}' and '{name}'. Rename one of them.")


def near_names(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that were probably meant, whatever their case."""
    plain = {other.strip().casefold(): other for other in reversed(names)}
    close = difflib.get_close_matches(str(name).strip().casefold(), plain, n=3)
    return [plain[word] for word in close]


def unknown_name(name: str, names: Sequence[str]) -> str:
    """Return the sentence about a name that no column has."""
    close = [f"'{other}'" for other in near_names(name, names)]
    hint = f"Did you mean {' or '.join(close)}?" if close \
        else f"The columns are {list(names)[:20]}."
    return f"Column '{name}' must be in the table. {hint}"

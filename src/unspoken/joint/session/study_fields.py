"""The fields of a study, each checked by itself: names, lines of text, plain values."""

from __future__ import annotations

import difflib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.wire.credentials import check_name

PRIVATE = ("rows", "row_count", "n_rows", "records", "record_count", "n_records", "samples",
           "n_samples", "count", "counts", "size", "sizes")
UNREADABLE = ("Cc", "Cs", "Zl", "Zp")
"""Kinds of characters that change lines or a screen, or that are no characters."""
MOST_COLUMNS = 10_000
LONGEST_WAIT = 30 * 86400


def only_keys(where: str, data: Any, known: Iterable[str]) -> None:
    """Refuse a table with a field that is not known, by name."""
    if not isinstance(data, Mapping):
        raise StudyError(explain(f"'{where}'", "a table", type(data).__name__))
    for key in data:
        if key not in set(known):
            raise StudyError(f"'{where}' has no field '{key}'." + hint_at(str(key), known))


def hint_at(name: str, known: Iterable[str]) -> str:
    """Return which name was probably meant, or all of them."""
    known = list(known)
    close = difflib.get_close_matches(name, known, 1)
    return f" Did you mean '{close[0]}'?" if close else " It may be " + ", ".join(known) + "."


def one_of(field_: str, value: Any, known: tuple[str, ...]) -> str:
    """Return a word of a closed list."""
    if value not in known:
        raise StudyError(f"'{field_}' cannot be {value!r}." + hint_at(str(value), known))
    return str(value)


def name_in_study(data: Mapping[str, Any], field_: str) -> str:
    """Return a field that is a name."""
    try:
        return check_name(data.get(field_, ""), f"The study's '{field_}'")
    except InputError as error:
        raise StudyError(str(error)) from None


def line_of_text(field_: str, value: Any) -> str:
    """Return a field that is one line of text."""
    if not isinstance(value, str) or len(value) > 400 or not value.isprintable():
        raise StudyError(explain(f"'{field_}'", "one line of text", value))
    return value


def for_screen(text: Any, most: int = 300) -> str:
    """Return words of another side for a screen: bounded, nothing that would rule it."""
    return "".join(sign if sign.isprintable() else "?" for sign in str(text)[:most])


def tables_in(data: Mapping[str, Any], field_: str) -> list[Mapping[str, Any]]:
    """Return a list of tables."""
    tables = data.get(field_, [])
    if not isinstance(tables, list):
        raise StudyError(f"'{field_}' must be written as [[{field_}]], once for each.")
    return tables


def list_of_texts(field_: str, value: Any) -> tuple[str, ...]:
    """Return a list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise StudyError(explain(f"'{field_}'", "a list of names", value))
    return tuple(value)


def plain_parameters(data: Any) -> dict[str, Any]:
    """Return the parameters of the task; what is private is refused."""
    if not isinstance(data, Mapping):
        raise StudyError(explain("'parameters'", "a table", type(data).__name__))
    for key, value in data.items():
        if key.lower() in PRIVATE:
            raise StudyError(f"Parameter '{key}' must not be in a study: the number of records of "
                             "a party is its own secret. Leave it out.")
        if not isinstance(value, str | int | float | bool | list):
            raise StudyError(explain(f"Parameter '{key}'", "text, a number or a list", value))
        if not _in_one_line(key) or not _in_one_line(value):
            raise StudyError(f"Parameter {ascii(key)[:80]} holds a line break, a control character "
                             "or half a character. People could not read what they agree to.")
    return dict(data)


def _in_one_line(value: Any) -> bool:
    """Return True if every text inside can be shown in one line."""
    if isinstance(value, Mapping):
        return all(_in_one_line(key) and _in_one_line(one) for key, one in value.items())
    if isinstance(value, list):
        return all(map(_in_one_line, value))
    return not isinstance(value, str) or not any(
        unicodedata.category(sign) in UNREADABLE for sign in value)


def column_kinds(data: Any) -> dict[str, str]:
    """Return the kinds of columns."""
    if not isinstance(data, Mapping) or not all(isinstance(v, str) for v in data.values()):
        raise StudyError(explain("'schema'", "a table of column = \"kind\"", data))
    if len(data) > MOST_COLUMNS or not all(
            len(text) <= 400 and _in_one_line(text) for pair in data.items() for text in pair):
        raise StudyError(f"'schema' must have at most {MOST_COLUMNS} columns, each with a name and "
                         "a kind of one line.")
    return dict(data)


def flatten(value: Any, path: str, flat: dict[str, str]) -> None:
    """Collect every field by its path."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            flatten(value[key], f"{path}.{key}" if path else str(key), flat)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for place, item in enumerate(value):
            name = item.get("name", str(place + 1))
            flatten(item, f"{path}[{name}]", flat)
    else:
        flat[path] = json.dumps(value, allow_nan=False)


def seconds_to_wait(value: Any) -> int:
    """Return how long parties wait for each other; 0 where a study does not say."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LONGEST_WAIT:
        raise StudyError(explain("'wait'", f"whole seconds, at most {LONGEST_WAIT} (30 days)",
                                 value))
    return value

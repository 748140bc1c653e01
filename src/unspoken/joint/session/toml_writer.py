"""Writing the small part of TOML that a study needs; the standard library only reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from unspoken.errors import InputError, explain


def dumps(data: Mapping[str, Any]) -> str:
    """Return texts, numbers and lists first, then tables, then lists of tables."""
    plain = {k: v for k, v in data.items() if not isinstance(v, Mapping) and not _tables(v)}
    lines = [_line(key, value) for key, value in plain.items() if value not in ("", [])]
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            lines += ["", f"[{_key(key)}]", *(_line(k, v) for k, v in value.items())]
        elif _tables(value):
            for table in value:
                lines += ["", f"[[{_key(key)}]]", *(_line(k, v) for k, v in table.items())]
    return "\n".join(lines) + "\n"


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _line(key: str, value: Any) -> str:
    return f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise InputError(explain("A field of a study", "text, a number or a list",
                             type(value).__name__))


def _text(value: str) -> str:
    # JSON escapes are TOML escapes, but for DEL, which TOML wants escaped too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

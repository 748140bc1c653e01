"""What a form brings: its fields, and nothing longer than it may be."""

from __future__ import annotations

import hmac
import re
from typing import Any
from urllib.parse import parse_qsl

from unspoken.errors import InputError

MOST_BYTES, MOST_FIELDS = 1 << 20, 5000
MEANT = "meant"
"""The field that says what a form is about."""
_ODD = re.compile(r"[^\w.\-]+")


class Forbidden(Exception):
    """What somebody may not do; the sentence is shown."""


class Fields:
    """The fields of a form; a missing one is empty."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = pairs
        self._last = dict(pairs)

    def __getitem__(self, name: str) -> str:
        return self._last.get(name, "").strip()

    def __contains__(self, name: str) -> bool:
        return name in self._last

    def secret(self, name: str) -> str | None:
        """Return a passphrase as it was typed; None where nothing was."""
        return self._last.get(name) or None

    def under(self, prefix: str) -> dict[str, str]:
        """Return the fields whose names begin with a prefix, without it."""
        return {name.removeprefix(prefix): value for name, value in self.pairs
                if name.startswith(prefix)}


async def read_form(request: Any) -> Fields:
    """Read a form; one without the visitor's own token is refused."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise InputError(f"A form must be at most {MOST_BYTES:,} bytes long.")
    try:
        pairs = parse_qsl(bytes(body).decode("utf-8"), keep_blank_values=True,
                          max_num_fields=MOST_FIELDS)
    except (UnicodeDecodeError, ValueError):
        raise InputError("The form cannot be read. Load the page again.") from None
    fields = Fields(pairs)
    check_csrf(request, fields["csrf"])
    return fields


def check_csrf(request: Any, brought: str) -> None:
    """Refuse what did not come from a page that was given to this visitor."""
    visitor = request.scope["unspoken.visitor"]
    sent = brought or request.headers.get("x-csrf-token", "")
    if visitor is None or not hmac.compare_digest(sent.encode(), visitor.csrf.encode()):
        raise Forbidden("The page is too old. Load it again, and repeat what you did.")


def check_still(fields: Fields, now: str) -> None:
    """Refuse a form of a page that showed something else than what lies on the desk by now."""
    if MEANT in fields and fields[MEANT] != now:
        raise InputError("Something else was loaded or chosen since, perhaps on another page. Load "
                         "this page again, and repeat what you did.")


def is_place(text: str) -> bool:
    """Return True for the number of a column in the name of a field."""
    return text.isascii() and text.isdigit() and len(text) < 10


def safe_name(name: str) -> str:
    """Return a file name without a path, control characters or leading dots."""
    plain = _ODD.sub("_", name.replace("\\", "/").rsplit("/", 1)[-1])
    # Cut first: a dot that the cut brings to the front would hide the file.
    short = plain.encode()[-100:].decode(errors="ignore")
    return short.lstrip(".") or "data"

"""Files that are brought through a page: written beside their place, and put there once whole."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.studio.desk import Desk
from unspoken.studio.form_fields import check_csrf, safe_name
from unspoken.studio.upload_room import Held, in_words, own_uploads

LARGEST_UPLOAD = 4 << 30
LARGEST_MODEL = 64 << 20


async def save_upload(request: Any, desk: Desk, largest: int = LARGEST_UPLOAD) -> Path:
    """Write the body of a request to a file that only its owner may read; return where.

    What is too long, or finds no room, is refused by the length that is announced, before anything
    is written.
    """
    check_csrf(request, "")
    name = safe_name(request.query_params.get("name", ""))
    part = desk.folder.part("uploads") / f".{name}.{secrets.token_hex(6)}.part"
    with desk.common.room.hold(desk.folder, desk.owner) as held:
        _refuse_long(_announced(request), largest)
        held.grow_to(_announced(request))
        try:
            await _written(request, part, held, largest)
            return _put_in_free_place(part, own_uploads(desk.folder, desk.owner), name)
        finally:
            part.unlink(missing_ok=True)


def _announced(request: Any) -> int:
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _refuse_long(size: int, largest: int) -> None:
    if size > largest:
        raise InputError(f"A file must have at most {in_words(largest)}. Nothing of it was kept. "
                         "Give the studio its path instead.")


async def _written(request: Any, part: Path, held: Held, largest: int) -> None:
    """Write what comes; room is asked for before each part of it is written."""
    size = 0
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        async for chunk in request.stream():
            size += len(chunk)
            _refuse_long(size, largest)
            held.grow_to(size)
            file.write(chunk)


def _put_in_free_place(part: Path, folder: Path, name: str) -> Path:
    """Give a file its name, or one like it: what another upload put there is never replaced."""
    folder.mkdir(mode=0o700, exist_ok=True)
    stem, dot, ending = name.partition(".")
    for number in range(1, 10_000):
        place = folder / (name if number == 1 else f"{stem}-{number}{dot}{ending}")
        with suppress(FileExistsError):
            os.link(part, place)
            return place
    raise InputError("There are too many files of that name. Rename it.")

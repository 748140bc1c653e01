"""How much may be brought to a studio: by one user, by all of them, and as the disk has room.

What somebody brings is counted before anything of it is written, together with what is on its way
at the same moment, so that two uploads at once do not both take the last of the room. Counted are
the files that somebody brought and the models; decisions and answers are not, and what is spared on
the disk is theirs.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unspoken.errors import InputError
from unspoken.studio.session_folder import SessionFolder

MOST_OF_ONE, MOST_TOGETHER = 8 << 30, 32 << 30
"""Bytes that one user may have brought, and all of them."""
MOST_FILES = 500
"""Files that one user may have brought."""
SPARED = 256 << 20
"""Bytes of the disk that no upload takes: decisions must still be written."""
UPLOADS, MODELS, JOINT, ABOUT = "uploads", "models", "joint", "about.json"
BY = "by"
"""The field of a model that says who brought it."""


def own_uploads(folder: SessionFolder, owner: str) -> Path:
    """Return where the files of a user lie: names of users are no names of folders."""
    if not owner:
        return folder.part(UPLOADS)
    return folder.part(UPLOADS) / hashlib.sha256(owner.encode()).hexdigest()[:32]


def brought_files(folder: SessionFolder, owner: str) -> list[Path]:
    """Return the files that a user has brought, without what is half written."""
    return sorted(one for one in own_uploads(folder, owner).glob("[!.]*")
                  if one.is_file() and not one.is_symlink())


def in_words(size: int) -> str:
    """Return a size as people say it."""
    for unit, bytes_of_it in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_of_it:
            return f"{size / bytes_of_it:.3g} {unit}"
    return f"{size} bytes"


class Held:
    """Room that is kept for one upload until it ends."""

    def __init__(self, room: UploadRoom, folder: SessionFolder, owner: str) -> None:
        self._room, self._folder, self.owner = room, folder, owner
        self.size = 0

    def grow_to(self, size: int) -> None:
        """Keep room for so many bytes, or refuse because there is not enough."""
        if size > self.size:
            self._room.check(self._folder, self, size)


class UploadRoom:
    """The room of a studio, and who takes some of it at this moment."""

    def __init__(self, of_one: int = MOST_OF_ONE, together: int = MOST_TOGETHER,
                 files: int = MOST_FILES, spared: int = SPARED) -> None:
        self.of_one, self.together, self.files, self.spared = of_one, together, files, spared
        self._held: list[Held] = []
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, folder: SessionFolder, owner: str) -> Iterator[Held]:
        """Yield room for one upload, which is counted until it ends."""
        held = Held(self, folder, owner)
        with self._lock:
            self._check_count(folder, owner)
            self._held.append(held)
        try:
            yield held
        finally:
            with self._lock:
                self._held.remove(held)

    def _check_count(self, folder: SessionFolder, owner: str) -> None:
        coming = sum(one.owner == owner for one in self._held)
        if len(brought_files(folder, owner)) + coming >= self.files:
            raise InputError(f"You have brought {self.files} files, and more are not kept. Remove "
                             "some on the page 'Data'.")

    def check(self, folder: SessionFolder, held: Held, size: int) -> None:
        """Let an upload grow, unless one of the limits or the disk says no."""
        with self._lock:
            coming = {one: one.size for one in self._held if one is not held}
            own = sum(taken for one, taken in coming.items() if one.owner == held.owner)
            self._refuse_beyond(taken_by(folder, held.owner) + own, size, self.of_one, "you have")
            everything = taken_together(folder) + sum(coming.values())
            self._refuse_beyond(everything, size, self.together, "all users together have")
            if shutil.disk_usage(folder.root).free - sum(coming.values()) - size < self.spared:
                raise InputError("The disk of the studio has no room for this file. Nothing of it "
                                 "was kept.")
            held.size = size

    @staticmethod
    def _refuse_beyond(taken: int, size: int, most: int, who: str) -> None:
        if taken + size > most:
            raise InputError(
                f"There is no room for this file: {who} brought {in_words(taken)} of "
                f"{in_words(most)}, and it has {in_words(size)}. Nothing of it was kept. Remove "
                "files on the page 'Data', or give the studio a path.")


def taken_by(folder: SessionFolder, owner: str) -> int:
    """Return the bytes of what a user has brought: files, and models."""
    files = sum(one.stat().st_size for one in brought_files(folder, owner))
    models = (one for one in folder.part(MODELS).iterdir() if _brought_by(one, owner))
    return files + sum(map(_size, models))


def taken_together(folder: SessionFolder) -> int:
    """Return the bytes of what all users have brought."""
    return sum(_size(folder.part(part)) for part in (UPLOADS, MODELS, JOINT))


def _brought_by(model: Path, owner: str) -> bool:
    with suppress(OSError, ValueError, RecursionError, AttributeError):
        return str(json.loads((model / ABOUT).read_bytes()).get(BY, "")) == owner
    return False


def _size(folder: Path) -> int:
    """Return the bytes of the whole files in a folder; what is on its way is counted elsewhere."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += 0 if name.startswith(".") else os.lstat(os.path.join(place, name)).st_size
    return total

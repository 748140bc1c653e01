"""Answers of a survey on disk: one line for each person, synced before they are thanked.

A line holds what was randomised in a browser and, where the page drew one, a random number that
tells an answer which arrives twice (a double click, a reply that was lost) from two answers. There
is no name, no address and no time in it. Lines are read once: pages that follow a survey read what
came since.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unspoken.errors import InputError

ANSWERS = "answers.jsonl"
MOST_ANSWERS = 1_000_000
MOST_BOOKS = 16
"""Surveys whose answers are held in memory."""
ONCE, SENT = "once", "sent"
_NUMBER = re.compile(r"[0-9a-f]{32}", re.ASCII)
Fits = Callable[[Any], bool]


class AnsweredAlready(InputError):
    """Another answer of the same page is here already."""


class AnswerBook:
    """The answers of one survey as far as they were read; `fits` says which lines are whole."""

    def __init__(self, file: Path, fits: Fits) -> None:
        self._file, self._fits = file, fits
        self.lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._read, self._changed, self._damaged = 0, 0, 0
        self._reports: list[Any] = []
        self._known: dict[str, Any] = {}
        self._open_end: list[Any] = []

    def reports(self) -> tuple[list[Any], int]:
        """Return everybody's reports, and how many lines are damaged."""
        with self.lock:
            self._refresh()
            whole = [one for one in self._open_end if self._fits(one)]
            return [*self._reports, *whole], self._damaged + len(self._open_end) - len(whole)

    def _refresh(self) -> None:
        """Read what came since; a file that was replaced or edited is read from its beginning."""
        if not self._file.exists():
            return self._forget()
        now = self._file.stat()
        if now.st_size < self._read or (now.st_size == self._read \
                and now.st_mtime_ns != self._changed):
            self._forget()
        if (now.st_size, now.st_mtime_ns) != (self._read, self._changed):
            self._take_new()
            self._changed = now.st_mtime_ns

    def _take_new(self) -> None:
        with self._file.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        lines = new.split(b"\n")
        self._read += len(new) - len(lines[-1])
        for line in filter(None, lines[:-1]):
            self._take(line)
        # A last line without its end may be whole, and may be half of one.
        self._open_end = [_parts(lines[-1])[0]] if lines[-1] else []

    def _take(self, line: bytes) -> None:
        sent, once = _parts(line)
        if not self._fits(sent):
            self._damaged += 1
            return
        self._reports.append(sent)
        if once:
            self._known[once] = sent

    def add(self, sent: Any, once: str = "") -> None:
        """Keep one person's reports, which fit; those of a page that has sent before count once."""
        if once and not _NUMBER.fullmatch(once):
            raise InputError("These answers do not fit the survey. Load the page again.")
        with self.lock:
            self._refresh()
            if once not in self._known:
                _append(self._file, {ONCE: once, SENT: sent} if once else sent)
            elif self._known[once] != sent:
                raise AnsweredAlready("An answer of this page has arrived before. That one "
                                      "counts.")


def _parts(line: bytes) -> tuple[Any, str]:
    """Return what a line says was sent, and the number of the page that sent it."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None, ""
    if isinstance(data, dict):
        return data.get(SENT), str(data.get(ONCE, ""))
    return data, ""


def _append(file: Path, line: Any) -> None:
    """Write one line to the end and sync it; one that does not fit on the disk is taken back."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size > MOST_ANSWERS * 64:
            raise InputError("This survey has all the answers that it takes.")
        cut_short = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        _write_whole(descriptor, ("\n" if cut_short else "") + json.dumps(line) + "\n", size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_whole(descriptor: int, text: str, size: int) -> None:
    data = text.encode()
    try:
        done = os.write(descriptor, data)
    except OSError:
        done = 0
    if done < len(data):
        os.ftruncate(descriptor, size)
        raise InputError("Your answers could not be kept, because there is no room. Try again "
                         "later.")


_BOOKS: dict[Path, tuple[Any, AnswerBook]] = {}
_BOOKS_LOCK = threading.Lock()


def book_of(place: Path, questions: Any, fits: Fits) -> AnswerBook:
    """Return the book of a survey; one whose questions are others is opened anew."""
    with _BOOKS_LOCK:
        known, book = _BOOKS.pop(place, (None, None))
        if book is None or known != questions:
            book = AnswerBook(place / ANSWERS, fits)
        _BOOKS[place] = (questions, book)
        for old in list(_BOOKS)[:-MOST_BOOKS]:
            del _BOOKS[old]
        return book

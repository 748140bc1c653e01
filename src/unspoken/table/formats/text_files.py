"""Text files: their encoding, their delimiter and their header, detected from a bounded head."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from unspoken.errors import DataError, explain
from unspoken.table.formats.compressed_files import open_bytes
from unspoken.table.formats.header_names import check_names, with_row_name
from unspoken.table.formats.read_options import DELIMITERS, ReadOptions
from unspoken.table.nameless_files import nameless_file

HEAD_BYTES = 1 << 20
HEAD_LINES = 100
_PIECE = 1 << 20
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16",
          codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class TextHead:
    """The beginning of a text file, and how the whole of it is encoded."""

    text: str
    encoding: str
    complete: bool

    @property
    def lines(self) -> list[str]:
        """Return whole lines; the last one is left out where it may be cut."""
        parts = list(io.StringIO(self.text, newline=""))
        return parts if self.complete or len(parts) < 2 else parts[:-1]


def read_head(path: Path, options: ReadOptions) -> TextHead:
    """Read and decode the beginning of a file."""
    with open_bytes(path) as file:
        content = file.read(HEAD_BYTES)
        complete = len(content) < HEAD_BYTES
    encoding = encoding_of(content, options.encoding)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content, complete)
    except UnicodeDecodeError as error:
        raise undecodable(path, encoding, error) from None
    if "\0" in text:
        raise DataError(f"'{path.name}' must be text. It has NUL characters. If it is text in "
                        "UTF-16, name it: encoding='utf-16-le' or 'utf-16-be'.")
    return TextHead(text, encoding, complete)


def encoding_of(content: bytes, chosen: str | None = None) -> str:
    """Return the encoding that was chosen, or the one that the first bytes mark; else UTF-8."""
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    if chosen is None or (marked == "utf-8-sig" and codecs.lookup(chosen).name == "utf-8"):
        return marked or "utf-8"
    return codecs.lookup(chosen).name


def undecodable(path: Path, encoding: str, error: UnicodeDecodeError | None = None) -> DataError:
    """Return the refusal of bytes that an encoding does not have, which names the option."""
    place = "" if error is None else f" (byte 0x{error.object[error.start]:02x})"
    name = "UTF-8" if encoding in ("utf-8", "utf-8-sig") else encoding
    return DataError(f"'{path.name}' must be text in UTF-8, or in the encoding that is named. "
                     f"It is not text in {name}{place}. Name its encoding, such as "
                     "encoding='windows-1252', 'latin-1' or 'utf-16'.")


def read_at_most(file: IO[bytes], most: int) -> bytes:
    """Read up to `most` bytes; a single `read` would set all of them aside at once."""
    parts: list[bytes] = []
    while most > 0 and (part := file.read(min(most, _PIECE))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def read_utf8(path: Path, options: ReadOptions, most: int) -> bytes:
    """Return a whole file of at most `most` bytes as UTF-8 without a mark, line ends as \\n."""
    encoding = read_head(path, options).encoding
    with open_bytes(path) as file:
        content = read_at_most(file, most + 1)
    if len(content) > most:
        raise DataError(explain(f"'{path.name}'", f"at most {most:,} bytes", "more"))
    if encoding not in ("utf-8", "ascii"):
        content = _decoded(path, content, encoding).encode()
    return content.replace(b"\r\n", b"\n") if b"\r" in content else content


def read_text(path: Path, options: ReadOptions, most: int) -> str:
    """Return the whole text of a file of at most `most` bytes, line ends as \\n."""
    return _decoded(path, read_utf8(path, options, most), "utf-8")


def _decoded(path: Path, content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise undecodable(path, encoding, error) from None


def delimiter_of(lines: Sequence[str], options: ReadOptions, usual: str = ",") -> str:
    """Return the delimiter by which most lines have as many entries as the first one."""
    if options.delimiter is not None:
        return options.delimiter
    order = (usual, *(mark for mark in DELIMITERS if mark != usual))
    return max(order, key=lambda mark: _agreement(lines[:HEAD_LINES], mark))


def _agreement(lines: Sequence[str], mark: str) -> tuple[float, int]:
    widths = [len(row) for row in split_lines(lines, mark) if row]
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (sum(width == widths[0] for width in widths) / len(widths), widths[0])


def most_used(lines: Sequence[str], options: ReadOptions, usual: str = ",") -> str:
    """Return the delimiter that occurs most outside of quotes, where lines have any length."""
    if options.delimiter is not None:
        return options.delimiter
    order = (usual, *(mark for mark in DELIMITERS if mark != usual))
    return max(order, key=lambda mark: _entries_more(lines[:HEAD_LINES], mark))


def _entries_more(lines: Sequence[str], mark: str) -> int:
    """Return how often lines are split; -1 where something else follows a closing quote."""
    csv.field_size_limit(1 << 24)
    try:
        return sum(len(row) - 1 for row in csv.reader(lines, delimiter=mark, strict=True) if row)
    except csv.Error:
        return -1


def split_lines(lines: Sequence[str], mark: str) -> list[list[str]]:
    """Split lines at a delimiter; what stands between quotes is one entry."""
    csv.field_size_limit(1 << 24)
    try:
        return list(csv.reader(lines, delimiter=mark))
    except csv.Error as error:
        raise DataError(f"Every line must be a list of entries. {str(error).capitalize()}. "
                        "Is a quote left open?") from None


@dataclass(frozen=True)
class TextLayout:
    """What the head of a text table shows: names, delimiter and encoding.

    `unnamed`: the name that was given to a first column without one, else nothing.
    """

    names: tuple[str, ...]
    delimiter: str
    encoding: str
    unnamed: str = ""

    @property
    def decoded(self) -> bool:
        """Return True if the bytes have to be decoded first."""
        # DuckDB stumbles over a mark before a quoted name, so a marked file is copied without it.
        return self.encoding not in ("utf-8", "ascii")


def layout_of(path: Path, options: ReadOptions, usual: str = ",") -> TextLayout:
    """Tell the layout of a table in a text file; a header that cannot be used is refused."""
    head = read_head(path, options)
    if not head.text.strip():
        raise DataError(f"'{path.name}' must have a header line. The file is empty.")
    mark = delimiter_of(head.lines, options, usual)
    header = split_lines(head.lines[:HEAD_LINES], mark)[0]
    written = tuple(name.strip() for name in header)
    names = with_row_name(written)
    check_names(names)
    unnamed = names[0] if names[:1] != written[:1] else ""
    _refuse_numbers(path, names[1:] if unnamed else names)
    return TextLayout(names, mark, head.encoding, unnamed)


def _refuse_numbers(path: Path, names: Sequence[str]) -> None:
    """Refuse a first line that is a record: its values would go out as names of columns."""
    counted = [str(i) for i in range(len(names) + 1)]
    if list(names) in (counted[:-1], counted[1:]) or not all(map(_is_number, names)):
        return
    raise DataError(f"'{path.name}' must have a header line with the names of its columns. Its "
                    "first line holds nothing but numbers. Put a line of names before it.")


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def utf8_copy(path: Path, encoding: str) -> tuple[IO[bytes], str]:
    """Return a nameless temporary file with the text in UTF-8, and the path to open it by.

    The file has no name, so that nothing is left behind whatever happens to this process.
    """
    copy, place = nameless_file()
    try:
        with io.TextIOWrapper(open_bytes(path), encoding=encoding, newline="") as text:
            while piece := text.read(_PIECE):
                copy.write(piece.removeprefix("\ufeff").encode())
    except UnicodeDecodeError as error:
        copy.close()
        raise undecodable(path, encoding, error) from None
    copy.flush()
    return copy, place

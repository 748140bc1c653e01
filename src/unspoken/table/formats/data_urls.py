"""Addresses of data that is no local file: tables in databases, and files of other systems.

    postgresql://user@host:5432/clinic?table=people&schema=study&order=id
    duckdb:///warehouse.db?table=people
    sqlite:////var/lib/people.db?table=people
    s3://bucket/folder

`table`, `schema` and `order` (repeat) are taken out of the address; what else stands behind the
question mark goes to the server. After `duckdb:///` and `sqlite:///` comes a path, relative unless
it begins with another slash. An address never holds a password: it would be in the history of the
shell, in the list of processes and in logs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from urllib.parse import unquote

from unspoken.errors import InputError, unknown
from unspoken.table.atomic_files import named_path

DATABASES = ("postgresql", "duckdb", "sqlite")
REMOTE = ("s3", "gs", "gcs", "abfs", "abfss", "az", "hdfs", "file", "memory")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
_OURS = ("table", "schema", "order")
_SECRET = ("pass", "secret", "token", "account_key", "access_key")
"""What stands in the names of settings that are secrets."""
_ALIASES = {"postgres": "postgresql"}


@dataclass(frozen=True)
class DataUrl:
    """The address of a table or of files; it holds no password, so that it may be shown.

    `server` is what remains for the server when `table`, `schema` and `order` are taken out.
    """

    text: str
    scheme: str
    server: str
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return self.text

    @property
    def is_database(self) -> bool:
        """Return True if this names a database, False if it names files."""
        return self.scheme in DATABASES

    @property
    def name(self) -> str:
        """Return a short name: the table, or the last part of the path."""
        return self.table or self.path.rstrip("/").rpartition("/")[2] or self.scheme

    @property
    def suffix(self) -> str:
        """Return no ending: what an address names is a table, never a model by its ending."""
        return ""

    @property
    def table(self) -> str | None:
        """Return the name of the table, as it is written in the database."""
        return next(iter(self.settings.get("table", ())), None)

    @property
    def schema(self) -> str | None:
        """Return the schema that the table is in, None for the usual one."""
        return next(iter(self.settings.get("schema", ())), None)

    @property
    def order(self) -> tuple[str, ...]:
        """Return the columns that give the rows their order."""
        return self.settings.get("order", ())

    @property
    def path(self) -> str:
        """Return the path in the address; that of a database file is relative or absolute."""
        rest = self.server.partition("://")[2].partition("?")[0]
        return unquote(rest[1:]) if self.scheme in ("duckdb", "sqlite") else rest


Place = Path | DataUrl
"""Where data is: a file, a folder, a pattern of files, or an address."""


def as_place(source: str | PathLike[str] | DataUrl) -> Place:
    """Return where data is; an address of no known kind, or with a password, is refused."""
    if isinstance(source, DataUrl):
        return source
    if isinstance(source, str) and (match := _URL.fullmatch(source)):
        return _url(source, match[1].lower(), match[2])
    return named_path(source)


def _url(text: str, scheme: str, rest: str) -> DataUrl:
    scheme = _ALIASES.get(scheme, scheme)
    if scheme not in DATABASES + REMOTE:
        raise InputError(unknown("The beginning of an address", scheme, DATABASES + REMOTE))
    _refuse_password(scheme, rest)
    before, sign, behind = rest.partition("?")
    ours: dict[str, tuple[str, ...]] = {}
    others: list[str] = []
    for part in behind.split("&") if sign else ():
        name, _, value = part.partition("=")
        if scheme in DATABASES and name in _OURS:
            ours[name] = (*ours.get(name, ()), unquote(value))
        else:
            others.append(part)
    _once(ours)
    server = f"{scheme}://{before}" + (f"?{'&'.join(others)}" if any(others) else "")
    return DataUrl(text, scheme, server, ours)


def _once(settings: Mapping[str, tuple[str, ...]]) -> None:
    for name, values in settings.items():
        if not all(values):
            raise InputError(f"'{name}=' in the address must name something. It is empty.")
        if name != "order" and len(values) > 1:
            raise InputError(f"'{name}=' must stand in the address once. It stands there "
                             f"{len(values)} times.")


def _refuse_password(scheme: str, rest: str) -> None:
    """Refuse an address with a password, without repeating any of it."""
    before, _, behind = rest.partition("?")
    person = before.rpartition("@")[0]
    # A password with "/" or "?" in it leaves its beginning where a port should be.
    host = before.partition("/")[0].rpartition("@")[2]
    odd = not re.fullmatch(r"((\[[^\]]*\]|[^:,\[\]]*)(:\d*)?(,|$))*", host)
    # Servers take "p%61ssword" for what it stands for.
    names = [unquote(part.partition("=")[0]).lower() for part in behind.split("&")]
    named = any(word in name for name in names if name != "passfile" for word in _SECRET)
    if ":" in person or odd or named:
        raise InputError(f"The address {scheme}://... must hold no password: others can see it in "
                         "the list of processes and in logs. Put it into the environment variable "
                         "PGPASSWORD or the file ~/.pgpass (PostgreSQL), or where the other "
                         "system's own tools look for it.")

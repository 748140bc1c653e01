"""Release: the protected table, its public description and its guarantee.

On disk a directory of `data.parquet` and `manifest.json`. It loads without any key and holds
nothing that an honest miner does not need.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken._version import __version__
from unspoken.errors import ReleaseError
from unspoken.release.guarantee import Guarantee
from unspoken.release.lazy_imports import resolve
from unspoken.release.manifest_files import DATA, FORMAT, MANIFEST, VERSION, read_manifest
from unspoken.release.method import name_in
from unspoken.release.release_seal import (
    ColumnSeals,
    column_digests,
    make_seal,
    stays_as_written,
)
from unspoken.release.seeded_guarantee import warn_of_seed, without_odds
from unspoken.table.atomic_files import named_path, sha256_of, write_file, write_folder
from unspoken.table.engines.frames_out import notebook_text, on_a_screen
from unspoken.table.engines.local import LocalEngine
from unspoken.table.engines.protocol import Progress
from unspoken.table.formats.data_urls import DataUrl, as_place
from unspoken.table.schema import Schema
from unspoken.table.table import Table

if TYPE_CHECKING:
    from unspoken.table.baskets import Baskets


@dataclass(frozen=True)
class Release:
    """What is sent: a protected table with its public description.

    Attributes
    ----------
    table : Table
        The protected rows.
    mechanism : mapping
        The method and its public parameters.
    guarantee : Guarantee
        What the release promises.
    release_id : str
        A random name.
    details : mapping
        What else the manifest says, such as "seeded" or published trees.
    data_sha256 : str or None
        The digest of the data file; None before it is saved.
    seal : mapping or None
        What the key checks to find changes; None before it is saved.
    attachments : mapping
        Small text files that are written beside the data, by name.
    seal_key : bytes or None
        The secret that the seal is made with; a release that was read from disk has none.

    Examples
    --------
    >>> release.save("release")  # doctest: +SKIP
    >>> Release.load("release").guarantee.summary()  # doctest: +SKIP
    """

    table: Table
    mechanism: Mapping[str, Any]
    guarantee: Guarantee
    release_id: str
    details: Mapping[str, Any] = field(default_factory=dict)
    data_sha256: str | None = None
    seal: Mapping[str, Any] | None = field(default=None, repr=False)
    seal_key: bytes | None = field(default=None, repr=False, compare=False)
    attachments: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Take the odds out of what a seeded release promises, whatever method made it."""
        if self.details.get("seeded") is True:
            object.__setattr__(self, "guarantee", without_odds(self.guarantee))
            if self.data_sha256 is None:
                warn_of_seed()

    @property
    def schema(self) -> Schema:
        """Return the schema of the released table."""
        return self.table.schema

    @property
    def baskets(self) -> Baskets:
        """Return the released baskets; a release of a plain table has none."""
        from unspoken.table.basket_tables import from_table

        return from_table(self.table, self.mechanism)

    @property
    def fingerprint(self) -> str:
        """Return the hash that ties a key to this release."""
        return _hash({"id": self.release_id, "mechanism": dict(self.mechanism),
                      "schema": self.schema.to_json(), "guarantee": self.guarantee.to_json()})

    @property
    def about(self) -> dict[str, Any]:
        """Return everything that the manifest says of the data, but for the file."""
        return {"id": self.release_id, "fingerprint": self.fingerprint,
                "mechanism": dict(self.mechanism), "schema": self.schema.to_json(),
                "rows": self.table.rows, "guarantee": self.guarantee.to_json(), **self.details}

    @property
    def manifest(self) -> dict[str, Any]:
        """Return the public description."""
        sealed = {} if self.seal is None else {"seal": dict(self.seal)}
        return {
            "format": FORMAT, "version": VERSION, "unspoken": __version__, **self.about,
            "data": {"file": DATA, "sha256": self.data_sha256}, **sealed,
            **({"attachments": self._digests()} if self.attachments else {}),
        }

    def _digests(self) -> dict[str, str]:
        """Return the hash of every attachment."""
        return {name: hashlib.sha256(text.encode()).hexdigest()
                for name, text in self.attachments.items()}

    @property
    def trees(self) -> tuple[Any, ...]:
        """Return the trees that were published with the data, if any."""
        from unspoken.models.readers import model_from_json

        return tuple(model_from_json(tree) for tree in self.details.get("trees") or ())

    @property
    def tree(self) -> Any:
        """Return the tree that was published with the data: the first, if there are several."""
        if not self.details.get("trees"):
            raise ReleaseError("This release was published without a tree. Mine one from it.")
        return self.trees[0]

    def to_pandas(self) -> Any:
        """Return the released rows as a pandas frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """Return the released rows as a polars frame."""
        return self.table.to_polars()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return "\n".join(on_a_screen(self.summary().split("\n")))

    def _repr_html_(self) -> str:
        return notebook_text(repr(self))

    def plot(self, column: str | None = None, axes: Any = None) -> Any:
        """Draw how the released values of a column are distributed; return matplotlib axes."""
        return resolve("unspoken.report.result_axes:release_axes")(self, column, axes)

    def summary(self) -> str:
        """Return what was released, in a few lines."""
        kind = name_in(self.mechanism)
        head = f"Release {self.fingerprint[:12]} ({kind}), {self.table.rows:,} rows"
        return "\n".join([head, self.schema.summary(), self.guarantee.summary()])

    def save(self, folder: str | os.PathLike[str] | DataUrl, overwrite: bool = False,
             progress: Progress | None = None, *,
             enter: Callable[[], object] | None = None) -> Release:
        """Write the directory at once or not at all; return the release as it is on disk.

        An address such as `postgresql://user@host/db?table=released` writes two tables of a
        database in one transaction, the rows and the manifest. `enter` is called when all is
        written and nothing is in its place yet; if it fails, so does this, and an older release
        stays as it was.
        """
        path = as_place(folder)
        if isinstance(path, DataUrl):
            from unspoken.release.release_tables import save_as_tables

            return save_as_tables(self, path, overwrite,
                                  lambda inside: self.save(inside, progress=progress), enter)
        if path.exists() and not overwrite and (not path.is_dir() or any(path.iterdir())):
            raise ReleaseError(
                f"'{path}' must not exist yet or be empty. Choose another folder, "
                "or use overwrite=True."
            )
        if path.exists() and path.is_dir() and any(path.iterdir()):
            _refuse_foreign_folder(path)
        write_folder(path, lambda inside: self._fill(inside, progress, enter))
        return Release._read(path, read_manifest(path))

    def _fill(self, folder: Path, progress: Progress | None,
              enter: Callable[[], object] | None) -> None:
        digests = self._write(str(folder / DATA), progress)
        written = replace(self, data_sha256=sha256_of(folder / DATA))
        if self.seal_key is not None:
            seal = make_seal(self.seal_key, written.about, str(written.data_sha256), digests)
            written = replace(written, seal=seal)
        for name, attached in self.attachments.items():
            write_file(folder / name, attached.encode())
        text = json.dumps(written.manifest, indent=2, allow_nan=False)
        write_file(folder / MANIFEST, text.encode())
        if enter is not None:
            enter()

    def _write(self, path: str, progress: Progress | None) -> dict[str, str]:
        """Write the rows; return what the seal says of each column."""
        engine, frame = self.table.engine, self.table.frame
        if self.seal_key is None:
            engine.write(frame, path, progress)
            return {}
        schema = engine.schema(frame)
        if not (isinstance(engine, LocalEngine) and stays_as_written(schema)):
            engine.write(frame, path, progress)
            return self._digests_in(path)
        with ColumnSeals(self.seal_key, self.schema.names) as seals:
            engine.write(engine.tap(frame, seals.add), path, progress)
            return seals.digests(self.release_id)

    def _digests_in(self, path: str) -> dict[str, str]:
        """Return what the seal says of each column of a written file."""
        import pyarrow.parquet as pq

        names = list(self.schema.names)
        with pq.ParquetFile(path) as file:
            return column_digests(self.seal_key or b"", self.release_id, names,
                                  file.iter_batches(columns=names))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Release:
        """Read a release directory and check that its parts belong together."""
        path = named_path(folder)
        manifest = read_manifest(path)
        if sha256_of(path / DATA) != manifest["data"].get("sha256"):
            raise ReleaseError(f"'{path / DATA}' is not the file its manifest describes.")
        return cls._read(path, manifest)

    @classmethod
    def _read(cls, path: Path, manifest: dict[str, Any]) -> Release:
        schema = Schema.from_json(manifest["schema"])
        if schema.of_kind("basket"):
            from unspoken.table.basket_tables import read_table

            table = read_table(path / DATA)
        else:
            from unspoken.table.read import read_released

            table = read_released(path / DATA, schema)
        if schema.names != table.schema.names:
            raise ReleaseError(f"The columns of '{path / DATA}' are not those of its manifest.")
        known = {"format", "version", "unspoken", "id", "fingerprint", "mechanism", "schema",
                 "rows", "guarantee", "data", "seal", "attachments"}
        details = {k: v for k, v in manifest.items() if k not in known}
        release = cls(table.with_frame(table.frame, schema), manifest["mechanism"],
                      Guarantee.from_json(manifest["guarantee"], manifest["mechanism"]),
                      manifest["id"], details, manifest["data"]["sha256"], manifest.get("seal"),
                      attachments=_attached(path, manifest.get("attachments") or {}))
        if release.fingerprint != manifest["fingerprint"]:
            raise ReleaseError(f"'{path / MANIFEST}' was changed after it was written.")
        return release


def _attached(path: Path, listed: Any) -> dict[str, str]:
    """Read the attachments of a release; one that was changed is refused."""
    texts = {}
    for name, digest in dict(listed).items():
        file = path / name
        if Path(name).name != name or not file.is_file() or sha256_of(file) != digest:
            raise ReleaseError(f"'{file}' is not the file its manifest describes.")
        texts[str(name)] = file.read_text(encoding="utf-8")
    return texts


def _refuse_foreign_folder(path: Path) -> None:
    try:
        known = set(json.loads((path / MANIFEST).read_bytes()).get("attachments") or {})
    except (OSError, ValueError, AttributeError, TypeError):
        known = set()
    strange = {entry.name for entry in path.iterdir()} - {DATA, MANIFEST} - known
    if strange:
        raise ReleaseError(
            f"'{path}' must hold nothing but a release to be overwritten. "
            f"Got {sorted(strange)[:5]} in it. Choose another folder."
        )


def _hash(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

"""What a site has in a vertical study: its own coding of its columns, and its part of the model.

How many columns and categories each site has is public; names, categories and ranges are not. A
number travels as z = (x - centre) / reach with a centre and a reach that the site keeps: the mean
and the greatest distance from it among the training records. New numbers beyond that count as
the end of the range, and categories that training did not have say nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints, Words
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.common.column_checks import numbers, of_site, one_length
from unspoken.joint.tasks.naive_bayes.class_tallies import one_hot
from unspoken.joint.tasks.naive_bayes.score_tables import Table
from unspoken.joint.tasks.tree.params import Attribute, attributes_of
from unspoken.models.hostile_json import Fields, Source, parse_json, read_bytes, refuse
from unspoken.models.tree import check_format
from unspoken.table.atomic_files import named_path, write_file

FORMAT = "unspoken-bayes-part"
VERSION = 1
ARRAYS = ("start", "logs", "means", "roots")


@dataclass(frozen=True)
class Part:
    """What is public about a site: the sizes of its categorical columns, and how many numbers."""

    site: str
    sizes: tuple[int, ...] = ()
    numbers: int = 0


@dataclass(frozen=True)
class BayesShape:
    """What is public about a vertical study."""

    parts: tuple[Part, ...]
    classes: tuple[str, ...]
    class_site: str
    target: str = "class"
    class_known: bool = False

    def __post_init__(self) -> None:
        names = [part.site for part in self.parts]
        if len(set(names)) != len(names) or self.class_site not in names:
            raise InputError(explain("The class site", "one of the sites, each named once",
                                     self.class_site))
        if len(self.classes) < 2 or len(set(self.classes)) != len(self.classes):
            raise InputError(explain("Classes", "two or more different texts", self.classes))
        if not self.sizes and not self.numbers:
            raise InputError("Sites must have columns. They have none.")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the sizes of all categorical columns, site by site."""
        return tuple(size for part in self.parts for size in part.sizes)

    @property
    def numbers(self) -> int:
        """Return how many numeric columns all sites have."""
        return sum(part.numbers for part in self.parts)

    def part(self, site: str) -> Part:
        """Return what is public about one site."""
        return next(part for part in self.parts if part.site == site)


@dataclass(frozen=True)
class Coding:
    """How a site codes its columns."""

    nominal: tuple[Attribute, ...] = ()
    numeric: tuple[tuple[str, float, float], ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many categories each column has."""
        return tuple(a.cells for a in self.nominal)

    def hot(self, columns: Mapping[str, Any]) -> Ints:
        """Return (rows, all categories); what is not known has no place."""
        coded = [_places(a, of_site(columns, a.name)) for a in self.nominal]
        rows = len(of_site(columns, self._first()))
        codes = np.array(coded, np.int64).reshape(len(coded), rows)
        places = one_hot(np.maximum(codes, 0), self.sizes)
        starts = np.cumsum([0, *self.sizes])
        for place, row in enumerate(codes):
            places[row < 0, starts[place]:starts[place + 1]] = 0
        return places

    def z(self, columns: Mapping[str, Any]) -> Floats:
        """Return (rows, numbers) between -1 and 1."""
        rows = len(of_site(columns, self._first()))
        scaled = [np.clip((numbers(n, of_site(columns, n)) - centre) / reach, -1, 1)
                  for n, centre, reach in self.numeric]
        return np.array(scaled, np.float64).reshape(len(scaled), rows).T

    def _first(self) -> str:
        return self.nominal[0].name if self.nominal else self.numeric[0][0]


def _places(attribute: Attribute, values: Any) -> Ints:
    place = {category: code for code, category in enumerate(attribute.categories)}
    listed: Any = np.asarray(values, object).tolist()
    return np.array([place.get(None if v is None else str(v), -1) for v in listed], np.int64)


def coding_of(columns: Mapping[str, Any], numeric: Sequence[str]) -> Coding:
    """Return the coding of training columns: categories as they occur, centres and reaches."""
    names = [name for name in columns if name not in numeric]
    ranges = []
    for name in numeric:
        values = numbers(name, of_site(columns, name))
        if not values.size:
            raise DataError("Sites must have records. This one has none.")
        centre = float(values.mean())
        ranges.append((name, centre, float(np.abs(values - centre).max()) or 1.0))
    return Coding(attributes_of(columns, {}, names), tuple(ranges))


@dataclass(frozen=True)
class BayesSite:
    """A site's training columns, coded; the class, and ids where rows are not aligned yet."""

    coding: Coding
    columns: Mapping[str, Any]
    labels: Any = None
    ids: Sequence[Any] | None = None

    def fits(self, shape: BayesShape, name: str) -> BayesSite:
        """Check a site against the study before anything is sent."""
        part = shape.part(name)
        mine = (self.coding.sizes, len(self.coding.numeric))
        if mine != (part.sizes, part.numbers):
            raise RefusedError(explain(f"The columns of '{name}'", f"of sizes {part.sizes} and "
                                       f"{part.numbers} numbers, as agreed", mine))
        knows = shape.class_known or name == shape.class_site
        if knows != (self.labels is not None):
            raise RefusedError(explain("The class", f"given by '{shape.class_site}' alone, or by "
                                       "all if it is known to all",
                                       "none" if knows else f"one of '{name}'"))
        one_length((*self.columns.values(), *self._more()), "The columns of a site")
        return self

    def _more(self) -> list[Any]:
        return [x for x in (self.labels, self.ids) if x is not None]

    def take_rows(self, places: Ints) -> BayesSite:
        """Return the site with some of its records, and the same coding."""
        labels = None if self.labels is None else np.asarray(self.labels)[places]
        columns = {name: np.asarray(values)[places] for name, values in self.columns.items()}
        return BayesSite(self.coding, columns, labels)

    def coded(self, shape: BayesShape) -> tuple[Ints, Floats, Ints | None]:
        """Return places of categories, numbers and classes."""
        hot, z = self.coding.hot(self.columns), self.coding.z(self.columns)
        codes = None if self.labels is None else Attribute(
            shape.target, shape.classes).code(self.labels)
        return hot, z, codes


@dataclass(frozen=True)
class BayesPart:
    """A site's part of a vertical model: its coding and a share, or a table of its own.

    `share` is a secret: with the other holder's it is the model. `run` names the training run.
    """

    shape: BayesShape
    site: str
    coding: Coding | None
    run: bytes
    holders: tuple[str, ...] = ()
    share: tuple[Words, ...] = ()
    table: Table | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file that nobody else can read: the share is a secret."""
        content = json.dumps(part_to_json(self), allow_nan=False).encode()
        write_file(named_path(path), content, 0o600)

    @classmethod
    def load(cls, source: Source) -> BayesPart:
        """Read a part; anything malformed is a ModelError naming the field."""
        return part_from_json(parse_json(read_bytes(source)))

    def __repr__(self) -> str:
        return f"BayesPart({self.site!r}, one of {', '.join(p.site for p in self.shape.parts)})"


def part_to_json(part: BayesPart) -> dict[str, Any]:
    """Return a part as plain data; words of 64 bits are kept as texts."""
    shape, coding = part.shape, part.coding
    plain = None if part.table is None else {
        name: getattr(part.table, name).tolist() for name in ARRAYS}
    return {"format": FORMAT, "version": VERSION, "site": part.site, "run": part.run.hex(),
            "holders": list(part.holders), "classes": list(shape.classes),
            "class_site": shape.class_site, "target": shape.target,
            "class_known": int(shape.class_known),
            "parts": [{"site": p.site, "sizes": list(p.sizes), "numbers": p.numbers}
                      for p in shape.parts],
            "nominal": [] if coding is None else [[a.name, list(a.categories)]
                                                  for a in coding.nominal],
            "numeric": [] if coding is None else [list(n) for n in coding.numeric],
            "owner": int(coding is not None), "table": plain,
            "share": [np.asarray(words, np.uint64).tobytes().hex() for words in part.share]}


def part_from_json(data: Mapping[str, Any]) -> BayesPart:
    """Read `part_to_json`'s object, field by field."""
    fields = Fields(data)
    check_format(fields, FORMAT)
    try:
        parts = tuple(Part(str(p["site"]), tuple(int(s) for s in p["sizes"]), int(p["numbers"]))
                      for p in fields.items("parts", 1000))
        shape = BayesShape(parts, fields.texts("classes", 4096), fields.text("class_site"),
                      fields.text("target"), bool(fields.whole("class_known", 0, 1)))
        coding = _coding(fields) if fields.whole("owner", 0, 1) else None
        run = bytes.fromhex(fields.text("run"))
        share = tuple(np.frombuffer(bytes.fromhex(t), np.uint64) for t in fields.items("share", 4))
        table = None if data["table"] is None else Table(*(
            np.array(data["table"][name], np.float64) for name in ARRAYS))
    except (KeyError, TypeError, ValueError):
        refuse("part", "a part as it was saved", "something else")
    kinds = len(shape.classes)
    wanted = [kinds, sum(shape.sizes) * kinds, shape.numbers * kinds, shape.numbers * kinds]
    if share and [words.size for words in share] != wanted:
        refuse("share", f"words of sizes {wanted}", "others")
    return BayesPart(shape, fields.text("site"), coding, run, fields.texts("holders", 64), share,
                     table)


def _coding(fields: Fields) -> Coding:
    nominal = tuple(Attribute(str(name), tuple(None if c is None else str(c) for c in values))
                    for name, values in fields.items("nominal", 4096))
    numeric = tuple((str(name), float(centre), float(reach))
                    for name, centre, reach in fields.items("numeric", 4096))
    return Coding(nominal, numeric)

"""A release with hostile names, audited: what the tests of pages draw."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pyarrow as pa

import unspoken
from unspoken.protect import PiecewiseEncoder
from unspoken.risk import Audit, Policy, Row, Suggestion, audit

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)> & $x_1^$ ' + "long" * 20
RTL = "salary\u202e txt.exe"


class Reader(HTMLParser):
    """Collects tags, attributes, ids and text, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def ids(self) -> list[str | None]:
        return [value for name, value in self.attributes if name == "id"]


def hostile_table() -> pa.Table:
    """Return a small table with names that try everything."""
    rng = np.random.default_rng(5)
    label = rng.integers(0, 2, 900)
    return pa.table({
        "age": rng.integers(18, 90, 900).astype(float),
        HOSTILE: np.where(label == 1, rng.integers(0, 60, 900), rng.integers(40, 400, 900)) * 1.0,
        RTL: rng.normal(0, 1, 900).round(2),
        "年齢": rng.integers(0, 12, 900).astype(float),
        "outcome": np.where(label == 1, "ill", "well"),
    })


def audited(mode: str = "max-mono", folder=None, **settings):
    """Return an audit with its release, table and key."""
    source = hostile_table()
    table = unspoken.read(source, target="outcome", show=False)
    release, key = PiecewiseEncoder(mode=mode, random_state=3, **settings).protect(table)
    if folder is not None:
        release = release.save(folder)
    policy = Policy.parse('[columns]\nmax_recovered = 0.2\nagainst = "expert"')
    found = audit(table, release, key, trials=10, random_state=3, policy=policy)
    return found, release, table, key


def made_up() -> Audit:
    """Return an audit without any release behind it."""
    rows = tuple(
        Row(adversary, knowledge, column, "domain", value, value / 2, min(1.0, value * 1.5), 0.04,
            20)
        for adversary, knowledge, value in (("polyline", "expert", 0.3), ("rank", "bounds", 0.1),
                                            ("polyline", "insider", 0.4))
        for column in ("a", HOSTILE))
    paths = tuple(Row("polyline", "insider", name, "paths", value, 0.0, 0.5, 0.0, 20)
                  for name, value in (("(tree)", 0.01), ("length 1", 0.5), ("length > 6", 0.001)))
    return Audit((*rows, *paths, Row("cells", "nothing", "a", "k", 12.0, 12.0, 12.0, 1.0, 1)), 0.02,
                 20, {"fingerprint": "f" * 64, "rows": 10, "mechanism": {"name": "piecewise"}},
                 {"polyline": "joins points"}, {"b": "no key"},
                 (Suggestion(None, "Draw again", "it is random"),), ("nothing else was tried",))

"""The contract that every release method must pass, and the views of joint programs.

    @pytest.mark.parametrize("check", unspoken.checks.RELEASE_METHOD, ids=lambda c: c.__name__)
    def test_contract(check):
        check(MyMethod)

A check gets a function that makes the method from keyword arguments, and raises AssertionError.
Exceptions to the contract are listed by name, with the reason, where the checks are run.

`joint_views` runs a program on shares for two inputs with equal output and says what the parties
together could tell apart; a program that opens only what it declares gives an empty list.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.errors import InputError
from unspoken.joint.session.joint_views import joint_views
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.read import read
from unspoken.table.table import Table

__all__ = ["RELEASE_METHOD", "example", "joint_views"]

Make = Callable[..., Any]
Check = Callable[[Make], None]


def example(rows: int = 120, seed: int = 0) -> Table:
    """Return a small table with an identifier, missing values, ties and a target.

    Parameters
    ----------
    rows : int, default 120
        The number of rows.
    seed : int, default 0
        The same seed gives the same table.

    Returns
    -------
    Table
    """
    rng = np.random.default_rng(seed)
    dose = rng.normal(50, 10, rows).round(1)
    dose[rng.random(rows) < 0.1] = np.nan
    columns = {
        "patient_id": [f"P{i:05d}" for i in range(rows)],
        "age": rng.integers(18, 90, rows),
        "dose": dose,
        "visits": rng.integers(0, 4, rows),
        "outcome": rng.choice(["ill", "well"], rows),
    }
    return read(pa.table(columns), target="outcome", show=False)


def constructor_only_stores(make: Make) -> None:
    """Parameters are kept as given, and nothing else happens before `fit`."""
    from sklearn.base import clone

    method = make()
    stored = method.get_params()
    assert vars(method) == stored, "the constructor must only store its parameters"
    copy = clone(method).get_params()
    assert all(copy[name] is stored[name] or copy[name] == stored[name] for name in stored)


def protect_returns_release_and_key(make: Make) -> None:
    """`protect` returns a Release, and a Key or None."""
    release, key = make().protect(example())
    assert isinstance(release, Release)
    assert key is None or isinstance(key, Key)
    if key is not None:
        key.fits(release)


def identifiers_never_leave(make: Make) -> None:
    """Neither the names nor the values of identifier columns are anywhere in a release."""
    content = _bytes_of(make().protect(example())[0])
    assert b"patient_id" not in content
    assert b"P00007" not in content


def release_loads_without_key(make: Make) -> None:
    """What was saved comes back the same, guarantee included."""
    release, _ = make().protect(example())
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "r")
        loaded = Release.load(Path(folder) / "r")
        assert loaded.table.arrow().equals(release.table.arrow())
    assert loaded.guarantee == release.guarantee
    assert loaded.fingerprint == release.fingerprint


def secrets_stay_in_the_key(make: Make) -> None:
    """No secret text of the key occurs in the release."""
    release, key = make().protect(example())
    if key is None:
        return
    content = _bytes_of(release)
    for secret in _long_texts(dict(key.secrets)):
        assert secret.encode() not in content, "a secret of the key is in the release"


def random_state_repeats_and_is_declared(make: Make) -> None:
    """The same random_state gives the same release, which says that it was seeded."""
    first, _ = make(random_state=7).protect(example())
    second, _ = make(random_state=7).protect(example())
    assert first.table.arrow().equals(second.table.arrow())
    assert first.manifest["seeded"] is True
    assert "anyone who guesses the seed" in first.guarantee.summary()


def fresh_randomness_differs(make: Make) -> None:
    """Without random_state two releases differ, and no seed is declared."""
    first, _ = make().protect(example())
    second, _ = make().protect(example())
    assert not first.table.arrow().equals(second.table.arrow())
    assert first.manifest["seeded"] is False


def global_randomness_is_left_alone(make: Make) -> None:
    """numpy's global generator is neither used nor moved."""
    np.random.seed(3)
    before = np.random.get_state()[1]  # type: ignore[index]
    first, _ = make().protect(example())
    assert np.array_equal(before, np.random.get_state()[1])  # type: ignore[index]
    np.random.seed(3)
    second, _ = make().protect(example())
    assert not first.table.arrow().equals(second.table.arrow())


def input_is_unchanged(make: Make) -> None:
    """The table that is protected is not touched."""
    table = example()
    before = table.arrow()
    kept = before.to_pydict()
    make().protect(table)
    assert str(table.arrow().to_pydict()) == str(kept)


def missing_stays_missing(make: Make) -> None:
    """As many values are missing afterwards as before, column by column."""
    table = example()
    release, _ = make().protect(table)
    for name in set(table.schema.features) & set(release.schema.names):
        before = table.engine.count_missing(table.frame, name)
        assert release.table.engine.count_missing(release.table.frame, name) == before


def manifest_is_plain_json(make: Make) -> None:
    """The manifest is JSON without NaN and names format, version, mechanism and guarantee."""
    release, _ = make().protect(example())
    manifest = json.loads(json.dumps(release.manifest, allow_nan=False))
    for field in ("format", "version", "mechanism", "guarantee", "schema", "seeded"):
        assert field in manifest, f"the manifest lacks '{field}'"


def unknown_miner_is_not_covered(make: Make) -> None:
    """A miner that nobody knows is not covered, and a reason is given."""
    release, _ = make().protect(example())
    verdict = release.guarantee.covers(object())
    assert not verdict
    assert verdict.reason


def wrong_parameters_speak(make: Make) -> None:
    """A parameter of a wrong type is refused by name, before anything is fitted."""
    for name in make().get_params():
        if name == "random_state":
            continue
        words = _refusal(make().set_params(**{name: object()}))
        assert words, f"'{name}' took an object() without a word"
        assert f"'{name}'" in words, f"the message must name '{name}': {words}"


def fitted_state_ends_in_underscore(make: Make) -> None:
    """Fitting adds attributes that end in an underscore, and changes no parameter."""
    method = make()
    before = dict(method.get_params())
    method.protect(example())
    added = set(vars(method)) - set(before)
    assert all(name.endswith("_") for name in added), added
    assert method.get_params() == before


RELEASE_METHOD: tuple[Check, ...] = (
    constructor_only_stores,
    protect_returns_release_and_key,
    identifiers_never_leave,
    release_loads_without_key,
    secrets_stay_in_the_key,
    random_state_repeats_and_is_declared,
    fresh_randomness_differs,
    global_randomness_is_left_alone,
    input_is_unchanged,
    missing_stays_missing,
    manifest_is_plain_json,
    unknown_miner_is_not_covered,
    wrong_parameters_speak,
    fitted_state_ends_in_underscore,
)


def _refusal(method: Any) -> str:
    """Return the words with which a method refuses, or nothing."""
    try:
        method.protect(example())
    except InputError as error:
        return str(error)
    return ""


def _bytes_of(release: Release) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "r")
        return b"".join(path.read_bytes() for path in sorted((Path(folder) / "r").iterdir()))


def _long_texts(value: Any) -> Iterator[str]:
    """Yield every text of at least 32 characters: seeds and the like, not names."""
    if isinstance(value, str) and len(value) >= 32:
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _long_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _long_texts(item)

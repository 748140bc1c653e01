"""Models that a miner sent: read as hostile, decoded with the key of a signed release, verified."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.models.hostile_json import Limits
from unspoken.models.load_model import load_model
from unspoken.studio.session_folder import read_description
from unspoken.studio.table_source import Source
from unspoken.studio.upload_room import BY
from unspoken.studio.uploads import LARGEST_MODEL

MODEL, RECIPE, DECODED, ABOUT = "model", "recipe.json", "decoded.json", "about.json"
LIMITS = Limits(max_bytes=LARGEST_MODEL)


def take_model(file: Path, place: Path, name: str, by: str = "") -> None:
    """Keep a model that can be read, for whoever brought it; anything else is refused."""
    part = place.with_name(f".{place.name}.part")
    try:
        model = load_model(file, LIMITS)
        part.mkdir(mode=0o700)
        file.rename(part / MODEL)
        _write(part / ABOUT, {"name": name, "kind": model.kind, "summary": model.summary(),
                              BY: by})
        part.rename(place)
    finally:
        file.unlink(missing_ok=True)
        shutil.rmtree(part, ignore_errors=True)


def take_recipe(file: Path, place: Path) -> None:
    """Keep the recipe of a model: how it was mined."""
    from unspoken.models.recipe import Recipe

    try:
        Recipe.load(file)
        file.rename(place / RECIPE)
    finally:
        file.unlink(missing_ok=True)


def decode_model(request: Mapping[str, Any], step: Callable[..., None]) -> dict[str, Any]:
    """Decode a model, and compare it with the original's where its recipe is there."""
    from unspoken.models.recipe import Recipe
    from unspoken.release.decoding import decode
    from unspoken.release.key import Key

    place = Path(request["place"])
    step(0, 3, "The table is read.")
    key = Key.load(Path(request["key"]), request["passphrase"])
    table = Source.from_json(request["source"]).read()
    model = load_model(place / MODEL, LIMITS)
    recipe = Recipe.load(place / RECIPE) if (place / RECIPE).exists() else None
    step(1, 3, "The model is decoded.")
    decoded = decode(model, key, table, recipe=recipe)
    step(2, 3, "It is compared with the original's.")
    verified = "" if recipe is None else _verified(model, recipe, key, table)
    about = {**read_model_about(place), "decoded": decoded.summary(), "verified": verified,
             "release": request["release"]}
    # Last: work that is cancelled leaves the model as it was.
    decoded.save(place / DECODED)
    (place / DECODED).chmod(0o600)
    _write(place / ABOUT, about)
    return {"verified": verified}


def _verified(model: Any, recipe: Any, key: Any, table: Any) -> str:
    from unspoken.methods.encoding.decode.mined_again import decoded_and_mined_again
    from unspoken.models.verify import verify

    decoded, original = decoded_and_mined_again(model, recipe, key, table)
    same = verify(original.to_bytes(), decoded)
    return "identical, bit for bit" if same else f"different: {same}"


def read_model_about(place: Path) -> dict[str, Any]:
    """Return what is known about a model."""
    return read_description(place / ABOUT, "name", "kind")


def decoded_or_mined(place: Path) -> tuple[Any, bool]:
    """Return the decoded model if there is one, else the mined one; and which it is."""
    decoded = (place / DECODED).exists()
    return load_model(place / (DECODED if decoded else MODEL), LIMITS), decoded


def predicted(place: Path, values: Mapping[str, str]) -> str:
    """Return what the model says about one record."""
    model, _ = decoded_or_mined(place)
    features = getattr(model, "features", ())
    if not features or not hasattr(model, "predict"):
        raise InputError(f"A {model.kind} does not predict for single records.")
    record = {name: [_value(values.get(name, ""))] for name in features}
    return str(model.predict(record)[0])


def _value(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text or None


def _write(path: Path, data: Any) -> None:
    from unspoken.table.atomic_files import write_file

    write_file(path, json.dumps(data, indent=2).encode(), 0o600)

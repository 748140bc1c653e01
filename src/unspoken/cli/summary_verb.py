"""`unspoken summary`: what a release, a key or a model is, without any secret."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from unspoken.cli.common import Adder, add_passphrase, emit, passphrase, verb
from unspoken.errors import InputError


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "summary", run,
                  "Describe a release directory, a key file or a model file. "
                  "Shows no secret of a key.")
    parser.add_argument("path", type=Path, metavar="PATH")
    add_passphrase(parser)


def run(args: argparse.Namespace) -> int:
    """Tell releases, keys, recipes and models apart by their content."""
    path: Path = args.path
    if not path.exists():
        raise InputError(f"'{path}' must be a release directory, a key or a model. "
                         "There is nothing. Check the path.")
    if path.is_dir():
        data, text = _release(path)
    elif _starts(path, 8) == b"UNSPOKEN":
        data, text = _key(path, args)
    else:
        data, text = _model(path)
    emit(args, {"path": str(path), **data}, text)
    return 0


def _starts(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _release(path: Path) -> tuple[dict[str, Any], str]:
    from unspoken.release.release import Release

    release = Release.load(path)
    return {"kind": "release", "manifest": release.manifest}, release.summary()


def _key(path: Path, args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from unspoken.errors import PassphraseError
    from unspoken.release.key import Key

    secret = passphrase(args)
    try:
        key = Key.load(path, secret)
    except PassphraseError:
        if secret is not None:
            raise
        return ({"kind": "key", "sealed": True},
                "A sealed key. Give its passphrase to see which release it belongs to.")
    mode = f"{path.stat().st_mode & 0o777:04o}"
    fields = {"kind": "key", "mechanism": key.mechanism, "release": key.fingerprint,
              "file_mode": mode}
    open_to_all = "" if mode.endswith("00") else " Others can read the file: chmod 600 it."
    return fields, (f"Key of release {key.fingerprint[:12]} ({key.mechanism}), file mode {mode}."
                    + open_to_all)


def _model(path: Path) -> tuple[dict[str, Any], str]:
    from unspoken.mine import Recipe
    from unspoken.models.load_model import load_model

    if b'"unspoken-recipe"' in _starts(path, 200):
        recipe = Recipe.load(path)
        return {"kind": "recipe", "recipe": recipe.to_json()}, recipe.summary()
    model = load_model(path)
    text = model.summary()
    return {"kind": model.kind, "format": model.format, "summary": text}, text

"""Valid model, key and release files, and seeded ways to spoil them."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import struct

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from support.encoding_walk import table_of
from unspoken.mine import Stopping, fit
from unspoken.models.forest import Forest
from unspoken.models.readers import as_pattern
from unspoken.models.tree import Tree
from unspoken.protect import PiecewiseEncoder

WHOLE = [-1, 0, 1, 2, 7, 255, -2147483649, 2147483647, 2147483648, -2147483648, 2**32 - 1, 2**53,
         2**63, -(2**63) - 1, 10**30]
REAL = [0.5, -0.0, 1e38, 3.5e38, -1e308, 1e-320, float("nan"), float("inf"), -float("inf")]
OTHER = [None, True, "", "x", "nan", "-1", "1e999", "x" * 3000, [], {}, [[]], {"a": 1}]


ENSEMBLES = {
    "gradient": GradientBoostingClassifier(n_estimators=3, max_depth=2),
    "histogram": HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
    "adaboost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=3,
                                 max_features=2),
}


class Originals:
    """One small table whose values are easy to recognise, its release and everything mined."""

    def __init__(self, folder) -> None:
        rng = np.random.default_rng(5)
        self.data = np.round(rng.normal(size=(80, 3)) * 1000, 5) + 70000.0
        self.labels = (self.data[:, 0] + self.data[:, 1] > 140000).astype(int)
        self.table = table_of(self.data, self.labels)
        release, self.key = PiecewiseEncoder(keep_zero=True, random_state=0).protect(self.table)
        self.release = release
        release.save(folder / "release")
        self.key.save(folder / "key")
        codes, labels = release.table.numbers(), release.table.labels()
        tree = DecisionTreeClassifier(random_state=0, max_depth=4).fit(codes, labels)
        forest = RandomForestClassifier(3, random_state=0, max_depth=3).fit(codes, labels)
        xgb_options = {"n_estimators": 3, "max_depth": 3, "n_jobs": 1}
        three = (labels + 2 * (codes[:, 2] > np.median(codes[:, 2])))
        self.valid = {
            "tree": Tree.from_sklearn(tree).to_json(),
            "forest": Forest.from_sklearn(forest).to_json(),
            "xgboost": _document(xgb.XGBClassifier(**xgb_options).fit(codes, labels)),
            "dart": _document(xgb.XGBClassifier(booster="dart", **xgb_options).fit(codes, labels)),
            "classes": _document(xgb.XGBClassifier(**xgb_options).fit(codes, three)),
            "lightgbm": lgb.LGBMClassifier(n_estimators=3, num_leaves=5, n_jobs=1, verbose=-1)
            .fit(codes, labels).booster_.model_to_string(),
            **{name: as_pattern(estimator.set_params(random_state=0).fit(codes, labels)).to_json()
               for name, estimator in ENSEMBLES.items()},
            "manifest": json.loads((folder / "release" / "manifest.json").read_text()),
            "key": (folder / "key").read_bytes(),
        }
        mined = fit(release, "xgboost", stop=Stopping(2, 0.2), n_estimators=6, max_depth=2)
        self.stopped, self.valid["recipe"] = mined.model, mined.recipe.to_json()
        self.seen = {text for value in self.data.ravel() for text in (str(value), f"{value:.5f}")}


def _document(model):
    return json.loads(bytes(model.get_booster().save_raw("json")))


def written(valid, kind) -> bytes:
    """Return a valid file as it is."""
    if kind == "key":
        return bytes(valid)
    return valid.encode() if kind == "lightgbm" else json.dumps(valid).encode()


def spoiled(valid, kind, rng) -> bytes:
    """Return a spoiled copy of one valid file."""
    if kind == "lightgbm":
        return _spoiled_text(valid, rng)
    if kind == "key":
        return spoiled_key(valid, rng)
    return _damaged(json.dumps(spoiled_json(valid, rng)).encode(), rng)


def _damaged(content: bytes, rng) -> bytes:
    roll = rng.random()
    if roll < 0.02:
        return content[: int(rng.integers(0, len(content)))]
    if roll < 0.03:
        return content.replace(b"[", b"[" * int(rng.choice([500, 20_000])), 1)
    if roll < 0.04:
        return content[:-1] + b', "learner": {}, "left": 3}'
    if roll < 0.06:
        place = int(rng.integers(0, len(content)))
        return content[:place] + bytes([int(rng.integers(0, 256))]) + content[place + 1 :]
    return content


def spoiled_json(document, rng):
    spoilt = copy.deepcopy(document)
    for _ in range(int(rng.integers(1, 4))):
        spoil_one(spoilt, rng)
    return spoilt


def spoil_one(node, rng) -> None:
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = keys[int(rng.integers(len(keys)))]
        below = node[key]
        if not isinstance(below, dict | list) or not below or rng.random() < 0.1:
            break
        node = below
    roll = rng.random()
    if roll < 0.15:
        del node[key]
    elif roll < 0.25 and isinstance(node, list):
        node.insert(key, copy.deepcopy(node[key]))
    else:
        node[key] = _other(node[key], rng)


def _other(value, rng):
    roll = rng.random()
    if roll < 0.45:
        drawn = WHOLE[int(rng.integers(len(WHOLE)))]
        return str(drawn) if isinstance(value, str) else drawn
    if roll < 0.65:
        drawn = REAL[int(rng.integers(len(REAL)))]
        return str(drawn) if isinstance(value, str) else drawn
    if roll < 0.8 and isinstance(value, int | float) and not isinstance(value, bool):
        return -value
    return copy.deepcopy(OTHER[int(rng.integers(len(OTHER)))])


def _spoiled_text(text: str, rng) -> bytes:
    lines = text.split("\n")
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(lines)))
        roll = rng.random()
        if roll < 0.1:
            del lines[place]
        elif roll < 0.2:
            lines.insert(place, lines[int(rng.integers(len(lines)))])
        else:
            lines[place] = _spoiled_line(lines[place], rng)
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    return content[: int(rng.integers(5, len(content)))] if rng.random() < 0.02 else content


def _spoiled_line(line: str, rng) -> str:
    words = re.split(r"([ =:])", line)
    place = int(rng.integers(len(words)))
    pool = [*map(str, WHOLE), *map(str, REAL), "", "x", "1_0", "0x10", "-", "é", "9" * 400]
    words[place] = pool[int(rng.integers(len(pool)))]
    return "".join(words)


def spoiled_key(content: bytes, rng) -> bytes:
    """Spoil the described part of a key and make its checksum right again."""
    front = struct.Struct("<8sIIQ")
    magic, version, head_size, body_size = front.unpack_from(content)
    head = json.loads(content[front.size : front.size + head_size])
    body = content[front.size + head_size : front.size + head_size + body_size]
    (size,) = struct.unpack_from("<Q", body)
    inner, arrays = json.loads(body[8 : 8 + size]), bytearray(body[8 + size :])
    spoil_one(head if rng.random() < 0.1 else inner, rng)
    if rng.random() < 0.3 and arrays:
        place = int(rng.integers(len(arrays)))
        arrays[place] = int(rng.integers(256))
    written = json.dumps(inner).encode()
    body = struct.pack("<Q", len(written)) + written + bytes(arrays)
    if rng.random() < 0.05:
        head["sealed"] = {"kdf": "argon2id", "cipher": "aes-256-gcm", "memory_kib": 1 << 20,
                          "iterations": 3, "lanes": 4, "salt": "00" * 16, "nonce": "00" * 12}
    head_bytes = json.dumps(head).encode()
    whole = front.pack(magic, version, len(head_bytes), len(body)) + head_bytes + body
    return whole + hashlib.sha256(whole).digest()

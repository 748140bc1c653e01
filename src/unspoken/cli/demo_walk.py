"""The walk of the demo: protect a real table, let a separate process mine it, decode, compare.

The table is the breast cancer data that ships inside scikit-learn (569 tumours, 30 measurements,
malignant or benign). The miner is another process that runs in a folder where nothing lies but
the releases.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.errors import UnspokenError

if TYPE_CHECKING:
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.risk import Audit
    from unspoken.table.table import Table

MODES = ("strict", "max-mono")
LEARNERS: Mapping[str, tuple[str, ...]] = {"tree": (), "forest": ("n_estimators=50",)}
ADVERSARIES = ("line", "spline", "polyline", "ranks", "rank", "frequency")
SAMPLE = 0.1
SAMPLES = 9
TRIALS = 50
LIMIT = 600
"""How long the miner may take, in seconds; it needs a few."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Proof:
    """One model: what the miner found, what it decodes to, what the original gives."""

    mode: str
    learner: str
    size: str
    mined_split: str
    decoded_split: str
    mined_from_original: str
    decoded: str
    difference: str | None

    @property
    def identical(self) -> bool:
        """Return True if the two models are the same, by comparison and by their bytes."""
        return self.difference is None and self.mined_from_original == self.decoded


@dataclass(frozen=True)
class Protected:
    """One release of the table and the key to it."""

    mode: str
    release: Release
    key: Key
    audit: Audit
    sampled: tuple[Audit, ...]


@dataclass(frozen=True)
class Story:
    """Everything that happened."""

    table: Table
    proofs: tuple[Proof, ...]
    protected: tuple[Protected, ...]

    @property
    def identical(self) -> bool:
        """Return True if every decoded model is the one mined from the original."""
        return bool(self.proofs) and all(proof.identical for proof in self.proofs)


def walk(folder: Path, say: Say) -> Story:
    """Do everything, in a folder that has one half for the custodian and one for the miner."""
    custodian, miner = folder / "custodian", folder / "miner"
    custodian.mkdir()
    miner.mkdir()
    table = bundled_table(custodian / "table.parquet")
    say(f"The custodian's table: {table.rows} tumours, {len(table.schema.features)} measurements, "
        "malignant or benign (it ships with scikit-learn).")
    protected, proofs = [], []
    for mode in MODES:
        release, key = _protect(table, mode, custodian, miner, say)
        for learner, params in LEARNERS.items():
            _mine(mode, learner, params, miner)
            proofs.append(_prove(mode, learner, table, key, custodian, miner))
            say(proof_line(proofs[-1]))
        attacked = _attack(table, release, key)
        protected.append(Protected(mode, release, key, *attacked))
    return Story(table, tuple(proofs), tuple(protected))


def bundled_table(path: Path) -> Table:
    """Write the bundled table to a file and read it as a custodian would."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from sklearn.datasets import load_breast_cancer

    from unspoken.table.read import read

    bunch = load_breast_cancer()
    columns = {str(name): bunch.data[:, i] for i, name in enumerate(bunch.feature_names)}
    columns["diagnosis"] = bunch.target_names[bunch.target].tolist()
    pq.write_table(pa.table(columns), path)
    return read(path, target="diagnosis", show=False)


def _protect(table: Table, mode: str, custodian: Path, miner: Path,
             say: Say) -> tuple[Release, Key]:
    from unspoken.protect import PiecewiseEncoder

    release, key = PiecewiseEncoder(mode, neutral_names=True).protect(table)
    key.save(custodian / f"{mode}.key")
    release = release.save(miner / f"{mode}-release")
    say(f"\nMode {mode}. The custodian writes miner/{mode}-release (codes, neutral names, rows "
        f"shuffled)\nand keeps custodian/{mode}.key. The miner, another process, sees the release "
        "only.")
    return release, key


def _mine(mode: str, learner: str, params: tuple[str, ...], miner: Path) -> None:
    """Run the miner as a process of its own, in the folder that holds the releases only."""
    options = [word for each in params for word in ("--param", each)]
    import unspoken

    home = str(Path(str(unspoken.__file__)).parents[1])
    paths = [home, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "unspoken", "mine", f"{mode}-release", "--learner", learner,
             *options, "--out", f"{mode}-{learner}.json", "--json"],
            cwd=miner, capture_output=True, text=True, check=False, timeout=LIMIT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))})
    except subprocess.TimeoutExpired:
        raise UnspokenError(f"The miner must be done within {LIMIT} s. It was not, and was "
                         "ended.") from None
    if done.returncode != 0:
        raise UnspokenError(f"The miner failed: {done.stderr.strip()}")


def _prove(mode: str, learner: str, table: Table, key: Key, custodian: Path,
           miner: Path) -> Proof:
    """Decode what the miner sent, mine the original in the same way, and compare."""
    from unspoken import mine, protect
    from unspoken.methods.encoding.learners.mine_trees import recipe_path
    from unspoken.models.readers import read_model
    from unspoken.models.verify import verify
    from unspoken.release.method import method_of

    sent = miner / f"{mode}-{learner}.json"
    mined = read_model(sent)
    decoded = protect.decode(mined, key, table)
    recipe = mine.Recipe.load(recipe_path(sent))
    ordered = method_of(key.mechanism).in_released_order(key, table)
    original = mine.fit(ordered, recipe.learner, task=recipe.task, **recipe.params).model
    return Proof(mode, learner, mined.summary().splitlines()[0], first_split(mined),
                 first_split(decoded),
                 _written(original, custodian / f"{mode}-{learner}-of-the-original.json"),
                 _written(decoded, custodian / f"{mode}-{learner}-decoded.json"),
                 verify(original, decoded).difference)


def first_split(model: Any) -> str:
    """Return the question at the root of a tree, or of a forest's first tree."""
    tree = model.trees[0] if hasattr(model, "trees") else model
    return f"{tree.features[tree.feature[0]]} <= {tree.threshold[0]:.9g}"


def _written(model: Any, path: Path) -> str:
    """Write a model and return the SHA-256 of the file."""
    data = json.dumps(model.to_json(), allow_nan=False).encode()
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def proof_line(proof: Proof) -> str:
    """Print in a few lines what happened to one model."""
    answer = ("identical, bit for bit" if proof.identical
              else f"DIFFERENT: {proof.difference or 'the files differ'}")
    return (f"  {proof.size}\n"
            f"    first question, as mined   {proof.mined_split}\n"
            f"    first question, decoded    {proof.decoded_split}\n"
            f"    decoded against the original's own: {answer}\n"
            f"    SHA-256 of the two files   {proof.decoded[:24]}...\n"
            f"                               {proof.mined_from_original[:24]}...")


def _attack(table: Table, release: Release, key: Key) -> tuple[Audit, tuple[Audit, ...]]:
    """Run the adversaries; those who match samples get several, each a tenth of the table."""
    from unspoken.risk import audit

    return (audit(table, release, key, None, TRIALS, 0, adversaries=ADVERSARIES, subspaces=1),
            tuple(audit(table, release, key, _sample(table, seed), 1, 0, adversaries=["quantile"],
                        subspaces=1) for seed in range(SAMPLES)))


def _sample(table: Table, seed: int) -> Table:
    import numpy as np
    import pyarrow as pa

    from unspoken.table.read import read

    rows = table.arrow()
    chosen = np.random.default_rng(seed).choice(rows.num_rows, int(SAMPLE * rows.num_rows), False)
    return read(rows.take(pa.array(chosen)), show=False)

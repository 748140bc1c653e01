"""Random tables of several owners with all that goes wrong in real ones, and studies over them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from support.brute_force import World, study_in
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.task_list import task_of

OWNERS = ("north", "south", "east")


def study_of(task, parameters, owners=OWNERS, mode="dealer"):
    """Return a study whose owners all learn the result."""
    study = study_in(World(task, parameters, (), (), lambda a, b: None, {}, owners, mode))
    return replace(study, disclosures=task_of(study).disclosures(study))


def owners_tables(seed, rows=40):
    """Return tables of three owners: ties, a constant, missing values, an owner that knows none."""
    rng = np.random.default_rng(seed)
    tables = []
    for place in range(3):
        size = int(rng.integers(1, rows))
        tied = rng.integers(0, 5, size) * 2.5
        spread = rng.normal(20, 15, size)
        gaps = rng.normal(0, 1, size)
        gaps[rng.random(size) < (1.0 if place == 1 else 0.3)] = np.nan
        tables.append(pd.DataFrame({
            "tied": tied, "spread": spread, "gaps": gaps, "same": np.full(size, 7.3),
            "town": rng.choice(["a", "b", "c", None], size),
            "ill": rng.choice(["no", "yes"], size)}))
    return tables


def outputs_of(task, tables, folder, mode="dealer", **parameters):
    """Return what every owner of tables learns in a run of a study, by its file."""
    owners = OWNERS[:len(tables)]
    study = study_of(task, parameters, owners, mode)
    chosen, inputs = task_of(study), []
    for name, table in zip(owners, tables, strict=True):
        table.to_csv(folder / f"{name}.csv", index=False)
        inputs.append(chosen.load(folder / f"{name}.csv", study))
    runs = run_local(chosen.program(study), inputs, mode, names=list(owners))
    return [output for output, _ in runs]

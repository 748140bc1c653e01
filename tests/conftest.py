"""What several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.paths import DATA

settings.register_profile(
    "unspoken", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unspoken")


@pytest.fixture(scope="session")
def shared():
    """Return the path of a big data set, or skip the test by name."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"{name} is not in ../shared/data")
        return path

    return find


@pytest.fixture(scope="session")
def covtype(shared):
    """The ten numeric Covertype attributes, the seven classes, and Aspen against the rest."""
    import numpy as np
    import pyarrow.parquet as pq

    table = pq.read_table(shared("covtype.parquet"))
    names = table.column_names[:10]
    data = np.column_stack([table[name].to_numpy() for name in names])
    labels = table["Cover_Type"].to_numpy()
    return names, data, labels

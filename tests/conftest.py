"""What several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

settings.register_profile(
    "tacit", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tacit")


@pytest.fixture(scope="session")
def shared():
    """Return the path of a big data set, or skip the test by name."""

    def find(name: str) -> Path:
        path = SHARED / name
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

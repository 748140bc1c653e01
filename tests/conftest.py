"""What several tests share."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parents[1] / "shared" / "data"
SLOW = (
    # Real browsers, processes, learners and long protocols; `make fast` leaves these files out.
    "attack/test_inverse_sampling.py", "attack/test_turned.py", "cli/test_anonymize.py",
    "cli/test_demo.py", "cli/test_errors.py", "cli/test_inspect.py", "cli/test_masking.py",
    "cli/test_methods.py", "cli/test_mine_distorted.py", "cli/test_passphrase.py",
    "cli/test_query.py", "cli/test_readme.py", "cli/test_walk.py", "experiments/*",
    "joint/test_bayes_*", "joint/test_cli_joint.py", "joint/test_cluster_tasks.py",
    "joint/test_clusters_spu.py", "joint/test_common_ids.py", "joint/test_functions.py",
    "joint/test_homomorphic.py", "joint/test_inverse.py", "joint/test_kmeans*",
    "joint/test_links.py", "joint/test_mixtures.py", "joint/test_network.py",
    "joint/test_outliers*", "joint/test_pair_counts.py", "joint/test_permutation.py",
    "joint/test_processes.py", "joint/test_regression_*", "joint/test_retailers_guide.py",
    "joint/test_rules_*", "joint/test_sets.py", "joint/test_shares.py", "joint/test_simulation*",
    "joint/test_spu.py", "joint/test_tls.py", "joint/test_tree_*", "joint/test_two_party*",
    "joint/test_waiting.py", "mine/test_choices.py", "mine/test_mixtures.py",
    "mine/test_noisy_trees.py", "mine/test_promises.py", "mine/test_reconstructing.py",
    "protect/anonymize/*", "protect/queries/test_race.py", "protect/test_baskets.py",
    "protect/test_masking.py", "protect/test_replay.py", "protect/test_replay_boosters.py",
    "protect/test_same_boosting.py", "protect/test_same_tree.py", "report/test_audit_page.py",
    "report/test_browser.py", "report/test_page.py", "risk/test_audit.py", "risk/test_indirect.py",
)

settings.register_profile(
    "tacit", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tacit")


def _is_slow(name):
    return any(fnmatch(name, pattern) for pattern in SLOW)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(TESTS) and _is_slow(item.path.relative_to(TESTS).as_posix()):
            item.add_marker(pytest.mark.slow)


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

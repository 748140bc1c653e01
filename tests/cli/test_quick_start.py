"""`protect` loads what it needs: libraries of miners take longer than a small release."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.methods.encoding.encoding_settings import PiecewiseSettings
from unspoken.protect import PiecewiseEncoder
from unspoken.release.method import methods

RNG = np.random.default_rng(4)
TABLE = pa.table({"age": RNG.integers(18, 90, 400), "size": RNG.integers(0, 9, 400),
                  "class": RNG.integers(0, 2, 400)})
HEAVY = ("sklearn", "scipy", "pandas", "matplotlib")
RUN = """
import sys
from unspoken.cli.main import main
status = main(sys.argv[2:])
print(",".join(name for name in sys.argv[1].split(",") if name in sys.modules), file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.slow
def test_a_table_of_numbers_is_protected_without_the_libraries_of_miners(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    done = subprocess.run(
        [sys.executable, "-c", RUN, ",".join(HEAVY), "protect", str(tmp_path / "t.parquet"),
         "--target", "class", "--out", str(tmp_path / "out"), "--key", str(tmp_path / "key")],
        env={**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1])},
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == ""


def test_what_is_quick_makes_the_same_release():
    table = unspoken.read(TABLE, target="class", show=False)
    quick, whole = (made(mode="max-mono", random_state=3).protect(table)[0]
                    for made in (PiecewiseSettings, PiecewiseEncoder))
    assert quick.fingerprint == whole.fingerprint
    assert quick.table.arrow().equals(whole.table.arrow())


@pytest.mark.parametrize("name", [name for name, one in methods().items() if one.quick_at])
def test_what_is_quick_has_the_parameters_of_the_transformer(name):
    method = methods()[name]
    values = {key: value for key, value in method.defaults().items() if key in method.parameters}
    assert method.build(values, quick=True).get_params() == method.build(values).get_params()

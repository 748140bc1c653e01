"""A process that is one party keeps what it freed; whether it can is the system's to say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from unspoken.joint.session import allocator

PROGRAM = """
import resource, numpy as np
from unspoken.joint.session.allocator import keep_memory
print(keep_memory() if {kept} else None)
def faults():
    for _ in range(20):
        held = [np.ones(1 << 19) for _ in range(8)]  # 4 MiB each, used and freed together
        del held
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
first = faults()
print(faults() - first)
"""


def run(kept):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(kept=kept)], check=True, text=True,
                          capture_output=True, timeout=60)
    said, count = done.stdout.split()
    return said, int(count)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only glibc's allocator is asked")
def test_memory_that_was_freed_is_used_again_without_new_pages():
    said, count = run(kept=True)
    assert said == "True"
    assert 20 * count < run(kept=False)[1]


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not allocator.keep_memory()

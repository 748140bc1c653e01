"""Tests of one group run in one process: a runner that ignores groups does so without a word."""

import os

import pytest


@pytest.mark.xdist_group("seen")
@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="only one process runs tests")
def test_groups_are_known_to_the_runner(request):
    assert request.node.nodeid.endswith("@seen")

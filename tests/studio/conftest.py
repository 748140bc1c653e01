"""A browser and a studio for tests that walk through pages."""

import pytest

from support.browser import chromium


@pytest.fixture(scope="module")
def browser():
    # While it is open its event loop runs in this thread, and nobody else may run one.
    with chromium() as found:
        yield found

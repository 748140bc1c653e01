"""What is public is listed, small enough to keep, documented, and printed in the reference."""

import importlib

import pytest
from docs.api_reference import DOORS, MOST_NAMES, page, problems_of, public_names

from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "api.md"
UNDOCUMENTED: dict[str, tuple[str, ...]] = {}
"""Names by door whose docstrings still lack something; remove what has been documented."""


def incomplete():
    """Return door and name of everything public that the docstrings leave something out of."""
    return {(door, name) for door, name, thing in public_names() if list(problems_of(name, thing))}


def listed():
    return {(door, name) for door, names in UNDOCUMENTED.items() for name in names}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_lists_what_is_public(door):
    module = importlib.import_module(door)
    names = module.__all__
    assert len(names) == len(set(names))
    assert all(hasattr(module, name) for name in names)


def test_no_more_is_public_than_can_be_kept():
    assert MOST_NAMES == 300
    assert sum(1 for _ in public_names()) <= MOST_NAMES


def test_every_public_name_is_documented():
    assert incomplete() - listed() == set()


def test_no_exception_outlives_its_reason():
    assert listed() - incomplete() == set(), "remove these from UNDOCUMENTED"


def test_a_missing_docstring_or_parameter_is_noticed():
    def half(table, key):
        """Return one.

        Parameters
        ----------
        table : Table
            The original.
        """

    def bare():
        pass

    assert list(problems_of("half", half)) == ["half does not document the parameter 'key'"]
    assert list(problems_of("bare", bare)) == ["bare has no docstring"]


def test_the_reference_is_the_one_that_make_docs_writes():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"

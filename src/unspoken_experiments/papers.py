"""Running the sections of the papers, one after the other."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from unspoken.errors import SeededWarning
from unspoken_experiments.data_sets import NotHereError
from unspoken_experiments.findings import Missing, Section, Setting

Part = tuple[str, Callable[[], Iterator[Section]]]


def parts(paper: str, setting: Setting) -> list[Part]:
    """Return the named parts of a paper: each yields sections, or lacks a data set."""
    module = import_module(f"unspoken_experiments.{paper}.sections")
    found: list[Part] = module.parts(setting)
    return found


def run_papers(papers: Sequence[str], setting: Setting,
               say: Callable[[str], None]) -> tuple[list[Section], list[Missing]]:
    """Run papers; a part whose data set is not here is named and left out."""
    sections: list[Section] = []
    missing: list[Missing] = []
    with warnings.catch_warnings():
        # Experiments are seeded on purpose: their releases go nowhere.
        warnings.simplefilter("ignore", SeededWarning)
        for paper in papers:
            for name, make in parts(paper, setting):
                say(f"{paper}: {name}")
                try:
                    sections += make()
                except NotHereError as error:
                    missing.append(Missing(paper, name, str(error)))
    return sections, missing

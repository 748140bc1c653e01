"""The advice leads every scenario of the five texts to the method that serves it."""

from __future__ import annotations

from itertools import product

import pytest

import unspoken
from unspoken.advice import advise, ways
from unspoken.errors import InputError
from unspoken.release.method import methods
from unspoken.release.uses import KNOWLEDGE, PURPOSES, RECIPIENTS, Use

SCENARIOS = [
    ("bu2007: a service provider mines, the custodian decodes", "miner", "model", "nothing",
     "piecewise"),
    ("as2000: people report with noise, the miner reconstructs", "collector", "statistics",
     "population", {"noise", "randomized-response"}),
    ("vcz2006 3.2: people answer at random", "collector", "statistics", "anything",
     "randomized-response"),
    ("vcz2006 6.1: baskets are randomised one by one", "collector", "rules", "anything", "baskets"),
    ("fu2010: a published table from which others grow the same tree", "public", "model", "facts",
     "tree-preserving"),
    ("liu2006: records are rotated, distances survive", "miner", "clusters", "nothing",
     "rotation"),
    ("liu2006 3: known records undo a rotation", "miner", "clusters", "records", None),
    ("liu2006 4: so does a sample", "miner", "clusters", "population", None),
    ("vcz2006 5: owners mine together", "owners", "model", "anything", "joint"),
    ("vcz2006 7: owners cluster together", "owners", "clusters", "anything", "joint"),
    ("as2000 1: analysts ask for statistics", "analysts", "statistics", "anything", "serve"),
    ("bu2007 3: similar data undoes codes, so no records go out", "miner", "model", "population",
     "private"),
    ("distances of records cannot be published", "public", "clusters", "nothing", None),
    ("anything, to anybody, whatever they know", "public", "anything", "anything",
     "private-synthetic"),
    ("vcz2006 2.1: a table for statistics, looked up by facts", "public", "statistics", "facts",
     "mondrian"),
]
PARTS = {"pairwise-rotation", "similarity-outsourcing", "multiplicative-noise", "discretize",
         "generalize", "optimal-recoding", "top-bottom", "suppress-cells", "swap", "sample",
         "microaggregation", "condensation", "isolation-guard", "post-randomization", "anatomy"}
"""Methods that are chosen by those who know why: `anonymize` tries most of them."""
EVERY = list(product(RECIPIENTS, PURPOSES, KNOWLEDGE))


@pytest.mark.parametrize(("scenario", "recipient", "purpose", "knowledge", "leads_to"), SCENARIOS)
def test_a_scenario_of_the_texts_leads_to_its_method(scenario, recipient, purpose, knowledge,
                                                     leads_to):
    best = advise(recipient, purpose, knowledge).best
    chosen = None if best is None else best.way.name
    assert chosen in leads_to if isinstance(leads_to, set) else chosen == leads_to, scenario


def test_what_is_recommended_withstands_what_they_know():
    order = list(KNOWLEDGE)
    for recipient, purpose, knowledge in EVERY:
        best = advise(recipient, purpose, knowledge).best
        assert best is None or order.index(best.use.withstands) >= order.index(knowledge)


def test_more_knowledge_never_opens_a_way():
    order = list(KNOWLEDGE)
    for recipient, purpose in product(RECIPIENTS, PURPOSES):
        released = [advise(recipient, purpose, one).best is not None for one in order]
        assert released == sorted(released, reverse=True)


def test_every_method_serves_a_scenario_or_is_a_part_of_others():
    serving = {name for name, method in methods().items() if method.uses}
    assert set(methods()) - serving == PARTS


def test_every_way_is_recommended_in_some_scenario():
    best = [advise(*answers).best for answers in EVERY]
    recommended = {one.way.name for one in best if one is not None}
    # A projection keeps what a rotation keeps exactly, so it is never the first choice.
    assert {way.name for way in ways()} - recommended == {"random-projection"}


def test_a_table_rules_out_what_it_cannot_serve():
    words = unspoken.read({"text": ["a", "b", "c", "d"] * 5}, show=False)
    advice = advise("miner", "clusters", "nothing", words)
    assert advice.best is None
    assert all("columns of numbers" in one.ruled_out for one in advice.candidates
               if one.way.name == "rotation")
    numbers = unspoken.read({"x": [1.0, 2.0, 3.0, 4.0] * 5}, show=False)
    assert advise("collector", "statistics", "population", numbers).best.way.name == "noise"


@pytest.mark.parametrize("answers", [("nobody", "model", "nothing"), ("miner", "fun", "nothing"),
                                     ("miner", "model", "much")])
def test_an_answer_that_is_not_known_is_refused(answers):
    with pytest.raises(InputError, match="one of"):
        advise(*answers)


def test_a_use_refuses_words_that_are_not_answers():
    with pytest.raises(ValueError, match="'minor' is none of"):
        Use(("minor",), ("model",), "nothing", "exactly", "Everything.")


def test_the_summary_says_what_breaks_it_and_what_was_ruled_out():
    text = advise("miner", "model", "population").summary()
    assert "What breaks it: A budget" in text
    assert "piecewise: Ruled out: it protects people only from somebody who knows nothing" in text
    assert advise("miner", "clusters", "records").summary().count("Do not release") == 1

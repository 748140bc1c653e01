"""Utility against the worst attack: what is tried, what refuses, and what nothing else beats."""

import pytest

from support.studio_calls import write_people
from unspoken import read
from unspoken.audit.people import attacked_frontier as module
from unspoken.audit.people.attacked_frontier import (
    WAYS,
    AttackedFrontier,
    AttackedTry,
    attacked_frontier,
)
from unspoken.disclosure.people_risk import Risk
from unspoken.errors import InputError
from unspoken.methods.anonymity.utility.release_utility import ReleaseUtility
from unspoken.release.method import method_of


@pytest.fixture
def people(tmp_path):
    return read(write_people(tmp_path / "people.csv", 100), target="sex", show=False,
                quasi=["age", "zip"], sensitive=["diagnosis"], identifiers=["name"])


def made_up(name, score, gain):
    """A try of this score whose worst attack succeeds on so many of a hundred people."""
    use = ReleaseUtility(0.0, 0.0, 0.0, score, 1.0, 1, None, 0.0, 0.0, (), {}, ())
    risk = Risk("linking", "(people)", "nearest record", "3 facts", round(100 * gain), 100, 0.0)
    return AttackedTry(name, {}, use, risk)


def test_what_something_else_beats_in_both_is_not_on_the_frontier():
    useful, careful = made_up("useful", 0.9, 0.8), made_up("careful", 0.5, 0.1)
    worse = made_up("worse", 0.5, 0.4)
    refused = AttackedTry("refused", {}, refusal="It cannot.")
    found = AttackedFrontier("prediction", (useful, careful, worse, refused))
    assert found.frontier == (useful, careful)
    assert refused.risk == 1.0


def test_every_way_can_be_built():
    for name, ways in WAYS:
        assert set(ways) <= set(method_of(name).parameters), name
        method_of(name).build(ways)


@pytest.mark.slow
def test_methods_are_used_and_attacked_and_a_refusal_says_why(people, monkeypatch):
    monkeypatch.setattr(module, "WAYS", (("swap", {"share": 0.1}), ("mondrian", {"k": 25}),
                                         ("mondrian", {"k": 90})))
    steps = []
    found = attacked_frontier(people, random_state=3, progress=lambda *one: steps.append(one))
    assert steps == [(0, 3, "swap"), (1, 3, "mondrian"), (2, 3, "mondrian")]
    mondrian, swap, refused = found.tried
    assert (mondrian.method, swap.method) == ("mondrian", "swap")
    assert mondrian.risk < swap.risk
    assert mondrian.utility.k >= 25
    assert refused.utility is None
    assert "90" in refused.refusal
    worst = found.to_json()["tried"][0]["worst"]
    low, high = worst["interval"]
    assert low <= worst["excess"] == mondrian.risk <= high


@pytest.mark.slow
def test_a_task_that_is_none_is_refused(people):
    with pytest.raises(InputError, match="task"):
        attacked_frontier(people, "fishing")

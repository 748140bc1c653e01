"""Three owners and a dealer, each a process over TLS: late, killed and restarted, one result."""

from __future__ import annotations

import pytest

from support.joint_network import Network, missing
from support.node_fleet import DEALER, OWNERS, Fleet, people
from unspoken.joint.wire.ledger import Ledger

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]

AGES = sum(float(line.split(",")[0]) for place in range(3)
           for line in people(place).splitlines()[1:])


@pytest.fixture(params=["loopback", "namespaces"])
def network(request):
    """Return no network, or one in which nobody can open a connection to the dealer."""
    if request.param == "loopback":
        yield None
        return
    if missing():
        pytest.skip(missing())
    with Network([*OWNERS, DEALER]) as joined:
        joined.guarded.add(DEALER)
        yield joined


def test_a_study_ends_on_all_sides_although_one_is_late_and_one_is_killed(tmp_path, network):
    """One command at each node; the proposal is made before 'dora' runs at all."""
    with Fleet(tmp_path, network=network) as fleet:
        fleet.serve("north", "south", "east")
        proposal = fleet.proposal()
        fleet.propose(proposal)
        fleet.agree(proposal, "south", "east")
        state = fleet.state("east")
        fleet.until(lambda: len(state.verdicts(proposal.id)) >= 2, "two verdicts at east")
        assert state.latest(proposal.id) == (0, ""), "nothing begins without the dealer"
        fleet.serve("dora")
        fleet.agree(proposal, "dora")
        fleet.until(lambda: state.reports(proposal.id, 1), "the first attempt runs at east")
        fleet.kill("east")
        fleet.serve("east")
        ends = fleet.ended(proposal)
        attempts = state.latest(proposal.id)[0]
        results = [fleet.result(name, proposal) for name in fleet.names]
        folder = fleet.configs["south"].study_folder(proposal.id)
        assert Ledger.load(folder / f"attempt-{attempts}.ledger").status == "complete"
        assert "sum of each column" in (folder / "report.html").read_text()
        state.close()
    assert set(ends.values()) == {("complete", f"attempt {attempts} of study 'sums'")}
    assert results == [{"age": AGES}] * 3 + [None]


def test_an_owner_whose_data_do_not_fit_ends_the_study_with_one_story(tmp_path):
    with Fleet(tmp_path, names=OWNERS) as fleet:
        (tmp_path / "east" / "people.csv").write_text("age,smoker,ill\nforty,no,no\nold,no,yes\n")
        fleet.serve()
        proposal = fleet.proposal(mode="sums")
        fleet.propose(proposal)
        fleet.agree(proposal)
        ends = fleet.ended(proposal)
        private = fleet.configs["east"].study_folder(proposal.id) / "attempt-1.error.txt"
        assert "age" in private.read_text()
        shown = "".join((tmp_path / f"{name}.log").read_text() for name in OWNERS)
    [(result, story)] = set(ends.values())
    assert result == "failed"
    assert story.startswith("'east' says: 'east' could not take part (")
    assert "forty" not in story + shown

"""What an organisation gets out of a study: its page, files for other tools, and how far it is."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from support.node_fleet import Fleet
from unspoken.errors import InputError
from unspoken.joint.joint_errors import PeerLostError
from unspoken.joint.node.node_state import Report
from unspoken.joint.node.result_formats import result_bytes
from unspoken.joint.node.result_page import result_page
from unspoken.joint.node.study_progress import messages_expected, progress_of, waited_for
from unspoken.joint.session.play import Outcome
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.linear_model import LinearModel


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


def ledger_of(folder, n, because, status):
    ledger = Ledger("south", session="00")
    ledger.keep_in(folder / f"attempt-{n}.ledger")
    ledger.opened(3, because, ["north", "south"], (1,))
    ledger.sign()
    ledger.status = status
    return ledger


def test_the_page_says_what_with_whom_and_what_failed_attempts_opened(fleet, tmp_path):
    proposal = fleet.proposal()
    verdicts = {name: fleet.verdict(name, proposal) for name in fleet.names[:3]}
    ledger = ledger_of(tmp_path, 1, "an <early> opening", "failed: 'east' was lost")
    (tmp_path / "attempt-2.ledger").write_text("no ledger\n")
    outcome = Outcome("south", {"age": 12.0}, ledger)
    page = result_page(proposal, "south", outcome, verdicts, tmp_path)
    for member in proposal.study.members:
        assert member.fingerprint in page
    for words in ("{&#x27;age&#x27;: 12.0}", "sum of each column", "a test", "<td>no</td>",
                  "an &lt;early&gt; opening", "east&#x27; was lost", "is not a ledger",
                  "north, south", "Safe against"):
        assert words in page, words
    assert "<early>" not in page
    lost = replace(outcome, output=None, error=PeerLostError("east", "3 sum", "was lost"))
    page = result_page(proposal, "south", lost, verdicts, tmp_path)
    assert "The latest attempt failed" in page
    assert "an &lt;early&gt; opening" in page


@pytest.mark.slow
def test_results_are_written_in_the_format_that_people_use(tmp_path):
    model = LinearModel("y", ("a",), 1.0, np.array([2.0]), 9, np.zeros(0))
    path = tmp_path / "result.json"
    path.write_text(json.dumps(model.to_json()))
    assert result_bytes(path, ".json") == path.read_bytes()
    onnx = pytest.importorskip("onnxruntime").InferenceSession(
        result_bytes(path, ".onnx"), providers=["CPUExecutionProvider"])
    assert onnx.run(None, {"X": np.array([[3.0]], np.float32)})[0].ravel().tolist() == [7.0]
    with pytest.raises(InputError, match=r"written as \.json, \.onnx. Got '\.joblib'"):
        result_bytes(path, ".joblib")
    path.write_text('{"age": 12.0}')
    with pytest.raises(InputError, match="holds numbers and no model"):
        result_bytes(path, ".onnx")


def test_progress_goes_from_answers_to_messages_to_the_end(fleet):
    proposal, config, state = fleet.proposal(), fleet.configs["north"], fleet.state("north")
    fleet.propose(proposal)
    assert progress_of(config, state, proposal).text == "waits for south, east, dora"
    state.command(proposal.id, 1, "go")
    for name in fleet.names:
        state.report(proposal.id, Report(1, name, "running"))
    assert progress_of(config, state, proposal).text == "attempt 1"
    forecast = messages_expected(proposal, "north")
    assert forecast > 2
    path = config.study_folder(proposal.id) / "attempt-1.ledger"
    path.write_text('{"n":0,"kind":"head"}\n' + '{"n":1,"kind":"message","bytes":9}\n' * 2)
    half = progress_of(config, state, proposal, forecast)
    assert half.text == f"attempt 1: 2 messages, about {2 / forecast:.0%}"
    path.write_text('{"kind":"message"}\n' * 10 * forecast)
    assert progress_of(config, state, proposal, forecast).part == 0.99
    for name in fleet.names:
        state.report(proposal.id, Report(1, name, "done"))
    assert progress_of(config, state, proposal, forecast).text == "attempt 1"
    state.end(proposal.id, "complete", "all is well")
    lines = []
    assert waited_for(config, state, proposal, lines.append).result == "complete"
    assert lines == ["sums: complete"]

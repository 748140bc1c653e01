"""Attempts as processes: what a node that is stopped does with them."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from support.node_fleet import Fleet
from unspoken.joint.node import study_runs
from unspoken.joint.node.study_runs import StudyRuns


class SlowProcess:
    """A process that is being started until somebody lets it, and ends when it is told to."""

    let, code = threading.Event(), -15

    def __init__(self, target, args):
        self.sentinel_end, self.end = os.pipe()
        self.begun = self.stopped = self.closed = False
        self.exitcode = self.code

    def start(self):
        assert self.let.wait(30)
        self.begun = True

    @property
    def sentinel(self):
        assert self.begun, "not started"
        return self.sentinel_end

    def terminate(self):
        self.stopped = True
        os.close(self.end)

    def is_alive(self):
        assert not self.closed
        return self.begun and not self.stopped

    def join(self, timeout=None):
        assert self.begun
        assert self.stopped, "would wait for ever"

    def close(self):
        self.closed = True


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setattr(study_runs.forkserver, "ensure_running", lambda: None)
    fleet = Fleet(tmp_path, names=("north", "south"))
    runs = StudyRuns(fleet.configs["south"], fleet.state("south"), lambda: None)
    runs._context = type("Context", (), {"Process": SlowProcess})
    return runs


def test_an_attempt_that_cannot_keep_its_end_is_told_as_that(runs, monkeypatch):
    monkeypatch.setattr(SlowProcess, "code", study_runs.UNKEPT)
    monkeypatch.setattr(SlowProcess.let, "wait", lambda _: True)

    async def job():
        await runs.start("f" * 64, 1)
        await runs.close()

    asyncio.run(job())
    report = runs._state.reports("f" * 64, 1)["south"]
    assert report.story.startswith("'south' could not keep how its attempt ended")


@pytest.mark.parametrize("started", [True, False])
def test_a_node_that_is_stopped_ends_what_it_runs_or_is_starting(runs, started):
    async def job():
        SlowProcess.let.clear()
        if started:
            SlowProcess.let.set()
        start = asyncio.create_task(runs.start("f" * 64, 1))
        while not len(runs) or (started and not start.done()):
            await asyncio.sleep(0)
        process = runs.of("f" * 64).process
        start.cancel()
        await asyncio.gather(start, return_exceptions=True)
        closing = asyncio.create_task(runs.close())
        await asyncio.sleep(0)
        SlowProcess.let.set()
        await closing
        return process

    process = asyncio.run(job())
    assert process.stopped
    assert process.closed
    assert len(runs) == 0
    report = runs._state.reports("f" * 64, 1)["south"]
    assert (report.state, report.story) == ("failed", "'south' ended without a word")
    assert report.again

"""The processes of running attempts: started, given their connections, stopped, and heard out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import forkserver, get_context
from multiprocessing.process import BaseProcess

from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_state import NodeState, Report
from unspoken.joint.node.study_process import CHECKPOINTS, UNKEPT, main, run_number
from unspoken.joint.session.study_fields import line_of_text
from unspoken.joint.tasks.task_list import FOLDERS
from unspoken.joint.wire.transports.handed_connections import hand_over

NOT_KEPT = "could not keep how its attempt ended; its own people see why in the log of their node"


@dataclass
class Running:
    """One attempt that runs."""

    proposal: str
    n: int
    line: socket.socket
    process: BaseProcess
    starting: asyncio.Future[None]


class StudyRuns:
    """Every attempt that runs here. Processes are forked from one that has everything loaded."""

    def __init__(self, config: NodeConfig, state: NodeState, changed: Callable[[], None]) -> None:
        self._config = config
        self._state = state
        self._changed = changed
        self._running: dict[bytes, Running] = {}
        self._begun = {path.parent.name
                       for path in (config.folder / "studies").glob(f"*/{CHECKPOINTS}")}
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(
            ["unspoken.joint.node.study_process", "unspoken.table.engines.duckdb_files",
             *(f"unspoken.joint.tasks.{folder}.task" for folder in FOLDERS)])
        forkserver.ensure_running()

    def __len__(self) -> int:
        return len(self._running)

    def of(self, proposal: str) -> Running | None:
        """Return the attempt of a study that runs, if one does."""
        return next((one for one in self._running.values() if one.proposal == proposal), None)

    async def start(self, proposal: str, n: int) -> None:
        """Start an attempt; that it runs is on the disk before it does."""
        here, there = socket.socketpair()
        here.setblocking(False)
        addresses = {peer.name: peer.address for peer in self._state.peers()}
        process = self._context.Process(
            target=main, args=(str(self._config.folder), proposal, n, there, addresses))
        self._begun.add(proposal)
        self._state.report(proposal, Report(n, self._config.name, "running"))
        starting = asyncio.ensure_future(asyncio.to_thread(process.start))
        starting.add_done_callback(lambda _: there.close())
        running = Running(proposal, n, here, process, starting)
        self._running[run_number(proposal, n)] = running
        # A node that is stopped meanwhile waits in `close` for what it has begun to start.
        await asyncio.shield(starting)
        asyncio.get_running_loop().add_reader(process.sentinel, self._ended, running)

    def take(self, run: bytes, taken: socket.socket) -> bool:
        """Give a connection to the process that it is for; False if it does not run here."""
        running = self._running.get(run)
        if running is None:
            return False
        with contextlib.suppress(OSError):
            hand_over(running.line, taken)
        return True

    def _ended(self, running: Running) -> None:
        asyncio.get_running_loop().remove_reader(running.process.sentinel)
        self._hear_out(running)
        self._changed()

    def _hear_out(self, running: Running) -> None:
        """Keep how an attempt ended whose process is gone."""
        running.process.join()
        words = NOT_KEPT if running.process.exitcode == UNKEPT else "ended without a word"
        running.process.close()
        running.line.close()
        self._running.pop(run_number(running.proposal, running.n), None)
        self._state.report(running.proposal, self.outcome(running.proposal, running.n, words))

    def outcome(self, proposal: str, n: int, otherwise: str) -> Report:
        """Return how an attempt ended, from the file that it left; `otherwise` if it left none."""
        path = self._config.study_folder(proposal) / f"attempt-{n}.json"
        try:
            data = json.loads(path.read_bytes())
            return Report(n, self._config.name, str(data["state"]),
                          line_of_text("story", data["story"]), bool(data["again"]))
        except (OSError, ValueError, KeyError):
            return Report(n, self._config.name, "failed", f"'{self._config.name}' {otherwise}")

    def stop(self, proposal: str) -> None:
        """End an attempt in order."""
        running = self.of(proposal)
        if running is not None and running.process.is_alive():
            running.process.terminate()

    def stop_others(self, active: set[str]) -> None:
        """End the attempts of studies that have ended, and remove what they would go on from."""
        for running in list(self._running.values()):
            if running.proposal not in active:
                self.stop(running.proposal)
        over = {one for one in self._begun - active if self.of(one) is None}
        for proposal in over:
            shutil.rmtree(self._config.study_folder(proposal) / CHECKPOINTS, ignore_errors=True)
        self._begun -= over

    async def close(self) -> None:
        """End everything that runs, wait for it, and keep how it ended."""
        await asyncio.gather(*(self._close_one(running) for running in self._running.values()))

    async def _close_one(self, running: Running) -> None:
        await asyncio.wait([running.starting])
        if running.starting.exception() is not None:
            return
        asyncio.get_running_loop().remove_reader(running.process.sentinel)
        self.stop(running.proposal)
        await asyncio.to_thread(running.process.join, 2 * self._config.limit_seconds)
        if running.process.is_alive():
            running.process.kill()
        self._hear_out(running)

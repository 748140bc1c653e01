"""What the node that proposed a study decides: when it begins, begins again, and ends.

It begins when everybody has agreed, its time has come, and every party was heard of a moment ago;
nodes that are offline are waited for as long as the study says. An attempt that fails because a
party was lost is begun again from the start with fresh masks and a new session. What a failed
attempt opened was declared and is in the ledgers; the same data give the same results again, and
noise that would be drawn anew is booked anew. A party that fails by itself, or does not follow the
protocol, ends the study. The end, with its story, is the same everywhere; what a party
said about another is told as its words.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from unspoken.joint.node.attempt_checks import not_agreed
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_log import NodeLog
from unspoken.joint.node.node_state import Kept, NodeState, Report

LONGEST_PAUSE = 60.0


class Lead:
    """Decides about the studies that this node proposed."""

    def __init__(self, config: NodeConfig, state: NodeState, log: NodeLog,
                 online: Callable[[str], bool]) -> None:
        self._config = config
        self._state = state
        self._log = log
        self._online = online
        self._pause: dict[str, float] = {}

    def decide(self) -> bool:
        """Decide about every active study; return True if something changed."""
        own = [kept for kept in self._state.active() if kept.proposal.lead == self._config.name]
        changed = [self._one(kept) for kept in own]
        return any(changed)

    def _one(self, kept: Kept) -> bool:
        proposal = kept.proposal
        for verdict in self._state.verdicts(proposal.id).values():
            if not verdict.agrees:
                return self._end(kept, "refused", f"'{verdict.node}' refused: {verdict.reason}")
        n, command = self._state.latest(proposal.id)
        reports = self._state.reports(proposal.id, n)
        everybody = set(proposal.study.names)
        if n and {name for name, one in reports.items() if one.state == "done"} == everybody:
            return self._end(kept, "complete", f"attempt {n} of study '{proposal.study.name}'")
        if time.time() > proposal.until:
            return self._end(kept, "expired", self._too_late(kept, n, reports))
        if n and set(reports) == everybody and all(r.state != "running" for r in reports.values()):
            return self._again(kept, n, list(reports.values()))
        if n:
            failed = any(report.state == "failed" for report in reports.values())
            return failed and command == "go" and self._state.command(proposal.id, n, "stop")
        return self._go(kept, 1)

    def _again(self, kept: Kept, n: int, reports: list[Report]) -> bool:
        """Begin again, unless somebody cannot or the attempts are used up."""
        failed = [report for report in reports if report.state == "failed"]
        if not all(report.again for report in reports):
            final = next((report for report in failed if not report.again), failed[0])
            return self._end(kept, "failed", _said(final))
        if n >= kept.proposal.attempts:
            return self._end(kept, "failed", f"in the last of {n} attempts {_said(failed[0])}")
        pause = min(self._config.sync_seconds * 2 ** min(n - 2, 10), LONGEST_PAUSE) if n > 1 else 0
        due = self._pause.setdefault(f"{kept.proposal.id}/{n}", time.monotonic() + pause)
        if time.monotonic() < due:
            return False
        return self._go(kept, n + 1)

    def _go(self, kept: Kept, n: int) -> bool:
        proposal = kept.proposal
        if time.time() < proposal.not_before or not_agreed(proposal, self._state) \
                or self._running() >= self._config.at_once:
            return False
        others = [name for name in proposal.study.names if name != self._config.name]
        if not all(self._online(name) for name in others):
            return False
        self._log.event("begins", study=proposal.id[:16], attempt=n)
        self._state.note(proposal.id, f"attempt {n} begins")
        return self._state.command(proposal.id, n, "go")

    def _running(self) -> int:
        """Return how many of the studies that this node leads are running."""
        count = 0
        for kept in self._state.active():
            if kept.proposal.lead == self._config.name:
                n, _ = self._state.latest(kept.proposal.id)
                reports = self._state.reports(kept.proposal.id, n)
                count += bool(n) and (set(reports) != set(kept.proposal.study.names) or any(
                    report.state == "running" for report in reports.values()))
        return count

    def _too_late(self, kept: Kept, n: int, reports: dict[str, Report]) -> str:
        """Return who was missing when the time was over."""
        lacking = not_agreed(kept.proposal, self._state)
        if lacking:
            return f"no answer of {', '.join(lacking)} before the study's time was over"
        away = [name for name in kept.proposal.study.names
                if name != self._config.name and not self._online(name)]
        if away:
            return f"{', '.join(away)} could not be reached before the study's time was over"
        late = [name for name in kept.proposal.study.names
                if name not in reports or reports[name].state == "running"]
        if not n or not late:
            return (f"attempt {n + 1} did not begin before the study's time was over: its parties "
                    f"were not all there at once, or '{self._config.name}' ran other studies")
        return f"{', '.join(late)} still computed in attempt {n} when the time was over"

    def _end(self, kept: Kept, result: str, story: str) -> bool:
        self._log.event("ended", study=kept.proposal.id[:16], status=result, why=story)
        return self._state.end(kept.proposal.id, result, story[:400])


def _said(report: Report) -> str:
    """Return what a party told of a failure as its own words: nobody else has checked them."""
    return f"'{report.node}' says: {report.story}"

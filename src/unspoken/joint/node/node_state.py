"""What a node knows, on disk: peers, invitations, proposals, verdicts, attempts, and what happened.

SQLite in write-ahead mode with full synchronisation: each fact is on the disk before it is acted
on or told to anybody, several facts change together or not at all, and the commands of people and
the node itself work on one state at the same time. A journal of our own would need all of that
written again. After a kill or a power failure the state is that of the last change.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.node.node_tables import TABLES, VERSION
from unspoken.joint.node.peer_state import PeerState
from unspoken.joint.node.proposal import Proposal, Verdict
from unspoken.joint.node.state_file import opened_state

ACTIVE, ENDED = "active", "ended"
MOST_ENDED = 200
"""How many proposals of one lead are kept that ended before anything was begun."""


@dataclass(frozen=True)
class Report:
    """How an attempt goes at one node: running, done or failed; and whether to begin again."""

    n: int
    node: str
    state: str
    story: str = ""
    again: bool = True


@dataclass(frozen=True)
class Kept:
    """A proposal as it is kept."""

    proposal: Proposal
    state: str
    result: str
    story: str
    time: float


class NodeState(PeerState):
    """The state of one node; every method is one transaction."""

    def __init__(self, path: Path) -> None:
        super().__init__(opened_state(path))
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise StudyError(f"The state '{path}' was written by a newer version of unspoken "
                             f"(state {version}, here {VERSION}). Use that version.")
        if version < VERSION:
            # Written once, and what a newer version has more is added: every other opening leaves
            # the file as it is, and wakes nobody.
            self._db.executescript(f"{TABLES}PRAGMA user_version={VERSION};")

    def close(self) -> None:
        """Give the file back."""
        self._db.close()

    def changes(self) -> int:
        """Return a number that differs after another process has changed the state."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make several changes one."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # A full disk has rolled it back.
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def note(self, proposal: str, what: str) -> None:
        """Keep what happened."""
        self._db.execute("INSERT INTO events (time, proposal, what) VALUES (?, ?, ?)",
                         (time.time(), proposal, what))

    def events(self, proposal: str) -> list[tuple[float, str]]:
        """Return what happened to a proposal."""
        return list(self._db.execute("SELECT time, what FROM events WHERE proposal = ? "
                                     "ORDER BY number", (proposal,)))

    def keep(self, proposal: Proposal) -> bool:
        """Keep a proposal; return True if it is new."""
        done = self._db.execute("INSERT OR IGNORE INTO proposals (id, body, state, time) "
                                "VALUES (?, ?, ?, ?)",
                                (proposal.id, json.dumps(proposal.to_json()), ACTIVE, time.time()))
        if done.rowcount:
            self.note(proposal.id, f"proposed by '{proposal.lead}'")
        return done.rowcount > 0

    def has(self, proposal: str) -> bool:
        """Return True if a proposal was kept, whatever became of it."""
        return self._db.execute("SELECT 1 FROM proposals WHERE id = ?",
                                (proposal,)).fetchone() is not None

    def load_of(self, lead: str) -> tuple[int, int]:
        """Return how many proposals of a lead have not ended, and how long they are in all."""
        count, size = self._db.execute(
            "SELECT count(*), coalesce(sum(length(body)), 0) FROM proposals WHERE state = 'active' "
            "AND json_extract(body, '$.study.author') = ?", (lead,)).fetchone()
        return int(count), int(size)

    def active(self) -> list[Kept]:
        """Return the proposals that have not ended."""
        return self._kept("WHERE state = 'active'", ())

    def all_kept(self) -> list[Kept]:
        """Return every proposal, the newest first."""
        return self._kept("ORDER BY time DESC", ())

    def get(self, proposal: str) -> Kept:
        """Return a proposal by its whole number."""
        hits = self._kept("WHERE id = ?", (proposal,))
        if not hits or hits[0].proposal.id != proposal:
            raise StudyError(f"There is no proposal {proposal[:16]} here.")
        return hits[0]

    def results(self) -> dict[str, int]:
        """Return how many proposals ended in which way; those that have not as 'active'."""
        rows = self._db.execute("SELECT CASE result WHEN '' THEN 'active' ELSE result END, "
                                "count(*) FROM proposals GROUP BY 1")
        return {str(name): int(count) for name, count in rows}

    def find(self, start: str) -> Kept:
        """Return the one proposal whose number begins so, or whose study has this name."""
        hits = self._kept("WHERE substr(id, 1, ?) = ?", (len(start), start))
        numbers = {kept.proposal.id for kept in hits}
        hits += [kept for kept in self.all_kept() if kept.proposal.study.name == start
                 and kept.proposal.id not in numbers]
        if len(hits) != 1:
            raise StudyError(f"{len(hits) or 'No'} proposals are called '{start}'. 'unspoken node "
                             "studies' lists them with their numbers.")
        return hits[0]

    def _kept(self, where: str, values: tuple[Any, ...]) -> list[Kept]:
        rows = self._db.execute(f"SELECT body, state, result, story, time FROM proposals {where}",  # noqa: S608
                                values)
        return [Kept(_proposal(body), *rest) for body, *rest in rows]

    def end(self, proposal: str, result: str, story: str) -> bool:
        """End a proposal; return False if it had ended before."""
        done = self._db.execute("UPDATE proposals SET state = 'ended', result = ?, story = ? "
                                "WHERE id = ? AND state = 'active'", (result, story, proposal))
        if done.rowcount:
            self.note(proposal, f"ended: {result}: {story}")
            self._thin(proposal)
        return done.rowcount > 0

    def _thin(self, proposal: str) -> None:
        """Drop a lead's oldest ended proposals of which no attempt began, beyond MOST_ENDED.

        Nothing was computed in them. What was begun is kept for good: it needed a consent. What a
        standing rule has admitted stays counted.
        """
        rows = self._db.execute(
            "SELECT id FROM proposals WHERE state = 'ended' AND id NOT IN (SELECT proposal FROM "
            "attempts) AND json_extract(body, '$.study.author') = (SELECT json_extract(body, "
            "'$.study.author') FROM proposals WHERE id = ?) ORDER BY time DESC, rowid DESC "
            "LIMIT -1 OFFSET ?", (proposal, MOST_ENDED)).fetchall()
        for table, column, also in (("proposals", "id", ""), ("events", "proposal", ""),
                                    ("verdicts", "proposal", " AND rule = ''")):
            self._db.executemany(f"DELETE FROM {table} WHERE {column} = ?{also}", rows)  # noqa: S608

    def answer(self, verdict: Verdict, rule: str = "", columns: str = "") -> bool:
        """Keep a verdict whose signature was checked; a refusal takes a consent back, for good."""
        done = self._db.execute(
            "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (proposal, node) DO UPDATE "
            "SET body = excluded.body, agrees = 0 WHERE agrees = 1 AND excluded.agrees = 0",
            (verdict.proposal, verdict.node, json.dumps(verdict.to_json()), verdict.agrees, rule,
             columns))
        if done.rowcount:
            self.note(verdict.proposal, f"'{verdict.node}' "
                      + ("agrees" if verdict.agrees else f"refuses: {verdict.reason}"))
        return done.rowcount > 0

    def verdicts(self, proposal: str) -> dict[str, Verdict]:
        """Return the verdicts by node."""
        rows = self._db.execute("SELECT body FROM verdicts WHERE proposal = ?", (proposal,))
        verdicts = [Verdict.from_json(json.loads(body)) for (body,) in rows]
        return {verdict.node: verdict for verdict in verdicts}

    def allowed_columns(self, proposal: str, node: str) -> tuple[str, ...] | None:
        """Return the only columns that a node's consent admits; None for all, () for none."""
        row = self._db.execute("SELECT columns FROM verdicts WHERE proposal = ? AND node = ?",
                               (proposal, node)).fetchone()
        if row is None:
            return ()
        return tuple(json.loads(row[0])) if row[0] else None

    def admitted_by(self, rule: str) -> int:
        """Return how many studies a standing rule has admitted."""
        return int(self._db.execute("SELECT count(*) FROM verdicts WHERE rule = ?",
                                    (rule,)).fetchone()[0])

    def records_by(self, words: str) -> int:
        """Return how many records a service has admitted under these words, in all attempts."""
        return int(self._db.execute(
            "SELECT coalesce(sum(json_extract(body, '$.study.parameters.most') * "
            "json_extract(body, '$.attempts')), 0) FROM proposals WHERE id IN (SELECT proposal "
            "FROM verdicts WHERE rule = ?)", (words,)).fetchone()[0])

    def command(self, proposal: str, n: int, command: str) -> bool:
        """Keep what the lead says about an attempt: go, and later perhaps stop."""
        done = self._db.execute(
            "INSERT INTO attempts VALUES (?, ?, ?) ON CONFLICT (proposal, n) DO UPDATE SET "
            "command = excluded.command WHERE command = 'go' AND excluded.command = 'stop'",
            (proposal, n, command))
        return done.rowcount > 0

    def latest(self, proposal: str) -> tuple[int, str]:
        """Return the latest attempt and its command; 0 if there was none."""
        row = self._db.execute("SELECT n, command FROM attempts WHERE proposal = ? "
                               "ORDER BY n DESC LIMIT 1", (proposal,)).fetchone()
        return (int(row[0]), str(row[1])) if row else (0, "")

    def report(self, proposal: str, report: Report) -> bool:
        """Keep how an attempt goes at a node; what has ended stays ended."""
        done = self._db.execute(
            "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (proposal, n, node) DO "
            "UPDATE SET state = excluded.state, story = excluded.story, again = excluded.again "
            "WHERE state = 'running' AND excluded.state <> 'running'",
            (proposal, report.n, report.node, report.state, report.story, report.again))
        if done.rowcount and report.state != "running":
            self.note(proposal, f"attempt {report.n} {report.state} at '{report.node}'"
                      + (f": {report.story}" if report.story else ""))
        return done.rowcount > 0

    def used_up(self, proposal: str, node: str, n: int) -> bool:
        """Return True if a node's part in a study ended for good in an attempt before `n`."""
        return self._db.execute(
            "SELECT 1 FROM reports WHERE proposal = ? AND node = ? AND n < ? AND "
            "state <> 'running' AND (state = 'done' OR again = 0)",
            (proposal, node, n)).fetchone() is not None

    def reports(self, proposal: str, n: int) -> dict[str, Report]:
        """Return the reports about an attempt by node."""
        rows = self._db.execute("SELECT n, node, state, story, again FROM reports WHERE "
                                "proposal = ? AND n = ?", (proposal, n))
        return {row[1]: Report(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows}


def _proposal(body: str) -> Proposal:
    """Return a proposal that was checked when it came."""
    from unspoken.joint.session.study import Study

    data = json.loads(body)
    return Proposal(Study.from_json(data["study"]), data["tables"], data["not_before"],
                    data["until"], data["attempts"], data["nonce"])

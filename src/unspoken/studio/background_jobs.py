"""Long work in processes of their own: with progress, and ended at once when somebody cancels.

A child gets its request as one line of JSON on its standard input and answers with lines of JSON:
`{"progress": [done, all, words]}`, then `{"result": ...}` or `{"error": sentence}`. It watches its
standard input, and ends when the server does.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unspoken.errors import InputError

MOST_RUNNING, MOST_TOGETHER, MOST_KEPT = 4, 8, 100
"""Pieces of work on one desk, on all desks, and that are remembered."""
RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"


@dataclass
class Job:
    """One piece of work, and how far it is."""

    name: str
    words: str
    state: str = RUNNING
    done: float = 0.0
    step: str = ""
    result: Any = None
    error: str = ""
    started: float = field(default_factory=time.monotonic)
    ended: float = 0.0
    process: Any = None
    then: Callable[[Any], None] | None = None
    clear: Callable[[], None] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what a page shows."""
        spent = (self.ended or time.monotonic()) - self.started
        left = spent / self.done - spent if self.done > 0.02 else None
        return {"id": self.name, "words": self.words, "state": self.state,
                "done": round(self.done, 3), "step": self.step, "error": self.error,
                "seconds": round(spent, 1), "left": None if left is None else round(left, 1)}


class Jobs:
    """Everything that is under way on a desk, and what ended; `together` counts all desks."""

    def __init__(self, together: Callable[[], int] | None = None) -> None:
        self.together = together or (lambda: len(self.running()))
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, request: Mapping[str, Any], words: str,
              then: Callable[[Any], None] | None = None,
              clear: Callable[[], None] | None = None) -> Job:
        """Start a child; `then` is called with its result before the job counts as done.

        `clear` removes what it may have left, once it ended without a result.
        """
        with self._lock:
            if len(self.running()) >= MOST_RUNNING or self.together() >= MOST_TOGETHER:
                raise InputError("Too much is under way. Wait for it, or cancel something.")
            # Its process comes first: what cannot be begun must not count as under way.
            job = Job(secrets.token_hex(8), words, process=_begun(), then=then, clear=clear)
            self._jobs[job.name] = job
            for old in [n for n, one in self._jobs.items() if one.state != RUNNING][:-MOST_KEPT]:
                del self._jobs[old]
        with contextlib.suppress(BrokenPipeError):
            job.process.stdin.write(json.dumps({"kind": kind, **request}) + "\n")
            job.process.stdin.flush()
        threading.Thread(target=self._follow, args=(job,), daemon=True).start()
        return job

    def get(self, name: str) -> Job:
        """Return a job by name."""
        if name not in self._jobs:
            raise InputError("There is no such work. It ended long ago, or never began.")
        return self._jobs[name]

    def running(self) -> list[Job]:
        """Return what is under way."""
        return [one for one in list(self._jobs.values()) if one.state == RUNNING]

    def cancel(self, name: str) -> None:
        """End a job at once."""
        job = self.get(name)
        if job.state == RUNNING:
            job.state, job.ended = CANCELLED, time.monotonic()
            job.process.kill()

    def close(self) -> None:
        """End everything that is under way."""
        for job in self.running():
            self.cancel(job.name)
            job.process.wait()
            self._clear(job)

    def _follow(self, job: Job) -> None:
        """Take in what a child says until it ends."""
        for line in job.process.stdout:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                self._take(job, json.loads(line))
        job.process.wait()
        for pipe in (job.process.stdin, job.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        if job.state == RUNNING:
            self._end(job, FAILED, "It ended without a result. There may not be enough memory.")
        self._clear(job)

    @staticmethod
    def _clear(job: Job) -> None:
        """Remove what a child that was killed could not remove itself."""
        if job.state != DONE and job.clear is not None:
            job.clear()

    def _take(self, job: Job, said: Mapping[str, Any]) -> None:
        if "progress" in said:
            done, total, job.step = said["progress"]
            job.done = min(float(done) / max(float(total), 1e-9), 1.0)
        elif "error" in said:
            self._end(job, FAILED, str(said["error"]))
        elif job.state == RUNNING:
            self._finish(job, said["result"])

    def _finish(self, job: Job, result: Any) -> None:
        job.result, job.done = result, 1.0
        try:
            if job.then is not None:
                job.then(result)
        except Exception as error:
            self._end(job, FAILED, str(error))
            return
        self._end(job, DONE)

    @staticmethod
    def _end(job: Job, state: str, error: str = "") -> None:
        if job.state == RUNNING:
            job.error, job.ended, job.state = error, time.monotonic(), state


def _begun() -> Any:
    """Return a new process that waits for what it has to do."""
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "unspoken.studio.job_child"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, encoding="utf-8",
            stderr=None if os.environ.get("UNSPOKEN_DEBUG") else subprocess.DEVNULL)
    except OSError:
        raise InputError("This machine cannot begin more work now. Wait, or cancel something."
                         ) from None

"""Programs of the Bayes and mixture benches, importable by the processes that run them."""

from __future__ import annotations

import time
from typing import Any

from unspoken.joint import Party
from unspoken.joint.mpc.declared import Disclosure


class Timed:
    """A program whose clock starts when the connections stand."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.disclosures: tuple[Disclosure, ...] = program.disclosures

    async def __call__(self, party: Party, data: Any) -> Any:
        """Return what came out, and wall and processor seconds."""
        start, busy = time.perf_counter(), time.process_time()
        found = await self.program(party, data)
        return found, time.perf_counter() - start, time.process_time() - busy

"""Programs of the tree benches, importable by the processes that run them."""

from __future__ import annotations

import time
from typing import Any

from unspoken.joint import Party
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.tree.hidden_program import ClassifyHidden, HiddenTree
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns
from unspoken.joint.tasks.tree.program_rows import TreeOverRows


class TimedRows(TreeOverRows):
    """A tree over rows; the clock starts when the connections stand."""

    async def __call__(self, party: Party, data: Any) -> Any:
        """Return the tree, and wall and processor seconds."""
        await ready(party)
        start, busy = time.perf_counter(), time.process_time()
        tree = await super().__call__(party, data)
        return tree, time.perf_counter() - start, time.process_time() - busy


class TimedColumns(TreeOverColumns):
    """A tree over columns; the clock starts when the connections stand."""

    async def __call__(self, party: Party, data: Any) -> Any:
        """Return the part, and wall and processor seconds."""
        await ready(party)
        start, busy = time.perf_counter(), time.process_time()
        part = await super().__call__(party, data)
        return part, time.perf_counter() - start, time.process_time() - busy


class TimedHidden(HiddenTree):
    """A tree that nobody sees; it is grown, then classifies the same records."""

    async def __call__(self, party: Party, data: Any) -> Any:
        """Return the classes, and wall seconds of growing and of classifying."""
        await ready(party)
        start = time.perf_counter()
        part = await super().__call__(party, data)
        grown = time.perf_counter()
        found = await ClassifyHidden()(party, (part, data.columns))
        return found, grown - start, time.perf_counter() - grown

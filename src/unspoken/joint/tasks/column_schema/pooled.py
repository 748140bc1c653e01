"""The same union and the same ends from every owner's part in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.joint.tasks.column_schema.params import OwnSchema, SchemaParams, shown_ends


def pooled(parts: Sequence[OwnSchema], params: SchemaParams) -> dict[str, Any]:
    """Return all categories of every column, and the outermost of all owners' ends."""
    united = {name: sorted(set().union(*(part.categories[name] for part in parts)))
              for name in params.categories_of}
    ends = np.stack([part.ends for part in parts])
    outermost = np.stack([ends[:, :, 0].min(axis=0), ends[:, :, 1].max(axis=0)], axis=1)
    return {"categories": united, "range": shown_ends(params.numbers, outermost)}

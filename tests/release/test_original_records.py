"""The digests of records are of all rows that were counted, no more and no fewer."""

from __future__ import annotations

from dataclasses import replace

import pytest

import unspoken
from unspoken.errors import DataError
from unspoken.release.original_records import Original
from unspoken.table.engines.local import LocalEngine


class Miscounting(LocalEngine):
    def __init__(self, rows):
        super().__init__(batch_rows=1)
        self.claimed = rows

    def rows(self, frame):
        return self.claimed


@pytest.mark.parametrize("claimed", [1, 3, 5])
def test_a_table_that_changed_since_it_was_counted_is_refused(claimed):
    table = unspoken.read({"a": [1, 2, 3, 4]}, show=False)
    with pytest.raises(DataError, match=f"keep the {claimed} rows .* has 4 now"):
        Original.of(replace(table, engine=Miscounting(claimed)), ["a"], b"s" * 32)
    assert Original.of(replace(table, engine=Miscounting(4)), ["a"], b"s" * 32).records.size == 4

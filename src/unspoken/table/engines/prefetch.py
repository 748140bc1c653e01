"""Running an iterator ahead in a thread, a bounded number of items at most."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, TypeVar

T = TypeVar("T")
_DEPTH = 2


class _End:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the items while the next ones are made; errors arrive where they are consumed."""
    line: queue.Queue[Any] = queue.Queue(_DEPTH)
    stop = threading.Event()
    worker = threading.Thread(target=_fill, args=(items, line, stop), daemon=True)
    worker.start()
    try:
        while not isinstance(item := line.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        while worker.is_alive():
            _drain(line)
            worker.join(0.01)


def _fill(items: Iterator[Any], line: queue.Queue[Any], stop: threading.Event) -> None:
    end = _End()
    try:
        for item in items:
            if stop.is_set():
                break
            line.put(item)
    except BaseException as error:
        end = _End(error)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
        line.put(end)


def _drain(line: queue.Queue[Any]) -> None:
    try:
        while True:
            line.get_nowait()
    except queue.Empty:
        return

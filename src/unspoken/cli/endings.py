"""How a command ends when somebody stops it, or when the disk is full."""

from __future__ import annotations

import errno
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
STOPPED = 128 + signal.SIGTERM


class StoppedError(KeyboardInterrupt):
    """SIGTERM, raised where Ctrl-C would be: what is half written is removed in the same way."""


@contextmanager
def stopped_in_order() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, so that nothing half-written stays."""
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> None:
    raise StoppedError


def full_disk(error: BaseException) -> str | None:
    """Return the sentence about a disk without room, None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _FULL:
        return None
    return (f"The disk is full, or a file reached its largest size ({error.strerror}). Nothing was "
            "written. Make room where the output goes and in the folder for temporary files, which "
            "the environment variable TMPDIR names.")

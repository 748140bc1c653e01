"""Memory of a process that is one party: kept for the next step instead of given back.

glibc returns what large arrays took to the system and gets it again page by page, each of them
cleared: a third of the processor time of large steps. A process that runs one study may keep it.
No other process is changed: only `unspoken joint` and the children of `run_local` call this.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys

# Numbers of malloc.h; the greatest threshold that glibc takes is 32 MiB.
TRIM, MMAP = -1, -3
KEEP, LARGEST = 512 << 20, 32 << 20


def keep_memory() -> bool:
    """Let this process keep up to 512 MiB that it freed; say whether the system can do that."""
    if not sys.platform.startswith("linux"):
        return False
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        return bool(mallopt(MMAP, LARGEST)) and bool(mallopt(TRIM, KEEP))
    return False

"""What kill -9 leaves on the disk, at every change that some work makes to it.

A process that is killed leaves the files as they are at that moment: what it had written, and
nothing that it still held in memory. So the folder is copied whenever the work is about to change
something, and each copy is what a kill right there would have left.
"""

import os
import shutil
import sys
import threading
from pathlib import Path

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.chmod", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_watching = []


def _noticed(event, args):
    """Call whoever watches before the disk is changed; what they do themselves is not noticed."""
    if _watching and (event in CHANGES or (event == "open" and isinstance(args[2], int)
                      and args[2] & WRITING)):
        thread, copy = _watching.pop()
        try:
            if thread == threading.get_ident():
                copy()
        finally:
            _watching.append((thread, copy))


def moments(root, into, work):
    """Do some work inside a folder; return copies of it as a kill at each moment leaves it."""
    places = []

    def copy():
        places.append(Path(shutil.copytree(root, into / str(len(places)))))

    if not hasattr(sys, "_unspoken_noticed"):
        sys.addaudithook(_noticed)
        sys._unspoken_noticed = True
    _watching.append((threading.get_ident(), copy))
    try:
        work()
    finally:
        _watching.clear()
    return places


def put_back(place, root):
    """Make a folder what it was at a moment."""
    for one in root.iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    shutil.copytree(place, root, dirs_exist_ok=True)

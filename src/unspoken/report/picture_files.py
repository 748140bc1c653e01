"""Pictures as files: which kinds there are, and that none is overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unspoken.errors import InputError, explain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")


def check_picture(path: Path) -> None:
    """Refuse a file that is there already, or of a kind that is not drawn."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(explain("The file of a picture", f"one of {', '.join(SUFFIXES)}",
                                 path.name))
    if path.exists():
        raise InputError(f"The picture '{path}' must not exist yet. Choose another name.")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a picture to a file that is not there yet."""
    check_picture(path)
    figure.savefig(path, dpi=150)

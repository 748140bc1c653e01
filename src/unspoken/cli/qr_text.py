"""A text as a QR code for a terminal, for people who see each other's screens.

Drawn in half blocks: light modules are the bright ones, as a terminal with a dark background shows
them; segno's own terminal output needs colours.
"""

from __future__ import annotations

import argparse

from unspoken.errors import MissingExtraError

_QUIET = 2
_BLOCKS = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def qr_text(text: str) -> str:
    """Return a QR code in half blocks, two rows of modules per line."""
    try:
        import segno
    except ImportError:
        raise MissingExtraError("QR codes need segno. Install it: pip install 'unspoken[qr]'. Or "
                                "leave --qr out and read the code aloud.") from None
    rows = [[not dark for dark in row]
            for row in segno.make(text, micro=False).matrix_iter(border=_QUIET)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    return "\n".join("".join(_BLOCKS[pair] for pair in zip(*both, strict=True))
                     for both in zip(rows[::2], rows[1::2], strict=True))


def with_qr(args: argparse.Namespace, words: str, text: str) -> str:
    """Return words for people, followed by a QR code of a text where one was asked for."""
    return f"{words}\n{qr_text(text)}" if args.qr else words

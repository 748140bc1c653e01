"""What a party fed into a run, as its ledger holds it: a digest of every input, under its own key.

The key comes from the party's private key and is the same in every run, so that equal values have
equal digests in two ledgers of one party and nobody else can try values out. The party can show
that it used the same input in two studies (`unspoken joint audit` compares two of its ledgers), and
with the values themselves which ones. A digest is written before anything is opened: every opening
signs the entries before it.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np

from unspoken.joint.wire.hollow_arrays import is_dry
from unspoken.joint.wire.ledger import Ledger

KIND = "input"


def note_input(ledger: Ledger, words: Any) -> None:
    """Put the digest of what this party is about to share into its ledger."""
    if is_dry():
        return
    secret = ledger.chain.key.private_bytes_raw()
    array = np.ascontiguousarray(words)
    mac = hmac.new(hashlib.sha256(b"unspoken inputs\0" + secret).digest(),
                   f"{array.dtype.str}|{np.shape(words)}|".encode(), "sha256")
    mac.update(array.reshape(-1).view(np.uint8).data)
    ledger.chain.note(KIND, digest=mac.hexdigest())

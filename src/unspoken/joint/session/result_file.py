"""A result as it is written to a file, and the digest of it that a ledger holds.

A result may be one small number, and a plain digest of it can be tried out. The digest is keyed
with what only the party's private key gives, for this run: the party can show later that a file
is the run's result, and nobody else can guess the result from the ledger.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from unspoken.joint.wire.credentials import Identity, signing_key


def plain_result(result: Any) -> Any:
    """Return a result as plain data."""
    return result.to_json() if hasattr(result, "to_json") else result


def result_text(result: Any) -> str:
    """Return a result as it is written to a file."""
    return json.dumps(plain_result(result), allow_nan=False, default=str)


def result_digest(identity: Identity, session: str, result: Any) -> str:
    """Return the keyed digest of a result; of None too, which a party gets that learns nothing."""
    try:
        text = result_text(result)
    except (TypeError, ValueError):
        text = result.to_text() if hasattr(result, "to_text") else repr(result)
    return text_digest(identity, session, text)


def text_digest(identity: Identity, session: str, text: str) -> str:
    """Return the keyed digest of a result's file."""
    secret = signing_key(identity).private_bytes_raw()
    key = hashlib.sha256(b"unspoken result\0" + secret + session.encode()).digest()
    return hmac.digest(key, text.encode(), "sha256").hex()

"""Before anything that depends on data is sent, the parties compare the study field by field.

Compared are the public fields of the study, a digest of the protocols' code, the version of
unspoken and of the wire. What a task
keeps private never enters, not even as a hash: the study has no place for it.
Cost: one control message to every peer. Discloses: the study, which everybody has.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from unspoken._version import __version__
from unspoken.joint.joint_errors import PeerAbortedError, PeerGarbageError, PreflightError
from unspoken.joint.session.protocol_code import code_digest
from unspoken.joint.wire import frames
from unspoken.joint.wire.frames import Message, Purpose, text_array

if TYPE_CHECKING:
    from unspoken.joint.session.study import Study
    from unspoken.joint.wire.transports.base import Transport

LABEL = "study"


async def compare_studies(transport: Transport, study: Study) -> None:
    """Compare with every peer; the first field that differs ends the run and is named."""
    own = comparable(study)
    message = Message(LABEL, text_array(json.dumps(own)), Purpose.CONTROL)
    await asyncio.gather(*(transport.send(peer, message) for peer in transport.peers))
    for peer in transport.peers:
        reply = await transport.receive(peer, transport.limits.start)
        try:
            first_difference(transport.name, own, peer, _fields(transport, peer, reply))
        except PreflightError as error:
            transport.fail(PeerAbortedError(transport.name, "study",
                                            f"has a '{error.field}' other than that of '{peer}'"))
            raise


def comparable(study: Study) -> dict[str, str]:
    """Return what is compared, field by field."""
    return {"unspoken version": __version__, "wire version": str(frames.VERSION),
            "protocol code": code_digest(), **study.fields()}


def first_difference(name: str, own: dict[str, str], peer: str, other: dict[str, str]) -> None:
    """Raise PreflightError at the first field that is not the same."""
    for field in [*own, *(field for field in other if field not in own)]:
        here, there = own.get(field, "nothing"), other.get(field, "nothing")
        if here != there:
            raise PreflightError(
                _short(field), f"Field '{_short(field)}' of the study is not the same everywhere. "
                f"'{name}' has {_short(here)}, '{peer}' has {_short(there)}. {_advice(field)}")


def _advice(field: str) -> str:
    same_code = field in ("unspoken version", "wire version", "protocol code")
    return "Install the same unspoken everywhere." if same_code else "Use one study.toml."


def _fields(transport: Transport, peer: str, reply: Message) -> dict[str, str]:
    try:
        data = json.loads(bytes(reply.array))
        if reply.label == LABEL and isinstance(data, dict):
            return {str(key): str(value) for key, value in data.items()}
    except (ValueError, RecursionError):
        pass
    error = PeerGarbageError(peer, "study", "sent no study")
    transport.fail(error)
    raise error


def _short(text: str) -> str:
    shown = text if len(text) <= 80 else text[:77] + "..."
    return ascii(shown)[1:-1]

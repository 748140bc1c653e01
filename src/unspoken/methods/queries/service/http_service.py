"""The service over HTTP: who asks, how often, how much, and nothing in an error that is a secret.

    GET  /about   what may be asked (columns, bounds, prices, what is left)
    POST /query   a question, as JSON or as a JSON text in the manner of SQL

Every request carries `Authorization: Bearer TOKEN`. 400: the question is wrong. 401: no valid
token. 403: the budget refuses. 408: too slow. 413: too long. 429: too fast. 503: the log or the
budget cannot be used, and nothing is answered any more. Questions that wait are answered together,
so that one sync to the disk serves many.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, MissingExtraError, UnspokenError, reason
from unspoken.methods.queries.service.analyst_access import FAILURES, RateLimit, analyst_of
from unspoken.methods.queries.service.impatient_protocol import impatient_protocol
from unspoken.methods.queries.service.question import MAX_BYTES, read_json
from unspoken.methods.queries.service.question_service import Asked, QueryService
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.tls_gate import behind_tls, tls_context

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_TOGETHER = 64
_WAITING = 2000
_SECONDS = 30
_AT_THE_DOOR = 128


class Batches:
    """Questions that wait, answered together by one thread."""

    def __init__(self, service: QueryService) -> None:
        self._service = service
        self._queue: asyncio.Queue[tuple[Asked, asyncio.Future[Any]]] = asyncio.Queue(_WAITING)
        self.broken = False

    async def ask(self, asked: Asked) -> Any:
        """Return the answer, or raise what went wrong."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((asked, future))
        return await future

    async def run(self) -> None:
        """Answer until the service ends."""
        while True:
            waiting = [await self._queue.get()]
            while len(waiting) < _TOGETHER and not self._queue.empty():
                waiting.append(self._queue.get_nowait())
            await self._together(waiting)

    async def _together(self, waiting: list[tuple[Asked, asyncio.Future[Any]]]) -> None:
        try:
            replies = await asyncio.to_thread(self._service.ask_each,
                                              [asked for asked, _ in waiting])
        except InputError as error:
            if len(waiting) > 1:
                return await self._one_by_one(waiting)
            replies = [error]
        except Exception as error:
            # A log that cannot be written may have lost its place: nothing is answered any more.
            self.broken = True
            _tell_custodian(error)
            replies = [error] * len(waiting)  # type: ignore[list-item]
        for (_, future), reply in zip(waiting, replies, strict=True):
            if not future.done():
                future.set_result(reply)

    async def _one_by_one(self, waiting: list[tuple[Asked, asyncio.Future[Any]]]) -> None:
        """Answer questions of which one is wrong: the others are answered, and nothing is broken.

        What was booked before that was noticed may be booked again, never the reverse.
        """
        for one in waiting:
            await self._together([one])


def _tell_custodian(error: Exception) -> None:
    """Say on the terminal of the service why it answers no more.

    Errors of unspoken name files. What others say may quote a value of the table, or the question:
    of those only kind and place are shown.
    """
    words = str(error)
    if isinstance(error, OSError):
        words = reason(error)
    elif not isinstance(error, UnspokenError):
        *_, last = traceback.extract_tb(error.__traceback__)
        words = f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}."
    print(f"unspoken: nothing is answered any more. {words}", file=sys.stderr, flush=True)


def make_app(service: QueryService) -> Any:
    """Return the ASGI application."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise MissingExtraError("The query service needs starlette and uvicorn. Type: pip install "
                                "'unspoken[serve]'.") from None
    from contextlib import asynccontextmanager

    batches = Batches(service)
    doors = _Doors(service, batches)

    @asynccontextmanager
    async def lifespan(app: Any) -> Any:
        worker = asyncio.create_task(batches.run())
        yield
        worker.cancel()

    return Starlette(routes=[Route("/about", doors.about), Route("/query", doors.query,
                                                                 methods=["POST"])],
                     lifespan=lifespan)


class _Doors:
    """What every request passes: a token, a rate, a size."""

    def __init__(self, service: QueryService, batches: Batches) -> None:
        self._service, self._batches = service, batches
        self._asked = RateLimit(service.policy.rate)
        self._failed = RateLimit(FAILURES)

    async def about(self, request: Any) -> Any:
        """Answer GET /about."""
        analyst = self._who(request)
        if not isinstance(analyst, str):
            return analyst
        return _json(200, await asyncio.to_thread(self._service.about, analyst))

    async def query(self, request: Any) -> Any:
        """Answer POST /query."""
        analyst = self._who(request)
        if not isinstance(analyst, str):
            return analyst
        try:
            body = await asyncio.wait_for(_body(request), _SECONDS)
        except TimeoutError:
            return _json(408, {"error": f"A question must arrive within {_SECONDS} seconds."})
        if body is None:
            return _json(413, {"error": f"A question must be at most {MAX_BYTES} bytes long."})
        if self._batches.broken:
            return _unusable()
        try:
            asked = Asked(analyst, question_of(read_json(body)))
            return _replied(await self._batches.ask(asked))
        except InputError as error:
            return _json(400, {"error": str(error)})
        except asyncio.QueueFull:
            return _json(429, {"error": "Too many questions wait. Ask again in a second."})

    def _who(self, request: Any) -> Any:
        """Return the analyst, or the answer to somebody who is none or asks too fast."""
        peer = request.client.host if request.client else ""
        if not self._failed.allows(peer, spend=False):
            return _json(429, {"error": "Too many wrong tokens. Wait a second."})
        analyst = analyst_of(request.headers.get("authorization", ""),
                             self._service.policy.analysts)
        if analyst is None:
            self._failed.allows(peer)
            return _json(401, {"error": "A valid token is needed: Authorization: Bearer TOKEN."})
        if not self._asked.allows(analyst):
            return _json(429, {"error": f"At most {self._service.policy.rate:g} questions a second "
                                        "are answered for you. Wait, and ask again."})
        return analyst


def _replied(reply: Any) -> Any:
    if isinstance(reply, InputError):
        return _json(400, {"error": str(reply)})
    if isinstance(reply, Exception):
        return _unusable()
    return _json(200 if reply["answered"] else 403, reply)


def _unusable() -> Any:
    # The reason may name files or counts; it goes to the custodian's terminal alone.
    return _json(503, {"error": "The service cannot book answers any more, and gives none. Tell "
                                "its custodian."})


async def _body(request: Any) -> bytes | None:
    """Read a request, but no more than a question may hold."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _json(status: int, data: dict[str, Any]) -> Any:
    from starlette.responses import JSONResponse

    wait = {"retry-after": "1"} if status == 429 else {}
    return JSONResponse(data, status, headers={"cache-control": "no-store", **wait})


def serve(service: QueryService, host: str = "127.0.0.1", port: int = 8642, *,
          certificate: Path | None = None, key: Path | None = None) -> None:
    """Serve until somebody stops it; beyond this machine only over TLS."""
    if host not in LOOPBACK and (certificate is None or key is None):
        raise InputError(f"Beyond this machine ('{host}') answers and tokens must be encrypted. "
                         "Type --certificate FILE --private-key FILE, or leave --host out.")
    if certificate is None and key is not None:
        raise InputError("A private key needs its certificate. Type --certificate FILE, too.")
    try:
        _run(make_app(service), host, port, certificate, key)
    except OSError as error:
        raise UnspokenError(f"The service cannot listen on {host}:{port}. "
                            f"{reason(error)}") from None
    finally:
        service.close()


def _run(app: Any, host: str, port: int, certificate: Path | None, key: Path | None) -> None:
    import uvicorn

    # h11 alone bounds headers: whoever has no token could fill the memory otherwise.
    protocol, loop = impatient_protocol(), "auto"
    if certificate is not None:
        # uvloop reads from a connection that is told to wait; its first bytes would be lost.
        protocol, loop = behind_tls(protocol, tls_context(certificate, key)), "asyncio"
    uvicorn.Server(uvicorn.Config(
        app, host=host, port=port, http=protocol, loop=loop, log_level="warning", access_log=False,
        server_header=False, limit_concurrency=1000, timeout_keep_alive=_SECONDS,
        timeout_graceful_shutdown=5, h11_max_incomplete_event_size=MAX_BYTES,
        # Whoever asks could name any address in a header; wrong tokens are limited per address.
        proxy_headers=False,
        # As many are let in before the first of them is looked at.
        backlog=_AT_THE_DOOR)).run()

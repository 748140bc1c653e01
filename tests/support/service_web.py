"""The query service as a web application, called without a network."""

import asyncio
import json

from support.service_people import TOKEN
from unspoken.methods.queries.service.http_service import make_app


class Web:
    """The application, called as a server would."""

    def __init__(self, one):
        self.app = make_app(one)

    def __call__(self, *requests):
        return asyncio.run(self._all(requests))

    def in_turn(self, *requests):
        return asyncio.run(self._each(requests))

    async def _each(self, requests):
        async with self.app.router.lifespan_context(self.app):
            return [await self._one(*request) for request in requests]

    async def _all(self, requests):
        async with self.app.router.lifespan_context(self.app):
            return await asyncio.gather(*(self._one(*request) for request in requests))

    async def _one(self, path, body=None, token=TOKEN, host="1.2.3.4"):
        out = []
        parts = [body] if isinstance(body, bytes) else [json.dumps(body).encode()]
        headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
        scope = {"type": "http", "method": "GET" if body is None else "POST", "path": path,
                 "headers": headers, "query_string": b"", "client": (host, 1),
                 "http_version": "1.1",
                 "root_path": "", "scheme": "http", "server": ("x", 1)}

        async def receive():
            return {"type": "http.request", "body": parts.pop() if parts else b"",
                    "more_body": bool(parts)}

        async def send(message):
            out.append(message)

        await self.app(scope, receive, send)
        return out[0]["status"], b"".join(one.get("body", b"") for one in out[1:]).decode()

"""Who gets in: a one-time token, a cookie, the right host, the right origin, nothing too long.

On one's own machine the address that the terminal shows holds a token that works once. It is
exchanged for a cookie that scripts cannot read and that other sites cannot send; whoever has
neither gets nothing, not even a style sheet. The `Host` of every request must be ours, so that a
foreign name that resolves to this machine (DNS rebinding) is refused. What changes something must
also come from our own pages: by its `Origin`, and by a token in the form.

Behind a reverse proxy there is no token: the proxy proves itself with a shared secret, and says who
is asking and in which role.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from unspoken.studio.visitor import ROLES, Visitor

Scope = MutableMapping[str, Any]
Asgi = Callable[[Scope, Any, Any], Awaitable[None]]
COOKIE = "unspoken_studio"
SECRET_HEADER, USER_HEADER, ROLE_HEADER = (b"x-unspoken-proxy", b"x-unspoken-user",
                                           b"x-unspoken-role")
_ONCE = (b"host", b"origin", SECRET_HEADER, USER_HEADER, ROLE_HEADER)
LONGEST_USER = 200
ANSWERS = "/answer/"
"""What respondents of a survey may reach without having been let in."""
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
          "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""Of reports that were written by `report/`: they have no script, and are kept from running any."""
_NO_ICON = '<link rel="icon" href="data:,">'
# Without any referrer a browser hides the origin of our own forms, too.
_HEADERS = {
    "x-content-type-options": "nosniff", "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store", "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-frame-options": "DENY",
}


class Doorkeeper:
    """The middleware that every request passes."""

    def __init__(self, app: Asgi, hosts: frozenset[str], schemes: tuple[str, ...] = ("http",),
                 proxy_secret: str = "") -> None:
        self._app, self._hosts = app, hosts
        self._origins = {f"{scheme}://{host}" for host in hosts for scheme in schemes}
        self._proxy_secret = proxy_secret
        self._token = "" if proxy_secret else secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        # Browsers do not tell ports apart: two studios must not overwrite each other's cookie.
        self._name = f"{COOKIE}_{secrets.token_hex(4)}"

    @property
    def token(self) -> str:
        """Return the token that works once; nothing after it was used."""
        return self._token

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Let a request through, or refuse it with a sentence."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        guarded = _with_headers(send)
        headers = dict(scope["headers"])
        refusal = _told_twice(scope) or self._foreign(headers)
        if refusal is None and scope["path"] == "/open" and not self._proxy_secret:
            return await self._open(scope, guarded)
        visitor = None if refusal else self._visitor(scope, headers)
        refusal = refusal or self._refused(scope, headers, visitor)
        if refusal is not None:
            return await _say(guarded, 403, refusal)
        scope["unspoken.visitor"] = visitor
        await self._app(scope, receive, guarded)

    def _foreign(self, headers: Mapping[bytes, bytes]) -> str | None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        return None if host in self._hosts else \
            "This is not the address of the studio. Use the one that the terminal shows."

    def _refused(self, scope: Scope, headers: Mapping[bytes, bytes],
                 visitor: Visitor | None) -> str | None:
        """Return why a request is refused; None if it may go on."""
        public = scope["path"].startswith(ANSWERS)
        if visitor is None and not public:
            return ("The studio is open in another browser, or was started again. Use the address "
                    "that the terminal shows; it works once.")
        if scope["method"] in ("GET", "HEAD"):
            return None
        if headers.get(b"origin", b"").decode("latin-1").lower() not in self._origins:
            return "This request did not come from a page of the studio."
        if headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin":
            return "This request came from another site."
        return None

    def _visitor(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Visitor | None:
        return self._by_proxy(headers) if self._proxy_secret else self._by_cookie(headers)

    def _by_cookie(self, headers: Mapping[bytes, bytes]) -> Visitor | None:
        # By hand: a foreign cookie that a parser stumbles over must not lock the owner out.
        pairs = (one.partition("=") for one in
                 headers.get(b"cookie", b"").decode("latin-1").split(";"))
        brought = next((value.strip() for name, _, value in pairs
                        if name.strip() == self._name), "")
        return Visitor(self._csrf("")) if _same(brought, self._cookie) else None

    def _by_proxy(self, headers: Mapping[bytes, bytes]) -> Visitor | None:
        if not _same(headers.get(SECRET_HEADER, b"").decode("latin-1"), self._proxy_secret):
            return None
        user = _user(headers.get(USER_HEADER, b""))
        roles = headers.get(ROLE_HEADER, b"").decode("latin-1").split(",")
        known = frozenset(one.strip() for one in roles) & set(ROLES)
        # A name that is cut could be another's.
        return Visitor(self._csrf(user), frozenset(known), user) \
            if 0 < len(user) <= LONGEST_USER and known else None

    def _csrf(self, user: str) -> str:
        return hmac.new(self._cookie.encode(), f"csrf {user}".encode(), hashlib.sha256).hexdigest()

    async def _open(self, scope: Scope, send: Any) -> None:
        """Exchange the token for the cookie, once."""
        brought = _token(scope["query_string"].decode("latin-1"))
        if not self._token or not _same(brought, self._token) or scope["method"] != "GET":
            return await _say(send, 403, "This address was used already, or is not complete. Start "
                              "the studio again to get a new one.")
        self._token = ""
        cookie = f"{self._name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"
        # A redirect would still count as coming from wherever the address was opened.
        page = ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Studio</title>'
                f'{_NO_ICON}<meta http-equiv="refresh" content="0; url=/"></head><body>'
                '<p><a href="/">Open the studio</a></p></body></html>')
        await _reply(send, 200, page, [(b"set-cookie", cookie.encode())])


def _user(name: bytes) -> str:
    """Return who is asking; a name that is not UTF-8 is nobody's, since it could be two."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return ""


def _told_twice(scope: Scope) -> str | None:
    """Return why a request is refused of which nobody can say what the proxy added to it."""
    names = [name for name, _ in scope["headers"]]
    return "A header stands in this request twice. The proxy must remove what clients send." \
        if any(names.count(name) > 1 for name in _ONCE) else None


def _token(query: str) -> str:
    try:
        return (parse_qs(query, max_num_fields=5).get("token") or [""])[0]
    except ValueError:
        return ""


def _same(one: str, other: str) -> bool:
    return bool(other) and hmac.compare_digest(one.encode(), other.encode())


def _with_headers(send: Any) -> Any:
    """Return a `send` that adds the headers of every answer; a stricter policy stays."""
    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]}
            wanted = {"content-security-policy": POLICY, **_HEADERS}
            message["headers"] = [*message["headers"],
                                  *((name.encode(), value.encode())
                                    for name, value in wanted.items()
                                    if name.encode() not in own)]
        await send(message)

    return guarded


async def _say(send: Any, status: int, sentence: str) -> None:
    page = ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Not here</title>'
            f"{_NO_ICON}</head><body><main><h1>Not here</h1><p>{sentence}</p></main></body></html>")
    await _reply(send, status, page, [])


async def _reply(send: Any, status: int, page: str, more: list[tuple[bytes, bytes]]) -> None:
    headers = [(b"content-type", b"text/html; charset=utf-8"), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": page.encode()})

"""QueryClient: asks a query service; whoever asks never holds the table."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from unspoken.errors import InputError, QueryRefusedError, UnspokenError, explain, reason

_MOST_BYTES = 1 << 22
_SECONDS = 60.0


@dataclass(frozen=True)
class Reply:
    """An answer of a service: a value, or one value per group, each with its error."""

    value: float | None
    error: float | None
    groups: tuple[dict[str, Any], ...] = ()
    epsilon: float | None = None
    done: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict, repr=False)

    def __float__(self) -> float:
        if self.value is None:
            raise InputError("This answer has one value per group. Use 'groups'.")
        return self.value

    def __str__(self) -> str:
        lines = [f"{self.value:.10g}{_plus(self.error)}"] if self.value is not None else [
            f"{', '.join(map(_label, one['group']))}: {one['value']:.10g}{_plus(one['error'])}"
            for one in self.groups]
        return "\n".join([*lines, *(f"  {note}" for note in self.done)])


class QueryClient:
    """Ask a query service.

    Parameters
    ----------
    url : str
        Where the service is, such as "https://data.example.org:8642".
    token : str
        The analyst's token.
    certificate : path, optional
        The certificate that signs the service's, where the system does not know it.

    Examples
    --------
    >>> client = QueryClient("http://127.0.0.1:8642", token)  # doctest: +SKIP
    >>> float(client.ask("select mean(age) where sex = 'F'"))  # doctest: +SKIP
    """

    def __init__(self, url: str, token: str, certificate: str | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(explain("The address of a service", "http://HOST:PORT or "
                                     "https://HOST:PORT", url))
        if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise InputError("A token goes to another machine over https only. Use https://.")
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._link: http.client.HTTPConnection = (
            http.client.HTTPConnection(parts.hostname, parts.port, timeout=_SECONDS)
            if parts.scheme == "http" else
            http.client.HTTPSConnection(parts.hostname, parts.port, timeout=_SECONDS,
                                        context=ssl.create_default_context(cafile=certificate)))

    def about(self) -> dict[str, Any]:
        """Return what may be asked, at which price, and what is left."""
        return self._send("GET", "/about", None)

    def ask(self, question: str | dict[str, Any]) -> Reply:
        """Ask a question, as text or as a mapping; QueryRefusedError if it is refused."""
        data = self._send("POST", "/query", json.dumps(question).encode())
        if not data.get("answered"):
            raise QueryRefusedError(str(data.get("reason")), str(data.get("rule")))
        return Reply(data.get("value"), data.get("error"), tuple(data.get("groups", ())),
                     data.get("epsilon"), tuple(data.get("done", ())), data)

    def count(self, where: str | None = None, group: Sequence[str] = ()) -> Reply:
        """Count records."""
        return self.ask(_question("count", None, where, group))

    def sum(self, column: str, where: str | None = None, group: Sequence[str] = ()) -> Reply:
        """Sum a column."""
        return self.ask(_question("sum", column, where, group))

    def mean(self, column: str, where: str | None = None, group: Sequence[str] = ()) -> Reply:
        """Average a column."""
        return self.ask(_question("mean", column, where, group))

    def quantile(self, column: str, at: float, where: str | None = None) -> Reply:
        """Return the value below which a share of a column lies."""
        return self.ask({**_question("quantile", column, where), "at": at})

    def histogram(self, column: str, edges: Sequence[float] = (),
                  where: str | None = None) -> Reply:
        """Count records by intervals or categories of a column."""
        return self.ask({**_question("histogram", column, where),
                         **({"edges": list(edges)} if edges else {})})

    def _send(self, verb: str, path: str, body: bytes | None) -> dict[str, Any]:
        try:
            self._link.request(verb, path, body, self._headers)
            response = self._link.getresponse()
            text = response.read(_MOST_BYTES)
            data = json.loads(text)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            self._link.close()
            raise UnspokenError(f"The service gave no answer that can be read. "
                                f"{type(error).__name__}: {reason(error)}") from None
        if not isinstance(data, dict):
            raise UnspokenError("The service gave no answer that can be read.")
        return self._checked(response.status, data)

    def _checked(self, status: int, data: dict[str, Any]) -> dict[str, Any]:
        if status in (200, 403):
            return data
        words = str(data.get("error"))[:500]
        if status == 400:
            raise InputError(words)
        raise QueryRefusedError(words, {401: "token", 413: "size", 429: "rate"}.get(status,
                                                                                  "service"))

    def close(self) -> None:
        """Close the connection."""
        self._link.close()


def _question(select: str, column: str | None, where: str | None,
              group: Sequence[str] = ()) -> dict[str, Any]:
    fields = {"select": select, "column": column, "where": where, "group": list(group)}
    return {name: value for name, value in fields.items() if value}


def _plus(error: float | None) -> str:
    return f" (standard error {error:.4g})" if error else ""


def _label(value: Any) -> str:
    return "(missing)" if value is None else str(value)

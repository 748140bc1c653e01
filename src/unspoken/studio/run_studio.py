"""Running a studio: on the loopback device, until somebody ends it."""

from __future__ import annotations

import socket
import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, MissingExtraError
from unspoken.studio.desk import Common, Desk, open_dataset
from unspoken.studio.session_folder import SessionFolder
from unspoken.table.formats.data_urls import Place

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class StudioSettings:
    """How a studio is run.

    `folder` holds what it makes, `root` is the folder whose files may be opened by path. Behind a
    reverse proxy `name` is the public host name and `proxy_secret` the file of the shared secret.
    """

    folder: Path
    root: Path
    port: int = 0
    data: Place | None = None
    table: str | None = None
    browser: bool = True
    name: str = ""
    proxy_secret: Path | None = None


def serve_studio(settings: StudioSettings) -> None:
    """Run a studio until it is ended."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("The studio needs starlette and uvicorn. Type: pip install "
                                "'unspoken[studio]'.") from None
    from unspoken.studio.studio_app import make_studio

    secret = _secret(settings)
    folder = SessionFolder(settings.folder)
    folder.prepare()
    data = settings.data.absolute() if isinstance(settings.data, Path) else settings.data
    desk = Desk(folder, settings.root, Common(data=data, addresses=not secret))
    if data is not None:
        desk.put(open_dataset(data, settings.table))
    listener = _listening(settings.port)
    port = listener.getsockname()[1]
    hosts = {f"{host}:{port}" for host in (LOOPBACK, "localhost")} | (
        {settings.name.lower()} if settings.name else set())
    app = make_studio(desk, frozenset(hosts), ("http", "https") if settings.name else ("http",),
                      secret)
    _announce(settings, port, app.token)
    # h11 alone bounds headers: whoever has no token could fill the memory otherwise.
    uvicorn.Server(uvicorn.Config(
        app, http="h11", log_level="warning", access_log=False, server_header=False,
        limit_concurrency=200, h11_max_incomplete_event_size=1 << 16,
        timeout_graceful_shutdown=2)).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    """Return a socket on the loopback device: nobody else on the network can reach it."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise InputError(f"Port {port} cannot be used. {error.strerror}. Choose another with "
                         "--port.") from None
    listener.listen(128)
    return listener


def _secret(settings: StudioSettings) -> str:
    """Return the secret that the proxy proves itself with; one that is easy to guess is refused."""
    if settings.proxy_secret is None:
        return ""
    path = settings.proxy_secret
    if path.stat().st_mode & 0o077:
        raise InputError(f"'{path}' must be readable by its owner only. Type: chmod 600 {path}")
    text = path.read_text(encoding="ascii").strip()
    if len(text) < 32 or not settings.name:
        raise InputError("Behind a proxy the studio needs its public name (--host) and a secret of "
                         "at least 32 letters in the file.")
    return text


def _announce(settings: StudioSettings, port: int, token: str) -> None:
    """Say where the studio is; the address works once, and goes to the terminal alone."""
    if not token:
        print(f"unspoken studio: behind the proxy, on port {port}.", file=sys.stderr, flush=True)
        return
    address = f"http://{LOOPBACK}:{port}/open?token={token}"
    print(f"unspoken studio: open {address}\nThe address works once. Ctrl-C ends the studio.",
          file=sys.stderr, flush=True)
    if settings.browser:
        webbrowser.open(address)


def default_folder(data: Place | None) -> Path:
    """Return where a studio keeps what it makes: beside the data, or in the current folder."""
    return data.absolute().with_name(f"{data.name.split('.')[0]}-studio") \
        if isinstance(data, Path) else Path("unspoken-studio")


def check_settings(settings: Any) -> None:
    """Refuse what cannot be served, before anything is written."""
    if isinstance(settings.data, Path) and not settings.data.exists():
        raise InputError(f"'{settings.data}' must be an existing file, or a folder of files. Check "
                         "the path.")
    if not settings.root.is_dir():
        raise InputError(f"'{settings.root}' must be an existing folder. Check --root.")

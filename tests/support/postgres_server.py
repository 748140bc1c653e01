"""A real PostgreSQL server in a temporary folder, reached over a socket of its own."""

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

PASSWORD = "correct horse battery"


def find_programs():
    """Return the folder of the server's programs, or None."""
    beside = shutil.which("initdb")
    folders = [Path(beside).resolve().parent] if beside else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((one for one in folders if (one / "pg_ctl").exists()), None)


class Server:
    """Addresses of a running server, and a way to run statements in it."""

    def __init__(self, folder):
        self.folder = folder

    def url(self, table=None, user="postgres", **settings):
        """Return the address of a table."""
        named = {"host": str(self.folder), **settings, **({} if table is None else
                                                          {"table": table})}
        behind = "&".join(f"{name}={quote(value, safe='')}" for name, value in named.items())
        return f"postgresql://{user}@/postgres?{behind}"

    def run(self, *statements):
        """Run statements, each in a transaction of its own; return the rows of the last one."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.url(), autocommit=True) as connection, \
                connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def running_server():
    """Yield a server that keeps nothing on disk for longer than this lasts."""
    programs, user = find_programs(), _user()
    # Paths of sockets must be short.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if user is not None:
        shutil.chown(folder, user)

    def call(name, *words):
        subprocess.run([programs / name, *words], check=True, cwd="/", user=user,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)

    try:
        call("initdb", "-D", str(folder / "data"), "-U", "postgres", "--auth=trust", "--no-sync",
             "-E", "UTF8", "--locale=C")
        (folder / "data" / "pg_hba.conf").write_text(
            "local all clerk scram-sha-256\nlocal all all trust\n")
        call("pg_ctl", "-D", str(folder / "data"), "-w", "-l", str(folder / "log"), "-o",
             f"-k {folder} -c listen_addresses='' -c fsync=off", "start")
        server = Server(folder)
        server.run(f"CREATE ROLE clerk LOGIN PASSWORD '{PASSWORD}'",
                   "GRANT pg_read_all_data TO clerk")
        try:
            yield server
        finally:
            call("pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user():
    """Return whom the server runs as; it refuses to be root."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"

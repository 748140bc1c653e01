"""A studio inside the test: its application is called directly, without a network."""

import asyncio
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.csv

from unspoken.studio.desk import Desk
from unspoken.studio.session_folder import SessionFolder
from unspoken.studio.studio_app import make_studio

HOST = "127.0.0.1:7777"
HOSTILE = '<img src=x onerror="document.title=\'broken\'">&"\''


class Calls:
    """The application with the cookie of whoever was let in."""

    def __init__(self, folder, begin=None, common=None, **options):
        (folder / "studio").mkdir(exist_ok=True)
        self.folder = SessionFolder(folder / "studio")
        self.folder.prepare()
        self.desk = Desk(self.folder, folder, common)
        if begin is not None:
            self.desk.put(begin)
        self.app = make_studio(self.desk, frozenset({HOST}), **options)
        self.cookie = self.csrf = ""

    def ask(self, method, place, body=b"", **headers):
        """Return status, headers and text of one request."""
        path, _, query = place.partition("?")
        sent = []
        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(),
                 "raw_path": path.encode(), "scheme": "http", "server": ("127.0.0.1", 7777),
                 "http_version": "1.1", "root_path": "",
                 "headers": [(name.replace("_", "-").lower().encode(), value.encode())
                             for name, value in {"Host": HOST, **headers}.items()]}
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            if not parts:
                await asyncio.Event().wait()
            return parts.pop(0)

        async def send(message):
            sent.append(message)

        # A thread of its own: a browser that a test drives has a loop in this one.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, self.app(scope, receive, send)).result()
        start = next(one for one in sent if one["type"] == "http.response.start")
        text = b"".join(one.get("body", b"") for one in sent
                        if one["type"] == "http.response.body").decode()
        return start["status"], {n.decode(): v.decode() for n, v in start["headers"]}, text

    def enter(self):
        """Use the token, and keep cookie and form token."""
        _, headers, _ = self.ask("GET", f"/open?token={self.app.token}")
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.csrf = re.search(r'name="csrf" content="(\w+)"', self.get("/")[2])[1]
        return self

    def get(self, place):
        return self.ask("GET", place, Cookie=self.cookie)

    def post(self, place, **fields):
        """Send a form as a page of the studio does."""
        return self.ask("POST", place, urlencode({"csrf": self.csrf, **fields}).encode(),
                        Cookie=self.cookie, Origin=f"http://{HOST}")


def write_database(path, *names):
    """Write an SQLite file that holds the same fifty people in several tables."""
    people = [(20 + k % 40, "FM"[k % 2], f"1011{k % 5}") for k in range(50)]
    with sqlite3.connect(path) as connection:
        for name in names:
            quoted = '"' + name.replace('"', '""') + '"'
            connection.execute(f"CREATE TABLE {quoted} (age INTEGER, sex TEXT, zip TEXT)")
            connection.executemany(f"INSERT INTO {quoted} VALUES (?, ?, ?)", people)
    connection.close()
    return path


def write_people(path, rows=400, seed=1, **more):
    """Write a table of people who do not exist, some of them easy to find."""
    rng = np.random.default_rng(seed)
    data = {"name": [f"Ann Example {k}" for k in range(rows)],
            "age": rng.integers(18, 80, rows), "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice(["10115", "10117", "20095", "80331"], rows),
            "occupation": rng.choice(["baker", "nurse", "clerk"], rows),
            "diagnosis": rng.choice(["flu", "asthma", "none"], rows, p=[0.3, 0.2, 0.5]),
            "visits": rng.poisson(3, rows), **more}
    pa.csv.write_csv(pa.table(data), path)
    return path

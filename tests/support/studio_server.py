"""A real studio in a process of its own, and how it is spoken to without a browser."""

import http.client
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

LIMIT = 120


@dataclass
class Studio:
    """A running studio: its process, its port and the address that works once."""

    process: subprocess.Popen
    port: int
    address: str
    cookie: str = ""
    csrf: str = ""
    headers: dict = field(default_factory=dict)

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, place, body=None, **headers):
        """Send one request as it is; return status, headers and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        try:
            connection.request(method, place, body, {**self.headers, **headers})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def enter(self):
        """Use the address once, and keep the cookie."""
        _, headers, _ = self.ask("GET", self.address.removeprefix(self.base))
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.csrf = re.search(r'name="csrf" content="(\w+)"', self.get("/")[2])[1]
        return self

    def get(self, place):
        return self.ask("GET", place, Cookie=self.cookie)

    def post(self, place, **fields):
        """Send a form as a page of the studio does."""
        return self.ask("POST", place, urlencode({"csrf": self.csrf, **fields}),
                        Cookie=self.cookie, Origin=self.base,
                        **{"Content-Type": "application/x-www-form-urlencoded"})


@contextmanager
def studio(folder, *words):
    """Start `unspoken studio` over a folder."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "unspoken", "studio", "--no-browser", "--root", str(folder),
         "--folder", str(folder / "studio"), *map(str, words)], env=env, stderr=subprocess.PIPE,
        text=True, cwd=folder)
    try:
        line = process.stderr.readline()
        match = re.search(r"(http://127\.0\.0\.1:(\d+)/open\?token=\S+)", line)
        port = match or re.search(r"port (\d+)", line)
        if port is None:
            raise RuntimeError(f"the studio did not start: {line}{process.stderr.read()}")
        yield Studio(process, int(port[2] if match else port[1]), match[1] if match else "")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()

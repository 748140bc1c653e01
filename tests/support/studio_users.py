"""Users of a studio behind a reverse proxy, which names them."""

from urllib.parse import urlencode

from support.studio_calls import HOST

SECRET = "s" * 40


class User:
    """Somebody whom the proxy names."""

    def __init__(self, calls, name, role="custodian"):
        self.calls, self.name = calls, name
        self.headers = {"X_Unspoken_Proxy": SECRET, "X_Unspoken_User": name,
                        "X_Unspoken_Role": role, "Origin": f"http://{HOST}"}
        text = self.get("/queries")[2]
        self.csrf = text.split('name="csrf" content="')[1][:64]

    def get(self, place):
        return self.calls.ask("GET", place, **self.headers)

    def post(self, place, **fields):
        body = urlencode({"csrf": self.csrf, **fields}).encode()
        return self.calls.ask("POST", place, body, **self.headers)

"""The service over HTTP: tokens, rates, sizes, TLS, hostile requests, and kill -9."""

import datetime
import http.client
import json
import socket
import ssl
import threading

import pytest

from support.service_people import TOKEN, people, service
from support.service_process import prepare, running
from support.service_web import Web
from unspoken.cli.main import main
from unspoken.errors import InputError, QueryLogError, QueryRefusedError, UnspokenError
from unspoken.methods.queries.service import http_service
from unspoken.methods.queries.service.analyst_access import RateLimit, analyst_of, new_token
from unspoken.methods.queries.service.http_service import serve
from unspoken.methods.queries.service.impatient_protocol import impatient_protocol
from unspoken.methods.queries.service.query_client import QueryClient
from unspoken.methods.queries.service.tls_gate import behind_tls, tls_context
from unspoken.release.budget import Budget


def test_a_question_is_answered_and_a_stranger_is_not(tmp_path):
    web = Web(service(tmp_path))
    good, bad, none, wrong = web(("/query", "select count()"),
                                 ("/query", "select count()", "nobody"),
                                 ("/query", "select count()", None), ("/query", "select x"))
    assert good[0] == 200
    assert json.loads(good[1])["answered"]
    assert (bad[0], none[0], wrong[0]) == (401, 401, 400)
    assert "must be" in wrong[1] or "must have" in wrong[1]


def test_rates_sizes_and_the_budget(tmp_path):
    web = Web(service(tmp_path, rate=2.0))
    codes = [one[0] for one in web(*[("/query", "select count()")] * 12)]
    assert codes.count(200) == 4
    assert codes.count(429) == 8
    (tmp_path / "x").mkdir()
    other = Web(service(tmp_path / "x", epsilon=0.15))
    assert [one[0] for one in other(("/query", "select count()"), ("/query", b"x" * 20_000),
                                    ("/query", "select sum(age)"), ("/about",))] \
        == [200, 413, 403, 200]
    codes = [one[0] for one in other(*[("/about", None, "guess")] * 20)]
    assert codes.count(401) == 10
    assert codes.count(429) == 10


def test_a_broken_log_answers_nothing_more_and_says_nothing_about_why(tmp_path, monkeypatch):
    one = service(tmp_path)
    web = Web(one)
    def broken(*_):
        raise QueryLogError("secret 4711")
    monkeypatch.setattr(one, "ask_each", broken)
    replies = web(("/query", "select count()"), ("/query", "select sum(age)"))
    assert [reply[0] for reply in replies] == [503, 503]
    assert not any("4711" in reply[1] for reply in replies)


def test_tokens_are_hashed_and_buckets_refill():
    token, hashed = new_token()
    assert token not in hashed
    assert analyst_of(f"Bearer {token}", {"a": hashed}) == "a"
    for header in ("", "Bearer", f"Basic {token}", f"Bearer {hashed}", f"Bearer {'x' * 300}"):
        assert analyst_of(header, {"a": hashed}) is None
    moment = [0.0]
    limit = RateLimit(1.0, lambda: moment[0])
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
    moment[0] = 1.5
    assert [limit.allows("a") for _ in range(2)] == [True, False]


def test_beyond_this_machine_only_over_tls(tmp_path):
    with pytest.raises(InputError, match="must be encrypted"):
        serve(service(tmp_path), "0.0.0.0")
    with pytest.raises(InputError, match="https only"):
        QueryClient("http://example.org", "t")
    with pytest.raises(InputError, match="The address"):
        QueryClient("ftp://example.org", "t")
    assert http_service.LOOPBACK[0] == "127.0.0.1"


def certificate(folder):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    today = datetime.datetime.now(datetime.UTC)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key()).serial_number(7)
            .not_valid_before(today - datetime.timedelta(1))
            .not_valid_after(today + datetime.timedelta(1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
            .add_extension(x509.BasicConstraints(True, None), True)
            .sign(key, hashes.SHA256()))
    (folder / "c.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "k.pem").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))


@pytest.mark.slow
def test_a_real_service_over_tls_with_client_and_command(tmp_path, capsys):
    words = prepare(tmp_path, people().arrow())
    certificate(tmp_path)
    tls = ("--certificate", str(tmp_path / "c.pem"), "--private-key", str(tmp_path / "k.pem"))
    with running(tmp_path, words, *tls) as (_, port):
        url = f"https://localhost:{port}"
        client = QueryClient(url, TOKEN, str(tmp_path / "c.pem"))
        assert float(client.count("age > 40")) == float(client.ask(
            "select count() where age > 40"))
        assert client.mean("age", group=["sex"]).groups[0]["group"] == ["F"]
        assert client.quantile("age", 0.5).epsilon == 0.1
        assert len(client.histogram("age", [20, 60]).groups) == 4
        assert client.sum("age").error > 0
        assert client.about()["each"] == 0.1
        with pytest.raises(InputError):
            client.ask("select nothing")
        with pytest.raises(QueryRefusedError, match="valid token"):
            QueryClient(url, "x", str(tmp_path / "c.pem")).count()
        with pytest.raises(UnspokenError, match="no answer"):
            QueryClient(url, TOKEN).count()
        (tmp_path / "token").write_text(TOKEN + "\n")
        ask = ["query", url, "--ask", "select count() group by sex", "--token-file",
               str(tmp_path / "token"), "--authority", str(tmp_path / "c.pem")]
        assert main(ask) == 0
        assert "F: " in capsys.readouterr().out
        assert main([*ask[:3], "select", *ask[4:]]) == 2


@pytest.mark.slow
def test_hostile_requests_get_errors_and_leave_the_service_alive(tmp_path):
    words = prepare(tmp_path, people().arrow(), rate=9000.0)
    with running(tmp_path, words) as (process, port):
        for raw in (b"\x00" * 100, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000,
                    b"POST /query HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                    b"POST /query HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n{}"):
            link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            link.connect()
            link.sock.sendall(raw)
            link.close()
        client = QueryClient(f"http://127.0.0.1:{port}", TOKEN)
        assert float(client.count()) is not None
        assert process.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 25, 60])
def test_killed_at_any_moment_it_has_booked_and_logged_what_it_answered(tmp_path, after):
    words = prepare(tmp_path, people().arrow(), epsilon=90.0, rate=9000.0)
    answered = []
    with running(tmp_path, words) as (process, port):
        workers = [threading.Thread(target=_ask_until_it_dies, args=(port, k, answered))
                   for k in range(6)]
        for worker in workers:
            worker.start()
        while len(answered) < after:
            pass
        process.kill()
        for worker in workers:
            worker.join()
    assert len(answered) >= after
    entries = [json.loads(line)["entry"] for line in
               (tmp_path / "log").read_bytes().splitlines() if line.endswith(b"}}")]
    logged = {entry["identity"]: entry["answer"] for entry in entries[1:]}
    booked = Budget(tmp_path / "b")
    assert len(answered) <= len(logged) <= sum(one.cost.epsilon is not None
                                               for one in booked.draws)
    for question, value in answered:
        same = [answer for name, answer in logged.items()
                if json.loads(name).get("where") == question]
        assert [one["value"] for one in same] == [value]
    with running(tmp_path, words) as (_, port):
        again = QueryClient(f"http://127.0.0.1:{port}", TOKEN)
        assert float(again.count(answered[0][0])) == answered[0][1]


def _ask_until_it_dies(port, k, answered):
    client = QueryClient(f"http://127.0.0.1:{port}", TOKEN)
    for step in range(1000):
        where = f"age > {20 + k} and income > {step}"
        try:
            answered.append((where, float(client.count(where))))
        except UnspokenError:
            return


def test_serve_needs_a_table_or_draws_a_token(capsys):
    assert main(["serve"]) == 2
    assert "unspoken serve DATA --policy" in capsys.readouterr().err
    assert main(["serve", "--new-token", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert analyst_of(f"Bearer {told['token']}", {"a": told["hash"]}) == "a"


@pytest.mark.parametrize("field", ["where", "select", "column", "\ud800"])
def test_half_a_character_is_refused_before_anything_is_booked(tmp_path, field):
    one = service(tmp_path)
    question = {"select": "count", field: "work = '\ud800'"}
    assert Web(one)(("/query", json.dumps(question).encode()))[0][0] == 400
    assert Budget(one.policy.budget).spent() == 0


class Server:
    """The protocol of the service under an application that says yes, in a thread."""

    def __init__(self, tls=None, handshake=None, **limits):
        import uvicorn

        protocol = impatient_protocol(**limits)
        if tls is not None:
            protocol = behind_tls(protocol, tls, **{**limits, **(
                {} if handshake is None else {"half_sent": handshake})})

        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"yes"})

        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = self._socket.getsockname()
        config = uvicorn.Config(app, http=protocol, log_level="critical", lifespan="off",
                                loop="auto" if tls is None else "asyncio")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join()

    def half(self):
        """Return a connection that has sent half a request."""
        one = socket.create_connection(self.address, timeout=60)
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        return one


def closed(connection):
    """Wait for what the other side does; True if it is the end."""
    try:
        return connection.recv(10) == b""
    except ConnectionResetError:
        return True


def test_half_a_request_is_given_up():
    with Server(half_sent=0.05) as server, server.half() as one:
        assert closed(one)


def test_one_address_holds_only_some_connections():
    with Server(most_of_one=2) as server, server.half() as first, server.half() as second:
        assert closed(server.half())
        for one in (first, second):
            one.sendall(b"\r\n")
            assert one.recv(15).startswith(b"HTTP/1.1 200")


def test_the_address_of_a_stranger_is_not_taken_from_a_header(tmp_path, monkeypatch):
    import uvicorn

    settings = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self: settings.append(self.config))
    serve(service(tmp_path))
    assert not settings[0].proxy_headers


@pytest.fixture
def gate(tmp_path):
    """Return a server behind TLS, and what a client needs to trust it."""
    certificate(tmp_path)
    return (tls_context(tmp_path / "c.pem", tmp_path / "k.pem"),
            ssl.create_default_context(cafile=tmp_path / "c.pem"))


def asked_over_tls(server, trust):
    """Return what a client is told who sends its request together with the end of its handshake."""
    with socket.create_connection(server.address, timeout=60) as plain, \
            trust.wrap_socket(plain, server_hostname="localhost") as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return one.recv(15)


def test_who_opens_connections_and_says_nothing_keeps_nobody_out(gate):
    with Server(gate[0], most_of_one=2) as server:
        silent = [socket.create_connection(server.address, timeout=60) for _ in range(2)]
        assert closed(socket.create_connection(server.address, timeout=60))
        silent.pop().close()
        silent.pop().close()
        assert asked_over_tls(server, gate[1]).startswith(b"HTTP/1.1 200")


def test_a_handshake_that_is_not_done_is_given_up(gate):
    with Server(gate[0], half_sent=0.05) as server:
        assert closed(socket.create_connection(server.address, timeout=60))


def test_a_half_request_inside_tls_is_given_up_too(gate):
    with Server(gate[0], half_sent=0.05, handshake=60.0) as server, \
            socket.create_connection(server.address, timeout=60) as plain, \
            gate[1].wrap_socket(plain, server_hostname="localhost") as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert closed(one)


def test_a_key_without_its_certificate_does_not_serve_in_the_clear(tmp_path):
    with pytest.raises(InputError, match="certificate"):
        serve(service(tmp_path), key=tmp_path / "k.pem")

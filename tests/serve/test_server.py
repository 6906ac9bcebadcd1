"""The server over real sockets: access, limits, hostile requests, clients that vanish."""

import json
import random
import re
import socket
import time
from http import HTTPStatus

import pytest
from needs import nightly
from places import ROOT
from seats import TOKENS, Client, raw, raw_or_nothing, request, serve, served, status_of

from midrange_puffer import Simulation
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import PARAMETERS
from midrange_puffer.serve import server as http_server
from midrange_puffer.serve.description import RESOURCES, STATE
from midrange_puffer.serve.fields import LISTS, MISSION, OWN
from midrange_puffer.serve.server import MOST_BODY, MOST_CONNECTIONS, Server

CONTROLS = "/seats/red_0/controls"


@pytest.fixture
def fights():
    return serve("agent", "agent")


@pytest.fixture
def server(fights):
    with served(fights) as server:
        yield server


@pytest.fixture
def client(server):
    return Client.of(server)


def test_the_description_is_of_this_game(client):
    status, about = client.ask("/")
    assert status == 200
    assert about["seats"] == ["red_0"]
    assert about["parameters"]["time_limit"]["value"] == PARAMETERS["time_limit"].default
    assert about["parameters"]["time_limit"]["unit"] == "s"
    assert not any(name.startswith("reward") for name in about["parameters"])
    assert set(about["controls"]) == {"rudder", "throttle", "fire"}
    assert about["seconds_per_decision"] == 0.5
    state = client.state()
    assert set(state) <= set(about["state"])
    assert set(state["own"]) <= set(about["state"]["own"])
    for part in ("enemies", "inbound", "own_missiles"):
        for entry in state[part]:
            assert set(entry) <= set(about["state"][part]["entries"])


def test_a_state_over_http_is_that_of_the_fights(client, fights):
    assert client.state() == json.loads(json.dumps(fights.state("red_0")))


def test_the_seed_stays_secret():
    """By the seed a client could compute the enemy's start, and a policy's actions."""
    fights = serve(game={"sensing": "radar"})
    with served(fights) as server:
        assert "seed" not in json.dumps(Client.of(server).ask("/")[1])


@pytest.mark.parametrize("token", ["", "wrong", TOKENS[0][:-1], TOKENS[0] + "x", "tökén-of-red"])
@pytest.mark.parametrize("path", ["/", "/fights", "/seats/red_0", "/nothing"])
def test_without_the_token_nothing_is_told(client, token, path):
    status, answer = client.ask(path, Authorization=f"Bearer {token}".encode())
    assert status == 401
    assert list(answer) == ["error"]
    assert "Authorization: must be Bearer TOKEN" in answer["error"]


def test_a_token_is_that_of_its_side(server):
    red, blue = Client.of(server), Client.of(server, 1)
    status, answer = red.ask("/seats/blue_0")
    assert (status, answer["error"]) == (403, "blue_0: the token is that of red")
    assert red.ask("/seats/blue_0/controls", {"decision": 0})[0] == 403
    assert blue.ask("/")[1]["seats"] == ["blue_0"]
    assert blue.state("blue_0")["seat"] == "blue_0"
    red.fly(0)
    assert blue.fly(0, "blue_0")["decision"] == 1


@pytest.mark.parametrize(
    "host", ["example.com", "localhost.example.com:80", "", "[::", "127.0.0.1.x"]
)
def test_names_of_hosts_are_refused(client, host):
    """A web page may have led its own name to this address (DNS rebinding)."""
    status, answer = client.ask("/", Host=host)
    assert status == 421
    assert answer["error"].startswith("Host = ")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:80", "LOCALHOST:1"])
def test_addresses_are_welcome(client, host):
    assert client.ask("/fights", Host=host)[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "/sides/red", 200, ""),
        ("GET", "/sides/rot", 404, "rot: must be one of red, blue"),
        ("GET", "/sides/blue?x=1", 400, "x: no such part of the query"),
        ("POST", "/sides/red", 405, "POST: no such method"),
        ("GET", "/seats", 404, "/seats: no such resource; GET / lists them"),
        ("GET", "/seats/red_0/", 200, ""),
        ("GET", "/seats/red_1", 404, "red_1: must be one of red_0, blue_0; did you mean 'red_0'?"),
        ("GET", "/seats/red_0/controls", 405, "GET: no such method of this resource"),
        ("POST", "/seats/red_0", 405, "POST: no such method"),
        ("POST", "/", 405, "POST: no such method"),
        ("DELETE", "/seats/red_0", 405, "DELETE: no such method"),
        (
            "GET",
            "/seats/red_0?aftr=3",
            400,
            "aftr: no such part of the query; there are after, wait",
        ),
        ("GET", "/seats/red_0?after=-1", 400, "after = -1: must be a whole number from 0 to"),
        ("GET", "/seats/red_0?wait=31", 400, "wait = 31: must be a whole number from 0 to 30"),
        ("GET", "/fights?x=1", 400, "x: no such part of the query; there are none"),
        ("GET", "http://[", 400, "path: Invalid IPv6 URL"),
        ("GET", "/../../etc/passwd", 404, "no such resource"),
        ("BREW", "/\x1b[31m", 405, r"BREW: no such method"),
    ],
)
def test_wrong_resources_are_named(server, method, path, status, words):
    answer = raw(server, request(f"{method} {path} HTTP/1.1", Connection="close"))
    assert status_of(answer) == status
    if words:
        assert words in json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "body: not JSON"),
        (b"{", "body: not JSON"),
        (b"\xff", "body: not JSON: no text in UTF-8"),
        (b"[]", "body = []: must be a JSON object"),
        (b'{"decision": 0, "rudder": NaN}', "body: not JSON"),
        (b'{"decision": 0, "rudder": 1e999}', "rudder = Infinity: must be a number from -1 to 1"),
        (b"[" * 10_000, "body: "),
        (b"1" * 5_000, "body: not JSON"),
        (b'{"decision": 0, "\\u001b[31m": 1}', r"\x1b[31m: no such control"),
    ],
)
def test_wrong_bodies_are_named(client, fights, body, words):
    status, answer = client.ask(CONTROLS, body)
    assert status == 400
    assert words in answer["error"]
    assert (answer["fight"], answer["decision"]) == (0, 0), "where a client goes on"
    assert fights.fight()["waiting_for"] == ["red_0", "blue_0"], "nothing has changed"


def test_large_bodies_are_refused(server, client):
    assert client.ask(CONTROLS, b" " * (MOST_BODY - 16) + b'{"decision": 0}')[0] == 200
    status, answer = Client.of(server).ask(CONTROLS, b" " * (MOST_BODY + 1))
    assert status == 413
    assert f"body of {MOST_BODY + 1} bytes: must be of at most {MOST_BODY}" in answer["error"]
    for length in ("-1", "1e3", "9" * 30, "²"):
        answer = raw(server, request(f"POST {CONTROLS} HTTP/1.1", Content_Length=length))
        assert status_of(answer) == 411
    endless = request(f"POST {CONTROLS} HTTP/1.1", Content_Length="9" * 15)
    assert status_of(raw(server, endless)) == 413
    chunked = request(f"POST {CONTROLS} HTTP/1.1", Transfer_Encoding="chunked")
    assert status_of(raw(server, chunked)) == 411


def test_slow_requests_end_and_hold_nobody_up(server, monkeypatch):
    """A client that sends a byte now and then; meanwhile others fly."""
    monkeypatch.setattr(http_server, "PATIENCE", 0.5)
    data = request(f"POST {CONTROLS} HTTP/1.1", b'{"decision": 0}')
    for cut in (5, len(data) - 3):  # in the first line, and in the body
        with socket.create_connection(server.server_address[:2], 60) as slow:
            slow.sendall(data[:cut])
            assert Client.of(server).state()["decision"] == 0
            answer = b""
            while part := slow.recv(65536):
                answer += part
        assert b'{"error"' in answer
    assert status_of(answer) == 408


def test_connections_are_limited_and_the_idle_make_room(server):
    idle = [
        socket.create_connection(server.server_address[:2], 60) for _ in range(MOST_CONNECTIONS)
    ]
    assert Client.of(server).state()["decision"] == 0
    assert idle[0].recv(1) == b"", "the oldest has made room"
    for connection in idle:
        connection.close()
    waiting = [
        socket.create_connection(server.server_address[:2], 60) for _ in range(MOST_CONNECTIONS)
    ]
    for connection in waiting:
        connection.sendall(request("GET /seats/red_0?after=0 HTTP/1.1"))
    while (
        sum(deadline == float("inf") for deadline in server._deadlines.values()) < MOST_CONNECTIONS
    ):
        time.sleep(0.01)
    with pytest.raises(ConnectionError):  # all are answered
        Client.of(server).state()
    server.fights.close()
    for connection in waiting:
        assert status_of(connection.recv(65536)) == 200
        connection.close()


def test_a_client_waits_for_the_next_decision(server):
    blue = Client.of(server, 1)
    with socket.create_connection(server.server_address[:2], 60) as waiting:
        token = f"Bearer {TOKENS[1]}"
        waiting.sendall(request("GET /seats/blue_0?after=0 HTTP/1.1", Authorization=token))
        Client.of(server).fly(0, rudder=1)
        blue.fly(0, "blue_0")
        answer = waiting.recv(1 << 20)
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["decision"] == 1


def test_a_client_that_is_killed_goes_on_where_the_fight_is():
    """Others of its kind vanish in requests and before answers; the fight is the same."""
    hashes = []
    for is_killed in (False, True):
        fights = serve()
        with served(fights) as server:
            client = Client.of(server)
            decision = 0
            while decision < 30:
                if is_killed and decision % 5 == 2:
                    body = json.dumps({"decision": decision, "rudder": decision % 3 - 1}).encode()
                    whole = request(f"POST {CONTROLS} HTTP/1.1", body)
                    vanishing = socket.create_connection(server.server_address[:2], 60)
                    vanishing.sendall(whole[: len(whole) - decision % 2])  # half of them complete
                    vanishing.close()
                    client, is_whole = Client.of(server), decision % 2 == 0
                    while is_whole and client.state()["decision"] == decision:
                        time.sleep(0.01)
                if client.state()["decision"] == decision:
                    client.fly(decision, rudder=decision % 3 - 1)
                decision = client.state()["decision"]
            hashes.append(fights._session.sim.state_hash())
    assert hashes[0] == hashes[1]


def test_two_clients_on_one_seat_are_told(server):
    one, other = Client.of(server), Client.of(server)
    one.fly(0, rudder=1)
    status, answer = other.ask(CONTROLS, {"decision": 0, "rudder": -1})
    assert status == 409
    assert "does another client fly red_0?" in answer["error"]
    assert one.state()["controls"]["rudder"] == 1


VALUES = [0, 1, -1, 2, 0.5, True, None, "1", [], {}, [[1]], 10**300, -0.0, "\x1b", "nan", 1e-320]
PATHS = [
    "/",
    "/fights",
    "/seats",
    "/seats/red_0",
    CONTROLS,
    "/seats/blue_0/controls",
    "/x",
    "*",
    "",
]
NAMES = ["decision", "rudder", "throttle", "fire", "climb", "fight", "", "é", "rudder\0"]


def hostile(draw: random.Random) -> bytes:
    """Returns a random request: each part of it is right in most cases."""

    def mostly(right: str, *wrong: str) -> str:
        return right if draw.random() < 0.8 else draw.choice(wrong)

    given = {draw.choice(NAMES): draw.choice(VALUES) for _ in range(draw.randrange(4))}
    right = {"decision": draw.randrange(5), "throttle": 0.5}
    text = json.dumps(given if draw.random() < 0.5 else right)
    body = mostly(text, text.replace("0", "NaN"), text[1:], "[" * 3000, "").encode()
    method = mostly(draw.choice(["GET", "POST"]), "PUT", "HEAD", "OPTIONS", "get", "\x1b")
    right = CONTROLS if method == "POST" else "/seats/red_0"
    path = mostly(right, *PATHS) + mostly("", "?after=0&wait=0", "?after=x", "?%ff=\x00", "/")
    token = f"Bearer {TOKENS[0]}"
    headers = {
        "Authorization": mostly(token, "Bearer x", "Basic e30=", "", token.lower(), token + ","),
        "Content_Length": mostly(str(len(body)), "0", "7", "-1", "x", "9" * 12, "\xb2"),
        "Host": mostly("localhost", "example.com", "", "[", "127.0.0.1:x"),
        "X_Long": mostly("", "x" * 100, "x" * 70_000),
    }
    data = bytearray(
        request(f"{method} {path} HTTP/{mostly('1.1', '1.0', '9.9')}", body, **headers)
    )
    for _ in range(int(mostly("0", "1", "8"))):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data if draw.random() < 0.9 else data[: draw.randrange(len(data))])


@pytest.mark.parametrize("count", [300, nightly(10_000)])
def test_hostile_requests_harm_nothing(count, monkeypatch):
    """Each is answered or hung up on; the fight has flown what was accepted, and goes on."""
    monkeypatch.setattr(http_server, "MOST_WAIT", 0)
    monkeypatch.setitem(http_server.QUERY, "wait", 0)
    draw, fights = random.Random(7), serve(game={"time_limit": 20})
    statuses = set()
    with served(fights) as server:
        for _ in range(count):
            answer = raw_or_nothing(server, hostile(draw))
            if answer:
                statuses.add(status_of(answer) if answer.startswith(b"HTTP/1.") else 0)
                _, _, text = answer.partition(b"\r\n\r\n")
                assert text == b"" or b"\n" in text
        client = Client.of(server)
        state = client.state()
        assert fights._error is None
        while state["result"] is None:
            state = client.fly(state["decision"], rudder=1)
    assert 500 not in statuses
    assert {200, 400, 401, 404, 405, 409, 411, 421} <= statuses
    replay = fights._session.replay()
    sim = Simulation(1, 0, blue="straight", **fights.parameters)
    sim.start(0, 0)
    for controls in replay.controls:
        sim.step(controls[None])
    assert sim.state_hash() == fights._session.sim.state_hash()


def test_an_error_of_a_contestant_is_told_and_ends_the_fights():
    fights = serve()

    def fail() -> None:
        raise ZeroDivisionError

    fights._session.step = fail
    with served(fights) as server:
        status, answer = Client.of(server).ask(CONTROLS, {"decision": 0})
        assert (status, answer["error"]) == (500, "the fight has failed")
        with pytest.raises(ZeroDivisionError):
            fights.run()


def test_a_port_in_use_and_a_wrong_host_are_named(server, fights):
    port = server.server_address[1]
    with pytest.raises(UsageError, match=f"port {port} of 127.0.0.1: Address already in use"):
        Server(fights, TOKENS, port, "127.0.0.1")
    with pytest.raises(UsageError, match="host 'localhost': must be an IP address"):
        Server(fights, TOKENS, 0, "localhost")


def test_the_page_names_everything_that_there_is():
    """Resources, controls, fields and statuses; and nothing in a state's table that is not."""
    page = (ROOT / "docs" / "serve.md").read_text()
    source = (ROOT / "midrange_puffer" / "serve").glob("*.py")
    statuses = set(re.findall(r"HTTPStatus\.(\w+)", "".join(path.read_text() for path in source)))
    numbers = {HTTPStatus[name].value for name in statuses} - {200, 500, 501}
    errors = page.partition("| status | reason |")[2].partition("## The state")[0]
    assert {int(number) for number in re.findall(r"\b4\d\d\b", errors)} == numbers
    entries = {field.name for _, fields in LISTS.values() for field in fields}
    entries |= {field.name for field in MISSION}
    table = page.partition("\n## The state\n")[2].partition("\nThe numbers come")[0]
    named = set(re.findall(r"`(\w+)`", table))
    values = {"null", "win", "draw", "loss", "radar", "memory", "link"}
    assert named == {*STATE, "own", "mission", *LISTS, *entries, *OWN, *values}
    for resource in RESOURCES:
        assert f"`{resource.replace('SEAT', 'red_0').replace('SIDE', 'red')}`" in page

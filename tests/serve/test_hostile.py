"""Hostile requests to every resource while a fair client flies: its fight is the same."""

import json
import random
import socket
import threading
import time
from contextlib import ExitStack

import pytest
from needs import nightly
from seats import TOKENS, Client, raw_or_nothing, request, serve, served, status_of

from midrange_puffer.serve.server import MOST_BODY, Server

GAME = {"red_size": 2, "blue_size": 2, "time_limit": 20}  # 40 decisions
SEATS = {0: ("red_0", "red_1"), 1: ("blue_0", "blue_1")}
SIDES = "red", "blue"
MOST_OPEN = 40  # connections that are left open in the middle of a request
WRONG_TOKENS = ["", "Bearer", "Bearer x", "Basic e30=", f"bearer {TOKENS[0]}x", "Bearer tökén"]
WRONG_DECISIONS = [-1, 10**6, 10**30, 0.5, "0", None, [], {}, True, float("nan")]
WRONG_VALUES = [
    {"rudder": 2},
    {"rudder": float("nan")},
    {"rudder": "left"},
    {"throttle": -1},
    {"throttle": None},
    {"fire": 99},
    {"fire": [1]},
    {"ruder": 0},
    {"\x1b[31m": 1},
    {"order": "crank frea"},
    {"order": "commit free 9"},
    {"order": "x" * 500},
    {"order": "crank free", "rudder": 0},
]
WRONG_SEATS = [None, [], {}, "red_0", {"red_9": {}}, {"red_0": [], "blue_0": []}, {"": {}}]
QUERIES = [
    *[""] * 6,
    "?after=0&wait=0",
    "?after=-1",
    "?wait=31",
    "?after=x",
    "?x=1",
    "?%ff=\0",
    "?&&&",
]
METHODS = [*["GET", "POST"] * 3, "PUT", "DELETE", "HEAD", "OPTIONS", "get", "\x1b"]


def places(side: int) -> list[str]:
    """Returns the paths of all resources for a client of a side, and some that there are not."""
    own = [f"/seats/{seat}" for seat in SEATS[side]] + [f"/sides/{SIDES[side]}"]
    return ["/", "/fights", "/seats", "/sides/rot", "/%2e%2e/", "*", "", *own] + [
        f"{path}/controls" for path in own
    ]


def foreign(draw: random.Random) -> bytes:
    """Returns a request with a wrong token or that of the other side, perhaps with wrong bytes."""
    side = draw.randrange(2)
    body = json.dumps({"decision": draw.randrange(40), "rudder": 1, "seats": {}}).encode()
    path, tokens = draw.choice(places(side)), list(WRONG_TOKENS)
    if path.startswith(("/seats/", "/sides/r", "/sides/b")):
        tokens += [f"Bearer {TOKENS[1 - side]}"] * 6
    headers = {
        "Authorization": draw.choice(tokens),
        "Content_Length": draw.choice([str(len(body))] * 6 + ["0", "7", "-1", "9" * 12, "x"]),
        "Host": draw.choice(["localhost"] * 6 + ["example.com", "", "["]),
    }
    line = f"{draw.choice(METHODS)} {path}{draw.choice(QUERIES)} HTTP/1.1"
    data = bytearray(request(line, body, **headers))
    for _ in range(draw.choice([0, 0, 0, 1, 8])):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data)


def refusable(draw: random.Random, now: int) -> bytes:
    """Returns a request with the right token that sets nothing: `now` is the decision or earlier.

    A command is for a decision that was flown or is far off, or has a wrong value, or speaks of
    another side's seats, perhaps beside right ones.
    """
    side = draw.randrange(2)
    seat, token = draw.choice(SEATS[side]), f"Bearer {TOKENS[side]}"
    right = {"rudder": 1, "throttle": 1}
    decision, values = now, right | draw.choice(WRONG_VALUES)
    if draw.random() < 0.5:
        decision, values = draw.choice([*range(now), *WRONG_DECISIONS]), right
    path, given = f"/seats/{seat}/controls", {"decision": decision} | values
    if draw.random() < 0.5:
        wrong = draw.choice(WRONG_SEATS) if draw.random() < 0.3 else {SEATS[side][1]: values}
        seats = {SEATS[side][0]: right} | wrong if isinstance(wrong, dict) and wrong else wrong
        path, given = f"/sides/{SIDES[side]}/controls", {"decision": decision, "seats": seats}
    body = json.dumps(given).encode()
    kind = draw.randrange(12)
    if kind == 0:
        body = draw.choice([b"", b"{", b"\xff", b"[]", b"[" * 9_000, b"1" * 5_000, body[1:]])
    if kind == 1:
        body = b" " * (MOST_BODY + draw.randrange(9_999)) + body
    if kind == 2:
        path, body = "/fights", json.dumps({"fight": draw.choice([0, 1, 2, -1, "0"])}).encode()
    method = "POST"
    if kind >= 9:
        method, path, body = "GET", draw.choice(places(side)) + draw.choice(QUERIES), b""
    length = draw.choice([len(body)] * 9 + [len(body) + 9])
    headers = {"Authorization": token, "Content_Length": str(length)}
    data = request(f"{method} {path} HTTP/1.1", body, **headers)
    return data if draw.random() < 0.9 else data[: draw.randrange(len(data) - 1)]


class Attack(threading.Thread):
    """Hostile requests to a server, one after another.

    Args:
        server: The server.
        count: The number of requests.

    Attributes:
        sent: Requests so far.
        now: The decision that the fight has reached, which the fair client sets.
        statuses: Of the answers.
    """

    def __init__(self, server: Server, count: int) -> None:
        super().__init__(daemon=True)
        self._server, self._count = server, count
        self.sent = self.now = 0
        self.statuses: set[int] = set()
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            with ExitStack() as stack:
                self._send(random.Random(3), stack)
        except Exception as error:
            self.error = error
        self.sent = self._count  # the fair client waits for no more

    def _send(self, draw: random.Random, stack: ExitStack) -> None:
        is_open = 0
        for _ in range(self._count):
            data = foreign(draw) if draw.random() < 0.4 else refusable(draw, self.now)
            if is_open < MOST_OPEN and draw.random() < 0.1:
                connection = socket.create_connection(self._server.server_address[:2], 60)
                stack.enter_context(connection).sendall(data[: len(data) // 2])
                is_open += 1
            elif answer := raw_or_nothing(self._server, data):
                status = status_of(answer) if answer.startswith(b"HTTP/1.") else 0
                self.statuses.add(status)
                is_command = data.startswith(b"POST") and b"/controls" in data.split(b"\r\n")[0]
                assert status != 200 or not is_command, data
            self.sent += 1


def fly(count: int) -> tuple[list[object], int, set[int]]:
    """Flies both sides of a fight, with `count` hostile requests meanwhile.

    Returns all answers to the fair client, the hash of the state at the end, and the statuses that
    the hostile requests got.
    """
    answers = []
    fights = serve("agent", "agent", game=GAME, count=1)
    with served(fights) as server:
        red, blue = (Client.of(server, side) for side in (0, 1))
        attack = Attack(server, count)
        attack.start()
        state = red.state("red_0")
        while state["result"] is None:
            decision = attack.now = state["decision"]
            turn = {"rudder": decision % 3 - 1, "fire": int(decision % 10 == 9)}
            given = {"red_0": turn, "red_1": {"order": "commit free"}}
            waiting = set(state["waiting_for"])
            seats = {seat: values for seat, values in given.items() if seat in waiting}
            if seats:
                body = {"decision": decision, "seats": seats}
                answers.append(red.ask("/sides/red/controls", body))
            for seat in SEATS[1]:
                if seat in waiting:
                    answers.append(blue.fly(decision, seat, rudder=-turn["rudder"]))
            state = red.state("red_0")
            answers.append(state)
            assert state["decision"] > decision or state["result"] is not None
            while attack.sent < min(count, count * (decision + 1) // 40):
                time.sleep(0.001)
        attack.join()
        assert attack.error is None, attack.error
        assert fights._error is None
    return answers, fights._session.sim.state_hash(), attack.statuses


@pytest.mark.parametrize("count", [400, nightly(10_000)])
def test_a_fair_client_loses_nothing_by_hostile_requests(count):
    """Every answer to it, and the fight to its last bit, are those without hostile requests."""
    quiet, expected, _ = fly(0)
    answers, state_hash, statuses = fly(count)
    assert len(quiet) > 40
    assert answers == quiet
    assert state_hash == expected
    assert 500 not in statuses
    assert statuses >= {200, 400, 401, 403, 404, 405, 408, 409, 411, 413, 421}

"""Served fights, and a client of their server."""

import http.client
import json
import socket
from contextlib import closing, contextmanager, suppress
from typing import Any

from midrange_puffer.replays.session import Session
from midrange_puffer.serve.fights import Fights
from midrange_puffer.serve.server import Server

TOKENS = {0: "token-of-red", 1: "token-of-blue"}
NEAR = {"start_range_min": 25_000, "start_range_max": 30_000}
GAMES = {
    "plane": {},
    "sensors": {"sensing": "radar"},
    "sensors with height": {"sensing": "radar", "dimensions": 3},
    "height": {"dimensions": 3},
    "loads": {"dimensions": 3, "red_missiles": "medium:3,short:2"},
    "mission": {"mission": "line", "attacker": "red", "start_line_depth": 30_000},
    "teams": {"red_size": 2, "blue_size": 3},
    "teams with height": {"dimensions": 3, "red_size": 2, "blue_size": 2},
    "teams with sensors": {"red_size": 2, "blue_size": 2, "sensing": "radar"},
    "teams with both": {"red_size": 2, "blue_size": 2, "sensing": "radar", "dimensions": 3},
    "systems": {"sensing": "radar", "emission_control": "on", "chaff": 4},
    "systems in teams": {"sensing": "radar", "chaff": 4, "red_size": 2, "blue_size": 2},
}


def serve(
    red: Any = "agent", blue: Any = "straight", *, game: Any = None, **options: Any
) -> Fights:
    """Returns fights from near starts."""
    session = Session((red, blue), **NEAR | (game or {}))
    return Fights(session, report=lambda line: None, **options)


@contextmanager
def served(fights: Fights):
    """Yields the server of fights."""
    with Server(fights, TOKENS, 0, "127.0.0.1") as server:
        yield server


class Client:
    """A client of one side."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._headers = url, {"Authorization": f"Bearer {token}"}

    @classmethod
    def of(cls, server: Server, side: int = 0) -> "Client":
        """Returns a client of a `served` server."""
        return cls(server.url, TOKENS[side])

    def ask(self, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """Returns status and JSON of GET, or of POST if there is a body."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        with closing(
            http.client.HTTPConnection(self._url.removeprefix("http://"), timeout=60)
        ) as connection:
            connection.request(method, path, data, self._headers | headers)
            answer = connection.getresponse()
            assert answer.getheader("Content-Type") == "application/json; charset=utf-8"
            return answer.status, json.loads(answer.read())

    def state(self, seat: str = "red_0") -> dict[str, Any]:
        """Returns the state of a seat."""
        status, state = self.ask(f"/seats/{seat}")
        assert status == 200, state
        return state

    def fly(self, decision: int, seat: str = "red_0", **controls: object) -> dict[str, Any]:
        """Sets controls, and returns the state then."""
        body = {"decision": decision, **controls}
        status, state = self.ask(f"/seats/{seat}/controls", body)
        assert status == 200, state
        return state


def raw(server: Server, data: bytes) -> bytes:
    """Sends bytes, and returns all that comes back until the server hangs up."""
    with socket.create_connection(server.server_address[:2], 60) as connection:
        connection.sendall(data)
        with suppress(OSError):  # the server has hung up
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


def request(line: str, body: bytes = b"", **headers: str) -> bytes:
    """Returns the bytes of a request, by default with everything that it needs."""
    given = {"Host": "127.0.0.1", "Authorization": f"Bearer {TOKENS[0]}"}
    given |= {"Content-Length": str(len(body))} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"{line}\r\n{lines}\r\n".encode() + body


def status_of(answer: bytes) -> int:
    return int(answer.split()[1])


def raw_or_nothing(server: Server, data: bytes) -> bytes:
    """Returns the answer to some bytes; nothing if the server has hung up before their end."""
    try:
        return raw(server, data)
    except ConnectionError:
        return b""

"""The HTTP server of served fights: who may connect, what a request may be, and its answer.

Every answer is JSON. A request needs the token of a side, and gets only that side's seats. Each
connection has a thread; a request has a deadline, a size, and is refused with the reason.
"""

import contextlib
import hmac
import ipaddress
import json
import math
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from midrange_puffer.game.parameters import SEATS
from midrange_puffer.json_files import parse
from midrange_puffer.names import shown, suggest
from midrange_puffer.replays.telemetry import listen
from midrange_puffer.serve.commands import MOST_SHOWN, RefusedError, short
from midrange_puffer.serve.description import MOST_WAIT, describe_game
from midrange_puffer.serve.fights import Fights

MOST_BODY = 16 << 10  # bytes of a request's body
MOST_DRAINED = 1 << 20  # bytes of a larger body that are read, so that the client gets the answer
MOST_CONNECTIONS = 32
PATIENCE = 30.0  # s that a connection has for a request, from the last answer on
POLL = 0.1  # s between two looks for overdue requests
MOST_DECISION = 10**6
PLACES = ("seats", "sides")  # resources whose state may be waited for
QUERY = {"after": MOST_DECISION, "wait": MOST_WAIT}  # the greatest values in queries


class Server(ThreadingHTTPServer):
    """A server of fights on one TCP port.

    Args:
        fights: The fights.
        tokens: The token of each side that has seats, by its number. A client gives one as
            `Authorization: Bearer TOKEN`.
        port: TCP port, 0 to 65535; 0: any free one.
        host: IP address of the interface to listen on.

    Raises:
        UsageError: The port or the address is wrong or in use.
    """

    daemon_threads = True

    def __init__(self, fights: Fights, tokens: Mapping[int, str], port: int, host: str) -> None:
        self.fights, self.tokens = fights, tokens
        super().__init__((host, port), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listen(host, port)
        self.server_address = self.socket.getsockname()
        self._lock = threading.Lock()
        # When each connection must have sent its request; infinity while one is answered.
        self._deadlines: dict[socket.socket, float] = {}

    @property
    def url(self) -> str:
        """The address."""
        host, port = self.socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def __enter__(self) -> "Server":
        threading.Thread(target=self.serve_forever, args=(POLL,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    # Connections

    def expect(self, connection: socket.socket, seconds: float) -> None:
        """Closes a connection unless its next request is there within so many seconds."""
        with self._lock:
            self._deadlines[connection] = time.monotonic() + seconds

    def process_request(self, request: Any, client_address: Any) -> None:
        """Gives a new connection a thread; if there are too many, in place of one that idles."""
        with self._lock:
            if len(self._deadlines) >= MOST_CONNECTIONS:
                idle = min(self._deadlines, key=self._deadlines.__getitem__)
                if self._deadlines[idle] == math.inf:
                    super().shutdown_request(request)
                    return
                _hang_up(idle)
                del self._deadlines[idle]
        self.expect(request, PATIENCE)
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Closes the connections whose requests are overdue."""
        now = time.monotonic()
        with self._lock:
            overdue = [each for each, deadline in self._deadlines.items() if deadline < now]
        for connection in overdue:
            _hang_up(connection)

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection."""
        with self._lock:
            self._deadlines.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints nothing: a client that has gone is no error, and others end `Fights.run`."""


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    wbufsize = -1  # an answer is sent as a whole
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def handle_one_request(self) -> None:
        """Answers a request, if it comes within PATIENCE."""
        self.server.expect(self.connection, PATIENCE)
        super().handle_one_request()

    def version_string(self) -> str:
        """Returns the header Server, without the version of Python."""
        return "midrange_puffer"

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers a request that http.server refuses."""
        status, self.close_connection = HTTPStatus(code), True
        if status == HTTPStatus.NOT_IMPLEMENTED:  # a method without a function here
            status, message = HTTPStatus.METHOD_NOT_ALLOWED, _wrong_method(self.command)
        self._send(status, {"error": shown(message or explain or status.phrase)})

    def do_GET(self) -> None:
        """Answers GET."""
        self._answer()

    def do_POST(self) -> None:
        """Answers POST."""
        self._answer()

    def _answer(self) -> None:
        side = None
        try:
            body = self._body()
            self.server.expect(self.connection, math.inf)
            _check_host(self.headers.get("Host", ""))
            side = self._side()
            status, answer = HTTPStatus.OK, self._resource(side, body)
        except RefusedError as refusal:
            status, answer = refusal.status, {"error": str(refusal)}
        except OSError:  # of the connection
            raise
        except Exception as error:
            self.server.fights.fail(error)
            status, answer = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "the fight has failed"}
        if side is not None and status != HTTPStatus.OK:
            answer |= self.server.fights.moment()
        self._send(status, answer)

    def _send(self, status: HTTPStatus, answer: Mapping[str, Any]) -> None:
        data = json.dumps(answer, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        if status == HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", "Bearer")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()

    def _side(self) -> int:
        """Returns the side whose token the request has."""
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        sides = [
            side
            for side, token in self.server.tokens.items()
            if hmac.compare_digest(given.strip().encode(), token.encode())
        ]
        if kind.lower() != "bearer" or not sides:
            message = "Authorization: must be Bearer TOKEN, with the token that the server printed"
            raise RefusedError(HTTPStatus.UNAUTHORIZED, message)
        return sides[0]

    def _body(self) -> bytes:
        """Reads the body."""
        text = self.headers.get("Content-Length", "0")
        is_number = text.isascii() and text.isdigit() and len(text) < 20
        if "Transfer-Encoding" in self.headers or not is_number:
            self.close_connection = True
            message = "Content-Length: must be the number of bytes of a body that is not encoded"
            raise RefusedError(HTTPStatus.LENGTH_REQUIRED, message)
        if (length := int(text)) > MOST_BODY:
            self.close_connection = True
            self.rfile.read(min(length, MOST_DRAINED))
            message = f"body of {length} bytes: must be of at most {MOST_BODY}"
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
        if len(body := self.rfile.read(length)) < length:
            self.close_connection = True
            message = f"body of {len(body)} bytes: Content-Length is {length}"
            raise RefusedError(HTTPStatus.REQUEST_TIMEOUT, message)
        return body

    def _resource(self, side: int, body: bytes) -> dict[str, Any]:
        """Returns the answer to a client of a side."""
        fights = self.server.fights
        try:
            parts = urlsplit(self.path)
        except ValueError as error:
            raise RefusedError(HTTPStatus.BAD_REQUEST, f"path: {error}") from None
        path, is_get = parts.path.strip("/").split("/"), self.command == "GET"
        query = _query(parts.query, ("after", "wait") if is_get and path[0] in PLACES else ())
        if len(path) > 1 and path[0] == "seats":
            self._check_seat(path[1], side)
        if len(path) > 1 and path[0] == "sides":
            _check_side(path[1], side)
        match path:
            case [""] if is_get:
                return describe_game(fights, side)
            case ["fights"] if is_get:
                return fights.fight()
            case ["fights"]:
                return fights.begin(_object(body).get("fight"))
            case ["seats", seat] if is_get:
                after = query.get("after")
                return fights.state(seat, after, query.get("wait", MOST_WAIT))
            case ["seats", seat, "controls"] if not is_get:
                return fights.command(seat, _object(body))
            case ["sides", _] if is_get:
                return fights.side_state(side, query.get("after"), query.get("wait", MOST_WAIT))
            case ["sides", _, "controls"] if not is_get:
                return fights.command_side(side, _object(body))
            case [""] | ["seats" | "sides", _] | ["seats" | "sides", _, "controls"]:
                raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, _wrong_method(self.command))
        message = f"{shown(parts.path)[:MOST_SHOWN]}: no such resource; GET / lists them"
        raise RefusedError(HTTPStatus.NOT_FOUND, message)

    def _check_seat(self, seat: str, side: int) -> None:
        """Refuses a seat that there is not, or that is of the other side."""
        seats = self.server.fights.seats
        if seat not in seats:
            hint = suggest(seat, seats)
            message = f"{shown(seat)[:MOST_SHOWN]}: must be one of {', '.join(seats)}{hint}"
            raise RefusedError(HTTPStatus.NOT_FOUND, message)
        if self.server.fights.side(seat) != side:
            message = f"{seat}: the token is that of {SEATS[side]}"
            raise RefusedError(HTTPStatus.FORBIDDEN, message)


def _check_side(name: str, side: int) -> None:
    """Refuses a side that there is not, or that is not the token's."""
    if name not in SEATS:
        message = f"{shown(name)[:MOST_SHOWN]}: must be one of {', '.join(SEATS)}"
        raise RefusedError(HTTPStatus.NOT_FOUND, message + suggest(name, SEATS))
    if name != SEATS[side]:
        message = f"{name}: the token is that of {SEATS[side]}"
        raise RefusedError(HTTPStatus.FORBIDDEN, message)


def _check_host(host: str) -> None:
    """Refuses host names, because a web page can let its own name lead to this address."""
    with contextlib.suppress(ValueError):
        name = urlsplit(f"//{host}").hostname or ""
        if name == "localhost" or ipaddress.ip_address(name):
            return
    message = f"Host = {shown(host)[:MOST_SHOWN]}: must be localhost or an IP address"
    raise RefusedError(HTTPStatus.MISDIRECTED_REQUEST, message)


def _query(text: str, allowed: Sequence[str]) -> dict[str, int]:
    """Returns the numbers of a query."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=len(QUERY))
    except ValueError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"query: {error}") from None
    out = {}
    for name, value in pairs:
        if name not in allowed:
            names = ", ".join(allowed) or "none"
            message = f"{shown(name)[:MOST_SHOWN]}: no such part of the query; there are {names}"
            raise RefusedError(HTTPStatus.BAD_REQUEST, message + suggest(name, allowed))
        most = QUERY[name]
        if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) <= most):
            allowed = f"a whole number from 0 to {most}"
            message = f"{name} = {shown(value)[:MOST_SHOWN]}: must be {allowed}"
            raise RefusedError(HTTPStatus.BAD_REQUEST, message)
        out[name] = int(value)
    return out


def _object(body: bytes) -> dict[str, Any]:
    """Returns the JSON object of a body."""
    try:
        value = parse(body)
    except ValueError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"body: {error}") from None
    if not isinstance(value, dict):
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"body = {short(value)}: must be a JSON object")
    return value


def _wrong_method(method: str) -> str:
    return f"{shown(method)[:MOST_SHOWN]}: no such method of this resource; GET / lists them"


def _hang_up(connection: socket.socket) -> None:
    """Lets a connection send no more; an answer can still be sent to it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RD)

"""Fights for Tacview while they are flown: its real-time telemetry, recordings sent over TCP.

The protocol is https://www.tacview.net/documentation/realtime/. The server says HELLO and its name,
the client answers likewise with the checksum of a password, and then the server sends a recording
as `replays.acmi` writes it. Other programs that read this protocol can connect, too.

All work is done in `note`, and no call waits for a client: sockets do not block, and a client that
reads too slowly is dropped.
"""

import errno
import ipaddress
import os
import select
import socket
import time
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import SEATS, sizes_of
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.records import outcome_words
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.names import shown, versus
from midrange_puffer.replays.acmi import HEADER, MOST_IDS, Frames, bookmark, frame_lines
from midrange_puffer.replays.replay import Replay
from midrange_puffer.system import LOOPBACK

PORT = 42674  # where Tacview looks first
MOST_PORT = 65535
HELLO = b"XtraLib.Stream.0\nTacview.RealTimeTelemetry.0\n"
NAME = b"midrange_puffer"
MOST_CLIENTS = 4
MOST_HANDSHAKE = 1024  # bytes of a client's answer
MOST_PENDING = 4 << 20  # bytes that a client has not read yet; with more it is dropped
CHUNK = 4096  # bytes read at once
PATIENCE = 0.1  # most seconds between two looks for new clients, in real time
FAREWELL = 1.0  # most seconds that a client has for the last bytes
CRC64 = 0x42F0E1EBA9EA3693  # the polynomial of CRC-64/WE


class Telemetry:
    """A server that streams fights to Tacview.

    Objects of a new fight have new ids, and the clock of the stream goes on: the objects of the
    fight before are removed, and those of the new one appear at the same time. The same happens
    once a fight was rewound and is flown again. Every fight begins with a bookmark of its names.

    A stream is one note behind the fight until the fight is over.

    Args:
        port: TCP port, 0 to 65535; 0: any free one.
        host: IP address of the interface to listen on. By default programs of other machines
            cannot connect.
        password: Needed by clients; None: any client may connect.

    Raises:
        UsageError: The port or the address is wrong or in use.
    """

    def __init__(self, port: int = PORT, host: str = LOOPBACK, password: str | None = None) -> None:
        self._server = listen(host, port)
        self._hashes = _hashes(password) if password else None
        self._clients: list[_Client] = []
        self._fight: _Fight | None = None
        self._fights = 0  # of which object ids were used
        self._clock = 0.0  # time of the last frame in the stream [s]

    @property
    def address(self) -> tuple[str, int]:
        """The IP address and the port."""
        host, port = self._server.getsockname()[:2]
        return host, port

    @property
    def clients(self) -> int:
        """The number of clients that receive the stream."""
        return sum(client.is_welcome for client in self._clients)

    def begin(
        self,
        sim: Simulation,
        env: int = 0,
        *,
        names: Sequence[str] = SEATS,
        pilots: Sequence[str] | None = None,
        paths: Paths | None = None,
    ) -> None:
        """Streams an engagement from its present state on, in place of the one before.

        Args:
            sim: The simulation; call `begin` again after its `reset` or `start`.
            env: The engagement.
            names: Names of red and blue.
            pilots: The name of each fighter's contestant; None: its side's name.
            paths: The engagement's paths, if the caller notes them; None: `note` does.
        """
        self._retire()
        if pilots is None:
            red, blue = sizes_of(sim.parameters)
            pilots = [names[0]] * red + [names[1]] * blue
        is_noted = paths is not None
        paths = paths or Paths(sim, env)
        self._fight = _Fight(sim, env, paths, is_noted, tuple(names), pilots, paths.time)
        self._introduce(self._fight)

    def note(self) -> None:
        """Sends what is new in the fight, and serves the clients; call it after each `step`.

        It returns at once. While a fight is paused, calls of `note` let clients connect.
        """
        if self._fight is not None:
            self._stream(self._fight)
        self._serve()

    def wait(self) -> None:
        """Waits until a client receives the stream."""
        while not self.clients:
            select.select([self._server, *(client.socket for client in self._clients)], [], [])
            self._serve()

    def close(self) -> None:
        """Sends the rest, for a second at most to each client, and closes all sockets."""
        self._server.close()
        for client in self._clients:
            client.farewell()
        self._clients.clear()

    def __enter__(self) -> "Telemetry":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The stream

    def _stream(self, fight: "_Fight") -> None:
        """Sends what is new in the fight."""
        now = fight.paths.time
        is_back = now < fight.now
        if not fight.is_noted and now != fight.now:
            (fight.paths.cut_back if is_back else fight.paths.note)()
        if is_back:
            self._retire()
        elif fight.frames is None:
            if now > fight.now:  # it was rewound, and is flown on
                self._introduce(fight)
        else:
            is_over = bool(fight.sim.outcome[fight.env])
            frames = fight.frames.take() if is_over else fight.frames.take(before=now)
            if is_over and not fight.is_over:
                words = outcome_words(fight.sim, fight.env)
                frames.setdefault(round(now, 3), []).append(bookmark(words))
            fight.is_over = is_over
            self._send(frame_lines(frames, fight.start))
            if frames:
                self._clock = fight.start + max(frames)
        fight.now = now

    def _introduce(self, fight: "_Fight") -> None:
        """Sends the present state of a fight that has no objects in the stream."""
        first_id = self._fights * MOST_IDS
        fight.frames = Frames(fight.paths, fight.sim.parameters, fight.pilots, first_id)
        fight.frames.take()
        fight.start = self._clock - fight.paths.time
        fight.is_over = False
        self._fights += 1
        self._send(self._present())

    def _present(self) -> list[str]:
        """Returns a frame with everything there is."""
        fight = self._fight
        if fight is None or fight.frames is None:
            return []
        title = bookmark(versus(fight.names, fight.paths.sizes))
        return [f"#{round(self._clock, 3)}", title, *fight.frames.present()]

    def _retire(self) -> None:
        """Removes the objects of the fight from the stream."""
        if self._fight is not None and self._fight.frames is not None:
            self._send([f"#{round(self._clock, 3)}", *self._fight.frames.removals()])
            self._fight.frames = None

    def _send(self, lines: Iterable[str]) -> None:
        data = _encode(lines)
        for client in self._clients:
            if client.is_welcome:
                client.pending += data

    # Clients

    def _serve(self) -> None:
        """Reads from the clients and sends to them, without waiting, then accepts new ones."""
        for client in self._clients[:]:
            was_welcome = client.is_welcome
            is_well = client.receive(self._hashes)
            if client.is_welcome and not was_welcome:
                client.pending += _encode([*HEADER, *self._present()])
            if not (is_well and client.send()):
                self._drop(client)
        for _ in range(MOST_CLIENTS):
            try:
                connection, _ = self._server.accept()
            except OSError:  # there is none, or it has gone
                return
            self._admit(_Client(connection))

    def _admit(self, client: "_Client") -> None:
        """Takes a new client; if there are too many, in place of one that has not answered yet."""
        if len(self._clients) == MOST_CLIENTS:
            silent = next((other for other in self._clients if not other.is_welcome), client)
            self._drop(silent)
            if silent is client:
                return
        self._clients.append(client)
        if not client.send():
            self._drop(client)

    def _drop(self, client: "_Client") -> None:
        client.socket.close()
        if client in self._clients:
            self._clients.remove(client)


def stream_replay(replay: Replay, telemetry: Telemetry, speed: float = 1.0) -> None:
    """Waits for a client, then streams a replay in real time.

    Args:
        replay: The replay.
        telemetry: The server.
        speed: Time of the fight per real time.

    Raises:
        ReplayError: The replay gives other states than recorded.
    """
    sim = replay.simulation()
    telemetry.begin(sim, names=replay.names, pilots=replay.fighter_names)
    telemetry.wait()
    decision = replay.duration / replay.decisions / speed
    due = time.monotonic()
    for _ in replay.play(sim):
        telemetry.note()
        due += decision
        while (left := due - time.monotonic()) > 0:
            time.sleep(min(left, PATIENCE))
            telemetry.note()


@dataclass(eq=False)
class _Fight:
    """The engagement that is streamed.

    Attributes:
        sim, env, paths, names, pilots: As given to `Telemetry.begin`.
        is_noted: True if the caller notes the paths.
        now: The fight's time at the last note [s].
        frames: Its lines; None: it has no objects in the stream, since it was rewound.
        start: The stream's time of its beginning [s].
        is_over: True once its outcome was sent.
    """

    sim: Simulation
    env: int
    paths: Paths
    is_noted: bool
    names: tuple[str, ...]
    pilots: Sequence[str]
    now: float
    frames: Frames | None = None
    start: float = 0.0
    is_over: bool = False


@dataclass(eq=False)
class _Client:
    """A program that has connected.

    Attributes:
        socket: Its socket, which does not block.
        is_welcome: True once it has answered HELLO.
        received: Its answer so far.
        pending: Bytes that are still to be sent.
    """

    socket: socket.socket
    is_welcome: bool = False
    received: bytes = b""
    pending: bytearray = field(default_factory=lambda: bytearray(HELLO + NAME + b"\n\0"))

    def __post_init__(self) -> None:
        self.socket.setblocking(False)

    def receive(self, hashes: frozenset[int] | None) -> bool:
        """Reads what has come; returns False if the client is to be dropped.

        Args:
            hashes: Checksums of the password, one of which is needed; None: none is.
        """
        try:
            data = self.socket.recv(CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if self.is_welcome:
            return bool(data)
        self.received += data
        if not data or self.received[: len(HELLO)] != HELLO[: len(self.received)]:
            return False
        answer, end, _ = self.received.partition(b"\0")
        if not end or len(answer) > MOST_HANDSHAKE:
            return len(answer) <= MOST_HANDSHAKE
        _, _, password = answer.removeprefix(HELLO).partition(b"\n")
        self.is_welcome = hashes is None or _number(password) in hashes
        return self.is_welcome

    def send(self) -> bool:
        """Sends what the client can take; returns False if it is to be dropped."""
        try:
            while self.pending:
                del self.pending[: self.socket.send(self.pending)]
        except BlockingIOError:
            return len(self.pending) <= MOST_PENDING
        except OSError:
            return False
        return True

    def farewell(self) -> None:
        """Sends the rest and closes the socket."""
        with self.socket:
            try:
                self.socket.settimeout(FAREWELL)
                self.socket.sendall(self.pending)
            except OSError:  # it has gone, or does not read
                pass


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens and does not block.

    Raises:
        UsageError: The port or the address is wrong or in use.
    """
    if not 0 <= port <= MOST_PORT:
        raise UsageError(f"port {port}: must be from 0 to {MOST_PORT}; 0 = any free one")
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        raise UsageError(
            f"host {shown(host)!r}: must be an IP address, as {LOOPBACK} (programs of this "
            "machine) or 0.0.0.0 (of any)"
        ) from None
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    try:
        server = socket.create_server((host, port), family=family)
    except OSError as error:
        is_used = error.errno == errno.EADDRINUSE
        advice = "; choose another one, or 0 for any free one" if is_used else ""
        reason = os.strerror(error.errno or 0)
        raise UsageError(f"port {port} of {host}: {reason}{advice}") from None
    server.setblocking(False)
    return server


def _encode(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _number(text: bytes) -> int | None:
    """Returns a hexadecimal number; None if it is none."""
    try:
        return int(text, 16)
    except ValueError:
        return None


def _hashes(password: str) -> frozenset[int]:
    """Returns the checksums of a password: newer clients send CRC-64, older ones CRC-32."""
    data = password.encode("utf-16-le", "surrogatepass")
    return frozenset((crc64(data), zlib.crc32(data)))


def crc64(data: bytes) -> int:
    """Returns the CRC-64/WE of some bytes."""
    most = (1 << 64) - 1
    crc = most
    for byte in data:
        crc ^= byte << 56
        for _ in range(8):
            crc = (crc << 1 & most) ^ (CRC64 if crc >> 63 else 0)
    return crc ^ most

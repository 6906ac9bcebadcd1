"""A client of Tacview's real-time telemetry, by its documentation alone.

See https://www.tacview.net/documentation/realtime/.
"""

import contextlib
import socket
import threading
import time

import acmi_reader

PROTOCOLS = b"XtraLib.Stream.0\nTacview.RealTimeTelemetry.0\n"
PATIENCE = 60  # s, after which a test has failed


def connect(server) -> socket.socket:
    """Returns a new connection to a server."""
    return socket.create_connection(server.address, PATIENCE)


def serve_until(server, condition) -> None:
    """Lets the server serve its clients until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        server.note()


class Client:
    """A client that has shaken hands and reads everything.

    Args:
        address: Of the server.
        password: The checksum of the password in hexadecimal; 0: none.

    Attributes:
        host: The name of the host.
    """

    def __init__(self, address: tuple[str, int], password: str = "0") -> None:
        self._socket = socket.create_connection(address, PATIENCE)
        self._password, self._data, self.host = password, b"", b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @classmethod
    def join(cls, server, password: str = "0") -> "Client":
        """Returns a client that a server has welcomed."""
        before = server.clients
        client = cls(server.address, password)
        serve_until(server, lambda: server.clients > before)
        return client

    def _read(self) -> None:
        with self._socket, contextlib.suppress(ConnectionResetError):  # the server has dropped it
            greeting = b""
            while not greeting.endswith(b"\0"):
                byte = self._socket.recv(1)
                if not byte:  # refused
                    return
                greeting += byte
            assert greeting.startswith(PROTOCOLS)
            self.host, end = greeting[len(PROTOCOLS) : -1].split(b"\n")
            assert end == b""
            self._socket.sendall(PROTOCOLS + f"a client\n{self._password}\0".encode())
            while data := self._socket.recv(65536):
                self._data += data

    def data(self) -> bytes:
        """Returns everything that was received, once the server has closed the connection."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return self._data

    def recording(self) -> acmi_reader.Recording:
        """Returns the stream as it was read; its times never go back."""
        recording = acmi_reader.read(self.data())
        assert recording.times == sorted(recording.times)
        return recording

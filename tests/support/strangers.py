"""Connections to a job from outside of it, from other addresses than the loopback's."""

import socket
from collections.abc import Iterable

import psutil

LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def listening(processes: Iterable[psutil.Process]) -> set[tuple[str, int]]:
    """Returns the addresses and ports where processes listen."""
    return {
        tuple(connection.laddr)
        for process in processes
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }


def reached(ports: Iterable[int]) -> list[tuple[str, int]]:
    """Returns the ports that answer at any other address of this machine.

    A socket on all interfaces does at each of them. 127.0.0.2 is one on every Linux, as are those
    that other machines know.
    """
    addresses = {
        address.address
        for interface in psutil.net_if_addrs().values()
        for address in interface
        if address.family == socket.AF_INET
    }
    others = {"127.0.0.2", *addresses} - LOOPBACK
    return [(other, port) for port in ports for other in others if _answers(other, port)]


def _answers(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=5).close()
    except OSError:
        return False
    return True

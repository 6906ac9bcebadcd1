"""Options of the modes that stream fights to Tacview."""

import ipaddress
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from midrange_puffer.commands import option
from midrange_puffer.errors import UsageError
from midrange_puffer.replays.telemetry import LOOPBACK, MOST_PORT, PORT, Telemetry


def tacview() -> Any:
    """Declares --tacview."""
    meaning = (
        f"stream the fights to Tacview's real-time telemetry at this TCP port, {PORT} if none is "
        "given, 0 = any free one"
    )
    return option.value(meaning, None, 0, MOST_PORT, hides_default=True, alone=PORT)


def tacview_host() -> Any:
    """Declares --tacview-host."""
    meaning = (
        "IP address at which --tacview listens; others than the default let programs of other "
        "machines connect"
    )
    return option.value(meaning, LOOPBACK)


def tacview_password() -> Any:
    """Declares --tacview-password."""
    meaning = "password that Tacview must give; without one, any client may connect"
    return option.value(meaning, None, hides_default=True)


def check(port: int | None, host: str, password: str | None) -> None:
    """Raises UsageError if the other options are given without --tacview."""
    given = {"host": host != LOOPBACK, "password": password is not None}
    for name, is_given in given.items():
        if is_given and port is None:
            raise UsageError(f"command line: --tacview-{name}: has no effect without --tacview")


@contextmanager
def serve(port: int | None, host: str, password: str | None) -> Iterator[Telemetry | None]:
    """Yields the server that the options ask for, or None; prints its address.

    Raises:
        UsageError: The address or the port is wrong or in use.
    """
    if port is None:
        yield None
        return
    with Telemetry(port, host, password) as server:
        host, port = server.address
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        print(f"Tacview: {where} (Record, Real-Time Telemetry)", flush=True)
        if not ipaddress.ip_address(host).is_loopback:
            access = "with the password" if password else "without a password"
            print(f"programs of other machines may connect to {where} {access}", file=sys.stderr)
        yield server

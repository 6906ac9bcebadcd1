"""The game as a page, shipped with the package, and a server that opens it in a browser."""

import gzip
import os
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from midrange_puffer.errors import UsageError
from midrange_puffer.system import LOOPBACK

SHIPPED = Path(__file__).with_name("midrange.html.gz")  # written by `make ship-web`
PORT = 42675  # it stays, so that the browser finds kept results
CLIENT_PATIENCE = 10  # most seconds that a client may take for a request


def read_page() -> bytes:
    """Returns the page.

    Raises:
        UsageError: The package has none.
    """
    try:
        return gzip.decompress(SHIPPED.read_bytes())
    except FileNotFoundError:
        raise UsageError(
            f"{SHIPPED}: the page is missing; in a clone of the repository `make ship-web` makes "
            "it, with clang"
        ) from None
    except (OSError, EOFError) as error:
        raise UsageError(f"{SHIPPED}: the page is damaged ({error})") from error


def serve(page: bytes, port: int = PORT) -> ThreadingHTTPServer:
    """Returns a server of the page for programs of this machine; the caller runs and closes it.

    Args:
        page: the page.
        port: the TCP port; if it is in use, any free one.
    """

    class Handler(BaseHTTPRequestHandler):
        timeout = CLIENT_PATIENCE

        def do_GET(self) -> None:
            is_page = self.path.partition("?")[0] == "/"
            content = page if is_page else b"not found"
            self.send_response(200 if is_page else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Writes nothing."""

    try:
        return ThreadingHTTPServer((LOOPBACK, port), Handler)
    except OSError:
        return ThreadingHTTPServer((LOOPBACK, 0), Handler)


def play() -> int:
    """Serves the page, and opens it, until the user interrupts; returns the exit status.

    Raises:
        UsageError: The package has no page.
    """
    with serve(read_page()) as server:
        address = f"http://{LOOPBACK}:{server.server_port}/"
        print(f"The game is at {address} until you press Ctrl-C.", flush=True)
        _open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def _open(address: str) -> None:
    """Opens an address in a browser with windows, if there is one."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    # Browsers of the terminal would take it over, and cannot play.
    if "BROWSER" in os.environ or type(browser) is not webbrowser.GenericBrowser:
        browser.open(address)

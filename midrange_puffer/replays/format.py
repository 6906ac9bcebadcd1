"""The file format of a replay.

A file is a line of text with the version, the length and the SHA-256 of the rest, a line of JSON,
the header, and, compressed, the controls of every decision and the state hashes.
"""

import hashlib
import json
import math
import reprlib
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from midrange_puffer import __version__
from midrange_puffer.errors import UsageError
from midrange_puffer.game.orders import NONE, heads_of, in_words, parse_order
from midrange_puffer.game.parameters import (
    FIRST_RULES,
    PARAMETERS,
    RULES_VERSION,
    SEATS,
    Parameters,
    neutral_values,
    sizes_of,
)
from midrange_puffer.json_files import parse
from midrange_puffer.names import suggest

VERSION = 1
LARGEST = 64 << 20  # most bytes of a file, and of its controls
_MAGIC = b"midrange_puffer replay "
_FIRST_LINE = _MAGIC + b"%d\n" % VERSION
_LENGTH = struct.Struct("<Q")
_DIGEST_BYTES = 32
HEADER = {
    "rules_version": int,
    "parameters": dict,
    "parameters_hash": str,
    "seed": int,
    "engagement": int,
    "episode": int,
    "pilots": list,
    "names": list,
    "decisions": int,
    "hash_interval": int,
    "outcome": str,
    "meta": dict,
}


ORDERS = "orders"  # entry of the header, where an agent gave orders
MOST_WORDS = 80  # characters of an order


class Ordered(NamedTuple):
    """An order that a fighter got at a decision, in words; "" from where on it got none."""

    decision: int
    fighter: int
    words: str


class ReplayError(UsageError):
    """A file is no replay that this version can play, or gives another fight than recorded."""


def to_bytes(
    header: Mapping[str, Any],
    controls: np.ndarray,
    hashes: np.ndarray,
    orders: Sequence[Ordered] = (),
) -> bytes:
    """Returns the content of a file.

    Args:
        header: The entries of HEADER without `parameters_hash`.
        controls: float32 [decisions, fighters, controls].
        hashes: uint64.
        orders: The orders that the controls follow. Older versions of this package skip them.
    """
    header = {
        "package": __version__,
        **{name: header[name] for name in HEADER if name in header},
        **({ORDERS: orders} if orders else {}),
        "parameters_hash": parameters_hash(header["parameters"]),
    }
    arrays = _control_bytes(controls) + hashes.astype("<u8").tobytes()
    body = json.dumps(header).encode() + b"\n" + zlib.compress(arrays, 9)
    return _FIRST_LINE + _LENGTH.pack(len(body)) + hashlib.sha256(body).digest() + body


def header_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Returns the header of a file, with all parameters of this version, and its packed arrays.

    Raises:
        ReplayError: This version cannot play the file.
    """
    head, _, compressed = _body(data).partition(b"\n")
    return _header(head), compressed


def parameters_hash(parameters: Parameters) -> str:
    """Returns the SHA-256 of parameters by name."""
    return hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()


def _control_bytes(controls: np.ndarray) -> bytes:
    """Returns the controls ordered by control, which compresses better."""
    return np.ascontiguousarray(controls.transpose(1, 2, 0), "<f4").tobytes()


def _body(data: bytes) -> bytes:
    """Returns the part of a file below its checksum, checked against it."""
    start = len(_FIRST_LINE) + _LENGTH.size + _DIGEST_BYTES
    if len(data) < start and data[: len(_FIRST_LINE)] == _FIRST_LINE[: len(data)]:
        raise ReplayError(f"cut short: {len(data)} bytes, at least {start} expected")
    if not data.startswith(_MAGIC):
        raise ReplayError(f"not a replay: it does not begin with {_MAGIC.decode()!r}")
    if not data.startswith(_FIRST_LINE):
        version = data[len(_MAGIC) :].partition(b"\n")[0][:20].decode("ascii", "replace")
        raise ReplayError(f"a replay of version {version!r}; this version plays {VERSION}")
    [length] = _LENGTH.unpack_from(data, len(_FIRST_LINE))
    if len(data) < start + length:
        raise ReplayError(f"cut short: {len(data)} bytes of {start + length}")
    if len(data) > start + length:
        raise ReplayError(f"damaged: {len(data)} bytes, {start + length} expected")
    body = data[start:]
    if hashlib.sha256(body).digest() != data[start - _DIGEST_BYTES : start]:
        raise ReplayError("damaged: its checksum is not that of its content")
    return body


def _header(line: bytes) -> dict[str, Any]:
    """Reads a header and checks its types; its parameters become those of this version."""
    try:
        header: Any = parse(line)
        json.dumps(header, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ReplayError("its header holds text that is no Unicode") from None
    except ValueError as error:
        raise ReplayError(f"its header: {error}") from None
    if isinstance(header, dict):
        header.setdefault("rules_version", FIRST_RULES)
    for name, kind in HEADER.items():
        if not isinstance(header, dict) or type(header.get(name)) is not kind:
            raise ReplayError(f"its header has no {name} of type {kind.__name__}")
    for name in ("pilots", "names"):
        if any(type(entry) is not str for entry in header[name]):
            raise ReplayError(f"its header has {name} that are not texts")
    if len(header["names"]) != len(SEATS):
        raise ReplayError(f"its header has {len(header['names'])} names, not those of two sides")
    if header["decisions"] < 0 or header["hash_interval"] < 1:
        raise ReplayError("its header has decisions below 0 or a hash_interval below 1")
    header["parameters"] = _complete_parameters(header)
    return header


def _complete_parameters(header: Mapping[str, Any]) -> dict[str, Any]:
    """Checks a header's parameters, and adds neutral values of rows that are newer than it."""
    parameters, version = header["parameters"], header["rules_version"]
    expected = header["parameters_hash"]
    if (actual := parameters_hash(parameters)) != expected:
        message = f"its parameters have the hash {actual}, not {expected} as its header has"
        raise ReplayError(message)
    for name in parameters:
        if name not in PARAMETERS:
            raise ReplayError(
                f"its parameter {name} is unknown to version {RULES_VERSION} of the rules, the "
                f"present one; it is of version {version}{suggest(name, PARAMETERS)}"
            )
    parameters = neutral_values(version) | parameters
    if missing := [name for name in PARAMETERS if name not in parameters]:
        raise ReplayError(
            f"without the parameters {', '.join(missing)}, which version {version} of the rules has"
        )
    return parameters


def orders_of(header: Mapping[str, Any], parameters: Parameters) -> tuple[Ordered, ...]:
    """Returns the orders in a header.

    Args:
        header: From `header_of`.
        parameters: Its parameters.

    Raises:
        ReplayError: An entry is no order of this fight.
    """
    entries = header.get(ORDERS, [])
    heads, fighters = heads_of(parameters), sum(sizes_of(parameters))
    if type(entries) is not list:
        raise ReplayError("its header has orders that are no list")
    orders = []
    for entry in entries:
        kinds = [type(value) for value in entry] if type(entry) is list else []
        if kinds != [int, int, str] or len(entry[2]) > MOST_WORDS:
            raise ReplayError(
                f"its header has the order {reprlib.repr(entry)}, not [decision, fighter, words]"
            )
        order = Ordered(*entry)
        first = orders[-1].decision if orders else 0
        if not first <= order.decision < header["decisions"] or not 0 <= order.fighter < fighters:
            raise ReplayError(
                f"its header has the order {reprlib.repr(entry)} out of turn, or of no fighter or "
                "decision of this fight"
            )
        try:
            if order.words != NONE:  # the words that a recorder writes: no other spaces
                order = order._replace(words=in_words(parse_order(order.words, heads), heads))
        except ValueError as error:
            raise ReplayError(f"its header: {error}") from None
        orders.append(order)
    return tuple(orders)


def arrays_of(
    compressed: bytes, fighters: int, controls: int, decisions: int, hashes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Unpacks the controls, float32 [decisions, fighters, controls], and `hashes` state hashes.

    Raises:
        ReplayError: The arrays do not have these sizes.
    """
    shape = (fighters, controls, decisions)
    split = 4 * math.prod(shape)
    expected_size = split + 8 * hashes
    if expected_size > LARGEST:
        raise ReplayError(f"its controls would take {expected_size} bytes, at most {LARGEST}")
    try:
        data = zlib.decompressobj().decompress(compressed, expected_size + 1)
    except zlib.error as error:
        raise ReplayError(f"its controls cannot be read: {error}") from None
    if len(data) != expected_size:
        raise ReplayError(
            f"its controls are not those of {decisions} decisions of {fighters} fighters"
        )
    values = np.frombuffer(data, "<f4", split // 4).reshape(shape).transpose(2, 0, 1)
    return np.ascontiguousarray(values, np.float32), np.frombuffer(data, "<u8", offset=split)

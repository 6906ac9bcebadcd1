"""The launch zone of a fighter: from how far a missile fired now would hit, all around it."""

import itertools

import numpy as np

from midrange_puffer.game.envelope import Envelope

SHOWN = ("aero", "nez")  # edges that are drawn around a fighter


def launch_zone(
    envelope: Envelope,
    edge: str,
    bearings: np.ndarray,
    headings: tuple[np.ndarray, np.ndarray],
    speeds: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """The range of an edge of the envelope on every bearing, if the target were there.

    Arrays of any shapes that broadcast.

    Args:
        envelope: as of `envelope.build`.
        edge: the name of one of its arrays: "minimum", "inner", "nez", "cold" or
            "aero".
        bearings: of the target from the launcher [rad], counter-clockwise from +x.
        headings: of launcher and target [rad], counter-clockwise from +x.
        speeds: of launcher and target [m/s].

    Returns:
        Ranges [m].
    """
    nose, course = headings
    return look_up(envelope, edge, nose - bearings, course - bearings - np.pi, *speeds)


def look_up(
    envelope: Envelope,
    edge: str,
    off_boresight: np.ndarray,
    aspect: np.ndarray,
    launch_speed: np.ndarray,
    target_speed: np.ndarray,
) -> np.ndarray:
    """An edge of the envelope between its nodes: linear in diamond angles and in speeds.

    Speeds beyond the grid's count as its ends. Arrays of any shapes that broadcast; `edge` as of
    `launch_zone`.

    Args:
        envelope: as of `envelope.build`.
        off_boresight: how far the nose is turned from the line to the target, to the left [rad].
        aspect: how far the target's course is turned from its line to the launcher,
            counter-clockwise [rad].
        launch_speed, target_speed: [m/s]

    Returns:
        Ranges [m].
    """
    grid, values = envelope.grid, getattr(envelope, edge)
    side = np.where(np.sin(off_boresight) < 0, -1.0, 1.0)  # the map is of noses to the left
    places = np.broadcast_arrays(
        _diamond(side * off_boresight) * (grid.off - 1) / 2,
        (_diamond(side * aspect) + 2) * grid.aspect / 4,
        _place(grid.launch_speeds, launch_speed),
        _place(grid.target_speeds, target_speed),
    )
    nodes = [np.floor(place).astype(int) for place in places]
    shares = [place - node for place, node in zip(places, nodes, strict=True)]
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(places)):
        weights = [share if far else 1 - share for share, far in zip(shares, corner, strict=True)]
        # Beyond the last node is the first: so it is for aspects, and elsewhere it weighs nothing.
        index = [
            (node + far) % size for node, far, size in zip(nodes, corner, values.shape, strict=True)
        ]
        total = total + np.prod(weights, axis=0) * values[tuple(index)]
    return total


def _diamond(angle: np.ndarray) -> np.ndarray:
    """The diamond angle, -2 to 2, of an angle [rad]; see `envelope.Grid`."""
    c, s = np.cos(angle), np.sin(angle)
    size = np.abs(s) / (np.abs(c) + np.abs(s))
    return np.copysign(np.where(c < 0, 2 - size, size), s)


def _place(nodes: tuple[float, ...], speed: np.ndarray) -> np.ndarray:
    """Where a speed lies among evenly spaced nodes: 0 at the first, 1 at the second."""
    return np.clip((speed - nodes[0]) / (nodes[1] - nodes[0]), 0, len(nodes) - 1)

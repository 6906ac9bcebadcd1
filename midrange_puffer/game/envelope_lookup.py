"""Look-ups in missile envelopes: ranges between the nodes of the grid. SI units."""

import itertools

import numpy as np

from midrange_puffer.game.envelope import Envelope


def launch_zone(
    envelope: Envelope,
    edge: str,
    bearings: np.ndarray,
    headings: tuple[np.ndarray, np.ndarray],
    speeds: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Returns the range of an edge of the envelope on every bearing to a target.

    The arrays may have any shapes that broadcast.

    Args:
        envelope: the envelope.
        edge: "minimum", "inner", "nez", "cold" or "aero": the name of one of its arrays.
        bearings: bearings of the target from the launcher [rad], counter-clockwise from +x.
        headings: headings of launcher and target [rad], counter-clockwise from +x.
        speeds: speeds of launcher and target [m/s].

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
    """Returns an edge of the envelope between its nodes.

    It is interpolated linearly in diamond angles (see `Grid`) and in speeds. Speeds beyond the grid
    are clamped to its ends. The arrays may have any shapes that broadcast.

    Args:
        envelope: the envelope.
        edge: as in `launch_zone`.
        off_boresight: angle from the line launcher-target to the launcher's nose, positive to the
            left [rad].
        aspect: angle from the line target-launcher to the target's velocity, positive
            counter-clockwise [rad].
        launch_speed, target_speed: [m/s]

    Returns:
        Ranges [m].
    """
    grid, values = envelope.grid, getattr(envelope, edge)
    side = np.where(np.sin(off_boresight) < 0, -1.0, 1.0)  # the grid has only noses to the left
    places = np.broadcast_arrays(
        _diamond(side * off_boresight) * (grid.off - 1) / 2,
        (_diamond(side * aspect) + 2) * grid.aspect / 4,
        _place(grid.launch_speeds, launch_speed),
        _place(grid.target_speeds, target_speed),
    )
    nodes = [np.floor(place).astype(int) for place in places]
    shares = [place - node for place, node in zip(places, nodes, strict=True)]
    total = np.zeros(())
    for corner in itertools.product((0, 1), repeat=len(places)):
        weights = [share if far else 1 - share for share, far in zip(shares, corner, strict=True)]
        # After the last node comes the first. Aspects do wrap around; elsewhere its weight is 0.
        index = [
            (node + far) % size for node, far, size in zip(nodes, corner, values.shape, strict=True)
        ]
        total = total + np.prod(weights, axis=0) * values[tuple(index)]
    return total


def _diamond(angle: np.ndarray) -> np.ndarray:
    """Returns the diamond angle, -2 to 2, of an angle [rad]; see `Grid`."""
    c, s = np.cos(angle), np.sin(angle)
    size = np.abs(s) / (np.abs(c) + np.abs(s))
    return np.copysign(np.where(c < 0, 2 - size, size), s)


def _place(nodes: tuple[float, ...], speed: np.ndarray) -> np.ndarray:
    """Returns the fractional index of a speed among evenly spaced nodes."""
    return np.clip((speed - nodes[0]) / (nodes[1] - nodes[0]), 0, len(nodes) - 1)

"""A launch zone follows the envelope, for all bearings and headings."""

from types import SimpleNamespace

import numpy as np
import pytest
from scenes import BLUE, RED, hold, missiles_in_the_air, place

from midrange_puffer import Simulation
from midrange_puffer.game.envelope import Grid, game_envelope
from midrange_puffer.game.envelope_lookup import launch_zone, look_up
from midrange_puffer.game.parameters import resolve

GRID = Grid(5, 8, (200.0, 350.0, 500.0), (100.0, 300.0))
EAST, NORTH, WEST = 0.0, np.pi / 2, np.pi
SPEED = 350.0  # m/s, a node of the game's envelope, as the angles of 45 degrees are


def made_up(values: np.ndarray) -> SimpleNamespace:
    """Returns the parts of an envelope that a look-up uses."""
    return SimpleNamespace(grid=GRID, aero=values.astype(np.float32))


@pytest.fixture(scope="module")
def envelope():
    return made_up(np.random.default_rng(0).uniform(1e3, 1e5, GRID.shape))


def angles(diamond: np.ndarray) -> np.ndarray:
    """Returns the angles [rad] of diamond angles, by definition: sin / (|cos| + |sin|) ahead."""
    fine = np.linspace(-np.pi, np.pi, 200_001)
    size = np.abs(np.sin(fine)) / (np.abs(np.cos(fine)) + np.abs(np.sin(fine)))
    size = np.where(np.abs(fine) > np.pi / 2, 2 - size, size)
    return np.interp(diamond, np.copysign(size, fine), fine)


def test_nodes_are_the_envelopes(envelope):
    off = angles(GRID.off_angles)[:, None, None, None]
    aspect = angles(GRID.aspect_angles)[:, None, None]
    launch = np.array(GRID.launch_speeds)[:, None]
    found = look_up(envelope, "aero", off, aspect, launch, np.array(GRID.target_speeds))
    np.testing.assert_allclose(found, envelope.aero, rtol=1e-3)


def test_between_nodes_it_is_linear():
    """A map linear in every axis is exact everywhere, and constant beyond the speeds' ends."""
    off, _, launch, target = np.meshgrid(
        GRID.off_angles, GRID.aspect_angles, GRID.launch_speeds, GRID.target_speeds, indexing="ij"
    )
    envelope = made_up(1000 * off + 10 * launch + target)
    places = np.array([0.0, 0.1, 0.7, 1.3, 1.99])
    found = look_up(envelope, "aero", angles(places), 0.3, 260.0, 170.0)
    np.testing.assert_allclose(found, 1000 * places + 2600 + 170, rtol=1e-4)
    for speeds, ends in (((90, 50), (200, 100)), ((900, 350), (500, 300))):
        found, expected = (look_up(envelope, "aero", 0.5, 0.5, *pair) for pair in (speeds, ends))
        assert found == expected


def test_aspects_go_all_round(envelope):
    """The last node is followed by the first."""
    last, first = (float(envelope.aero[2, node, 0, 0]) for node in (-1, 0))
    found = look_up(envelope, "aero", NORTH, angles(np.array(1.75)), 200.0, 100.0)
    assert found == pytest.approx((last + first) / 2, rel=1e-3)


def test_a_mirrored_shot_has_the_same_range(envelope):
    rng = np.random.default_rng(1)
    off, aspect = rng.uniform(-np.pi, np.pi, (2, 50))
    one = look_up(envelope, "aero", off, aspect, 300.0, 200.0)
    other = look_up(envelope, "aero", -off, -aspect, 300.0, 200.0)
    np.testing.assert_allclose(one, other)


@pytest.mark.parametrize(
    ("bearing", "nose", "course", "off", "aspect"),
    [
        (EAST, EAST, WEST, 0, 4),  # nose-on to each other
        (EAST, EAST, EAST, 0, 0),  # after a target that runs
        (EAST, NORTH, WEST, 2, 4),  # the nose is to the left of the target
        (EAST, EAST, -NORTH, 0, 6),  # the target goes to its left of the line to the launcher
        (NORTH, NORTH, EAST, 0, 6),
        (WEST, EAST, EAST, 4, 4),  # over the shoulder, at one that closes
    ],
)
def test_the_zone_takes_bearings_and_headings_for_what_they_are(
    envelope, bearing, nose, course, off, aspect
):
    found = launch_zone(
        envelope, "aero", np.array([bearing]), (nose, course), (GRID.launch_speeds[1], 300.0)
    )
    assert found == pytest.approx(envelope.aero[off, aspect, 1, 1], rel=1e-4)


@pytest.mark.parametrize(("turn", "course"), [(45, 135), (45, -135), (0, 90), (-45, 135)])
def test_a_missile_fired_hits_inside_r_aero_and_not_outside(turn, course):
    """Flown in the game itself: the enemy to the east flies on, the nose is `turn` off it."""
    parameters = resolve({"time_limit": 3600})
    headings = tuple(np.radians([turn, course]))
    [limit] = launch_zone(
        game_envelope(parameters), "aero", np.array([EAST]), headings, (SPEED, SPEED)
    )
    assert limit > 5000
    assert hits(parameters, turn, course, 0.98 * limit)
    assert not hits(parameters, turn, course, 1.02 * limit)


def hits(parameters: dict[str, float], turn: float, course: float, distance: float) -> bool:
    sim = Simulation(**parameters)
    drag = parameters["gravity"] / parameters["fighter_terminal_speed"] ** 2
    throttle = drag * SPEED**2 / parameters["fighter_thrust"]  # holds the speed
    place(
        sim,
        heading_deg=turn,
        speed=SPEED,
        blue={"x": distance, "heading_deg": course, "speed": SPEED, "throttle": throttle},
    )
    assert sim.launch(0, RED)
    while missiles_in_the_air(sim, RED):
        hold(sim, 1, blue=(0, throttle, 0))
    return not sim.fighters["alive"][0, BLUE]

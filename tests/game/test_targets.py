"""Targets in teams with sensors: a list of enemies has the order of the fire control."""

import numpy as np
import pytest

from midrange_puffer import Simulation
from midrange_puffer.game.targets import enemies_of

CLOSE = {
    "start_range_min": 15_000,
    "start_range_max": 25_000,
    "radar_half_angle_deg": 20,
    "track_memory": 1,
}


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_shot_is_at_the_enemy_of_its_place_among_the_tracked(dimensions):
    """Enemies without a track are passed over, though they may be nearer."""
    sizes = {"red_size": 2, "blue_size": 3, "dimensions": dimensions}
    sim = Simulation(24, 5, blue="notcher", sensing="radar", **sizes, **CLOSE)
    controls = np.zeros((24, 5, 1 + dimensions), np.float32)
    controls[..., -2] = 1  # full throttle
    shots, passed_over = 0, 0
    for decision in range(120):
        place = decision % 2
        controls[:, :2, -1] = 2 + place  # 1 is a shot at the enemy nearest the nose
        lists = [[enemies_of(sim, own, env).tolist() for own in (0, 1)] for env in range(24)]
        alive = sim.fighters["alive"][:, 2:].sum(1)
        before = sim.missiles["active"].copy()
        ended = sim.outcome != 0
        sim.step(controls)
        missiles = sim.missiles
        fired = (missiles["active"] == 1) & (before == 0) & (missiles["owner"] < 2)
        for env, slot in np.argwhere(fired & ~ended[:, None]):
            enemies = lists[env][missiles["owner"][env, slot]]
            if not sim.fighters["alive"][env, enemies[place]]:
                continue  # it has died since, and the missile flies at another
            assert enemies[place] == missiles["target"][env, slot]
            shots += 1
            passed_over += len(enemies) < alive[env]
    assert shots > 50
    assert passed_over > 10

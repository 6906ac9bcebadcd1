"""Classes of shots with height: against the game itself, the float64 law, and recorded fights."""

import numpy as np
import pytest
import real_shots
import reference_height as ref
from real_shots import BLUE, EVASIONS, RED

from midrange_puffer import Simulation, _core
from midrange_puffer.contest.evaluation import evaluate, fight
from midrange_puffer.envs.midrange import Midrange
from midrange_puffer.game.flown_types import varied
from midrange_puffer.game.parameters import resolve
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.shot_classes import classes_of
from midrange_puffer.game.shots import FlyOuts, flight_at, if_it_flies_on, surely
from midrange_puffer.game.types import MISSILE, PACKAGE, parse_types, types_of

MIX = {
    "red_missile": "medium:1,long:1,short:1",
    "blue_aircraft": "light:1,heavy:1,fast:1,trainer:1,agile:1",
    "types": "agile=light thrust=16 turn_radius=350, short burn_time=4",
}
SPREAD = MIX | {"aircraft_spread": 0.3, "missile_spread": 0.3}
SEED, COUNT = 5, 30


def shots_of(geometry: dict[str, np.ndarray]) -> np.ndarray:
    """Returns the same shots for the core."""
    shots = np.zeros(len(geometry["range"]), _core.SHOT)
    for name in ("range", "launch_speed", "target_speed", "height", "target_height"):
        shots[name] = geometry[name]
    for name, angle in (("nose", "off"), ("aspect", "aspect")):
        shots[name] = np.stack([np.cos(geometry[angle]), np.sin(geometry[angle])], axis=1)
    shots["climb_sine"] = np.sin(geometry["climb"])
    return shots


def drawn_for(sim: Simulation) -> np.ndarray:
    """Returns the types and factors of red's missile and blue's aircraft in each engagement."""
    drawn = sim.core.types()
    types = drawn[:, BLUE].copy()
    for name in types.dtype.names:
        if name.startswith(MISSILE):
            types[name] = drawn[name][:, RED]
    return types


@pytest.mark.parametrize("game", [{}, SPREAD], ids=["default", "types and factors"])
def test_classes_are_those_of_shots_in_the_game_itself(game):
    """Fresh shots, with types, own types and factors as the game draws them: all are the same."""
    geometry = real_shots.random_shots(COUNT, seed=len(game))
    hits = {name: real_shots.hits(geometry, name, SEED, **game) for name in EVASIONS}
    sim = real_shots.placed(geometry, SEED, **game)
    in_nez, wasted = classes_of(sim.parameters, shots_of(geometry), drawn_for(sim))
    assert COUNT / 20 < in_nez.sum() < COUNT / 2
    assert COUNT / 6 < wasted.sum() < 0.8 * COUNT
    same = (in_nez == np.all([*hits.values()], axis=0)) & (wasted == ~hits["fly_on"])
    assert same.all()


def test_factors_change_classes():
    """Else the test above would show little: every eighth shot or so has another class."""
    geometry = real_shots.random_shots(400, seed=2)
    sim = real_shots.placed(geometry, SEED, **SPREAD)
    types = drawn_for(sim)
    plain = types.copy()
    for name in types.dtype.names[2:]:
        plain[name] = 1
    with_factors, without = (
        np.array(classes_of(sim.parameters, shots_of(geometry), rows)) for rows in (types, plain)
    )
    assert 0.05 < (with_factors != without).any(axis=0).mean() < 0.3


@pytest.mark.parametrize("missile", ["medium", "short"])
def test_wasted_shots_miss_by_the_law_in_float64(missile):
    """The missile flies by RK4, its target straight on."""
    far = {"medium": 60_000, "short": 20_000}[missile]
    geometry = real_shots.random_shots(25, 3, far)
    shots = shots_of(geometry)
    types = drawn_for(real_shots.placed(geometry, SEED, red_missile=missile))
    _, wasted = classes_of(resolve({"dimensions": 3, "red_missile": missile}), shots, types)
    expected = []
    for shot, climb in zip(shots, geometry["climb"], strict=True):
        level = float(np.cos(climb))
        place = np.array([0, 0, shot["height"], *(level * shot["nose"]), np.sin(climb), 0], float)
        place[6] = shot["launch_speed"]
        place[:3] += float(resolve({})["missile_launch_offset"]) * place[3:6]
        velocity = -float(shot["target_speed"]) * np.array([*shot["aspect"], 0.0])
        target = np.array([shot["range"], 0, shot["target_height"]], float)
        expected.append(not ref.fly_out(PACKAGE[MISSILE][missile], place, target, velocity))
    assert 3 < sum(expected) < 22
    assert (wasted == expected).mean() >= 0.95


def counted(records: list[np.ndarray]) -> np.ndarray:
    """Returns shots, shots_in_nez and shots_wasted of the fights as red, [3, fights, sides]."""
    return np.array([records[0][name] for name in ("shots", "shots_in_nez", "shots_wasted")])


@pytest.mark.parametrize(
    ("red", "game"),
    [
        ("ace", {"aircraft_spread": 0.2, "missile_spread": 0.3, "blue_aircraft": "light,heavy"}),
        ("shooter", {"red_missiles": "short:2,medium:4", "blue_missiles": "long:3"}),
        ("crank", {"sensing": "radar", "blue_missile": "short,long"}),
        ("evader", {"red_size": 2, "blue_size": 3, "red_aircraft": "light,fast"}),
    ],
)
def test_records_count_the_shots_of_a_fight_by_class(red, game):
    """The launches are found again in fights flown one by one, by the paths of all missiles."""
    parameters, count = resolve(game | {"dimensions": 3}, teams=True), 8
    records = fight(red, "crank", 2 * count, 3, False, lambda _: None, parameters=parameters)
    sim = Simulation(count, 3, red, "crank", **game, dimensions=3)
    expected = np.zeros((3, count, 2), int)
    paths = [Paths(sim, env) for env in range(count)]
    while (sim.outcome == 0).any():
        is_open = sim.outcome == 0
        sim.step()
        for env in np.flatnonzero(is_open):
            paths[env].note()
    for env, path in enumerate(paths):
        fly_outs = FlyOuts(sim.parameters, path.types, path.factors)
        for missile in path.missiles:
            owner, target = path.fighters[missile.owner], path.fighters[missile.targets[0]]
            pair = flight_at(owner, missile.launched), flight_at(target, missile.launched)
            found = fly_outs.hits(owner.side, *pair, missile.kind, target.number)
            classes = np.array([True, surely(found), not if_it_flies_on(found)])
            expected[:, env, owner.side] += classes
    assert expected[0].sum() > 10
    np.testing.assert_array_equal(counted(records), expected)


def test_an_evaluation_rates_the_shots():
    """From 8 km nothing saves `straight`; from 60 km most pilots could escape."""
    game = {"dimensions": 3, "start_height_difference_max": 0, "start_off_boresight_max_deg": 5}
    near, far = (
        evaluate("shooter", "straight", 8, start_range_min=start, start_range_max=start, **game)
        for start in (8000, 60_000)
    )
    assert near["in_nez_share"] == 1
    assert far["wasted_share"] + far["between_share"] + far["in_nez_share"] == pytest.approx(1)
    assert far["in_nez_share"] < 0.5


def test_training_does_not_rate_shots_with_height():
    """Fly-outs of every shot would slow it down: the figures are missing, and not wrong."""
    for dimensions, has_shares in ((2, True), (3, False)):
        env = Midrange(num_envs=64, opponent="shooter", dimensions=dimensions, time_limit=60)
        env.reset()
        actions, names = np.full_like(env.actions, 1), set()
        for _ in range(260):
            *_, infos = env.step(actions)
            names |= {name for info in infos for name in info}
        assert {"score", "shots_against", "hit_rate"} <= names
        assert ("in_nez_share" in names) == has_shares


def test_varied_types_are_those_of_the_factors():
    """The forces have them as the game does: c0 and k one by one, and the lift limit."""
    factors = {
        "thrust_factor": 1.2, "drag_factor": 0.8, "lift_factor": 1.1, "induced_drag_factor": 0.9,
        "missile_thrust_factor": 0.7, "missile_drag_factor": 1.3, "missile_lift_factor": 0.9,
        "missile_burn_time_factor": 1.25,
    }  # fmt: skip
    types = types_of(parse_types(varied("agile=light thrust=16", "long", "agile", factors)))
    plane, was = types["aircraft"]["agile"], PACKAGE["aircraft"]["light"] | {"thrust": 16.0}
    zero, old_zero = ref.drag(plane, 5000, 300, 0), ref.drag(was, 5000, 300, 0)
    induced = ref.drag(plane, 5000, 300, 50) - zero
    assert zero == pytest.approx(0.8 * old_zero)
    assert induced == pytest.approx(0.9 * (ref.drag(was, 5000, 300, 50) - old_zero))
    assert ref.thrust(plane, 5000, 300) == pytest.approx(1.2 * ref.thrust(was, 5000, 300))
    assert ref.lift_limit(plane, 9000, 200) == pytest.approx(1.1 * ref.lift_limit(was, 9000, 200))
    rocket, old = types["missile"]["long"], PACKAGE["missile"]["long"]
    for name in ("thrust", "sustain_thrust"):
        assert rocket[name] == pytest.approx(0.7 * old[name])
    for name in ("burn_time", "sustain_time"):
        assert rocket[name] == pytest.approx(1.25 * old[name])
    lift = ref.drag(rocket, 5000, 900, 90) - ref.drag(rocket, 5000, 900, 0)
    assert lift == pytest.approx(ref.drag(old, 5000, 900, 90) - ref.drag(old, 5000, 900, 0))
    assert types["aircraft"]["light"] == PACKAGE["aircraft"]["light"]
    assert varied("", "medium", "light", {}) == ""

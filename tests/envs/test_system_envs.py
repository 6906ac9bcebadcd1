"""The control of the systems on its way from agents to the core: spaces, orders, replays, seats."""

import importlib

import gymnasium
import numpy as np
import pytest

from midrange_puffer import Midrange, Simulation
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import controls, controls_in, levels
from midrange_puffer.game.contacts import believed
from midrange_puffer.game.observation import (
    check_sees,
    features_of,
    levels_of,
    observation_for,
)
from midrange_puffer.game.orders import heads_of, in_words, parse_order
from midrange_puffer.game.parameters import observed, resolve
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import Session

SYSTEMS = {"sensing": "radar", "emission_control": "on", "chaff": 6}
SIZES = [(1, 1), (2, 2), (1, 3)]
EACH_GAME = pytest.mark.parametrize(
    ("dimensions", "sizes"), [(d, s) for d in (2, 3) for s in SIZES], ids=str
)


def game(dimensions: int, sizes: tuple[int, int], **others: object) -> dict[str, object]:
    red, blue = sizes
    return SYSTEMS | {"dimensions": dimensions, "red_size": red, "blue_size": blue} | others


@EACH_GAME
def test_levels_are_the_controls_that_they_stand_for(dimensions, sizes):
    """An environment with levels flies as a simulation with their controls."""
    settings = game(dimensions, sizes)
    env = Midrange(num_envs=3, seed=4, opponent="self", **settings)
    sim = Simulation(3, 4, **settings)
    of, in_team = controls_in(dimensions, systems=True), max(sizes) > 1
    rng, fighters = np.random.default_rng(2), sum(sizes)
    env.reset(seed=4)
    sim.reset(4)
    counts = [*levels_of(sim.core.features).values()]
    assert env.single_action_space.nvec.tolist() == counts
    for _ in range(40):
        actions = rng.integers(0, counts, (3 * fighters, len(counts))).astype(np.int32)
        env.step(actions)
        values = controls(actions, of, in_team)
        assert np.array_equal(levels(values, of, in_team), actions)
        sim.step(values.reshape(3, fighters, -1))
        assert np.array_equal(env.observations, sim.observe().reshape(3 * fighters, -1))
    assert sim.systems["silent"].any()
    assert (sim.systems["chaff"] < 6).any()


@EACH_GAME
def test_orders_work_the_systems(dimensions, sizes):
    sim = Simulation(1, 1, **game(dimensions, sizes))
    heads = heads_of(sim.parameters)
    assert len(heads) == sim.core.controls
    for words, silent, left in (("commit", 0, 6), ("commit silent", 1, 6), ("cold chaff", 0, 5)):
        assert in_words(parse_order(words, heads), heads).split()[0] == words.split()[0]
        sim.step(sim.controls_of({0: words}))
        assert (sim.systems["silent"][0, 0], sim.systems["chaff"][0, 0]) == (silent, left)
    with pytest.raises(ValueError, match="silent: with emission_control or chaff only"):
        Simulation(sensing="radar").controls_of({0: "commit silent"})


def test_gymnasium_has_the_control():
    importlib.import_module("midrange_puffer.gym")  # registers the environment
    discrete, continuous = (
        gymnasium.make("Midrange-v0", action_mode=mode, **SYSTEMS)
        for mode in ("discrete", "continuous")
    )
    assert discrete.action_space.nvec.tolist() == [5, 3, 4, 2]
    assert continuous.action_space.high.tolist() == [1, 1, 3, 1]
    for env in (discrete, continuous):
        observation, _ = env.reset(seed=0)
        assert observation.shape == (len(features_of("radar+systems")),)
        for _ in range(5):
            env.step(env.action_space.sample())
        env.close()


def test_policies_fly_where_a_system_is():
    class Seen:
        any_size, label = False, "a policy"

        def __init__(self, name: str, *sizes: int) -> None:
            self.features = len(features_of(name, *sizes))

    chaff, emission = (
        resolve({"sensing": "radar", **own}) for own in ({"chaff": 2}, {"emission_control": True})
    )
    for settings in (chaff, emission):
        assert observation_for([Seen("radar+systems")], settings) == "radar+systems"
        without = (
            r"a policy was trained without emission_control and chaff: it cannot fly where there "
            r"is one of them; set emission_control = off and chaff = 0$"
        )
        with pytest.raises(UsageError, match=without):
            observation_for([Seen("radar")], settings)
    with_systems = (
        r"a policy was trained with emission_control or chaff: it cannot fly where there is "
        r"neither; set emission_control = on, or chaff above 0$"
    )
    with pytest.raises(UsageError, match=with_systems):
        check_sees("a policy", Seen("radar+systems").features, "radar", "this game")
    assert observed("default", chaff | {"mission": "line"}) == "radar+systems+mission"


@pytest.mark.parametrize("dimensions", [2, 3])
def test_replays_keep_the_control(dimensions, tmp_path):
    session = Session(("evader", "ace"), seed=0, **game(dimensions, (1, 1)))
    while not session.over:
        session.step()
    path = tmp_path / "a.replay"
    session.recorder.replay().write(path)
    replay = Replay.read(path)
    replay.verify()
    assert replay.controls.shape[-1] == dimensions + 2
    dropped = [len(set(fighter.chaff)) - 1 for fighter in session.paths.fighters]
    assert sum(dropped) > 0
    clouds = [
        fighter.cloud(i) for fighter in session.paths.fighters for i in range(len(fighter.chaff))
    ]
    assert any(cloud is not None for cloud in clouds)


def test_a_human_switches_the_radar_and_drops_one_cartridge():
    session = Session(("human", "straight"), seed=0, **SYSTEMS)
    for _ in range(3):
        session.step()
    session.switch_radar(0)
    session.drop_chaff(0)
    session.step()
    state = {name: values[0, 0].item() for name, values in session.sim.systems.items()}
    assert (state["silent"], state["chaff"]) == (1, 5)
    for _ in range(60):  # the cloud is gone long before
        session.step()
    assert session.sim.systems["silent"][0, 0] == 1
    assert session.sim.systems["chaff"][0, 0] == 5
    session.switch_radar(0)
    session.step()
    assert session.sim.systems["silent"][0, 0] == 0


def test_wingmen_of_a_human_fly_as_pilots_do():
    """Pilots in a second simulation work their systems as in the fight itself."""
    settings = game(2, (2, 1), start_range_min=20_000, start_range_max=20_000)
    session = Session((["agent", "evader"], "crank"), seed=3, **settings)
    sim = Simulation(1, 3, ["agent", "evader"], "crank", **settings)
    session.commands[0] = 0
    for _ in range(120):
        session.step()
        sim.step()
        assert session.sim.state_hash() == sim.state_hash()


def test_a_critics_truth_has_no_systems():
    """With the systems at rest it is the truth of the same fights in a game without systems."""
    full = len(features_of("default"))
    truths = []
    for systems in ({}, SYSTEMS):
        env = Midrange(
            num_envs=20, opponent="straight", critic="truth", **{"sensing": "radar"} | systems
        )
        rng = np.random.default_rng(5)
        env.reset(seed=1)
        for _ in range(30):
            actions = rng.integers(0, (5, 3, 2), (20, 3))
            env.step(np.insert(actions, 2, 0, axis=1) if systems else actions)
        own = len(features_of("radar+systems" if systems else "radar"))
        assert env.observations.shape == (20, own + full)
        truths.append(env.observations[:, own:].copy())
    assert np.unique(truths[0]).size > 100
    np.testing.assert_array_equal(*truths)


def test_a_belief_has_no_systems():
    """The engagement as a fighter believes it is of full information."""
    sim = Simulation(1, 1, **SYSTEMS)
    sim.step()
    assert believed(sim, 0, 0).core.controls == 3

"""Crews of a session: wingmen from outside the core, and humans who take over fighters."""

import numpy as np
import pytest
import torch
from policies import random_policy
from team_fights import sized

from midrange_puffer import Simulation
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import spaces_of, team_rows
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.game.targets import enemies_of, nearest_nose, shot_at
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.replays.crews import PilotCrew
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import HUMAN, Session

SIZES = [(2, 2), (4, 3), (8, 8)]


def bodies(sim: Simulation) -> list[dict]:
    """Returns the states of all bodies, without the fighters' pilots."""
    fighters = [sim.core.get_fighter(0, number) for number in range(sim.core.fighters)]
    fighters = [state | {"pilot": 0} for state in fighters]
    return fighters + [sim.core.get_missile(0, slot) for slot in range(sim.core.slots)]


@pytest.mark.parametrize("pilot", PILOTS)
def test_pilots_beside_the_fight_command_what_they_would_in_it(pilot):
    """Bit for bit, as pilots of the core: flight, launches and targets."""
    for sizes in SIZES:
        game = sized(*sizes, substeps=1)
        native = Simulation(1, 5, pilot, "ace", **game)
        agents = Simulation(1, 5, "agent", "ace", **game)
        for sim in (native, agents):
            sim.start(0, 3)
        crew = PilotCrew(range(sizes[0]), pilot, 5, 3, game)
        controls = np.zeros((1, sum(sizes), 3), np.float32)
        for _ in range(400):
            controls[0, : sizes[0]] = crew.commands(agents)
            native.step()
            agents.step(controls)
            assert bodies(agents) == bodies(native)
            if native.outcome[0]:
                break
        fired = native.core.read("fighter")["shots"][0, : sizes[0]].sum()
        assert fired > 0 or pilot in ("straight", "weave")


def test_the_order_of_the_enemies_is_that_of_the_observation():
    sim = Simulation(1, 2, "ace", "evader", **sized(4, 3))
    enemies = team_rows(4, 3)[2]
    assert enemies.kind == "enemy"
    seen_dead = 0
    while not sim.outcome[0]:
        sim.step()
        state = {name: values[0] for name, values in sim.fighters.items()}
        for fighter in np.flatnonzero(state["alive"]):
            order = enemies_of(sim, fighter)
            ranges = np.hypot(state["x"] - state["x"][fighter], state["y"] - state["y"][fighter])
            assert (np.diff(ranges[order]) >= -1e-3).all()
            rows = sim.observe()[0, fighter, enemies.place :][: enemies.rows * enemies.features]
            assert rows.reshape(enemies.rows, -1).any(axis=1).sum() == len(order)
            seen_dead += len(order) < 3
    assert seen_dead > 0


def test_a_shot_is_at_the_enemy_that_is_named():
    for enemy in range(2, 5):
        sim = Simulation(1, 4, **sized(2, 3))
        controls = np.zeros((1, 5, 3), np.float32)
        controls[0, 1, 2] = shot_at(sim, 1, enemy)
        sim.step(controls)
        missiles = sim.missiles
        assert missiles["active"][0].sum() == 1
        assert missiles["target"][0, 0] == enemy
    sim.set_fighter(0, 3, alive=False)
    assert shot_at(sim, 0, 3) == 0
    assert shot_at(Simulation(), 0, 1) == 1


def test_a_plain_shot_is_at_the_enemy_nearest_the_nose():
    for seed in range(10):
        sim = Simulation(1, seed, **sized(3, 8))
        expected = nearest_nose(sim, 2)
        controls = np.zeros((1, 11, 3), np.float32)
        controls[0, 2, 2] = 1
        sim.step(controls)
        assert sim.missiles["target"][0, 0] == expected


# Sessions


def test_a_human_has_wingmen():
    session = Session((HUMAN, "ace"), seed=1, **sized(3, 2))
    assert session.humans == [0]
    assert session.sides == {0: 0}
    alone = Simulation(1, 1, "evader", "ace", **sized(3, 2, substeps=1))
    alone.start(0, 0)
    for _ in range(5):  # until what red_0 does matters to the others
        session.step()
        alone.step()
    for name in ("x", "y", "heading"):
        values, native = (sim.fighters[name][0] for sim in (session.sim, alone))
        assert (values[1:] == native[1:]).all()
        assert values[0] != native[0] or name == "heading"


def test_the_one_that_is_left_is_flown_on_and_the_other_obeys():
    session = Session((HUMAN, "straight"), seed=3, **sized(2, 2))

    def turns(rudder: float) -> list[float]:
        session.steer(session.humans[0], rudder)
        for _ in range(20):
            session.step()
        return session.sim.fighters["rudder"][0, :2].tolist()

    assert turns(1)[0] == 1
    assert turns(-1)[0] == -1
    session.take_over(1)
    assert session.humans == [1]
    assert turns(1)[1] == 1
    assert turns(-1)[1] == -1
    flown = session.commands[0, :2]
    crew = PilotCrew([0], "evader", 3, 0, sized(2, 2, substeps=1))
    assert np.abs(crew.commands(session.sim)[0, :2] - flown).max() < 1
    with pytest.raises(ValueError, match="fighter 2: no human flies on its side"):
        session.take_over(2)


def test_shots_are_at_the_chosen_target_while_it_lives():
    session = Session((HUMAN, "straight"), seed=1, **sized(2, 3))
    ahead = session.target(0)
    for enemy in (2, 3, 4):
        session.aim(0, enemy)
        assert session.target(0) == enemy
    session.fire(0)
    session.step()
    mine = session.sim.missiles["owner"][0] == 0
    assert session.sim.missiles["target"][0, mine & (session.sim.missiles["active"][0] > 0)] == [4]
    session.sim.set_fighter(0, 4, alive=False)
    assert session.target(0) in (2, 3)
    assert ahead in (2, 3, 4)


CREWS = {  # red's wingmen, and blue
    "pilots": lambda: ("ace", "evader"),
    "policy": lambda: (random_policy(observation="team", sizes=(3, 3), seed=1), "evader"),
    "enemies": lambda: ("evader", random_policy(observation="team", sizes=(3, 3), seed=1)),
}


@pytest.mark.parametrize("crew", CREWS)
def test_a_fight_with_changes_is_taken_back_and_replayed(crew):
    wingman, blue = CREWS[crew]()
    session = Session(([HUMAN, wingman, wingman], blue), ("me", "it"), seed=5, **sized(3, 3))
    hashes = []

    def fly(end: int) -> None:
        while len(session.recorder) < end:
            decision = len(session.recorder)
            if session.humans != [decision // 20 % 3]:
                session.take_over(decision // 20 % 3)
            [own] = session.humans
            session.steer(own, decision % 7 / 7)
            if decision % 30 == 10:
                session.aim(own, 3 + decision // 30)
                session.fire(own)
            session.step()
            hashes.append(session.sim.state_hash())

    fly(90)
    session.rewind(45)
    assert session.sim.state_hash() == hashes[44]
    assert session.paths.time == pytest.approx(4.5)
    first = hashes[:90]
    del hashes[45:]
    fly(90)
    assert hashes == first
    assert (session.sim.fighters["ammo"][0, :3] < 6).any()
    replay = Replay.from_bytes(session.replay().to_bytes())
    replay.verify()
    assert replay.pilots == ("agent",) * 3 + (blue if isinstance(blue, str) else "agent",) * 3
    assert replay.names == ("me", "it")


def test_a_session_flies_the_fight_that_is_measured():
    """The same as `play` flies, with the same draws."""
    policy = random_policy(observation="team", sizes=(3, 3))
    game = sized(3, 3, time_limit=60)
    session = Session((policy, "ace"), seed=6, **game)
    while not session.over:
        session.step()
    [[row]] = play([Fight(policy, "ace")], 1, 6, parameters=resolve(game, teams=True))
    assert (session.sim.outcome[0], len(session.recorder)) == (row["outcome"], row["decisions"])
    fired = session.sim.core.read("fighter")["shots"][0]
    assert [fired[:3].sum(), fired[3:].sum()] == row["shots"].tolist()


@pytest.mark.parametrize(
    ("contestants", "message"),
    [
        (lambda: ([HUMAN, HUMAN], "ace"), "red: 2 humans; at most one flies on a side"),
        (lambda: (["ace"] * 3, "ace"), "red: 3 contestants; red_size is 2"),
        (lambda: ("ace", ["ace", load_contestant("ace:1,trained:1")]), "blue = ace,trained: "),
    ],
)
def test_contestants_that_do_not_fit_are_refused(contestants, message):
    with pytest.raises(UsageError, match=message):
        Session(contestants(), **sized(2, 2))


def test_orders_of_a_policy_fire_tight_whoever_flies_the_other_side():
    policy = make_policy(spaces_of("default", "orders"), {"hidden_size": 16}).eval()
    with torch.no_grad():
        policy.actor.weight.zero_()
        policy.actor.bias.zero_()
        policy.actor.bias[[0, 4 + 1]] = 100  # commit tight
    session = Session((policy, "straight"))
    while not session.over:
        session.step()
    assert session.replay().orders[0].words == "commit tight"
    assert session.paths.missiles

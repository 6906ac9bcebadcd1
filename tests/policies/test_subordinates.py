"""Subordinates: training with given orders, and fighters that a policy flies by orders."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import runs
import torch
from subordinates import GAMES, RUDDER, SIZES, TEAM, THROTTLE, obedient, settings, spaces_in, write

from midrange_puffer import Midrange, Simulation
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.envs import given_orders
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import (
    enemies_of,
    order_features,
    order_width,
    rows_of,
    team_rows,
)
from midrange_puffer.game.orders import as_commands, carry_out, heads_of, in_words, orders_in
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.loading import average, load_subordinate
from midrange_puffer.policies.model_file import policy_spaces, read_subordinate
from midrange_puffer.policies.native import FrozenNetwork
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.policies.subordinate import Subordinate
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.stages import first_policy

EACH_GAME = pytest.mark.parametrize("game", GAMES)


def drawn(env: Midrange, rng: np.random.Generator) -> np.ndarray:
    levels = env.single_action_space.nvec
    return rng.integers(0, levels, (env.num_agents, len(levels)), np.int32)


@EACH_GAME
@pytest.mark.parametrize("opponent", ["shooter", "self"])
def test_orders_reach_the_subordinate_that_flies_them(tmp_path, game, opponent):
    """The fight is that of agents who fly the levels which follow from the orders by hand."""
    path = write(tmp_path / "s.pt", obedient(**GAMES[game]), settings(**GAMES[game]), "subordinate")
    common = {"opponent": opponent, "seed": 4, "time_limit": 40, **GAMES[game]}
    orders = Midrange(12, action_mode="orders", subordinates=path, **common)
    levels = Midrange(12, **common)
    orders.reset()
    levels.reset()
    rng = np.random.default_rng(2)
    for _ in range(15):
        given = drawn(orders, rng)
        actions = np.zeros((levels.num_agents, levels.single_action_space.shape[0]), np.int32)
        if "dimensions" in GAMES[game]:
            actions[:, 1] = 0  # the first level of the climb: no unit asks for another
        actions[:, 0] = RUDDER[given[:, 0]]
        actions[:, -2] = THROTTLE[given[:, 1]]
        orders.step(given)
        for _ in range(4):
            levels.step(actions)
        assert np.array_equal(orders.observations, levels.observations)
    assert orders.state_hash() == levels.state_hash()


@EACH_GAME
def test_a_subordinate_that_copies_the_scripted_courses_flies_the_same_fight(game, monkeypatch):
    common = {"opponent": "evader", "seed": 3, "action_mode": "orders", **GAMES[game]}
    scripted, copied = (Midrange(8, **common) for _ in range(2))
    [group] = copied._arena.groups

    class Copy:
        features = group.core.features

        def act(self, observations, orders):
            assert np.array_equal(observations, group._outputs.observations)
            return group.carried_out(orders)

    group._acts = group._acts._replace(subordinate=Copy())
    scripted.reset()
    copied.reset()
    rng = np.random.default_rng(0)
    for _ in range(40):
        given = drawn(scripted, rng)
        scripted.step(given)
        copied.step(given)
        assert np.array_equal(scripted.rewards, copied.rewards)
    assert scripted.state_hash() == copied.state_hash()


@pytest.mark.parametrize("game", ["pair", "team"])
def test_in_matches_a_file_flies_by_its_subordinate_and_shows_its_orders(tmp_path, game):
    env = settings(**GAMES[game])
    subordinate = write(tmp_path / "s.pt", obedient(**GAMES[game]), env, "subordinate")
    agents = "side" if game == "team" else "fighter"
    entries = {"action_mode": "orders", "agents": agents}
    torch.manual_seed(1)
    commander = make_policy(policy_spaces(env | entries), SIZES)
    with torch.no_grad():
        commander.actor.weight.mul_(3000)
    path = write(tmp_path / "c.pt", commander, env | {"subordinates": str(subordinate)}, agents)
    read_subordinate.cache_clear()
    subordinate.unlink()  # the commander's file has a copy
    policy, about = load_policy(path)
    assert about["env"]["subordinates"] == str(subordinate)
    seen = []

    def watch(index, pending, observations, commands, orders):
        seen.append((commands[pending, : len(commands[0]) // 2], orders[pending]))

    play([Fight(policy, "evader")], 10, watch=watch, parameters=resolve(GAMES[game], teams=True))
    side = len(seen[0][1][0]) // 2
    commands = np.concatenate([flown for flown, _ in seen])
    orders = np.concatenate([given[:, :side] for _, given in seen])
    assert (orders[..., 0] >= 0).all()
    assert len(np.unique(orders[..., 0])) > 1
    assert np.array_equal(commands[..., 0], (RUDDER / 2 - 1)[orders[..., 0]])
    assert np.array_equal(commands[..., 1], (THROTTLE / 2)[orders[..., 1]])
    assert not commands[..., 2].any()


def test_commands_carry_an_order_with_the_controls_that_follow_it():
    sim = Simulation(1, red_size=16, blue_size=16)
    rng = np.random.default_rng(0)
    orders = rng.integers(0, [6, 3, 17], (32, 3), np.int32)
    controls = np.stack(
        [rng.integers(0, 5, 32) / 2 - 1, rng.integers(0, 3, 32) / 2, rng.integers(0, 18, 32)], 1
    ).astype(np.float32)
    commands = as_commands(orders, controls)[None]
    assert np.array_equal(orders_in(commands)[0], orders)
    carry_out(sim.core, commands)
    assert np.array_equal(commands[0], controls)


# Training


@EACH_GAME
def test_a_subordinate_observes_the_order_and_pays_for_departing_from_it(game):
    """The courses are those of the orders' words, in a simulation that flies the same fight."""
    pays = {"agents": "subordinate", "opponent": "straight", "seed": 6, **GAMES[game]}
    free, bound = (Midrange(4, order_cost=cost, **pays) for cost in (0, 0.5))
    sim = Simulation(4, 6, blue="straight", envelope=True, **GAMES[game])
    heads, seen, costs = heads_of(sim.parameters), free.reset()[0].copy(), []
    bound.reset()
    features, red = sim.core.features, int(sim.parameters["red_size"])
    counts = [len(words) for head, words in heads.items() if head != "target"]
    is_choice = [False] * (sim.core.controls - 1) + [True]
    spans = np.ones(sim.core.controls)
    spans[:-2] = 2  # rudder and climb
    rng, stood = np.random.default_rng(1), np.zeros(free.num_agents, int)
    for _ in range(50):
        assert seen.shape[1] == features + order_width(features)
        own = sim.observe()[:, :red].reshape(-1, features)
        assert np.array_equal(own, seen[:, :features])
        parts = np.split(seen[:, features:], np.cumsum(counts), axis=1)[:-1]
        assert all((part.sum(axis=1) == 1).all() for part in parts)
        levels = [part.argmax(axis=1) for part in parts]
        orders = free._face.orders
        assert np.array_equal(orders[:, :-1], np.stack(levels, axis=1))
        flown = np.zeros((4, sim.core.fighters, sim.core.controls), np.float32)
        actions = drawn(free, rng)
        flown[:, :red] = free._arena.groups[0].controls(actions).reshape(4, red, -1)
        levels = np.full(flown.shape, -1, np.int32)
        levels[:, :red] = orders.reshape(4, red, -1)
        course = np.zeros_like(flown)
        sim.core.controls_of_orders(levels, course)
        text = in_words(orders[0].tolist(), heads)
        assert text.split()[0] == list(heads["order"])[orders[0, 0]]
        away = np.abs(flown - course)[:, :red].reshape(-1, sim.core.controls)
        expected = np.where(is_choice, away > 0.5, away / spans).mean(axis=1)
        before = orders.copy()
        free.step(actions)
        bound.step(actions)
        sim.step(flown)
        assert np.allclose(free.rewards - bound.rewards, 0.5 * expected, atol=1e-6)
        assert np.array_equal(free.observations, bound.observations)
        changed = (free._face.orders != before).any(axis=1)
        assert (stood[changed] + 1 >= given_orders.SHORTEST).all()
        stood = np.where(changed, 0, stood + 1)
        assert (stood < given_orders.LONGEST).all()
        costs += expected.tolist()
        seen = free.observations.copy()
    assert 0.1 < np.mean(costs) < 0.9


def test_the_features_of_an_order_are_those_of_its_target_and_the_first_missile():
    """By the pilots' fights: an enemy that the order names, else the one nearest the nose."""
    sim = Simulation(30, 2, "ace", "crank", red_size=3, blue_size=3)
    seen_missile = named = 0
    inbound = next(rows for rows in team_rows(3, 3) if rows.kind == "inbound")
    for step in range(160):
        sim.step()
        if step % 4:  # little changes from one decision to the next
            continue
        seen = sim.observe()[:, 0]
        alive = sim.fighters["alive"]
        for target in range(4):
            orders = np.tile(np.array([1, 2, target], np.int32), (30, 1))
            got = order_features(orders, seen)
            assert np.array_equal(got[:, :9], np.tile(np.eye(9)[1] + np.eye(9)[8], (30, 1)))
            enemies = enemies_of(rows_of(seen.shape[1]))
            for env in np.flatnonzero(alive[:, 0]):
                x, y, heading = (sim.fighters[name][env] for name in ("x", "y", "heading"))
                foes = [foe for foe in range(3, 6) if alive[env, foe]]
                if not foes:
                    continue
                ranges = {foe: np.hypot(x[foe] - x[0], y[foe] - y[0]) for foe in foes}
                angles = {
                    foe: np.cos(np.arctan2(y[foe] - y[0], x[foe] - x[0]) - heading[0])
                    for foe in foes
                }
                wanted = max(foes, key=angles.__getitem__)
                if 0 < target <= len(foes):
                    wanted = sorted(foes, key=ranges.__getitem__)[target - 1]
                    named += wanted != max(foes, key=angles.__getitem__)
                row = got[env, 9 : 9 + enemies.features]
                assert row[1] == pytest.approx(angles[wanted], abs=1e-3)
                assert row[3] == pytest.approx(ranges[wanted] / 1e5, abs=1e-3)
                missile = got[env, 9 + enemies.features :]
                seen_missile += missile[0]
                assert np.array_equal(missile, seen[env, inbound.place :][: inbound.features])
    assert named > 100
    assert seen_missile > 100


@pytest.mark.parametrize("sensing", ["full", "radar"])
def test_with_height_the_enemy_nearest_the_nose_is_that_of_the_core(sensing):
    """The core's fighters turn to it; seen from above another enemy may be nearer to the nose."""
    game = {"dimensions": 3, "red_size": 1, "blue_size": 3, "sensing": sensing}
    sim, rng = Simulation(100, 2, "straight", "straight", **game), np.random.default_rng(3)
    for env, fighter in np.ndindex(100, 4):
        place = {"x": 8_000, "y": rng.uniform(-1e3, 1e3), "z": rng.uniform(3e3, 15e3)}
        attitude = {"heading_deg": 0, "climb_deg": 0}
        if fighter == 0:
            place = {"x": 0, "y": 0, "z": 9_000}
            attitude["climb_deg"] = rng.choice([-40, 40])
        sim.set_fighter(env, fighter, **place, **attitude, speed=250)
    for _ in range(6):
        sim.step()  # the radar begins its tracks
    seen = sim.observe()[:, 0]
    enemies = enemies_of(rows_of(seen.shape[1]))
    rows = seen[:, enemies.place :][:, : 3 * enemies.features].reshape(100, 3, -1)
    heads = heads_of(sim.parameters)
    orders = np.zeros((100, 4, len(heads)), np.int32)  # commit
    levels = sum(len(words) for head, words in heads.items() if head != "target")
    got = order_features(orders[:, 0], seen)[:, levels:][:, : enemies.features]
    chosen = (rows == got[:, None]).all(axis=2).argmax(axis=1)
    rudders = []
    for target in range(4):
        orders[:, :, -1] = target
        controls = np.zeros((100, 4, sim.core.controls), np.float32)
        sim.core.controls_of_orders(orders, controls)
        rudders.append(controls[:, 0, 0])
    by_enemy, envs = np.array(rudders[1:]), np.arange(100)
    is_seen = rows[:, :, 0] > 0
    assert (by_enemy[chosen, envs] == rudders[0])[is_seen.any(axis=1)].all()
    from_above = np.where(is_seen, rows[:, :, 1], -2).argmax(axis=1)
    assert (by_enemy[from_above, envs] != rudders[0]).sum() > 20


def test_a_subordinate_of_teams_flies_in_teams_of_any_size(tmp_path):
    path = write(tmp_path / "s.pt", obedient(**TEAM), settings(**TEAM), "subordinate")
    common = {"red_size": 4, "blue_size": 3, "opponent": "shooter", "time_limit": 40}
    orders = Midrange(6, action_mode="orders", order_decisions=1, subordinates=path, **common)
    levels = Midrange(6, **common)
    orders.reset()
    levels.reset()
    rng = np.random.default_rng(2)
    for _ in range(50):
        given = drawn(orders, rng)
        actions = np.stack([RUDDER[given[:, 0]], THROTTLE[given[:, 1]], 0 * given[:, 0]], axis=1)
        orders.step(given)
        levels.step(actions.astype(np.int32))
    assert orders.state_hash() == levels.state_hash()


def test_both_engines_compute_a_subordinate():
    for game in GAMES.values():
        torch.manual_seed(1)
        policy = make_policy(spaces_in(**game), {"hidden_size": 32, "entity_size": 16}).eval()
        with torch.no_grad():
            policy.actor.weight.mul_(3000)
        seen = torch.rand(200, policy.features) * 2 - 1
        outputs, _ = policy(seen)
        wanted = torch.stack([logits.argmax(dim=1) for logits in outputs], dim=1)
        assert np.array_equal(FrozenNetwork(policy).act(seen.numpy(), None), wanted.int().numpy())
        other = seen.clone()
        other[:, -policy.order_features :] = 1 - other[:, -policy.order_features :]
        assert not torch.equal(policy(other)[0][0], outputs[0])


def test_a_run_trains_a_subordinate_and_a_commander_of_it(tmp_path):
    common = runs.TEAM
    assert runs.train(tmp_path, *common, "--env.agents=subordinate") == 0
    run = (tmp_path / "run").rename(tmp_path / "subordinate")
    [*_, path] = sorted(run.glob("model_*.pt"))
    assert "environment/order_distance" in (run / "metrics.jsonl").read_text()
    words = (*common, "--env.action-mode=orders", "--env.agents=side", f"--env.subordinates={path}")
    raters = "--league.interval=1", "--train.replay-interval=1"
    assert runs.train(tmp_path, *words, *raters) == 0
    [*_, model] = sorted((tmp_path / "run").glob("model_*.pt"))
    policy, _ = load_policy(model)
    assert isinstance(policy.subordinate, Subordinate)
    assert copy.deepcopy(policy).subordinate is policy.subordinate
    assert list((tmp_path / "run" / "replays").iterdir())


def begun(folder: Path, env: dict[str, object], **base: object) -> Run:
    """Returns a run whose commander gives orders to the subordinate of `env`."""
    config = load_config(None, ["--env.action-mode=orders", "--train.device=cpu"])
    config = config.replaced("env", "test", **env).replaced("base", "test", **base)
    return Run(folder, config.replaced("policy", "test", hidden_size=32, hidden_layers=1))


@pytest.fixture
def two(tmp_path):
    """Returns a subordinate's file, one with other weights, and one with the first's weights."""
    policy = obedient()
    paths = [write(tmp_path / f"{name}.pt", policy, settings(), "subordinate") for name in "ac"]
    with torch.no_grad():
        policy.actor.bias[0] += 1
    other = write(tmp_path / "b.pt", policy, settings(), "subordinate")
    return str(paths[0]), str(other), str(paths[1])


def saved(path: Path, subordinates: str) -> Path:
    """Writes the model of a commander with a subordinate; "": without."""
    made = make_policy(policy_spaces(settings() | {"action_mode": "orders"}), SIZES)
    return write(path, made, settings() | {"subordinates": subordinates}, "fighter")


def test_a_loaded_model_flies_by_the_subordinate_of_the_configuration(tmp_path, two):
    first, second, _ = two
    seen = np.random.default_rng(0).uniform(-1, 1, (50, 71)).astype(np.float32)
    orders = np.tile(np.array([7, 0], np.int32), (50, 1))
    for copied in (first, ""):
        model = str(saved(tmp_path / "model.pt", copied))
        policy = first_policy(begun(tmp_path, {"subordinates": second}, load_model_path=model))
        wanted = load_subordinate(second, "orders", "default", 71)
        assert np.array_equal(policy.subordinate.act(seen, orders), wanted.act(seen, orders))
        assert first_policy(begun(tmp_path, {}, load_model_path=model)).subordinate is None


def test_a_resumed_run_keeps_its_subordinate(tmp_path, two):
    first, second, same = two
    state = {"model": "model.pt"}
    saved(tmp_path / "model.pt", first)
    resumed = [replace(begun(tmp_path, {"subordinates": path}), state=state) for path in two]
    for run in (resumed[0], resumed[2]):
        assert isinstance(first_policy(run).subordinate, Subordinate)
    with pytest.raises(
        ConfigError, match=f"{second}: .*model.pt was trained with another one, {first}"
    ):
        first_policy(resumed[1])
    with pytest.raises(ConfigError, match=r"subordinates = \(empty\): .* with another one"):
        first_policy(replace(begun(tmp_path, {}), state=state))
    saved(tmp_path / "model.pt", "")
    with pytest.raises(ConfigError, match=f"{same}: .* was trained without; must be empty"):
        first_policy(resumed[2])


def test_models_with_different_subordinates_have_no_average(tmp_path, two):
    first, second, same = two
    paths = [saved(tmp_path / f"m{at}.pt", path) for at, path in enumerate((first, same, second))]
    models = [load_policy(path) for path in paths]
    average(paths[:2], models[:2])
    with pytest.raises(UsageError, match=r"m0.pt: its subordinate is another than that of .*m2.pt"):
        average(paths, models)

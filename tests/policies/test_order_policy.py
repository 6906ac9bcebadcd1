"""Policies that give orders: players, matches, files, exports and training."""

import itertools

import numpy as np
import pytest
import runs
import torch
from needs import nightly
from policies import random_policy

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import CheckpointError
from midrange_puffer.game.observation import features_of, levels_of, order_heads_of, spaces_of
from midrange_puffer.game.orders import are_orders, as_commands, carry_out, heads_of
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.exported import explain, load_exported, to_onnx
from midrange_puffer.policies.model_file import policy_spaces, save_model
from midrange_puffer.policies.native import FrozenNetwork
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.policies.player import Player

GAMES = {
    "plane": {},
    "radar": {"sensing": "radar"},
    "height": {"dimensions": 3},
    "team": {"red_size": 3, "blue_size": 2},
    "team_radar": {"red_size": 2, "blue_size": 2, "sensing": "radar"},
    "team_height": {"red_size": 2, "blue_size": 2, "dimensions": 3},
    "radar_height": {"sensing": "radar", "dimensions": 3},
}
OBSERVED = {
    "plane": ("default", 1, 1), "radar": ("radar", 1, 1), "height": (_core.HEIGHTS[0], 1, 1),
    "team": (_core.TEAM, 3, 2), "team_radar": (_core.TEAM_RADAR, 2, 2),
    "team_height": (_core.TEAM_HEIGHT, 2, 2),
    "radar_height": (_core.RADAR_HEIGHTS[0], 1, 1),
}  # fmt: skip
EACH_GAME = pytest.mark.parametrize("game", GAMES)
# Exports take half a second each: one against one, a team, with sensors and with height.
SAMPLED = ("plane", "team_radar", "radar_height")


def always(order: int, permission: int) -> torch.nn.Module:
    """Returns a policy that always gives one order."""
    policy = make_policy(spaces_of("default", "orders"), {"hidden_size": 16}).eval()
    with torch.no_grad():
        policy.actor.weight.zero_()
        policy.actor.bias.zero_()
        policy.actor.bias[[order, 4 + permission]] = 100
    return policy


@EACH_GAME
def test_the_heads_follow_from_the_features_and_the_action_mode(game):
    observation, red, blue = OBSERVED[game]
    features = len(features_of(observation, red, blue))
    heads = heads_of(Simulation(**GAMES[game]).parameters)
    assert order_heads_of(features) == heads
    assert levels_of(features, "orders") == {head: len(words) for head, words in heads.items()}
    spaces = spaces_of(observation, "orders", red, blue, 3)
    assert spaces.single_action_space.nvec.tolist() == [len(words) for words in heads.values()]
    assert spaces.order_decisions == 3
    assert spaces_of(observation, "discrete", red, blue).order_decisions == 0


@EACH_GAME
def test_c_and_torch_take_the_same_orders(game):
    observation, red, blue = OBSERVED[game]
    policy = random_policy(observation=observation, action_mode="orders", sizes=(red, blue))
    seen = torch.rand(65, policy.features) * 2 - 1
    outputs, _ = policy.forward_eval(seen, {})
    wanted = torch.stack([logits.argmax(dim=1) for logits in outputs], dim=1).int()
    assert np.array_equal(FrozenNetwork(policy).act(seen.numpy(), None), wanted.numpy())
    assert len(wanted.unique(dim=0)) > 3


def test_a_player_repeats_an_order_for_its_decisions_and_gives_a_new_one_after_a_reset():
    policy = random_policy(action_mode="orders")
    policy.order_decisions = 3
    player, envs = Player(policy, 40, seed=1), np.arange(40)
    rng = np.random.default_rng(0)
    orders = []
    for decision in range(9):
        if decision == 4:
            player.reset(np.arange(20))
        seen = rng.random((40, policy.features), np.float32) * 2 - 1
        orders.append(player.act(seen, envs))
    assert all(are_orders(commands).all() for commands in orders)
    changed = np.array([(a != b).any(axis=1) for a, b in itertools.pairwise(orders)])
    assert np.flatnonzero(changed[:, 20:].any(axis=1)).tolist() == [2, 5]
    assert np.flatnonzero(changed[:, :20].any(axis=1)).tolist() == [2, 3, 6]
    before = player.snapshot()
    again = [player.act(seen, envs) for _ in range(4)]
    player.restore(before)
    assert np.array_equal(again, [player.act(seen, envs) for _ in range(4)])


def test_commands_carry_orders_beside_controls():
    sim = Simulation(5)
    commands = np.zeros((5, 2, 3), np.float32)
    commands[:, 0] = as_commands(np.tile([3, 2, 0], (5, 1)))
    commands[:, 1] = 0.25, 0.5, 1
    carry_out(sim.core, commands)
    assert not are_orders(commands).any()
    assert (commands[:, 1] == (0.25, 0.5, 1)).all()
    expected = np.concatenate([sim.controls_of({0: "cold free"}, env)[env, :1] for env in range(5)])
    assert np.array_equal(commands[:, 0], expected)
    alone = as_commands(np.tile([3, 2, 0], (5, 1)))[:, None]
    carry_out(sim.core, alone, [0])
    assert np.array_equal(alone[:, 0], expected)


def test_a_match_of_an_order_policy_is_that_of_the_pilot_with_the_same_rule():
    """Commit and free against pilots, levels and another order policy, with one result each."""
    parameters = resolve({"order_salvo": 6, "time_limit": 200})
    flat, other = random_policy(), random_policy(action_mode="orders", seed=4)
    ordered = always(0, 2)
    enemies = ("crank", flat, other)
    fights = [Fight(red, blue) for red in (ordered, "shooter") for blue in enemies]
    fights += [Fight(blue, red) for red in (ordered, "shooter") for blue in enemies[:1]]
    records = play(fights, 30, greedy=True, parameters=parameters)
    for one, two in ((0, 3), (1, 4), (2, 5), (6, 7)):
        for name in ("outcome", "decisions", "shots", "hits", "launch_range"):
            assert np.array_equal(records[one][name], records[two][name]), (one, name)
    assert records[0]["shots"].min() > 0


@pytest.mark.parametrize("game", [name if name in SAMPLED else nightly(name) for name in GAMES])
def test_an_exported_policy_names_its_heads_and_gives_the_same_orders(game, tmp_path):
    pytest.importorskip("onnxruntime")
    path = saved(tmp_path, **GAMES[game])
    policy, entries = load_policy(path)
    policy.eval()
    exported_path = tmp_path / "policy.onnx"
    exported_path.write_bytes(to_onnx(policy, entries))
    exported, _ = load_exported(exported_path)
    assert (exported.order_decisions, exported.is_continuous) == (4, False)
    assert exported.entries["action_mode"] == "orders"
    heads = heads_of(entries["env"])
    assert list(exported.entries["actions"]) == list(heads)
    assert explain(entries)["actions"]["order"]["levels"] == list(heads["order"])
    seen = torch.rand(7, policy.features)
    for own, other in zip(
        policy.forward_eval(seen, {})[0], exported.forward_eval(seen, {})[0], strict=True
    ):
        assert torch.allclose(own, other, atol=1e-5)


def saved(folder, **env: object):
    """Writes a model file of an order policy with random weights."""
    values = {"observation": "default", "action_mode": "orders", "order_decisions": 4}
    config = {
        "base": {"rnn_name": None}, "rnn": {}, "policy": {"hidden_size": 16},
        "env": resolve(env, teams=True) | values,
    }  # fmt: skip
    policy = make_policy(policy_spaces(config["env"]), config["policy"])
    save_model(folder / "policy.pt", config, policy.state_dict(), 0)
    return folder / "policy.pt"


def test_a_model_file_says_its_action_mode_and_how_long_an_order_is_flown(tmp_path):
    policy, entries = load_policy(saved(tmp_path))
    assert policy.order_decisions == 4
    assert entries["action_nvec"] == [4, 3, 1]
    entries = torch.load(tmp_path / "policy.pt")
    entries["env"]["order_decisions"] = 0
    torch.save(entries, tmp_path / "bad.pt")
    with pytest.raises(CheckpointError, match="order_decisions = 0: must be a whole number"):
        load_policy(tmp_path / "bad.pt")


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_training_with_orders_and_a_pool(engine, tmp_path):
    """Both engines train on orders; the pool's members and the raters fly by them."""
    options = [
        "--env.action-mode=orders", "--env.order-decisions=3", f"--train.engine={engine}",
        *runs.MIX, "--train.total-timesteps=16384",
    ]  # fmt: skip
    assert runs.train(tmp_path, *options) == 0
    rows = runs.rows(tmp_path / "run")
    assert rows[-1]["agent_steps"] >= 16384
    assert all(np.isfinite(row["losses/policy_loss"]) for row in rows)
    models = sorted((tmp_path / "run").glob("model_*.pt"))
    policy, entries = load_policy(models[-1])
    assert (entries["env"]["action_mode"], policy.order_decisions) == ("orders", 3)
    env = Midrange(4, opponent=models[-1], time_limit=10)  # levels against it
    env.reset()
    env.step(np.zeros((4, 3), int))


def test_training_with_orders_in_teams(tmp_path):
    options = ["--env.action-mode=orders", *runs.TEAM, "--env.opponent=self:1,straight:1"]
    assert runs.train(tmp_path, *options) == 0

"""What cannot be a subordinate, fly by one or be trained with one is refused, and named."""

import pytest
import torch
from machines import machine
from subordinates import GAMES, SIZES, TEAM, obedient, settings, write

from midrange_puffer import Midrange
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.errors import CheckpointError, UsageError
from midrange_puffer.policies.exported import to_onnx
from midrange_puffer.policies.model_file import policy_spaces
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.policies.player import Player


@pytest.fixture
def files(tmp_path):
    """Returns model files: of subordinates of several games, and of a policy that is none."""
    paths = {
        name: write(tmp_path / f"{name}.pt", obedient(**game), settings(**game), "subordinate")
        for name, game in GAMES.items()
    }
    order_policy = make_policy(policy_spaces(settings() | {"action_mode": "orders"}), SIZES)
    paths["flat"] = write(tmp_path / "flat.pt", order_policy, settings(), "fighter")
    paths["missing"] = tmp_path / "missing.pt"
    paths["export"] = tmp_path / "a.onnx"
    return paths


@pytest.mark.parametrize(
    ("name", "game", "message"),
    [
        (
            "flat",
            {},
            r"subordinates = \S+flat\.pt: its env\.agents = fighter: .*agents = subordinate",
        ),
        ("missing", {}, r"subordinates = \S+missing\.pt: no such file"),
        ("export", {}, "an exported policy; must be a model file of env.agents = subordinate"),
        ("pair", TEAM, "is of one against one: it cannot fly in a team"),
        ("team", {}, "is of a team: it cannot fly one against one"),
        ("sensors", TEAM, r"is of sensing = radar: it cannot fly where sensing = full"),
        ("height", {}, "is of dimensions = 3: it cannot fly where dimensions = 2"),
        ("pair", {"action_mode": "discrete"}, "needs action_mode = orders"),
        ("pair", {"observation": "stg"}, "observes 71 features, and a fighter of this game 79"),
    ],
)
def test_what_cannot_be_a_subordinate_is_named(files, name, game, message):
    settings = {"action_mode": "orders", **game}
    with pytest.raises(UsageError, match=message):
        Midrange(2, subordinates=files[name], **settings)
    words = [f"--env.{key.replace('_', '-')}={value}" for key, value in settings.items()]
    config = load_config(None, [*words, f"--env.subordinates={files[name]}"])
    with pytest.raises(ConfigError, match=message):
        settle(config, machine())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--env.action-mode=continuous"], "flies by levels, and this is action_mode = continuous"),
        (["--train.critic=side"], "must be own"),
        (["--base.rnn-name=Recurrent"], "base.rnn_name = Recurrent: must be None"),
        (["--league.interval=5"], "league.interval = 5: must be 0"),
        (["--train.replay-interval=5"], "train.replay_interval = 5: .*must be 0"),
        (["--env.opponent=pool:1,ace:1"], "must be without pool"),
        (["--env.order-cost=2"], "order-cost = 2: must be a number from 0.0 to 1.0"),
    ],
)
def test_what_the_training_of_a_subordinate_cannot_have_is_named(words, message):
    with pytest.raises(ConfigError, match=message):
        settle(load_config(None, ["--env.agents=subordinate", *words]), machine())


@pytest.mark.parametrize("agents", ["fighter", "side"])
def test_a_cost_of_orders_without_a_subordinate_is_refused(agents):
    message = f"order_cost = 0.5: needs agents = subordinate, and this is agents = {agents}"
    with pytest.raises(ValueError, match=message):
        Midrange(2, action_mode="orders", agents=agents, order_cost=0.5, **TEAM)
    words = [f"--env.agents={agents}", "--env.action-mode=orders", "--env.order-cost=0.5"]
    sizes = ["--env.red-size=2", "--env.blue-size=2"]
    with pytest.raises(ConfigError, match=message):
        settle(load_config(None, [*words, *sizes]), machine())


def test_a_subordinate_flies_by_orders_only(files):
    policy, _ = load_policy(files["pair"])
    with pytest.raises(UsageError, match=r"pair\.pt is .* flies by orders only; give it as env\."):
        Player(policy, 1, seed=0)
    with pytest.raises(UsageError, match="flies by orders only"):
        Midrange(2, opponent=str(files["pair"]))


def test_neither_a_subordinate_nor_what_has_one_is_exported(tmp_path, files):
    policy, entries = load_policy(files["pair"])
    with pytest.raises(
        UsageError, match=r"pair\.pt is of env\.agents = subordinate: .* no exported"
    ):
        to_onnx(policy, entries)
    env = settings() | {"subordinates": str(files["pair"])}
    made = make_policy(policy_spaces(settings() | {"action_mode": "orders"}), SIZES)
    policy, entries = load_policy(write(tmp_path / "c.pt", made, env, "fighter"))
    with pytest.raises(UsageError, match="has a subordinate"):
        to_onnx(policy, entries)


def test_a_file_without_the_copy_of_its_subordinate_is_refused(tmp_path, files):
    env = settings() | {"subordinates": str(files["pair"])}
    made = make_policy(policy_spaces(settings() | {"action_mode": "orders"}), SIZES)
    path = write(tmp_path / "c.pt", made, env, "fighter")
    entries = torch.load(path, weights_only=True)
    del entries["subordinates"]
    torch.save(entries, path)
    with pytest.raises(CheckpointError, match="the copy of its subordinate is missing"):
        load_policy(path)


@pytest.mark.parametrize("mode", ["league", "exploit"])
def test_no_mode_in_which_it_would_fly_by_itself_begins(mode, tmp_path, files):
    """Not after hours of fights: nothing is written, and nothing was flown."""
    options = {
        "league": ["--json", str(tmp_path / "report.json"), str(files["pair"])],
        "exploit": ["--load-model-path", str(files["pair"]), "--train.data-dir", str(tmp_path)],
    }
    before = {*tmp_path.iterdir()}
    with pytest.raises(UsageError, match=r"pair\.pt is of env\.agents = subordinate and flies by"):
        cli.run(mode, options[mode])
    assert {*tmp_path.iterdir()} == before

"""The yardstick of a sweep: it gives the scores of `puffer eval`, and no varied key changes it."""

import json

import pytest
import sweeps
import torch
from policies import random_policy

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import Config
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import schema
from midrange_puffer.game.parameters import PARAMETERS, PILOTS
from midrange_puffer.policies import model_file
from midrange_puffer.sweep.readings import Yardstick
from midrange_puffer.sweep.space import trial_config

OPTIONS = (
    "--sweep.panel=weave,evader", "--sweep.panel-episodes=32", "--env.time-limit=60",
    "--env.start-range-max=40000",
)  # fmt: skip


def load(folder, *options: str) -> Config:
    """The configuration of a small sweep whose pilots tell policies from each other."""
    return load_config(sweeps.small_config(folder), [*OPTIONS, *options])


def other_value(name: str) -> float:
    """Another value of a parameter than the table's."""
    row = PARAMETERS[name]
    return row.maximum if row.default != row.maximum else row.minimum


def test_a_policy_scores_as_puffer_eval_says(tmp_path):
    config = load(tmp_path)
    policy = random_policy()
    model, report = tmp_path / "model_000001.pt", tmp_path / "eval.json"
    model_file.save_model(model, config, policy.state_dict(), 1000)
    words = ["--load-model-path", str(model), "--json", str(report)]
    words += ["--episodes", "32", "--seed", str(2**31)]
    expected = {}
    for pilot in ("weave", "evader"):
        assert cli.run("eval", [*words, "--opponent", pilot]) == 0
        expected[pilot] = json.loads(report.read_text())["opponents"][pilot]["score"]
    assert Yardstick(config).measure(policy) == expected
    assert Yardstick(load(tmp_path, "--sweep.panel-seed=3000000000")).measure(policy) != expected


def test_all_are_the_tables_pilots(tmp_path):
    assert Yardstick(load(tmp_path, "--sweep.panel=all")).pilots == PILOTS


def test_its_seed_is_out_of_reach_of_every_training():
    seed = schema()["sweep"]["panel_seed"]
    assert seed.minimum > schema()["train"]["seed"].maximum


def test_rewards_and_training_do_not_move_it(tmp_path):
    policy, config = random_policy(), load(tmp_path)
    names = [name for name, row in PARAMETERS.items() if row.group in ("reward", "pilot")]
    assert {"reward_geometry", "ace_salvo"} <= {*names}
    params = {f"env.{name}": other_value(name) for name in names}
    params |= {"env.num_envs": 8, "env.seat": "blue", "env.opponent": "self", "train.seed": 99}
    assert Yardstick(trial_config(config, params)).measure(policy) == Yardstick(config).measure(
        policy
    )
    # The game does, and is the sweep's.
    game = trial_config(config, {"env.time_limit": 30})
    assert Yardstick(game).measure(policy) != Yardstick(config).measure(policy)


@pytest.mark.parametrize("threads", [1, 2])
def test_it_does_not_depend_on_what_was_drawn_before_nor_on_threads(tmp_path, threads):
    panel, policy = Yardstick(load(tmp_path)), random_policy()
    torch.manual_seed(1)
    expected = panel.measure(policy)
    torch.manual_seed(2)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert panel.measure(policy) == expected
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)

"""The models that come with the package: each is what its configuration makes, and fights."""

import numpy as np
import pytest
from places import ROOT

from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import UsageError
from midrange_puffer.gym import MidrangeVectorEnv
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.mix import MODEL, kind_of
from midrange_puffer.policies.models import CHAMPION, FOLDER, TRAINED, path_of, shipped_models

NAMES = sorted(path.parent.name for path in FOLDER.glob("*/config.ini"))


def test_there_is_one_for_each_configuration_of_a_main_run():
    assert NAMES == ["curriculum", "default", "selfplay"]
    assert list(shipped_models()) == [CHAMPION, TRAINED, *(f"{TRAINED}:{name}" for name in NAMES)]
    assert path_of(TRAINED) == path_of(f"{TRAINED}:default")


@pytest.mark.parametrize("name", NAMES)
def test_each_is_what_its_configuration_makes(name):
    path = path_of(f"{TRAINED}:{name}")
    _, model = load_policy(path)
    made_by = load_config(str(path.with_name("config.ini")), [])
    present = load_config(str(ROOT / "configs" / f"{name}.ini"), [])
    assert {section: dict(made_by[section]) for section in made_by} == {
        section: dict(present[section]) for section in present
    }
    assert model["policy"]["hidden_size"] == present["policy"]["hidden_size"]
    # Whole updates: the last one begins before the end of the run.
    assert 1 <= model["agent_steps"] / present["train"]["total_timesteps"] < 1.01


@pytest.mark.parametrize("name", NAMES)
def test_each_beats_the_hardest_pilot(name):
    policy, _ = load_policy(f"{TRAINED}:{name}")
    assert evaluate(policy, "ace", episodes=200, seed=0)["score"] > 0.8


def test_it_flies_the_other_seat_of_an_environment():
    """And shoots down who does nothing."""
    env = MidrangeVectorEnv(num_envs=4, opponent=TRAINED)
    env.reset(seed=0)
    idle, results = np.tile([2, 1, 0], (4, 1)), []
    while len(results) < 8:
        _, rewards, terminations, truncations, _ = env.step(idle)
        results += list(rewards[terminations | truncations])
    assert np.mean(np.array(results) < 0) > 0.7


def test_a_wrong_name_gets_the_right_one():
    assert kind_of("trained:selfpaly") == MODEL
    with pytest.raises(UsageError, match=r"trained:selfpaly.*did you mean 'trained:selfplay'"):
        path_of("trained:selfpaly")

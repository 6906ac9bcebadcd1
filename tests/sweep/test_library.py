"""A search from Python: it suggests within the space, and learns what it is told."""

import pytest

from midrange_puffer.training import ConfigError, Sweep, load_config

pytestmark = pytest.mark.usefixtures("quick_fit")

SPACE = {
    "sweep.train.learning_rate.distribution": "log_normal",
    "sweep.train.learning_rate.min": 0.001,
    "sweep.train.learning_rate.max": 0.1,
    "sweep.train.learning_rate.mean": 0.01,
    "sweep.policy.hidden_size.values": "32,64,128",
}


def score_of(rate: float) -> float:
    """Best at the upper end, and steep."""
    return rate / 0.1


def test_it_finds_the_better_end():
    sweep = Sweep(load_config(None, SPACE))
    assert sweep.best is None
    rates = []
    for number in range(12):
        trial = sweep.suggest()
        assert trial.number == number
        rate = trial.config["train"]["learning_rate"]
        assert rate == trial.params["train.learning_rate"]
        assert 0.001 <= rate <= 0.1
        assert trial.config["policy"]["hidden_size"] in (32, 64, 128)
        rates.append(rate)
        sweep.observe(trial, score_of(rate), seconds=10)
    assert rates[0] == pytest.approx(0.01)
    assert sweep.best.params["train.learning_rate"] == max(rates)
    assert max(rates) > 0.03


def test_failures_and_trials_side_by_side():
    sweep = Sweep(load_config(None, SPACE))
    one, other = sweep.suggest(), sweep.suggest()
    assert one.params != other.params
    assert one.config["train"]["seed"] != other.config["train"]["seed"]
    sweep.observe(other, None, seconds=3)
    assert sweep.best is None
    sweep.observe(one, 0.5, seconds=5)
    assert sweep.best.params == one.params
    assert sweep.best.config["train"]["seed"] == one.config["train"]["seed"]
    sweep.suggest()


def test_wrong_arguments_are_refused():
    with pytest.raises(ConfigError, match="varies nothing"):
        Sweep(load_config())
    sweep = Sweep(load_config(None, SPACE))
    with pytest.raises(ValueError, match=r"score = 3: must be from 0 to 1"):
        sweep.observe(sweep.suggest(), 3, seconds=1)
    for seconds in (float("nan"), 0.0):
        with pytest.raises(ValueError, match=rf"seconds = {seconds}: must be above 0 and finite"):
            sweep.observe(sweep.suggest(), 0.5, seconds)


def test_optimize_tries_each_suggestion():
    tried = []

    def score(config):
        tried.append(config.train.learning_rate)
        return 1 - abs(tried[-1] - 0.05) / 2

    sweep = Sweep(load_config(None, SPACE))
    best = sweep.optimize(score, 3)
    assert len(tried) == 3
    assert best.params["train.learning_rate"] == min(tried, key=lambda rate: abs(rate - 0.05))

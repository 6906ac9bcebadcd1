"""What a sweep tries next: repeatable, in the ranges, and wiser for what was seen."""

import random
from functools import partial

import numpy as np
import pufferlib.sweep
import pytest
import torch

from midrange_puffer.config import load_config
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, STOPPED, Reading, Trial
from midrange_puffer.sweep.search import Search
from midrange_puffer.sweep.space import Space

SPACE = """
[sweep.train.learning_rate]
distribution = log_normal
min = 0.0001
mean = 0.001
max = 0.1
[sweep.train.minibatch_size]
distribution = uniform_pow2
min = 1024
mean = 4096
max = 16384
[sweep.env.reward_threat]
distribution = uniform
min = 0
mean = 0.1
max = 0.3
"""


@pytest.fixture(autouse=True)
def _quick_fit(monkeypatch):
    """A tenth of the steps by which the surrogates are fitted: they matter little here."""
    train = pufferlib.sweep.gp.util.train
    monkeypatch.setattr(pufferlib.sweep.gp.util, "train", partial(train, num_steps=100))


def make_search(tmp_path, text=SPACE, *overrides):
    path = tmp_path / "sweep.ini"
    path.write_text(text)
    config = load_config(path, overrides)
    space = Space(config)
    return Search(config, space), space


def trial(number, params, score=0.5, seconds=10.0, status=FINISHED):
    readings = [] if score is None else [Reading(1000, seconds, score, {})]
    return Trial(number, params, number, 1000, status, readings)


def run(search, count, score, trials=()):
    """Suggest and score `count` trials; `score` of a trial's parameters is None where it fails."""
    trials = list(trials)
    while len(trials) < count:
        params = search.suggest(trials).params
        result = score(params)
        status = FAILED if result is None else FINISHED
        trials.append(trial(len(trials), params, result, status=status))
    return trials


@pytest.mark.parametrize("method", ["Protein", "ParetoGenetic", "Random"])
def test_suggestions_repeat_whoever_asks_and_when(tmp_path, method):
    def score(params):
        return params["env.reward_threat"]

    search, space = make_search(tmp_path, SPACE, f"--sweep.method={method}")
    trials = run(search, 3, score)
    anew, _ = make_search(tmp_path, SPACE, f"--sweep.method={method}")
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002, the generator that PufferLib draws from
    torch.manual_seed(1)
    assert run(anew, 3, score) == trials
    assert run(anew, 3, score, trials[:2]) == trials  # as a sweep that is resumed
    other, _ = make_search(tmp_path, SPACE, f"--sweep.method={method}", "--sweep.seed=1")
    assert run(other, 3, score)[1:] != trials[1:]
    for name, parameter in space.parameters.items():
        values = [trial.params[name] for trial in trials]
        assert all(parameter.minimum <= value <= parameter.maximum for value in values)
        assert len(set(values)) > 1 or parameter.key.kind is int


def test_a_suggestion_leaves_the_generators_as_they_were(tmp_path):
    search, space = make_search(tmp_path)

    def draw():
        return random.random(), np.random.rand(), torch.rand(1).item()  # noqa: NPY002

    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    undisturbed = draw()
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
    torch.set_rng_state(states[2])
    search.suggest([trial(0, space.center)])
    assert draw() == undisturbed


@pytest.mark.parametrize("method", ["Protein", "ParetoGenetic"])
def test_the_first_trial_is_at_the_means(tmp_path, method):
    search, space = make_search(tmp_path, SPACE, f"--sweep.method={method}")
    assert search.suggest([]).params == space.center


def test_trials_side_by_side_differ_from_the_first_on(tmp_path):
    search, space = make_search(tmp_path)
    running = trial(0, space.center, None, status=RUNNING)
    second = search.suggest([running]).params
    assert second != space.center
    assert search.suggest([running, trial(1, second, None, status=RUNNING)]).params not in (
        second,
        space.center,
    )


def test_protein_goes_where_the_score_rises(tmp_path):
    def score(params):  # the best is a learning rate of 0.01 and a weight of 0.25
        rate = np.log10(params["train.learning_rate"]) + 2
        return float(np.exp(-(rate**2) - 40 * (params["env.reward_threat"] - 0.25) ** 2))

    search, space = make_search(tmp_path)
    trials = run(search, 7, score)
    assert max(trial.score for trial in trials) > score(space.center) + 0.3


def test_failed_trials_are_told_as_failures_and_lead_nowhere(tmp_path):
    # Whatever has a learning rate above the mean fails, quickly; below it the score is 0.5.
    def score(params):
        return None if params["train.learning_rate"] > 0.001 else 0.5

    search, space = make_search(tmp_path)
    centre = trial(0, space.center)
    bad = [
        trial(n, {**space.center, "train.learning_rate": rate}, None, status=FAILED)
        for n, rate in enumerate((0.003, 0.01, 0.03, 0.1), start=1)
    ]
    suggestion = search.suggest([centre, *bad])
    assert suggestion.score > 0.3
    assert score(suggestion.params) == 0.5


def test_a_first_trial_that_fails_is_not_tried_again(tmp_path):
    search, space = make_search(tmp_path)
    suggestion = search.suggest([trial(0, space.center, None, status=FAILED)])
    assert suggestion.params != space.center


@pytest.mark.parametrize("method", ["Protein", "ParetoGenetic"])
@pytest.mark.parametrize("score", [None, 1.0])
def test_trials_that_went_alike_are_gone_on_from(tmp_path, method, score):
    options = (f"--sweep.method={method}", "--sweep.cost=agent_steps")
    search, _ = make_search(tmp_path, SPACE, *options)
    trials = run(search, 4, lambda params: score)
    assert len({tuple(trial.params.values()) for trial in trials}) == 4


def test_a_stopped_trial_costs_what_it_would_have_cost():
    stopped = Trial(0, {}, 0, 1000, STOPPED, [Reading(250, 5.0, 0.1, {})])
    finished = Trial(
        0, {}, 0, 1000, FINISHED, [Reading(250, 5.0, 0.1, {}), Reading(1024, 20, 1, {})]
    )
    assert stopped.cost == pytest.approx(20)
    assert finished.cost == pytest.approx(20)


def test_a_space_that_is_used_up_repeats_itself(tmp_path):
    text = "[sweep.train.update_epochs]\ndistribution = int_uniform\nmin = 1\nmean = 1\nmax = 3\n"
    text += "scale = 2\n"
    search, _ = make_search(tmp_path, text, "--sweep.method=Random")
    trials = run(search, 6, lambda params: 0.5)
    assert {trial.params["train.update_epochs"] for trial in trials} == {1, 2, 3}


def test_protein_suggests_nothing_that_it_expects_to_cost_too_much(tmp_path):
    # The cost grows a hundredfold with the learning rate; so does the score.
    def points(*overrides):
        search, space = make_search(tmp_path, SPACE, *overrides)
        rates = np.geomspace(0.0002, 0.05, 6)
        trials = [
            trial(n, {**space.center, "train.learning_rate": rate}, 0.1 * n, 10 * 2.5**n)
            for n, rate in enumerate(rates)
        ]
        return search.suggest(trials)

    assert points("--sweep.max-cost=100").cost < 100 < points().cost

"""The next trial of a sweep: repeatable, within the ranges, and better for what was seen."""

import math
import random

import numpy as np
import pufferlib.sweep
import pyro
import pytest
import torch
from sweeps import make_trial

from midrange_puffer.config.reading import load_config
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, STOPPED
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


pytestmark = pytest.mark.usefixtures("quick_fit")


def make_search(tmp_path, text=SPACE, *overrides):
    path = tmp_path / "sweep.ini"
    path.write_text(text)
    config = load_config(path, overrides)
    space = Space(config)
    return Search(config, space), space


def finished(number, params, score=0.5, seconds=10.0):
    """A trial that was trained for so long [s]; its start and its readings took 30 s more."""
    point = (1000, score, seconds)
    return make_trial(number, FINISHED, point, params=params, seconds=seconds + 30)


def run(search, count, score, trials=()):
    """Suggest and finish `count` trials with the score of their parameters."""
    trials = list(trials)
    while len(trials) < count:
        params = search.suggest(trials)
        trials.append(finished(len(trials), params, score(params)))
    return trials


@pytest.mark.parametrize("method", ["Protein", "ParetoGenetic", "Random"])
def test_suggestions_repeat_whoever_asks_and_when(tmp_path, method):
    def score(params):
        return params["env.reward_threat"]

    search, space = make_search(tmp_path, SPACE, f"--sweep.method={method}")
    trials = run(search, 3, score)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002, the generator that PufferLib draws from
    torch.manual_seed(1)
    anew, _ = make_search(tmp_path, SPACE, f"--sweep.method={method}")
    assert run(anew, 3, score) == trials
    resumed, _ = make_search(tmp_path, SPACE, f"--sweep.method={method}")
    assert run(resumed, 3, score, trials[:2]) == trials
    other, _ = make_search(tmp_path, SPACE, f"--sweep.method={method}", "--sweep.seed=1")
    assert run(other, 3, score)[1:] != trials[1:]
    for name, parameter in space.parameters.items():
        values = [trial.params[name] for trial in trials]
        assert all(parameter.minimum <= value <= parameter.maximum for value in values)
        assert len(set(values)) > 1 or parameter.key.kind is int


def test_a_suggestion_owes_nothing_to_those_before_it_in_the_process(tmp_path):
    """Pyro keeps the parameters of surrogates by their names, which all have in common."""
    search, space = make_search(tmp_path)

    def trials(score):
        tried = [
            {**space.center, "train.learning_rate": rate} for rate in np.geomspace(1e-4, 0.02, 6)
        ]
        return [finished(n, params, score(n), 10 + n) for n, params in enumerate(tried)]

    rising = trials(lambda n: 0.1 * n)
    expected = search.suggest(rising)
    pyro.clear_param_store()  # as in another process
    search.suggest(trials(lambda n: 0.9 * (n % 2)))
    assert search.suggest(rising) == expected


def test_a_suggestion_leaves_the_generators_as_they_were(tmp_path):
    search, space = make_search(tmp_path)

    def draw():
        return random.random(), np.random.rand(), torch.rand(1).item()  # noqa: NPY002

    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    undisturbed = draw()
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
    torch.set_rng_state(states[2])
    search.suggest([finished(0, space.center)])
    assert draw() == undisturbed


@pytest.mark.parametrize("method", ["Protein", "ParetoGenetic"])
def test_the_first_trial_is_at_the_means(tmp_path, method):
    search, space = make_search(tmp_path, SPACE, f"--sweep.method={method}")
    assert search.suggest([]) == space.center


def test_trials_side_by_side_differ_from_the_first_on(tmp_path):
    search, space = make_search(tmp_path)
    running = make_trial(0, RUNNING, params=space.center)
    second = search.suggest([running])
    assert second != space.center
    third = search.suggest([running, make_trial(1, RUNNING, params=second)])
    assert third not in (second, space.center)


@pytest.mark.parametrize("seed", range(3))
def test_protein_goes_on_where_the_score_rises(tmp_path, seed):
    """Its next trial beats all nine before it, which Random's does with no seed of twelve."""
    search, space = make_search(tmp_path, SPACE, f"--sweep.seed={seed}")

    def score(params):
        names = "train.learning_rate", "env.reward_threat"
        return sum(space.parameters[name].position(params[name]) for name in names) / 2

    trials = []
    for number, share in enumerate(np.linspace(0.1, 0.5, 9)):
        params = {
            "train.learning_rate": 1e-4 * 1000**share,
            "env.reward_threat": 0.3 * share,
            "train.minibatch_size": 1024 * 4 ** (number % 3),  # has to do with the cost only
        }
        trials.append(finished(number, params, score(params), 10 * 4 ** (number % 3)))
    assert score(search.suggest(trials)) > trials[-1].score


def test_a_first_trial_that_fails_is_not_tried_again(tmp_path):
    search, space = make_search(tmp_path)
    assert search.suggest([make_trial(0, FAILED, params=space.center)]) != space.center


@pytest.mark.parametrize("method", ["Protein", "ParetoGenetic"])
@pytest.mark.parametrize("status", [FAILED, FINISHED])
def test_trials_that_went_alike_are_gone_on_from(tmp_path, method, status):
    options = (f"--sweep.method={method}", "--sweep.cost=agent_steps")
    search, space = make_search(tmp_path, SPACE, *options)
    points = [(1000, 1.0)] if status == FINISHED else []
    tried = [{**space.center, "env.reward_threat": weight} for weight in (0.1, 0.15, 0.2)]
    trials = [make_trial(n, status, *points, params=params) for n, params in enumerate(tried)]
    assert search.suggest(trials) not in tried


def test_a_stopped_trial_costs_what_it_would_have_cost():
    assert make_trial(0, STOPPED, (250, 0.1, 5.0)).cost == pytest.approx(20)
    assert make_trial(0, FINISHED, (250, 0.1, 5.0), (1024, 1.0, 20.0)).cost == pytest.approx(20)


def test_a_space_that_is_used_up_repeats_itself(tmp_path):
    text = "[sweep.train.update_epochs]\ndistribution = int_uniform\nmin = 1\nmean = 1\nmax = 3\n"
    text += "scale = 2\n"
    search, _ = make_search(tmp_path, text, "--sweep.method=Random")
    trials = run(search, 6, lambda params: 0.5)
    assert {trial.params["train.update_epochs"] for trial in trials} == {1, 2, 3}


@pytest.mark.parametrize("method", ["Protein", "Random"])
def test_the_best_of_several_words_is_found(tmp_path, method):
    text = "[sweep.train.optimizer]\nvalues = muon,adam\n[sweep.env.num_envs]\nvalues = 8,32,64\n"
    search, space = make_search(tmp_path, text, f"--sweep.method={method}")
    best = {"train.optimizer": "adam", "env.num_envs": 64}
    trials = run(search, 6, lambda params: float(params == best))
    if method == "Protein":
        assert trials[0].params == space.center
    tried = {tuple(trial.params.values()) for trial in trials}
    assert len(tried) == 6  # each of them once


@pytest.mark.parametrize("seed", range(3))
def test_protein_suggests_nothing_that_it_expects_to_take_too_long(tmp_path, seed):
    """The cost grows a hundredfold with the learning rate, and so does the score."""

    def cost(rate):
        return 10 * 100 ** (math.log(rate / 0.0002) / math.log(250))

    def suggested(*options):
        search, space = make_search(tmp_path, SPACE, f"--sweep.seed={seed}", *options)
        trials = [
            finished(n, {**space.center, "train.learning_rate": rate}, 0.1 * n, cost(rate))
            for n, rate in enumerate(np.geomspace(0.0002, 0.05, 9))
        ]
        return cost(search.suggest(trials)["train.learning_rate"])

    assert 45 < suggested("--sweep.max-cost=80") < 55  # the rest of 80 s is not of training
    assert suggested() > 100


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        # What each one's training took; of a failed one no less than of any other, nor than it
        # took all in all.
        ("seconds", [10, 20, 20, 90]),
        ("agent_steps", [1000] * 4),
    ],
)
def test_a_failed_trial_is_told_as_the_worst_and_dear(tmp_path, monkeypatch, cost, expected):
    told = []

    def note(method, hypers, score, cost, is_failure=False):
        told.append((score, cost, is_failure))

    monkeypatch.setattr(pufferlib.sweep.Protein, "observe", note)
    search, space = make_search(tmp_path, SPACE, f"--sweep.cost={cost}")
    search.suggest([
        finished(0, space.center, seconds=10.0),
        finished(1, space.center, seconds=20.0),
        make_trial(2, FAILED, params=space.center, seconds=1.0),
        make_trial(3, FAILED, params=space.center, seconds=90.0),  # timed out
    ])  # fmt: skip
    assert [cost for _, cost, _ in told] == pytest.approx(expected, rel=1e-3)
    assert [score for score, *_ in told] == [0.5, 0.5, 0, 0]
    assert [is_failure for *_, is_failure in told] == [False, False, True, True]

"""`puffer average`: the mean of weights; it plays; what has no mean is refused."""

import frozen
import numpy as np
import pytest
import torch

from midrange_puffer.commands import cli
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import UserError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.train.run_folder import STATE


def run_average(*words: object) -> int:
    return cli.run("average", [str(word) for word in words])


@pytest.fixture
def run(tmp_path):
    """A folder with three checkpoints, each of other weights."""
    for number in (1, 2, 3):
        path = tmp_path / f"model_{number:06d}.pt"
        frozen.save(path, frozen.policy(seed=number), agent_steps=100 * number)
    (tmp_path / STATE).write_bytes(b"")
    return tmp_path


def test_weights_are_means_of_the_last(run):
    out = run / "average.pt"
    assert run_average("--run", run, "--last", 2, "--out", out) == 0
    policy, entries = load_policy(out)
    second, third = (frozen.policy(seed=number).state_dict() for number in (2, 3))
    for name, weight in policy.state_dict().items():
        middle = (second[name].double() + third[name].double()) / 2
        torch.testing.assert_close(weight.double(), middle, rtol=1e-6, atol=1e-7)
    assert entries["agent_steps"] == 300
    assert entries["panel"] is None


def test_the_average_of_equals_fights_as_they_do(run):
    first, out = run / "model_000001.pt", run / "average.pt"
    assert run_average(first, first, first, first, "--out", out) == 0
    alone, together = (evaluate(path, "ace", episodes=20, time_limit=30) for path in (first, out))
    assert alone == together


def test_policies_of_two_kinds_have_no_average(tmp_path):
    with pytest.raises(UserError, match="policies of one kind"):
        run_average("trained", "trained:selfplay", "--out", tmp_path / "a.pt")
    assert not (tmp_path / "a.pt").exists()


def test_memory_is_averaged_too(tmp_path):
    """The average of two recurrent policies computes something else than either."""
    paths = [tmp_path / f"{seed}.pt" for seed in (1, 2)]
    for seed, path in zip((1, 2), paths, strict=True):
        frozen.save(path, frozen.policy(seed, recurrent=True))
    assert run_average(*paths, "--out", tmp_path / "average.pt") == 0
    states = [load_policy(path)[0].state_dict() for path in (*paths, tmp_path / "average.pt")]
    assert any("lstm" in name for name in states[0])
    for name in states[0]:
        first, second, mean = (state[name].numpy() for state in states)
        np.testing.assert_allclose(mean, (first + second) / 2, rtol=1e-5, atol=1e-7)

"""The policy with a memory that is attention."""

from pathlib import Path

import numpy as np
import pytest
import runs
import torch
from machines import machine

from midrange_puffer import _core
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.networks import make_policy, policy_class
from midrange_puffer.policies.own_policy import empty_memory
from midrange_puffer.policies.player import Player

WINDOW, HORIZON, AGENTS = 5, 14, 6
SMALL = {"hidden_size": 16, "heads": 2, "decisions": WINDOW}


def looking_back(
    action_mode: str = "discrete", sizes: tuple[int, int] = (1, 1), **settings: object
) -> PolicyModule:
    """Returns an `Attention` with large random weights, so that what it remembers matters."""
    torch.manual_seed(0)
    spaces = spaces_of("default" if sizes == (1, 1) else _core.TEAM, action_mode, *sizes)
    policy = make_policy(spaces, SMALL | settings, policy_class=policy_class("Attention")).eval()
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return policy


def seen(policy: PolicyModule) -> torch.Tensor:
    shape = (AGENTS, HORIZON, policy.features)
    return torch.rand(shape, generator=torch.manual_seed(1)) * 2 - 1


def starts() -> torch.Tensor:
    """Returns where engagements begin: none, at once, late, twice, in a row, at the end."""
    done = torch.zeros(AGENTS, HORIZON)
    for agent, steps in enumerate([(), (0,), (9,), (3, 11), (6, 7), (HORIZON - 1,)]):
        done[agent, list(steps)] = 1
    return done


def flat(outputs: object) -> torch.Tensor:
    parts = [outputs.loc, outputs.scale] if hasattr(outputs, "loc") else list(outputs)
    return torch.cat(parts, dim=1)


@pytest.mark.parametrize(
    ("action_mode", "sizes"), [("discrete", (1, 1)), ("continuous", (1, 1)), ("discrete", (2, 3))]
)
def test_decision_by_decision_is_what_the_update_computes(action_mode, sizes):
    policy = looking_back(action_mode, sizes)
    assert bool(policy.policy.rows) == (sizes != (1, 1))
    observations, done = seen(policy), starts()
    state, actions, values = empty_memory(policy, AGENTS), [], []
    with torch.no_grad():
        for step in range(HORIZON):
            state["done"] = done[:, step] > 0
            outputs, value = policy.forward_eval(observations[:, step], state)
            actions.append(flat(outputs))
            values.append(value[:, 0])
        at_once, value = policy(observations, {"done": done})
    expected = torch.stack(actions, 1).flatten(0, 1)
    assert torch.allclose(flat(at_once), expected, atol=1e-5)
    assert torch.allclose(value, torch.stack(values, 1), atol=1e-5)


def test_a_decision_depends_on_the_last_ones_of_its_engagement_and_on_no_other():
    policy, done = looking_back(), starts()
    observations = seen(policy).requires_grad_()
    _, values = policy(observations, {"done": done})
    engagement = done.cumsum(1)
    for step in range(HORIZON):
        (gradient,) = torch.autograd.grad(values[:, step].sum(), observations, retain_graph=True)
        depends = gradient.abs().amax(dim=2) > 0
        steps = torch.arange(HORIZON)
        is_near = (steps <= step) & (steps > step - WINDOW)
        assert (depends == is_near & (engagement == engagement[:, step, None])).all()


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3)])
def test_every_weight_learns(sizes):
    policy = looking_back(sizes=sizes)
    outputs, values = policy(seen(policy), {"done": starts()})
    (flat(outputs).square().mean() + values.square().mean()).backward()
    for name, parameter in policy.named_parameters():
        assert parameter.grad.abs().max() > 1e-8, name


def test_a_player_forgets_only_the_engagements_that_start_anew():
    policy = looking_back()
    players = [Player(policy, 3, seed=0, greedy=True) for _ in range(2)]
    rng = np.random.default_rng(2)
    first, second = rng.uniform(-1, 1, (2, 3, policy.features)).astype(np.float32)
    envs = np.arange(3)
    players[0].see(first, envs)
    players[0].reset(np.array([1]))
    after = flat(players[0].see(second, envs))
    fresh = flat(players[1].see(second, envs))
    assert torch.equal(after[1], fresh[1])
    assert not torch.isclose(after[[0, 2]], fresh[[0, 2]], atol=1e-4).all(1).any()


def test_it_begins_as_the_policy_without_a_memory():
    spaces = spaces_of("default")
    policy = make_policy(spaces, SMALL, policy_class=policy_class("Attention"))
    observations = seen(policy)
    outputs, _ = policy(observations, {"done": starts()})
    expected, _ = policy.policy(observations.flatten(0, 1))
    assert torch.allclose(flat(outputs), flat(expected), atol=1e-6)


@pytest.mark.slow
def test_trains_resumes_evaluates_replays_and_exports(tmp_path: Path, capsys):
    """No command needs to be told its class, and a run can go on from its model."""
    words = ["--policy-name=Attention", "--policy.hidden-size=16", "--policy.decisions=8"]
    assert runs.train(tmp_path, *words) == 0
    folder = tmp_path / "run"
    policy, entries = load_policy(sorted(folder.glob("model_*.pt"))[-1])
    assert entries["policy_name"] == "Attention"
    assert policy.decisions == 8
    model, replays = str(folder), str(tmp_path / "replays")
    assert runs.resume(folder, "--train.total-timesteps=16384") == 0
    for mode, *words in (
        ["eval", "--load-model-path", model, "--opponent", "ace", "--episodes", "4",
         "--save-replays", "1", "--replay-dir", replays],
        ["export", "--load-model-path", model, "--onnx", str(tmp_path / "a.onnx")],
        ["eval", "--load-model-path", str(tmp_path / "a.onnx"), "--opponent", model,
         "--episodes", "4"],
    ):  # fmt: skip
        short = [] if mode == "export" else ["--env.time-limit", "60"]
        assert cli.run(mode, [*words, *short]) == 0
    assert "bit-exact" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policy.heads", "3"], r"policy.hidden_size = 64: must be a multiple of heads = 3"),
        (["--rnn-name", "Recurrent"], r"Attention has a memory of its own; must be None"),
        (["--train.engine", "native"], r"computes the package's MLP, not Attention"),
        (["--policy.decisions", "1"], r"must be an integer from 2 to 1024"),
        (["--train.batch-size", "131072"], r"whose memory is empty only where an update begins"),
    ],
)
def test_settings_that_do_not_fit_are_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        settle(load_config(None, ["--policy-name", "Attention", *words]), machine(4))

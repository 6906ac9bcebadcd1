"""The user's own policies: the examples, the requirements, and the places where code runs."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import runs
import torch
from places import EXAMPLES
from torch import nn

from midrange_puffer.checkpoint import CheckpointError, LevelActor, load_policy, own_policy
from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.envs.pool_crew import PoolCrew
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies import own_policy as registry
from midrange_puffer.policies.exported import ExportedPolicy, to_onnx
from midrange_puffer.policies.model_file import save_model
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.policies.own_code import OwnCodeError, absolute, short_name
from midrange_puffer.policies.own_policy import check_outputs, make_own
from midrange_puffer.sweep.space import Space
from midrange_puffer.train.run_folder import read_run

GRU = f"{EXAMPLES / 'gru.py'}:GRU"
ATTENTION = f"{EXAMPLES / 'missile_attention.py'}:MissileAttention"
SPACES = spaces_of("default")
FEATURES = SPACES.single_observation_space.shape[0]


def seen(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, FEATURES, generator=torch.manual_seed(1)) * 2 - 1


PLAIN = """
import torch
from torch import nn

class Plain(nn.Module):
    def __init__(self, env, width=8):
        super().__init__()
        self.body = nn.Linear(env.single_observation_space.shape[0], width)
        self.heads = nn.ModuleList(nn.Linear(width, int(n)) for n in env.single_action_space.nvec)
        self.value = nn.Linear(width, 1)

    def forward_eval(self, observations, state=None):
        hidden = torch.tanh(self.body(observations))
        return tuple(head(hidden) for head in self.heads), self.value(hidden)

    forward = forward_eval
"""


def test_a_policy_without_hidden_size_flies_in_every_shipped_configuration(tmp_path, capsys):
    """Keys of files for the package's policy are left out, with a word; typed ones are errors."""
    path = tmp_path / "plain_policy.py"
    path.write_text(PLAIN)
    words = ["--policy-name", f"{path}:Plain"]
    config = load_config("configs/default.ini", words)
    assert dict(config.policy) == {"width": 8}
    assert "[policy] hidden_size: no argument of" in capsys.readouterr().err
    with pytest.raises(ConfigError, match=r"--policy.hidden-size: no such key"):
        load_config("configs/default.ini", [*words, "--policy.hidden-size", "64"])
    short = ["--train.total-timesteps=65536", "--train.replay-interval=0"]
    where = [f"--train.data-dir={tmp_path}", "--train.run-name=run"]
    assert cli.run("train", ["--config", "configs/default.ini", *words, *short, *where]) == 0


# The examples


def test_the_gru_learns_from_what_it_does():
    """Whole segments give the same outputs as single decisions."""
    policy = make_own(own_policy(GRU), SPACES, hidden_size=16)
    observations, done = seen(5, 7), torch.zeros(5, 7)
    done[1, 3] = done[2, 0] = done[2, 6] = 1
    state = {name: torch.zeros(5, 16) for name in ("lstm_h", "lstm_c")}
    logits, values = [], []
    for step in range(7):
        state["done"] = done[:, step] > 0
        distribution, value = policy.forward_eval(observations[:, step], state)
        logits.append(torch.cat(distribution, dim=1))
        values.append(value[:, 0])
    at_once, value = policy(observations, {"done": done})
    expected = torch.stack(logits, 1).flatten(0, 1)
    assert torch.allclose(torch.cat(at_once, dim=1), expected, atol=1e-6)
    assert torch.allclose(value, torch.stack(values, 1), atol=1e-6)
    assert values[4].std() > 1e-4


def test_the_order_of_missiles_does_not_matter():
    module = own_policy(ATTENTION)
    policy = make_own(module, SPACES).eval()
    observations = seen(32)
    places = torch.tensor(sys.modules["missile_attention"].MISSILES)
    observations[:, places[1, 0]] = 0  # the second inbound one is not there, whatever else is said
    turned = observations.clone()
    turned[:, places[0]], turned[:, places[2]] = (
        observations[:, places[2]],
        observations[:, places[0]],
    )
    turned[:, places[3]], turned[:, places[4]] = (
        observations[:, places[4]],
        observations[:, places[3]],
    )
    turned[:, places[1, 1:]] = 0.5
    one, other, another = (policy(x)[1] for x in (observations, turned, seen(32).flip(0)))
    assert torch.allclose(one, other, atol=1e-6)
    assert not torch.allclose(one, another, atol=1e-3)


@pytest.mark.slow
def test_attention_is_exported(tmp_path):
    """The export works for any number of agents, and within the limit of weights."""
    config = load_config(None, ["--policy-name", ATTENTION, "--policy.hidden-size", "16"])
    policy = make_own(own_policy(ATTENTION), SPACES, **config["policy"]).eval()
    save_model(tmp_path / "model.pt", config, policy.state_dict(), 1)
    data = to_onnx(*load_policy(tmp_path / "model.pt"))
    exported = ExportedPolicy(data, tmp_path / "model.onnx")
    for agents in (1, 5):
        observations = seen(agents)
        ours, _ = exported.forward_eval(observations, {})
        theirs, _ = policy(observations)
        assert torch.allclose(torch.cat(ours, 1), torch.cat(theirs, 1), atol=1e-5)


def test_without_missiles_there_is_nothing_to_look_at_but_numbers():
    policy = make_own(own_policy(ATTENTION), SPACES)
    logits, value = policy(torch.zeros(3, FEATURES))
    assert all(torch.isfinite(part).all() for part in (*logits, value))


# What is asked of a policy


class Good(nn.Module):
    """A minimal policy."""

    def __init__(self, env: object, width: int = 8) -> None:
        super().__init__()
        self.encoder = nn.Linear(env.single_observation_space.shape[0], width)
        self.actor = LevelActor(width, env.single_action_space.nvec.tolist())
        self.critic = nn.Linear(width, 1)

    def encode_observations(self, observations: torch.Tensor, state: object = None) -> torch.Tensor:
        return torch.tanh(self.encoder(observations))

    def decode_actions(self, hidden: torch.Tensor) -> tuple:
        return self.actor(hidden), self.critic(hidden)

    def forward(self, observations: torch.Tensor, state: object = None) -> tuple:
        return self.decode_actions(self.encode_observations(observations))

    forward_eval = forward


class Wide(Good):
    def decode_actions(self, hidden):
        return torch.cat(self.actor(hidden), dim=1), self.critic(hidden)


class Flat(Good):
    def decode_actions(self, hidden):
        return self.actor(hidden), self.critic(hidden)[:, 0]


class Alone(Good):
    def decode_actions(self, hidden):
        return self.actor(hidden)


class Wrong(Good):
    def decode_actions(self, hidden):
        return self.actor(hidden), self.critic(hidden @ hidden)


class Forgetful(Good):
    memory_size = 4

    def forward_eval(self, observations, state):
        state["lstm_h"] = state["lstm_h"][:1]
        return self.forward(observations)


class AtHome(Good):
    def forward_eval(self, observations, state):
        return self.forward(observations * ~state["done"][:, None])


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Wide, r"Wide.forward_eval: its actions are \[3, 10\], expected logits, a tuple"),
        (Flat, r"Flat.forward_eval: its values are \[3\], expected \[3, 1\]"),
        (Alone, r"Alone.forward_eval: its values are \[3, 3\]|gives a \w+, not \(actions"),
        (Wrong, r"Wrong.forward_eval: RuntimeError: .* \(.*test_own_policy.py, line \d+\)"),
        (Forgetful, r'forward_eval: leaves state\["lstm_h"\] of shape \[1, 4\], expected \[3, 4\]'),
        (AtHome, r"AtHome.forward_eval: KeyError: 'done' \(.*line \d+\)"),  # fights have none
    ],
)
def test_a_policy_without_actions_is_refused_with_the_expected_form(policy, message):
    check_outputs(make_own(Good, SPACES), SPACES)
    with pytest.raises(OwnCodeError, match=message):
        check_outputs(make_own(policy, SPACES), SPACES)


def test_it_may_be_wrapped_in_an_lstm():
    policy = make_policy(
        SPACES, {"width": 8}, "Recurrent", {"input_size": 8, "hidden_size": 8}, Good
    )
    assert policy.memory_size == 8
    check_outputs(policy, SPACES)


def test_its_arguments_are_keys():
    config = load_config(None, ["--policy-name", GRU, "--policy.hidden-size", "48"])
    assert config["policy"] == {"hidden_size": 48}
    assert config["base"]["policy_name"] == absolute(GRU)
    with pytest.raises(ConfigError, match=r"policy.hiden-size: no such key; did you mean.*hidden"):
        load_config(None, ["--policy-name", GRU, "--policy.hiden-size", "48"])
    with pytest.raises(ConfigError, match=r"hidden-size = wide: must be an integer"):
        load_config(None, ["--policy-name", GRU, "--policy.hidden-size", "wide"])


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("class A: pass", "A", "A: is the class A, expected a subclass of torch.nn.Module"),
        ("class A: pass", "B", "has no B"),
        ("import torch\nclass A(torch.nn.Module):\n  def __init__(self, env, width): 1", "A",
         "its argument width needs a default"),
        ("\nraise ValueError('no')", "A", r"not import: ValueError: no \(.*own_net.py, line 2"),
    ],
)  # fmt: skip
def test_a_class_that_is_no_policy_is_refused(tmp_path, monkeypatch, text, name, message):
    monkeypatch.delitem(sys.modules, "own_net", raising=False)
    (tmp_path / "own_net.py").write_text(text)
    with pytest.raises(OwnCodeError, match=message):
        load_config(None, ["--policy-name", f"{tmp_path / 'own_net.py'}:{name}"])
    sys.modules.pop("own_net", None)


@pytest.mark.parametrize("name", ["Polcy", "a,b:C", "file.py", ":C", "file.py:"])
def test_a_name_of_another_form_is_refused(name):
    with pytest.raises(
        ConfigError, match=r"must be Policy or Attention, or module:Name or path/file.py:Name"
    ):
        load_config(None, ["--policy-name", name])


# Where its code runs


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A short run of the GRU with a user's own reward."""
    folder = tmp_path_factory.mktemp("own")
    words = ["--policy-name", GRU, "--policy.hidden-size", "16"]
    words += ["--env-class", f"{EXAMPLES / 'standoff.py'}:Standoff", "--env.standoff-bonus", "0.5"]
    assert runs.train(folder, *words) == 0
    return folder / "run"


def last_told(run: Path) -> dict[str, float]:
    """Returns the last row of a run with finished engagements."""
    return [row for row in runs.rows(run) if "environment/score" in row][-1]


@pytest.fixture
def unnamed(monkeypatch):
    """The state of a new process, in which no policy has been named."""
    monkeypatch.setattr(registry, "_named", {})


@pytest.mark.slow
def test_a_run_is_paid_its_own_reward_and_resumed(trained):
    row = last_told(trained)
    parts = [value for name, value in row.items() if name.startswith("environment/reward_")]
    assert row["environment/reward_standoff"] == 0  # 3 to 6 km apart
    assert len(parts) == 7
    assert sum(parts) == pytest.approx(row["environment/episode_return"], abs=1e-4)
    returns = [row[f"environment/episode_return{end}"] for end in ("_min", "", "_max")]
    assert returns == sorted(returns)
    assert returns[0] < returns[2]
    assert runs.resume(trained, "--train.total-timesteps=12000", "--env.standoff-range=10") == 0
    assert last_told(trained)["environment/reward_standoff"] > 0.1


@pytest.mark.slow
def test_a_run_whose_code_was_moved_is_resumed_where_it_is_named(trained, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    config = (run / "config.ini").read_text().replace(f"{EXAMPLES}/", "/nowhere/")
    (run / "config.ini").write_text(config)
    more = "--train.total-timesteps=20000"
    with pytest.raises(OwnCodeError, match=r"/nowhere/\w+.py: no such file"):
        runs.resume(run, more)
    words = ["--policy-name", GRU, "--env-class", f"{EXAMPLES / 'standoff.py'}:Standoff"]
    assert runs.resume(run, more, *words) == 0
    with pytest.raises(ConfigError, match=r"base.policy_name: is .*gru.py:GRU in .* cannot become"):
        runs.resume(run, "--train.total-timesteps=30000", "--policy-name", ATTENTION, *words[2:])


@pytest.mark.slow
def test_a_model_is_loaded_only_where_its_policy_is_named(trained, unnamed):
    path = sorted(trained.glob("model_*.pt"))[-1]
    with pytest.raises(CheckpointError, match=r"its policy is gru:GRU, which is no part of this"):
        load_policy(path)
    own_policy(GRU)
    policy, about = load_policy(path)
    assert about["policy_name"] == "gru:GRU"
    assert about["policy"] == {"hidden_size": 16}
    assert "standoff_bonus" not in about["env"]
    assert policy.memory_size == 16


@pytest.mark.slow
def test_the_commands_take_it_where_it_is_named(trained, tmp_path, capfd, unnamed):
    path = str(sorted(trained.glob("model_*.pt"))[-1])
    where, name = ["--load-model-path", path], ["--policy-name", GRU]
    with pytest.raises(CheckpointError, match=r"--policy-name gru:GRU"):
        cli.run("eval", [*where, "--episodes", "8", "--opponent", "straight"])
    assert cli.run("eval", [*where, *name, "--episodes", "8", "--opponent", "straight"]) == 0
    onnx = str(tmp_path / "gru.onnx")
    assert cli.run("export", [*where, *name, "--onnx", onnx]) == 0
    league = [path, onnx, "--pilots", "straight", "--games", "8", *name]
    assert cli.run("league", league) == 0
    assert "model_" in capfd.readouterr().out
    exported, _ = load_policy(onnx)
    assert exported.memory_size == 16


@pytest.mark.slow
def test_it_fights_in_a_pool(trained, tmp_path):
    from midrange_puffer.train.pool import Pool

    own_policy(GRU)
    model = shutil.copy(sorted(trained.glob("model_*.pt"))[-1], tmp_path)
    pool = Pool(tmp_path, load_config(None)["pool"])
    pool.add(Path(model), 1)
    pool.refresh()
    crew = PoolCrew(pool.path, 6, 0, FEATURES, 1)
    controls = crew.act(np.zeros((6, FEATURES), np.float32))
    assert controls.shape == (6, 3)


@pytest.mark.slow
def test_looking_at_runs_runs_no_code(trained, tmp_path):
    """`puffer runs`, in a new process, lists a run that names a file without importing the file."""
    config = (trained / "config.ini").read_text()
    for name in ("gru", "standoff"):
        config = config.replace(str(EXAMPLES / name), str(tmp_path / "hostile"))
    run = tmp_path / "runs" / "stranger"
    run.mkdir(parents=True)
    (run / "config.ini").write_text(config)
    (tmp_path / "hostile.py").write_text("raise SystemExit('code has run')")
    words = ["runs", "midrange", "--train.data-dir", str(run.parent)]
    done = subprocess.run(
        [sys.executable, "-m", "midrange_puffer", *words], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "stranger" in done.stdout
    assert "code has run" not in done.stdout + done.stderr
    assert read_run(run).config["env"]["standoff_bonus"] == "0.5"


def test_names_are_short_and_whole():
    assert short_name("some/where/net.py:Net") == "net:Net"
    assert short_name("package.net:Net") == "package.net:Net"
    assert absolute("net.py:Net") == f"{Path.cwd() / 'net.py'}:Net"
    assert absolute("package.net:Net") == "package.net:Net"


def test_an_own_policys_settings_may_be_swept_and_set_by_stages():
    standoff = ["--env-class", f"{EXAMPLES / 'standoff.py'}:Standoff"]
    varied = ["sweep.env.standoff_bonus", "sweep.policy.hidden_size"]
    ranges = {"distribution": "uniform", "min": 1, "max": 9, "mean": 5}
    words = [f"--{name}.{part}={value}" for name in varied for part, value in ranges.items()]
    stages = ["--curriculum.stages=a,b", "--curriculum.a.max-steps=1000"]
    stages += ["--curriculum.b.env.standoff_range=30000"]
    config = load_config(None, [*standoff, "--policy-name", GRU, *words, *stages])
    assert set(Space(config).parameters) == {name.removeprefix("sweep.") for name in varied}
    assert config["curriculum.b"]["env.standoff_range"] == 30000
    with pytest.raises(ConfigError, match=r"cannot vary env.standof_bonus; did you mean"):
        load_config(None, [*standoff, "--sweep.env.standof_bonus.min=1"])

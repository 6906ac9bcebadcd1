"""The engines of training compute the same run."""

import shutil
import subprocess
import sys

import pytest
import runs
import torch
from machines import machine

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.train import run as train
from midrange_puffer.train import run_folder

ADAM = ("--train.optimizer=adam", "--train.learning-rate=0.003")


def weights(run) -> dict[str, torch.Tensor]:
    """Returns the weights of a run's last checkpoint."""
    state = run_folder.load_state(run)
    return torch.load(run / state["model"], weights_only=True)["weights"]


def averages(run) -> list[torch.Tensor]:
    """Returns the optimizer's state in the last checkpoint."""
    state = run_folder.load_state(run)["optimizer"]["state"]
    kept = ("momentum", "exp_avg", "exp_avg_sq", "step")
    return [state[index][name] for index in state for name in kept if name in state[index]]


@pytest.mark.parametrize("options", [[], ADAM, ["--env.action-mode=continuous"]])
def test_a_run_goes_on_with_the_other_engine(tmp_path, options):
    """From a checkpoint of either engine, both compute the same next update."""
    for first in ("torch", "native"):
        folder = tmp_path / first
        folder.mkdir()
        words = [*options, "--train.total-timesteps=4096", "--train.anneal-lr=False"]
        assert runs.train(folder, *words, f"--train.engine={first}") == 0
        for engine in ("torch", "native"):
            shutil.copytree(folder / "run", folder / engine)
            words = ["--train.total-timesteps=5120", f"--train.engine={engine}"]
            assert runs.resume(folder / engine, *words) == 0
        before, *after = (weights(folder / name) for name in ("run", "torch", "native"))
        moved = max(float((after[0][name] - before[name]).abs().max()) for name in before)
        assert moved > 1e-3
        for name in before:
            torch.testing.assert_close(after[0][name], after[1][name], rtol=0, atol=1e-4 * moved)
        for one, other in zip(
            *(averages(folder / name) for name in ("torch", "native")), strict=True
        ):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        ["--train.minibatch-size=512", "--train.max-minibatch-size=32"],  # not 64
        ["--experience-buffer.capacity=64", "--experience-buffer.share=0.5"],
        ["--train.batch-size=2048", "--vec.backend=Multiprocessing", "--vec.num-envs=2",
         "--vec.num-workers=2", "--vec.batch-size=1"],  # two horizons, of a worker at a time
    ],
)  # fmt: skip
def test_both_engines_learn_the_same_of_any_batch(tmp_path, options):
    """Equal to rounding, from the first update on."""
    found = []
    for engine in ("torch", "native"):
        folder = tmp_path / engine
        folder.mkdir()
        words = ["--train.total-timesteps=4096", "--train.learning-rate=0.003"]
        assert runs.train(folder, *options, *words, f"--train.engine={engine}") == 0
        found.append(weights(folder / "run"))
    for name, one in found[0].items():
        torch.testing.assert_close(one, found[1][name], rtol=0, atol=2e-4)


def test_threads_make_no_difference_to_a_run(tmp_path, monkeypatch):
    """Rows and weights are equal to the bit, also with frozen opponents."""
    rows, found = [], []
    monkeypatch.setattr(train, "this_machine", lambda: machine(8))
    for threads in (1, 2, 5):
        folder = tmp_path / str(threads)
        folder.mkdir()
        words = ["--env.opponent=self:1,straight:1,pool:2", "--train.minibatch-size=256"]
        assert runs.train(folder, *words, f"--train.threads={threads}") == 0
        rows.append(runs.timeless(folder / "run"))
        found.append(weights(folder / "run"))
    assert rows[0] == rows[1] == rows[2]
    for others in found[1:]:
        assert all(torch.equal(found[0][name], others[name]) for name in others)


@pytest.mark.parametrize("layers", [1, 3])
def test_other_depths_train_and_go_on(tmp_path, layers):
    assert runs.train(tmp_path, f"--policy.hidden-layers={layers}") == 0
    run = tmp_path / "run"
    assert sum(name.startswith("encoder") for name in weights(run)) == 2 * layers
    assert runs.resume(run, "--train.total-timesteps=9216") == 0
    with pytest.raises(ConfigError, match=r"policy.hidden_layers: is \d in .* cannot become 2"):
        runs.resume(run, "--policy.hidden-layers=2", "--train.total-timesteps=10240")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--base.rnn-name=Recurrent"], "it has no memory, which base.rnn_name = Recurrent asks"),
        (["--policy.hidden-size=100"], "policy.hidden_size = 100 is no multiple of 16, as 96 is"),
        (["--policy.hidden-size=1040"], "policy.hidden_size = 1040 is more than 1024"),
        (["--policy.hidden-size=5"], "policy.hidden_size = 5 is no multiple of 16, as 16 is"),
        (["--train.compile=True"], "train.compile is for torch"),
        (["--train.device=cuda"], "it computes on the CPU, not on cuda"),
    ],
)
def test_an_engine_that_cannot_serve_is_refused_or_not_chosen(words, reason, capsys):
    here = machine(4, gpus=1)
    words = ["--train.device=cpu", *words]
    with pytest.raises(ConfigError, match=f"train.engine = native: {reason}.*; use auto or torch"):
        settle(load_config(None, [*words, "--train.engine=native"]), here)
    config = settle(load_config(None, words), here)
    assert config["train"]["engine"] == "torch"
    assert f"engine torch ({reason}" in capsys.readouterr().out


def test_more_threads_than_cores_are_refused():
    config = load_config(None, ["--train.threads=5"])
    with pytest.raises(
        ConfigError, match=r"train.threads = 5: there are 4 physical cores; use auto"
    ):
        settle(config, machine(4))


def test_native_is_chosen_where_it_can_serve(capsys):
    config = settle(load_config(None, []), machine(64))
    assert (config["train"]["engine"], config["train"]["threads"]) == ("native", 16)
    assert "engine native (an MLP in float32 on the CPU), threads 16" in capsys.readouterr().out


def test_an_optimizer_is_made_without_torchs_compiler():
    """Its import would take longer than all others together."""
    code = (
        "import sys, torch\n"
        "from midrange_puffer.train.optimizer import Muon, skip_dynamo_import\n"
        "skip_dynamo_import()\n"
        "parameters = [*torch.nn.Linear(2, 2).parameters()]\n"
        "for optimizer in (Muon(parameters, 0.1, 0.9), torch.optim.Adam(parameters)):\n"
        "    optimizer.load_state_dict(optimizer.state_dict())\n"
        "assert 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

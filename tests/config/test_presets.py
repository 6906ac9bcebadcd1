"""The configurations for GPUs and clusters, and what those for GPUs set, on the CPU."""

import pytest
import runs
import torch
from places import CONFIGS
from pufferlib.pytorch import sample_logits

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.policies import model_file
from midrange_puffer.policies.networks import make_policy

MAIN = CONFIGS / "default.ini"
PRESETS = sorted(CONFIGS.glob("gpu_*.ini"))
# In what they may differ from the main job.
SIZES = {
    "env.num_envs", "policy.hidden_size", "train.device", "train.total_timesteps",
    "train.minibatch_size", "train.max_minibatch_size", "train.precision", "train.compile",
    "train.pin_memory",
}  # fmt: skip
# What a CPU cannot do or does slowly.
ON_CPU = ["--train.device=cpu", "--train.precision=float32", "--train.compile=False"]


def test_there_is_one_for_each_size():
    assert [path.stem for path in PRESETS] == ["gpu_large", "gpu_middle", "gpu_small"]


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_it_trains_when_it_is_cut_down(path, tmp_path):
    words = ["--config", str(path), "--train.data-dir", str(tmp_path), "--train.run-name=run"]
    words += ["--env.num-envs=32", "--train.minibatch-size=1024", "--train.total-timesteps=4096"]
    words += ["--policy.hidden-size=16", "--train.replay-interval=0"]
    assert cli.run("train", [*words, *ON_CPU]) == 0
    assert runs.rows(tmp_path / "run")[-1]["agent_steps"] == 4096


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_it_is_the_main_job_in_as_many_steps_on_larger_minibatches(path):
    preset, main = load_config(path), load_config(MAIN)
    changed = {
        f"{section}.{key}"
        for section, values in preset.items()
        for key, value in values.items()
        if value != main[section][key]
    }
    assert changed <= SIZES
    ours, theirs = preset.train, main.train
    assert ours.minibatch_size > theirs.minibatch_size
    steps = [train.total_timesteps / train.minibatch_size for train in (ours, theirs)]
    assert steps[0] == steps[1]
    assert ours.max_minibatch_size >= ours.minibatch_size


def test_the_main_job_on_a_cluster_is_the_main_job():
    preset, main = load_config(CONFIGS / "cluster.ini"), load_config(MAIN)
    assert preset.cluster.engine == "ray"
    assert main.cluster.engine is None
    beside = main.keys() - {"cluster"}
    assert preset.only(beside) == main.only(beside)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--train.precision=bfloat16"], "train.precision = bfloat16: needs CUDA, not cpu"),
        (
            ["--train.compile", "--rnn-name=Recurrent"],
            "train.compile_fullgraph = True: torch compiles no LSTM",
        ),
    ],
)
def test_an_expression_that_cannot_be_computed_is_refused(tmp_path, words, message):
    with pytest.raises(ConfigError, match=message):
        runs.train(tmp_path, *words)


def test_bfloat16_hardly_changes_probabilities():
    """If they were bfloat16, too, the ratios of PPO would be off by 1 %."""
    torch.manual_seed(0)
    config = load_config()
    policy = make_policy(model_file.policy_spaces(config.env), {"hidden_size": 64})
    observations = torch.randn(4096, policy.features)
    with torch.no_grad():
        logits, _ = policy(observations)
        actions, logprobs, _ = sample_logits(logits)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, _ = policy(observations)
            _, rounded, _ = sample_logits(logits, action=actions)
    assert rounded.dtype == torch.float32
    assert (rounded - logprobs).abs().mean() < 0.001

"""Training on a GPU: the same update as on the CPU, every setting that is for it, and nccl."""

import copy
import os
import re
import shutil
import subprocess
import sys

import learners
import numpy as np
import pytest
import runs
import torch
from learners import WHOLE, small_trainer
from needs import need
from torch import distributed

from midrange_puffer.config.sections import TrainConfig
from midrange_puffer.train import ranks, run_folder
from midrange_puffer.train.experience import Segments, find_advantages
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.trainer_state import seed_everything

pytestmark = [
    pytest.mark.slow,
    need(torch.cuda.is_available(), "CUDA device", "run them on a machine with a GPU"),
]

ON_GPU = "--train.device=cuda"
MEMORY = "--base.rnn-name=Recurrent"
ATTENTION = "--base.policy-name=Attention"
BUFFER = ("--experience-buffer.capacity=128", "--experience-buffer.share=0.5")


def flat(policy: torch.nn.Module) -> torch.Tensor:
    """Returns a policy's parameters in one vector on the CPU."""
    return torch.cat([one.detach().cpu().flatten() for one in policy.parameters()])


def updated(trainer: StageTrainer, experience: dict[str, torch.Tensor]) -> dict[str, float]:
    """Learns from this experience instead of the trainer's own; returns the row of metrics."""
    trainer.evaluate()
    for name, tensor in experience.items():
        trainer.gathered[name].copy_(tensor)
    return trainer.train()


@pytest.mark.parametrize("shape", [(1, 2), (20, 12), (700, 64)])
def test_advantages_are_those_of_the_paper(shape):
    rng = np.random.default_rng(5)
    train = TrainConfig(gamma=0.97, gae_lambda=0.9, vtrace_rho_clip=0.7, vtrace_c_clip=1.5)
    parts = {
        "values": rng.normal(size=shape),
        "rewards": rng.normal(size=shape),
        "terminals": (rng.random(shape) < 0.15).astype(float),
        "ratio": rng.lognormal(sigma=0.7, size=shape),
    }
    tensors = {
        name: torch.tensor(part, dtype=torch.float32, device="cuda") for name, part in parts.items()
    }
    nowhere = dict.fromkeys(("observations", "actions", "logprobs", "proximal"), torch.empty(0))
    tensors |= {"advantages": torch.zeros(shape), "priorities": torch.zeros(shape[:1])}
    experience = Segments(**nowhere, **{name: one.cuda() for name, one in tensors.items()})
    find_advantages(experience, torch.arange(shape[0], device="cuda"), train)
    theirs = learners.vtrace(*parts.values(), train)
    np.testing.assert_allclose(experience.advantages.cpu(), theirs, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(experience.priorities.cpu(), np.abs(theirs).sum(1), rtol=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        [],
        [MEMORY],
        [ATTENTION],
        ["--env.action-mode=continuous"],
        [*runs.TEAM, "--train.minibatch-size=2048"],
        ["--env.sensing=radar"],
    ],
)
def test_an_update_is_that_of_the_cpu(tmp_path, options):
    """Compares updates from the same experience in one minibatch; they differ by rounding.

    With this epsilon Adam's step is nearly in proportion to the gradient.
    """
    options = (*WHOLE, *options, "--train.optimizer=adam", "--train.learning-rate=0.1",
               "--train.adam-eps=1", "--train.engine=torch", "--train.tf32=False")  # fmt: skip
    (tmp_path / "cpu").mkdir()
    (tmp_path / "gpu").mkdir()
    with small_trainer(tmp_path / "cpu", *options) as trainer:
        trainer.evaluate()
        learners.invent(trainer, 1, staleness=0)
        experience = {name: one.clone() for name, one in trainer.gathered.items()}
        before = copy.deepcopy(trainer.uncompiled_policy)
        row = trainer.train()
        after = flat(trainer.uncompiled_policy)
    with small_trainer(tmp_path / "gpu", *options, ON_GPU) as trainer:
        trainer.uncompiled_policy.load_state_dict(before.state_dict())
        its_row = updated(trainer, experience)
        its = flat(trainer.uncompiled_policy)
    moved = float((after - flat(before)).abs().max())
    assert moved > 1e-3
    torch.testing.assert_close(its, after, rtol=0, atol=1e-3 * moved)
    for name, value in row.items():
        if name.startswith("losses/"):
            assert its_row[name] == pytest.approx(value, rel=1e-3, abs=1e-5), name


@pytest.mark.parametrize(
    "options",
    [
        ["--train.precision=bfloat16", "--train.pin-memory"],
        ["--train.precision=float16", "--train.pin-memory"],
        ["--train.compile=True", "--train.compile-mode=default"],
        ["--train.cpu-offload=True", "--train.pin-memory", *BUFFER],
        ["--train.cpu-offload=True", "--experience-buffer.on-disk=True", *BUFFER],
        ["--train.max-minibatch-size=64", "--train.kl-coef=0.1", "--train.kl-interval=2"],
        [MEMORY, "--train.precision=bfloat16"],
        [MEMORY, "--train.compile=True", "--train.compile-fullgraph=False",
         "--train.compile-mode=default"],
        [ATTENTION, "--train.precision=bfloat16"],
        [*runs.TEAM, "--train.pin-memory"],
        ["--env.sensing=radar", "--env.action-mode=continuous"],
        ["--vec.backend=Multiprocessing", "--vec.num-workers=2", "--train.pin-memory"],
        runs.MIX,
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")  # those of torch.compile itself
def test_a_run_goes_on_with_and_without_the_gpu(tmp_path, options):
    """Its losses are numbers, and its last model is on the CPU."""
    assert runs.train(tmp_path, ON_GPU, *options) == 0
    run = tmp_path / "run"
    assert runs.resume(run, "--train.total-timesteps=16384") == 0
    rest = [f"--train.{name}" for name in ("device=cpu", "precision=float32", "compile=False")]
    assert runs.resume(run, "--train.total-timesteps=24576", *rest) == 0
    rows = runs.rows(run)
    assert rows[-1]["agent_steps"] >= 24576
    for row in rows:
        assert all(np.isfinite(value) for name, value in row.items() if name.startswith("losses/"))
    model = torch.load(run / run_folder.load_state(run)["model"], weights_only=True)
    assert all(weight.device.type == "cpu" for weight in model["weights"].values())


def test_a_resumed_run_is_the_same_each_time(tmp_path):
    """To the bit: CUDA's random numbers are among those of a checkpoint."""
    found = []
    assert runs.train(tmp_path, ON_GPU) == 0
    for name in ("one", "other"):
        shutil.copytree(tmp_path / "run", tmp_path / name)
        assert runs.resume(tmp_path / name, "--train.total-timesteps=16384") == 0
        path = tmp_path / name / run_folder.load_state(tmp_path / name)["model"]
        found.append(torch.load(path, weights_only=True)["weights"])
    one, other = found
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_minibatch_too_large_for_the_memory_is_divided(tmp_path, capsys):
    """Learns as with the parts that the last warning names, set from the start."""
    options = (ON_GPU, "--policy.hidden-size=1024", "--env.num-envs=1024",
               "--train.total-timesteps=65536", "--train.minibatch-size=16384",
               "--train.optimizer=adam", "--train.learning-rate=0.1", "--train.adam-eps=1",
               "--train.tf32=False")  # fmt: skip
    total = torch.cuda.get_device_properties(0).total_memory

    def learnt(name: str, part: int, room: int) -> torch.Tensor:
        """Returns the parameters after an update with so many bytes of memory to spare."""
        (tmp_path / name).mkdir()
        words = (*options, f"--train.max-minibatch-size={part}")
        with small_trainer(tmp_path / name, *words) as trainer:
            seed_everything(1)
            trainer.evaluate()
            torch.cuda.empty_cache()
            share = min((torch.cuda.memory_reserved() + room) / total, 1.0)
            torch.cuda.set_per_process_memory_fraction(share)
            try:
                trainer.train()
            finally:
                torch.cuda.set_per_process_memory_fraction(1.0)
            return flat(trainer.uncompiled_policy)

    limited = learnt("limited", 16384, 128 * 2**20)  # a minibatch needs some 300 MiB
    parts = re.findall(r"gradients are added over parts of (\d+)", capsys.readouterr().err)
    assert int(parts[-1]) < 16384
    torch.testing.assert_close(limited, learnt("set", int(parts[-1]), total), rtol=0, atol=1e-5)


def test_ranks_average_gradients_by_nccl(tmp_path, monkeypatch):
    """One rank, as nccl wants a GPU for each: its mean is its own gradient."""
    store = distributed.FileStore(str(tmp_path / "store"), 1)
    distributed.init_process_group("cpu:gloo,cuda:nccl", store=store, rank=0, world_size=1)
    try:
        seed_everything(0)
        policy = torch.nn.Linear(8, 3).cuda()
        policy.forward_eval = policy.forward
        inputs = torch.randn(16, 8, device="cuda")
        policy(inputs).square().mean().backward()
        expected = [one.grad.clone() for one in policy.parameters()]
        policy.zero_grad()
        shared = ranks.SharedPolicy(policy)
        shared(inputs).square().mean().backward()
        for one, its in zip(policy.parameters(), expected, strict=True):
            torch.testing.assert_close(one.grad, its)
        assert "nccl" in distributed.get_backend_config()
        monkeypatch.setattr(ranks, "size", lambda: 2)
        for tensor in (torch.ones(4), torch.ones(4, device="cuda")):
            ranks.equalise(tensor)
            ranks.average(tensor)
            assert tensor.tolist() == [0.5] * 4
        del shared
    finally:
        distributed.destroy_process_group()


def test_torchrun_of_one_trains_on_the_gpu(tmp_path):
    """Through `ranks.joined`, with nccl's group beside gloo's."""
    words = ["--config", str(runs.small_config(tmp_path)), "--train.data-dir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1",
         "-m", "midrange_puffer", "train", "midrange", *words, ON_GPU, "--train.run-name=run"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert runs.rows(tmp_path / "run")[-1]["agent_steps"] >= 8192

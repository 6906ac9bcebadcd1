"""`puffer`, run by torchrun in test_ranks.py, with notes of what each rank does.

    torchrun tests/support/rank_probe.py FOLDER train midrange …

Every rank writes FOLDER/rank-N.json: after each step of the optimizer the digests of its weights
and of the experience it learns from; the stage at each update; gradients of the last policy; and
the names of the threads that are left when training has ended.
"""

import copy
import hashlib
import json
import os
import sys
from pathlib import Path

import numpy as np
import torch

from midrange_puffer.commands import cli
from midrange_puffer.policies.actors import judge
from midrange_puffer.policies.native import flattened, make_network
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.train import ranks
from midrange_puffer.train.native_engine import NativeEngine
from midrange_puffer.train.torch_engine import TorchEngine, policy_loss, value_loss
from midrange_puffer.train.trainer import StageTrainer

notes: dict[str, object] = {"weights": [], "experience": [], "stages": []}
train, close = StageTrainer.train, StageTrainer.close


def digest(tensors) -> str:
    whole = hashlib.sha256()
    for tensor in tensors:
        whole.update(tensor.detach().cpu().numpy().tobytes())
    return whole.hexdigest()


def noted_train(self):
    notes["stages"].append(self.curriculum.stage)
    notes["experience"].append(digest([self.observations, self.actions]))
    return train(self)


def noting_weights(step):
    def noted_step(self):
        step(self)
        policy = self._policy if isinstance(self, NativeEngine) else self._bare_policy
        notes["weights"].append(digest(policy.parameters()))

    return noted_step


def gradient(policy, bare, experience) -> list[float]:
    """Returns the gradient of the loss of this experience by the weights of `bare`."""
    observations, actions, advantages, returns = experience
    bare.zero_grad()
    state = {"action": actions, "lstm_h": None, "lstm_c": None}
    seen = observations if bare.memory_size else observations.flatten(0, 1)
    found, values = policy(seen, state)
    logprobs, entropy = judge(found, actions.flatten(0, 1))
    ratio = (logprobs + 3).exp().view(advantages.shape)  # about 1
    of_policy = policy_loss(ratio, advantages, clip=0.2)
    of_values = value_loss(values.view(returns.shape), torch.zeros_like(returns), returns, clip=0.2)
    (of_policy + of_values - entropy.mean()).backward()
    gradients = [one.grad.flatten() for one in bare.parameters() if one.requires_grad]
    return torch.cat(gradients).tolist()


def native_gradient(policy, experience) -> torch.Tensor:
    """Returns the same gradient by the C learner."""
    observations, actions, advantages, returns = (one.contiguous().numpy() for one in experience)
    network = make_network(policy)
    network.load(flattened(policy).numpy())
    shape = advantages.shape
    before = (np.full(shape, -3, np.float32), np.zeros(shape, np.float32))
    found = torch.zeros(network.size)
    network.gradient(
        (observations, actions.astype(np.int32), *before), np.arange(len(advantages)), advantages,
        returns, (0.2, 0.2, 1.0, 1.0), 1.0, found.numpy(), *np.zeros((2, *shape), np.float32),
    )  # fmt: skip
    return found


def note_gradients(trainer):
    """Notes the gradients of all ranks together, of this rank's part, and of the whole."""
    generator = torch.Generator().manual_seed(1)
    segments, horizon = 8, 4
    normal = [
        torch.randn(segments, horizon, *shape, generator=generator)
        for shape in (trainer.observations.shape[2:], (), ())
    ]
    actions = torch.randint(2, (segments, horizon, 3), generator=generator)
    whole = [normal[0], actions, *normal[1:]]
    part = [one.chunk(ranks.size())[ranks.rank()] for one in whole]
    bare = copy.deepcopy(trainer.uncompiled_policy)
    notes["gradients"] = {
        "shared": gradient(ranks.share(bare), bare, part),
        "part": gradient(bare, bare, part),
        "whole": gradient(bare, bare, whole),
    }
    torch.manual_seed(2)
    policy = make_policy(trainer.vecenv, {"hidden_size": 16})
    shared = native_gradient(policy, part)
    ranks.average(shared)
    notes["native"] = {"shared": shared.tolist(), "whole": gradient(policy, policy, whole)}


def noted_close(self):
    note_gradients(self)
    close(self)


if __name__ == "__main__":
    path = Path(sys.argv.pop(1), f"rank-{os.environ['RANK']}.json")
    StageTrainer.train, StageTrainer.close = noted_train, noted_close
    for engine in (NativeEngine, TorchEngine):
        engine.step = noting_weights(engine.step)
    status = cli.main()
    notes["threads"] = [one.read_text().strip() for one in Path("/proc/self/task").glob("*/comm")]
    path.write_text(json.dumps(notes))
    sys.exit(status)

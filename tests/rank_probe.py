"""`puffer`, run by torchrun in test_ranks.py, with notes of what each rank does.

    torchrun tests/rank_probe.py FOLDER train midrange …

Every rank writes FOLDER/rank-N.json: after each step of the optimizer the digests of its weights
and of the experience it learns from; the stage at each update; and an averaged gradient.
"""

import hashlib
import json
import sys
from pathlib import Path

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from midrange_puffer import cli, ranks
from midrange_puffer.trainer import Trainer

notes: dict[str, list] = {"weights": [], "experience": [], "stages": [], "gradient": []}
train = Trainer.train


def digest(tensors) -> str:
    whole = hashlib.sha256()
    for tensor in tensors:
        whole.update(tensor.detach().cpu().numpy().tobytes())
    return whole.hexdigest()


def noted_train(self):
    notes["stages"].append(self.curriculum.stage)
    notes["experience"].append(digest([self.observations, self.actions]))
    return train(self)


def note_weights(optimizer, args, kwargs):
    notes["weights"].append(digest(p for group in optimizer.param_groups for p in group["params"]))


def note_gradient():
    """Of a weight whose gradient is 1 on rank 0, 2 on rank 1, and so on."""
    layer = torch.nn.Linear(1, 1)
    layer.forward_eval = layer.forward
    shared = ranks.share(layer)
    (shared(torch.ones(1, 1)) * (ranks.rank() + 1)).sum().backward()
    notes["gradient"].append(layer.weight.grad.item())


def finish(self):
    note_gradient()
    path = Path(folder, f"rank-{ranks.rank()}.json")
    path.write_text(json.dumps(notes))
    close(self)


if __name__ == "__main__":
    folder = sys.argv.pop(1)
    close = Trainer.close
    Trainer.train, Trainer.close = noted_train, finish
    register_optimizer_step_post_hook(note_weights)
    sys.exit(cli.main())

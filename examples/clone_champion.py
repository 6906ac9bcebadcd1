r"""Clones a policy from a Minari dataset by plain torch: behaviour cloning over its action heads.

    puffer record midrange --dataset midrange/champion-v0 --episodes 16000
    python examples/clone_champion.py midrange/champion-v0 --out clone.pt
    puffer eval midrange --load-model-path clone.pt
    puffer train midrange --config configs/default.ini --base.load-model-path clone.pt \
        --train.learning-rate 0.01

Episodes that were lost, and the last tenth, on which the clone is tested, are not learnt from.
"""

import argparse
from pathlib import Path

import minari
import numpy as np
import torch
from torch.nn.functional import cross_entropy

from midrange_puffer.checkpoint import new_policy, save_policy
from midrange_puffer.training import load_config

BATCH, HELD_OUT = 4096, 0.1


def load(name: str) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Returns observations [decisions, features] and levels [decisions, 3], without lost episodes.

    The third value is the number of decisions to learn from: the rest is of later episodes.
    """
    dataset = minari.load_dataset(name)
    about = dataset.storage.get_episode_metadata(dataset.episode_indices)
    pairs = zip(dataset, about, strict=True)
    kept = [(e.observations[:-1], e.actions) for e, entry in pairs if entry["score"] > 0]
    observations, actions = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    first = sum(len(parts[1]) for parts in kept[: int(len(kept) * (1 - HELD_OUT))])
    return torch.from_numpy(observations), torch.from_numpy(actions).long(), first


def loss_of(policy: torch.nn.Module, observations: torch.Tensor, actions: torch.Tensor):
    """Returns the mean cross entropy of each head, [3]."""
    logits, _ = policy(observations)
    return torch.stack([cross_entropy(head, a) for head, a in zip(logits, actions.T, strict=True)])


def clone(name: str, out: Path, epochs: int, hidden_size: int, seed: int) -> None:
    """Trains a new policy on a dataset and writes it as a model."""
    torch.set_num_threads(1)  # small batches are slower with more
    torch.manual_seed(seed)
    config = load_config(None, [f"--policy.hidden-size={hidden_size}"])
    policy = new_policy(config)
    observations, actions, first = load(name)
    steps = epochs * (first // BATCH)
    optimizer = torch.optim.AdamW(policy.parameters(), weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    print(f"{first} decisions to learn from, {len(actions) - first} to test; {steps} steps")
    for epoch in range(epochs):
        order = torch.randperm(first)
        for rows in order[: first - first % BATCH].split(BATCH):
            loss = loss_of(policy, observations[rows], actions[rows]).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            tested = loss_of(policy, observations[first:], actions[first:])
            logits, _ = policy(observations[first:])
            right = [
                (h.argmax(1) == a).float().mean()
                for h, a in zip(logits, actions[first:].T, strict=True)
            ]
        words = ", ".join(f"{part:.3f}" for part in tested)
        shares = ", ".join(f"{100 * share:.1f} %" for share in right)
        print(
            f"epoch {epoch + 1}: loss of rudder, throttle, fire {words}; right {shares}", flush=True
        )
    save_policy(out, config, policy)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dataset")
    parser.add_argument("--out", type=Path, default=Path("clone.pt"))
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--hidden-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    clone(arguments.dataset, arguments.out, arguments.epochs, arguments.hidden_size, arguments.seed)

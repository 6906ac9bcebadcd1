"""Which engine and which optimizer a configuration asks for."""

import contextlib
import sys
from collections.abc import Mapping

import torch

from midrange_puffer.train.engine import Engine
from midrange_puffer.train.muon import Muon
from midrange_puffer.train.native_engine import NativeEngine
from midrange_puffer.train.torch_engine import TorchEngine


def make_optimizer(
    settings: Mapping[str, object], policy: torch.nn.Module
) -> torch.optim.Optimizer:
    """The optimizer of section [train] for the parameters of a policy."""
    rate, beta = settings["learning_rate"], settings["adam_beta1"]
    if settings["optimizer"] == "muon":
        return Muon(policy.parameters(), rate, beta)
    betas, eps = (beta, settings["adam_beta2"]), settings["adam_eps"]
    return torch.optim.Adam(policy.parameters(), rate, betas, eps)


def spare_dynamo() -> None:
    """Let torch make optimizers without importing torch._dynamo, for which it takes 1.5 s.

    It wants to keep its compiler out of some methods. Who has that already is left alone.
    """
    if "torch._dynamo" in sys.modules:
        return
    for name in ("add_param_group", "load_state_dict", "state_dict", "zero_grad"):
        method = getattr(torch.optim.Optimizer, name)
        bare = getattr(method, "__wrapped__", method)
        bare.__dynamo_disable = bare  # where torch keeps what it has made of the method


def make_engine(
    settings: Mapping[str, object],
    policy: torch.nn.Module,
    bare_policy: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    precision: contextlib.AbstractContextManager,
) -> Engine:
    """The engine of section [train], without any "auto".

    Args:
        settings: the section.
        policy, bare_policy, optimizer, precision: as of `TorchEngine`.
    """
    if settings["engine"] == "native":
        return NativeEngine(bare_policy, optimizer, settings)
    return TorchEngine(policy, bare_policy, optimizer, settings, precision)

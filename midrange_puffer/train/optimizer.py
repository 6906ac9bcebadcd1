"""Muon (K. Jordan et al. 2024), with the steps of PuffeRL's, heavyball's, in fewer operators."""

import math
import sys
from collections.abc import Callable, Iterable

import torch

MOMENTUM = "momentum"  # in each parameter's state: the running mean of its gradients
HEAVYBALLS = "nesterov_ema_momentum_1"  # heavyball's name of the same, in runs of older versions

# Five steps of Newton and Schulz, x <- (a + b s + c s²) x with s = x xᵀ, which move singular values
# between 0 and 1 towards 1. The coefficients are heavyball's.
NEWTON_SCHULZ = (
    (4.0848, -6.8946, 2.9270),
    (3.9505, -6.3029, 2.6377),
    (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046),
    (2.8366, -3.0525, 1.2012),
)


class Muon(torch.optim.Optimizer):
    """Momentum with Nesterov's look-ahead; the steps of matrices are made orthogonal.

    Args:
        params: the parameters.
        lr: step size.
        beta: decay of the gradients' mean.
    """

    def __init__(self, params: Iterable[torch.Tensor], lr: float, beta: float) -> None:
        super().__init__(params, {"lr": lr, "beta": beta})
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter][MOMENTUM] = torch.zeros_like(parameter)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        """Takes a step against the gradients, and overwrites them."""
        if closure is not None:
            raise ValueError("Muon takes no closure")
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            updates = [parameter.grad for parameter in parameters]
            momenta = [self.state[parameter][MOMENTUM] for parameter in parameters]
            torch._foreach_lerp_(momenta, updates, 1 - group["beta"])
            torch._foreach_add_(updates, momenta)
            updates = [orthogonalised(update) if update.ndim == 2 else update for update in updates]
            torch._foreach_add_(parameters, updates, alpha=-group["lr"])


def orthogonalised(matrix: torch.Tensor) -> torch.Tensor:
    """Returns approximately the nearest matrix with orthonormal rows or columns.

    A matrix with more rows than columns is scaled up by the square root of their ratio.
    """
    rows, columns = matrix.shape
    x = matrix.mT if rows > columns else matrix
    x = x / x.norm().clamp(min=1e-7)
    for a, b, c in NEWTON_SCHULZ:
        s = x @ x.mT
        x = torch.addmm(x, torch.addmm(s, s, s, beta=b, alpha=c), x, beta=a)
    return x.mT * math.sqrt(rows / columns) if rows > columns else x


def skip_dynamo_import() -> None:
    """Lets torch make optimizers without its import of torch._dynamo, which takes 1.5 s.

    Torch wants to exclude some methods from compilation. If torch._dynamo is already imported,
    nothing is changed.
    """
    if "torch._dynamo" in sys.modules:
        return
    for name in ("add_param_group", "load_state_dict", "state_dict", "zero_grad"):
        method = getattr(torch.optim.Optimizer, name)
        bare = getattr(method, "__wrapped__", method)
        bare.__dynamo_disable = bare  # the attribute where torch caches the excluded method

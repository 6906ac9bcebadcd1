"""Muon (K. Jordan et al. 2024) as heavyball has it, which PuffeRL trains with, in few operators."""

import math
from collections.abc import Callable, Iterable

import torch

MOMENTUM = "momentum"  # of each parameter's state: the running mean of its gradients
HEAVYBALLS = "nesterov_ema_momentum_1"  # the same where heavyball has it, in runs of before

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
    """Momentum with Nesterov's look ahead, whose steps for matrices are made orthogonal.

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
        """Take a step against the gradients, which are changed."""
        if closure is not None:
            raise ValueError("Muon takes no closure")
        for group in self.param_groups:
            parameters = [one for one in group["params"] if one.grad is not None]
            updates = [one.grad for one in parameters]
            momenta = [self.state[one][MOMENTUM] for one in parameters]
            torch._foreach_lerp_(momenta, updates, 1 - group["beta"])
            torch._foreach_add_(updates, momenta)
            updates = [orthogonalised(one) if one.ndim == 2 else one for one in updates]
            torch._foreach_add_(parameters, updates, alpha=-group["lr"])


def orthogonalised(matrix: torch.Tensor) -> torch.Tensor:
    """Nearly the nearest matrix of the same shape whose rows or columns are orthonormal.

    One with more rows than columns is longer by the root of their ratio.
    """
    rows, columns = matrix.shape
    x = matrix.mT if rows > columns else matrix
    x = x / x.norm().clamp(min=1e-7)
    for a, b, c in NEWTON_SCHULZ:
        s = x @ x.mT
        x = torch.addmm(x, torch.addmm(s, s, s, beta=b, alpha=c), x, beta=a)
    return x.mT * math.sqrt(rows / columns) if rows > columns else x

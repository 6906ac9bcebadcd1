"""What becomes of a team's fighters that die before their engagement ends.

A dead fighter decides nothing, and nothing is learnt from its decisions. But its side fights on,
and what that brings is the consequence of the decision in which it died. So what it is paid while
it is dead is paid for that decision, and the fight is over for it there. What comes after its
segment is taken to be worth what it is to the living of its side (as the posthumous credit of
MA-POCA, Cohen et al. 2021, arXiv 2111.05992).
"""

import torch


def with_values_of_mates(
    values: torch.Tensor, living: torch.Tensor, sides: torch.Tensor
) -> torch.Tensor:
    """Values in which those of the dead are the means of the living on their side; 0 of nobody.

    Args:
        values: float32 [n].
        living: bool [n].
        sides: int64 [n], the number of each one's side.
    """
    sums, counts = (
        torch.zeros(int(sides[-1]) + 1, device=values.device).index_add_(0, sides, part)
        for part in (torch.where(living, values, 0), living.float())
    )
    return torch.where(living, values, (sums / counts.clamp(min=1))[sides])


def settle_deaths(
    rewards: torch.Tensor,
    terminals: torch.Tensor,
    values: torch.Tensor,
    masks: torch.Tensor,
    gamma: float,
) -> None:
    """Pay for each decision in which a fighter dies what its side gets later, in place.

    PuffeRL's buffers are shifted: the reward for a decision, and whether it ended the engagement,
    are with the next one.

    Args:
        rewards, terminals, values, masks: float32 [segments, horizon]. Masks are 0 where a fighter
            is dead. Rewards for decisions of the dead become 0, and so do their values. A decision
            in which one died has the rest, and a terminal of 1.
        gamma: discount of a decision.
    """
    dead = masks == 0
    last = rewards.shape[1] - 1
    later = torch.where(dead[:, last], values[:, last], 0)  # what comes after a step, of the dead
    for step in range(last, -1, -1):
        is_dead = dead[:, step]
        if step < last:
            paid = rewards[:, step + 1]
            later = torch.where(is_dead, paid + gamma * later * (1 - terminals[:, step + 1]), 0)
            paid[is_dead] = 0
        if step:
            died = is_dead & ~dead[:, step - 1]
            rewards[:, step] += gamma * torch.where(died, later, 0)
            terminals[:, step][died] = 1
    values[dead] = 0

"""`puffer`, run by torchrun in test_ranks.py, in a job that fails in one way and then in another.

First rank 1 fails before there is a checkpoint; restarted, all ranks diverge.
"""

import os
import sys

from midrange_puffer.commands import cli
from midrange_puffer.policies import networks
from midrange_puffer.train import ranks, trainer


def fail(self):
    if not ranks.is_first():
        raise ValueError("a fault of rank 1")


if __name__ == "__main__":
    if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        trainer.StageTrainer.save_checkpoint = fail
    networks.WEIGHT_LIMIT = 1e-3
    sys.exit(cli.main())

"""Model files and run folders, as users take them: `load_policy`, `latest`, `best` and their error.

For policies of one's own: the actors that ours end in, and `own_policy`, which names one.
"""

from midrange_puffer.errors import CheckpointError
from midrange_puffer.policies.actors import GaussianActor, LevelActor
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.own_policy import own_policy
from midrange_puffer.train.run_folder import best, find_run, latest, load_state

__all__ = [
    "CheckpointError",
    "GaussianActor",
    "LevelActor",
    "best",
    "find_run",
    "latest",
    "load_policy",
    "load_state",
    "own_policy",
]

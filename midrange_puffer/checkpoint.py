"""Model files and run folders, for users: `load_policy`, `latest`, `best`, and their error.

`new_policy` and `save_policy` are for training that is not the trainer's.

Also for a user's own policies: the actors of the package's policies, and `own_policy`, which
imports such a policy by its name.
"""

from midrange_puffer.errors import CheckpointError, naming_extra

with naming_extra("midrange_puffer.checkpoint needs"):
    from midrange_puffer.policies.actors import GaussianActor, LevelActor
    from midrange_puffer.policies.loading import load_policy
    from midrange_puffer.policies.model_file import new_policy, save_policy
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
    "new_policy",
    "own_policy",
    "save_policy",
]

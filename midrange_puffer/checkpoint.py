"""Model files and run folders, as users take them: `load_policy`, `latest` and their error."""

from midrange_puffer.errors import CheckpointError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.train.run_folder import find_run, latest, load_state

__all__ = ["CheckpointError", "find_run", "latest", "load_policy", "load_state"]

"""Training from Python: configurations, environments, the trainer, and searches by Protein."""

from midrange_puffer.errors import naming_extra

with naming_extra("midrange_puffer.training needs"):
    from midrange_puffer.config.configuration import Config, ConfigError
    from midrange_puffer.policies.mix import opponents_of
    from midrange_puffer.sweep.library import Suggestion, Sweep
    from midrange_puffer.train.library import Trainer, load_config, make_vec

__all__ = [
    "Config",
    "ConfigError",
    "Suggestion",
    "Sweep",
    "Trainer",
    "load_config",
    "make_vec",
    "opponents_of",
]

"""The opponents and the model that a command line or a configuration names, found."""

from pathlib import Path

from midrange_puffer.config.configuration import Config, ConfigError, run_configs, stage_names
from midrange_puffer.config.schema import STAGE
from midrange_puffer.game.parameters import observed, sizes_of
from midrange_puffer.policies.mix import KINDS, RUN, is_there, kind_of, parse_mix, settled
from midrange_puffer.train import run_folder

OPPONENT = "env.opponent"
MEANT = "the model that is meant now"  # where a value is from


def settled_mix(text: str, data_dir: str | Path) -> str:
    """A mix with the whole paths of its files, and models in the places of runs.

    Args:
        data_dir: where runs are looked for by name.

    Raises:
        CheckpointError: A run has no model, or there is none at all for the latest.
    """
    return settled(text, lambda name: _model_of_run(name, data_dir))


def settled_model(config: Config) -> Config:
    """A configuration with a file in base.load_model_path where that names a run.

    Raises:
        CheckpointError: As `settled_mix`.
    """
    name = config["base"]["load_model_path"]
    found = name and _model_of_run(name, config["train"]["data_dir"])
    if not found:
        return config
    return config.replaced("base", MEANT, load_model_path=str(found.absolute()))


def settled_opponents(config: Config) -> Config:
    """A configuration with `settled_mix` in the place of every env.opponent.

    Raises:
        CheckpointError: As `settled_mix`.
        ConfigError: Two are one and the same model.
    """
    places = [("env", "opponent"), *((STAGE + stage, OPPONENT) for stage in stage_names(config))]
    for section, name in places:
        if name in config[section]:
            text = settled_mix(config[section][name], config["train"]["data_dir"])
            try:
                parse_mix(text)
            except ValueError as error:
                raise ConfigError(f"[{section}] {error}") from None
            config = config.replaced(section, MEANT, **{name: text})
    return config


def _model_of_run(name: str, data_dir: str | Path) -> Path | None:
    """The model's file that a run's name stands for; None: what has this name is no run."""
    is_run = kind_of(name) == RUN or is_there(Path.is_dir, data_dir, name)
    return run_folder.find_model(name, data_dir) if is_run else None


def check_opponents(config: Config) -> None:
    """Load every opponent once, before a run has a folder.

    Raises:
        UsageError: A model or a function that cannot be used, or a model that sees more than the
            agents of this run.
    """
    # Here, so that gymnasium and torch are imported only where somebody trains.
    from midrange_puffer.game.observation import features_of
    from midrange_puffer.policies.contestants import load_mix

    for env in (one["env"] for one in run_configs(config)):
        observation = observed(env["observation"], env)
        features = len(features_of(observation, *sizes_of(env)))
        mixed = load_mix(env["opponent"], KINDS, OPPONENT, features)
        where = f"env.observation = {observation}"
        mixed.check_observation(OPPONENT, observation, features, where)

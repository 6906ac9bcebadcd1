"""`puffer train midrange`: one run, from its configuration to its last checkpoint."""

import argparse
import os
import random
import secrets
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType

import numpy as np
import torch

from midrange_puffer import checkpoint
from midrange_puffer.checkpoint import Run
from midrange_puffer.config import (
    Config,
    ConfigError,
    changes,
    check_training,
    format_config,
    load_config,
)
from midrange_puffer.env import Midrange
from midrange_puffer.errors import UserError
from midrange_puffer.files import make_folder, write_whole
from midrange_puffer.loggers import Console, Loggers, MetricsFile, check_trackers, open_trackers
from midrange_puffer.policy import make_policy
from midrange_puffer.trainer import Trainer
from midrange_puffer.vectorize import (
    VecEnv,
    choose_device,
    choose_threads,
    choose_vec,
    make_env,
    usable_cores,
)


def main(argv: Sequence[str]) -> int:
    """Train, with the words after `puffer train midrange`; return the exit status."""
    parser = argparse.ArgumentParser("puffer train midrange", add_help=False, allow_abbrev=False)
    parser.add_argument("--config")
    parser.add_argument("--resume")
    options, overrides = parser.parse_known_args(argv)
    if options.resume is None:
        run = new_run(options.config, overrides)
    elif options.config is None:
        run = resumed_run(options.resume, overrides)
    else:
        raise ConfigError("--resume goes on with the run's own config.ini: leave --config out")
    with StopSignals() as signals:
        try:
            train(run, signals)
        except UserError:
            if (run.folder / checkpoint.STATE).exists():
                print(f"the last checkpoint still stands: --resume {run.folder}", file=sys.stderr)
            raise
    return 128 + signals.caught if signals.caught else 0


def new_run(config_path: str | None, overrides: Sequence[str]) -> Run:
    """Settle the configuration of a new run and make its folder."""
    config = load_config(config_path, overrides)
    settle(config)
    train = config["train"]
    # A name made up here is not the configuration's: config.ini may be given back for another run.
    name = train["run_name"] or time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)
    folder = Path(train["data_dir"], name)
    make_folder(folder)
    return Run(folder, config)


def resumed_run(name: str, overrides: Sequence[str]) -> Run:
    """Find the run called `name` and take up its configuration and state."""
    folder = checkpoint.find_run(name, load_config(None, overrides)["train"]["data_dir"])
    old = load_config(folder / checkpoint.CONFIG)
    config = load_config(folder / checkpoint.CONFIG, overrides)
    run_name = old["train"]["run_name"]
    for settings in (old, config):  # the folder may have been moved
        settings["train"].update(data_dir=str(folder.parent), run_name=run_name)
    settle(config)
    state = checkpoint.load_state(folder)
    steps, goal = state["global_step"], config["train"]["total_timesteps"]
    if steps >= goal:
        raise ConfigError(
            f"{folder}: has made its {steps} steps; go on with --train.total-timesteps above {goal}"
        )
    print(f"resuming {folder} at {steps} of {goal} steps")
    for key, (before, after) in changes(old, config).items():
        if key.startswith(("policy.", "rnn.", "base.rnn_name")):
            raise ConfigError(f"{key}: is {before} in {folder} and cannot become {after}")
        print(f"  {key}: {before} -> {after}")
    return Run(folder, config, state)


def settle(config: Config) -> None:
    """Replace every "auto" in `config`, say what was chosen, and check that it fits together."""
    check_trackers(config)
    train, vec, env, rnn = (config[section] for section in ("train", "vec", "env", "rnn"))
    train["device"], reason = choose_device(train["device"])
    print(f"device {train['device']} ({reason})")
    if train["precision"] == "bfloat16" and not train["device"].startswith("cuda"):
        raise ConfigError(f"train.precision = bfloat16: needs CUDA, not {train['device']}")
    reason = choose_vec(config, usable_cores())
    batch = "" if vec["batch_size"] == "auto" else f", {vec['batch_size']} of them at a time"
    choose_threads(config, usable_cores())
    print(
        f"backend {vec['backend']} ({reason}): {vec['num_envs']} x {env['num_envs']} engagements"
        f"{batch}; {train['torch_threads']} torch threads"
    )
    for name, size in rnn.items():
        rnn[name] = config["policy"]["hidden_size"] if size == "auto" else size
    agents = vec["num_envs"] * env["num_envs"] * _agents_per_engagement(env)
    if train["batch_size"] == "auto":
        train["batch_size"] = agents * train["bptt_horizon"]
    check_training(config, agents)


def train(run: Run, signals: "StopSignals") -> None:
    """Train until the end or a signal, and say how it ended."""
    config, folder = run.config, run.folder
    write_whole(folder / checkpoint.CONFIG, format_config(config).encode())
    print(f"run folder {folder}", flush=True)
    seed_everything(config["train"]["seed"])
    torch.set_num_threads(config["train"]["torch_threads"])
    with closing(VecEnv(make_env, config)) as vecenv:
        policy = _policy(run, vecenv)
        loggers = _loggers(run)
        with closing(Trainer(run, vecenv, policy, loggers)) as trainer:
            trainer.save_checkpoint()  # proves at once that checkpoints can be written
            while not (trainer.done or signals.caught):
                trainer.evaluate()
                trainer.train()
            if signals.caught:
                trainer.save_checkpoint()
    loggers.close(trainer.model_path)
    print(_last_line(trainer, signals))


def seed_everything(seed: int) -> None:
    """Seed every random number generator of this process."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002, the generator that libraries share
    random.seed(seed)


class StopSignals:
    """Turns the first SIGINT or SIGTERM into a request to stop; the second ends at once."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.caught = 0

    def __enter__(self) -> "StopSignals":
        self._previous = [signal.signal(number, self._catch) for number in self.SIGNALS]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in zip(self.SIGNALS, self._previous, strict=True):
            signal.signal(number, handler)

    def _catch(self, number: int, frame: object) -> None:
        if self.caught:
            os._exit(128 + number)
        self.caught = number
        # To stderr; print() may be what was interrupted, and cannot be entered twice.
        os.write(2, b"stopping after this update; once more to stop at once\n")


def _agents_per_engagement(env: dict[str, object]) -> int:
    probe = Midrange(**{**env, "num_envs": 1})
    probe.close()
    return probe.num_agents


def _policy(run: Run, vecenv: VecEnv) -> torch.nn.Module:
    """The policy of a new run, or the one a resumed run had."""
    config, device = run.config, run.config["train"]["device"]
    if run.state:
        policy, _ = checkpoint.load_policy(run.folder / run.state["model"], device)
        return policy.train()
    rnn_name = config["base"]["rnn_name"]
    return make_policy(vecenv.driver_env, config["policy"], rnn_name, config["rnn"]).to(device)


def _loggers(run: Run) -> Loggers:
    step = run.state["global_step"] if run.state else None
    loggers = [MetricsFile(run.folder / checkpoint.METRICS, step)]
    if not sys.stdout.isatty():
        loggers.append(Console(run.config["train"]["total_timesteps"]))
    loggers += open_trackers(run.config, run.folder, step)
    return Loggers(run.folder.name, loggers)


def _last_line(trainer: Trainer, signals: StopSignals) -> str:
    folder, model = trainer.run.folder, trainer.model_path
    if signals.caught:
        return (
            f"stopped by {signal.Signals(signals.caught).name}; saved {model}; "
            f"go on with: puffer train midrange --resume {folder}"
        )
    score = trainer.logger.last.get("environment/score")
    result = "no engagement ended" if score is None else f"last score {score:.3f}"
    return f"{result}; evaluate with: puffer eval midrange --load-model-path {model}"

"""A population: exploiters are trained against the policy in training, and join its pool.

This is AlphaStar's league (Vinyals et al. 2019) on a small scale. At intervals the training pauses
while an exploiter, also called a best response, learns to beat the present policy or its whole
pool. The exploiter is then frozen and becomes a member of the pool. So the policy learns to remove
weaknesses that a short training finds. `population.json` has a row for each exploiter.
"""

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from midrange_puffer.config.schema import game_of, game_parameters
from midrange_puffer.config.sections import LEAGUE_EXPLOITER, OWN, exploiters
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.files import WriteError, open_to_append
from midrange_puffer.game.parameters import POOL
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.models import spread
from midrange_puffer.policies.own_policy import full_name
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.run_files import Turn, read_turns, write_turns
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.trainer import StageTrainer

FOLDER = "exploiters"  # the folder of their runs in the run folder
LOG = "exploiters.log"  # their output
CANDIDATES = 3  # checkpoints of an exploiter; the best one is frozen
EPISODES = 400  # engagements that measure each
# Exit status of an exploiter that could write no further file: on a full disk its log is cut off.
DISK_FULL = 3
PATIENCE = 0.5  # s between two checks for a signal


class Population:
    """Trains the exploiters of a run, one at each population.interval.

    Args:
        run: with [population].
        pool: of the run, which the exploiters join.
        is_stopped: returns True once a signal has come. The present exploiter is then dropped, and
            trained again when the run is resumed.

    Raises:
        JsonError: `population.json` is damaged.
    """

    def __init__(self, run: Run, pool: Pool, is_stopped: Callable[[], bool]) -> None:
        self._run, self._pool, self._is_stopped = run, pool, is_stopped
        self._settings = run.config.population
        self._kinds = exploiters(self._settings.kinds)
        self._parameters = game_of(run.config)
        epoch = run.state["epoch"] if run.state else 0
        # Turns of later updates, from before the run was resumed, are dropped.
        self._turns = [turn for turn in read_turns(run.folder) if turn.epoch <= epoch]

    def is_due(self, epoch: int) -> bool:
        """True if an interval has passed since the last exploiter."""
        last = self._turns[-1].epoch if self._turns else 0
        return epoch // self._settings.interval > last // self._settings.interval

    def take_turn(self, trainer: StageTrainer) -> None:
        """Trains an exploiter against the present policy, and adds it to the pool."""
        trainer.save_checkpoint()
        victim, number = trainer.model_path, len(self._turns)
        assert victim is not None  # as it was just saved
        kind = self._kinds[number % len(self._kinds)]
        folder = self._run.folder / FOLDER / f"{number + 1:03d}_{trainer.epoch:06d}"
        words = self._words(kind, victim, number, folder)
        print(f"exploiter {number + 1} ({kind}) against {victim.name} …", flush=True)
        # An interrupted exploiter is trained anew.
        shutil.rmtree(folder, ignore_errors=True)
        if not self._train(words):
            return
        path, turn = self._best(folder, victim, kind, trainer)
        self._turns.append(turn)
        write_turns(self._run.folder, self._turns)
        self._pool.join(path, trainer.global_step)
        self._pool.refresh()
        print(
            f"exploiter {number + 1} ({kind}): score {turn.score:.3f} after "
            f"{turn.decisions / 1e6:.1f} M decisions",
            flush=True,
        )

    def _words(self, kind: str, victim: Path, number: int, folder: Path) -> list[str]:
        """Returns the options of an exploiter's configuration."""
        enemies = [victim]
        if kind == LEAGUE_EXPLOITER:
            enemies = [self._run.folder / member.path for member in self._pool.members]
        train = self._run.config.train
        settings = response_settings(enemies, self._parameters, start_own=kind == OWN) | {
            "train.total_timesteps": self._settings.budget,
            "train.seed": (train.seed + 1 + number) % 2**31,
            "train.threads": train.threads,
            "train.data_dir": folder.parent,
            "train.run_name": folder.name,
        }
        return as_words(settings)

    def _train(self, words: Sequence[str]) -> bool:
        """Trains an exploiter in another process; returns False if a signal stopped it."""
        score, ini = self._settings.score, self._settings.config
        command = [sys.executable, "-m", "midrange_puffer.train.exploiter", str(score), ini, *words]
        path = self._run.folder / LOG
        # In a new session Ctrl-C does not reach it.
        with (
            open_to_append(path) as log,
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
            ) as process,
        ):
            while process.poll() is None:
                if self._is_stopped():
                    process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(PATIENCE)
        if self._is_stopped():
            return False
        if process.returncode == DISK_FULL:
            raise WriteError(
                f"an exploiter cannot be written to {path.parent}: {os.strerror(errno.ENOSPC)}"
            )
        if process.returncode:
            raise UserError(f"an exploiter ended with exit code {process.returncode}; see {path}")
        return True

    def _best(
        self, folder: Path, victim: Path, kind: str, trainer: StageTrainer
    ) -> tuple[Path, Turn]:
        """Returns the strongest checkpoint of an exploiter, and its row of population.json."""
        paths = spread(sorted(folder.glob(model_file.MODELS)), CANDIDATES + 1)[1:]
        results = {
            path: evaluate(path, victim, EPISODES, trainer.epoch, **self._parameters)
            for path in paths
        }
        best = max(results, key=lambda path: results[path]["score"])
        shares = {name: results[best][name] for name in ("win", "draw", "loss")}
        _, model = load_policy(best)
        turn = Turn(
            kind,  # pyright: ignore[reportArgumentType] - one of EXPLOITERS
            trainer.epoch,
            trainer.global_step,
            victim.name,
            model["agent_steps"],
            **shares,
            path=str(best.relative_to(self._run.folder)),
        )
        return best, turn


def response_settings(
    enemies: Sequence[Path], parameters: Mapping[str, float], start_own: bool = False
) -> dict[str, Any]:
    """Returns the keys of a configuration that train an exploiter.

    Args:
        enemies: the models to fight, several ones by PFSP.
        parameters: of the game.
        start_own: begin with the weights of the first enemy, not with random ones.

    Raises:
        UsageError: There is a comma in a path.
    """
    paths = [path.resolve() for path in enemies]  # the run may be resumed in another folder
    for path in paths:
        if "," in str(path):
            raise UsageError(f"{path}: has a comma, which separates paths in pool.include")
    _, model = load_policy(paths[0])
    settings = {
        **{f"env.{name}": model["env"][name] for name in model_file.SHAPING},
        **{f"env.{name}": value for name, value in game_parameters(parameters).items()},
        "load_model_path": None,
        "env.opponent": POOL,
        "pool.include": ",".join(map(str, paths)),
        "pool.size": len(paths),
        "pool.own": False,
        "curriculum.stages": None,
        "population.interval": 0,
    }
    if start_own:
        settings |= {f"policy.{name}": value for name, value in model["policy"].items()}
        settings |= {f"rnn.{name}": value for name, value in model["rnn"].items()}
        settings |= {
            "policy_name": full_name(model["policy_name"]),
            "rnn_name": model["rnn_name"],
            "load_model_path": paths[0],
        }
    return settings


def as_words(settings: Mapping[str, Any]) -> list[str]:
    """Returns settings as words of a command line."""
    return [f"--{name}={value}" for name, value in settings.items()]

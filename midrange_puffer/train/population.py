"""A population: exploiters are trained against the policy in training, and join its pool.

In the manner of AlphaStar's league (Vinyals et al. 2019) in miniature: now and then training waits
while an exploiter learns to beat the policy as it is, or its whole pool. The exploiter is then
frozen and met like the other members of the pool. So the policy learns to leave no weakness that a
short training finds. `population.json` has a row for each (population_file.py).
"""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from midrange_puffer.config.schema import game_of
from midrange_puffer.config.sections import LEAGUE_EXPLOITER, OWN, exploiters
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import UserError
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.models import spread
from midrange_puffer.train.best_response import as_words, response_settings
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.population_file import Turn, read_turns, write_turns
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.trainer import StageTrainer

FOLDER = "exploiters"  # of their runs, in the run folder
LOG = "exploiters.log"  # what they print
CANDIDATES = 3  # checkpoints of an exploiter, of which the best one is frozen
EPISODES = 400  # that tell how good each is
PATIENCE = 0.5  # s from one look at a signal to the next


class Population:
    """Trains the exploiters of a run, one at each population.interval.

    Args:
        run: with [population].
        pool: of the run, which the exploiters join.
        is_stopped: whether a signal has come: the present exploiter is given up then, and is
            trained again when the run is resumed.

    Raises:
        JsonError: `population.json` is damaged.
    """

    def __init__(self, run: Run, pool: Pool, is_stopped: Callable[[], bool]) -> None:
        self._run, self._pool, self._is_stopped = run, pool, is_stopped
        self._settings = run.config["population"]
        self._kinds = exploiters(self._settings["kinds"])
        self._parameters = game_of(run.config)
        epoch = run.state["epoch"] if run.state else 0
        # What is noted of later updates, before the run was resumed, is dropped.
        self._turns = [turn for turn in read_turns(run.folder) if turn.epoch <= epoch]

    def is_due(self, epoch: int) -> bool:
        """Whether an interval has passed since the last exploiter."""
        last = self._turns[-1].epoch if self._turns else 0
        return epoch // self._settings["interval"] > last // self._settings["interval"]

    def take_turn(self, trainer: StageTrainer) -> None:
        """Train an exploiter against the policy as it is now, and let it join the pool."""
        trainer.save_checkpoint()
        victim, number = trainer.model_path, len(self._turns)
        kind = self._kinds[number % len(self._kinds)]
        folder = self._run.folder / FOLDER / f"{number + 1:03d}_{trainer.epoch:06d}"
        words = self._words(kind, victim, number, folder)
        print(f"exploiter {number + 1} ({kind}) against {victim.name} …", flush=True)
        # What an exploiter left that was cut short: it is trained anew.
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
        """The configuration of an exploiter, beside its file."""
        enemies = [victim]
        if kind == LEAGUE_EXPLOITER:
            enemies = [self._run.folder / member.path for member in self._pool.members]
        train = self._run.config["train"]
        settings = response_settings(enemies, self._parameters, start_own=kind == OWN) | {
            "train.total_timesteps": self._settings["budget"],
            "train.seed": (train["seed"] + 1 + number) % 2**31,
            "train.threads": train["threads"],
            "train.data_dir": folder.parent,
            "train.run_name": folder.name,
        }
        return as_words(settings)

    def _train(self, words: Sequence[str]) -> bool:
        """Train in a process of its own, which leaves this one as it was; False: it was stopped."""
        score, ini = self._settings["score"], self._settings["config"]
        command = [sys.executable, "-m", "midrange_puffer.train.exploiter", str(score), ini, *words]
        path = self._run.folder / LOG
        # A session of its own, so that Ctrl-C does not reach it.
        with (
            path.open("ab") as log,
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
        if process.returncode:
            raise UserError(f"an exploiter ended with exit code {process.returncode}; see {path}")
        return True

    def _best(
        self, folder: Path, victim: Path, kind: str, trainer: StageTrainer
    ) -> tuple[Path, Turn]:
        """The strongest checkpoint of an exploiter, and what is noted of it."""
        paths = spread(sorted(folder.glob(model_file.MODELS)), CANDIDATES + 1)[1:]
        results = {
            path: evaluate(path, victim, EPISODES, trainer.epoch, **self._parameters)
            for path in paths
        }
        best = max(results, key=lambda path: results[path]["score"])
        shares = {name: results[best][name] for name in ("win", "draw", "loss")}
        _, about = load_policy(best)
        turn = Turn(
            kind,
            trainer.epoch,
            trainer.global_step,
            victim.name,
            about["agent_steps"],
            **shares,
            path=str(best.relative_to(self._run.folder)),
        )
        return best, turn

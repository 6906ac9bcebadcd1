"""A population: exploiters are trained against the policy in training, and join its pool.

This is AlphaStar's league (Vinyals et al. 2019) on a small scale. At intervals the training pauses
while an exploiter, also called a best response, learns to beat the present policy or its whole
pool. The exploiter is then frozen and becomes a member of the pool. So the policy learns to remove
weaknesses that a short training finds. `population.json` has a row for each exploiter.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from midrange_puffer.config.exploiter_kinds import (
    LEAGUE_EXPLOITER,
    OWN,
    STRONGEST,
    ExploiterKind,
    exploiters,
)
from midrange_puffer.config.schema import game_of
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.models import spread
from midrange_puffer.train.exploiters import PATIENCE, ExploiterProcess, as_words, response_settings
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.run_files import Turn, read_turns, write_turns
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.trainer import StageTrainer

FOLDER = "exploiters"  # the folder of their runs in the run folder
LOG = "exploiters.log"  # their output
CANDIDATES = 3  # checkpoints of an exploiter; the best one is frozen
EPISODES = 400  # engagements that measure each


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

    def _words(self, kind: ExploiterKind, victim: Path, number: int, folder: Path) -> list[str]:
        """Returns the options of an exploiter's configuration."""
        enemies, start = [victim], None
        if kind.start == LEAGUE_EXPLOITER:
            enemies = [self._run.folder / member.path for member in self._pool.members]
        elif kind.start == OWN:
            start = victim
        elif kind.start == STRONGEST:
            start = self._strongest() or victim
        train = self._run.config.train
        settings = response_settings(enemies, self._parameters, start) | {
            **kind.words(),
            "train.total_timesteps": self._settings.budget,
            "train.seed": (train.seed + 1 + number) % 2**31,
            "train.threads": train.threads,
            "train.data_dir": folder.parent,
            "train.run_name": folder.name,
        }
        return as_words(settings)

    def _strongest(self) -> Path | None:
        """Returns the exploiter in the pool that the policy does worst against, if there is one."""
        members = [member for member in self._pool.members if member.exploiter]
        met = [member for member in members if member.games] or members
        if not met:
            return None
        return self._run.folder / min(met, key=lambda member: member.score).path

    def _train(self, words: Sequence[str]) -> bool:
        """Trains an exploiter in another process; returns False if a signal stopped it."""
        log = self._run.folder / LOG
        process = ExploiterProcess(self._settings.config, words, log, self._settings.score)
        try:
            while not process.is_over(PATIENCE):
                if self._is_stopped():
                    return False
        finally:
            process.kill()
        return not self._is_stopped()

    def _best(
        self, folder: Path, victim: Path, kind: ExploiterKind, trainer: StageTrainer
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
            kind.start,  # pyright: ignore[reportArgumentType] - one of EXPLOITERS
            trainer.epoch,
            trainer.global_step,
            victim.name,
            model["agent_steps"],
            **shares,
            path=str(best.relative_to(self._run.folder)),
            reward_draw=kind.draw,
            ent_coef=kind.entropy,
            learning_rate=kind.rate,
        )
        return best, turn

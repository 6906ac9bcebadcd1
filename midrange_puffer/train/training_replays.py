"""Replays of a policy in training: how it fights, now and then, from one and the same start."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from torch import nn

from midrange_puffer.config.configuration import Config, run_configs
from midrange_puffer.config.schema import game_of
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import UserError
from midrange_puffer.files import open_folder
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.game.records import outcomes
from midrange_puffer.names import shown
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.replays.recorder import FightRecorder, save
from midrange_puffer.replays.replay import SUFFIX

FOLDER = "replays"  # in the run folder


class TrainingReplays:
    """Lets the policy in training fight pilots, and keeps the replays in the run folder.

    It meets the pilots of env.opponent, of whichever stage, or all if there is none of them; each
    once, as red, in the game of [env], and always from the same start. No training ends for want of
    a replay: what goes wrong is said on stderr.

    Args:
        folder: the run's.
        config: the run's, without any "auto".

    Raises:
        WriteError: The folder of the replays cannot be made.
    """

    stop_reason = None  # no replay ends a run

    def __init__(self, folder: Path, config: Config) -> None:
        self._folder = folder / FOLDER
        self._interval = config["train"]["replay_interval"]
        self._seed = config["train"]["seed"]
        self._parameters = resolve(game_of(config), teams=True)
        met = {name for one in run_configs(config) for name in parse_mix(one["env"]["opponent"])}
        self._pilots = [name for name in PILOTS if name in met] or list(PILOTS)
        open_folder(self._folder)

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """Whether it is time: at every train.replay_interval, and at the end."""
        return done or epoch % self._interval == 0

    def rate(self, policy: nn.Module, name: str, agent_steps: int) -> Mapping[str, float]:
        """Let a policy on the CPU fight; there are no metrics."""
        meta = {"model": name, "agent_steps": agent_steps}
        recorders = [
            FightRecorder((name, pilot), 1, self._seed, self._parameters, meta)
            for pilot in self._pilots
        ]
        records = play(
            [Fight(policy, pilot) for pilot in self._pilots],
            1,
            self._seed,
            watch=lambda index, *decision: recorders[index](0, *decision),
            parameters=self._parameters,
        )
        try:
            self._save(name, recorders, records)
        except (OSError, UserError, RuntimeError) as error:
            print(f"not all replays of {name} are kept: {shown(error)}", file=sys.stderr)
        return {}

    def _save(
        self, name: str, recorders: Sequence[FightRecorder], records: Sequence[np.ndarray]
    ) -> None:
        """Write the replays of a policy's fights.

        Raises:
            OSError: One of a run that was taken back cannot be removed.
            WriteError: One could not be written.
            ReplayError, RuntimeError: One is not the fight that it was.
        """
        for old in self._folder.glob(f"{name}_*{SUFFIX}"):  # of a run that was taken back
            old.unlink()
        for pilot, recorder, [record] in zip(self._pilots, recorders, records, strict=True):
            [result] = [word for word, is_so in outcomes(record, 0).items() if is_so]
            path = self._folder / f"{name}_vs-{pilot}_{result}{SUFFIX}"
            save(recorder.replay(record), path)

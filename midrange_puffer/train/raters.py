"""Raters, which look at the policy at intervals during training: the league and the replays."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

import numpy as np

from midrange_puffer.config.configuration import Config, run_configs
from midrange_puffer.config.schema import game_of
from midrange_puffer.config.sections import LeagueConfig
from midrange_puffer.contest.match import Fight, meet, play, rate_pilots
from midrange_puffer.contest.ratings import ANCHORS, Pairing, Payoffs, is_standard
from midrange_puffer.errors import CheckpointError, UserError
from midrange_puffer.files import open_folder, write_json
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.game.records import outcomes
from midrange_puffer.json_files import JsonError
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.replays.recorder import FightRecorder, save
from midrange_puffer.replays.replay import SUFFIX
from midrange_puffer.train.run_files import LEAGUE, Rating, panel_score, read_league

REPLAYS = "replays"  # in the run folder


class Rater(Protocol):
    """Looks at the policy in training at intervals.

    Attributes:
        stop_reason: why the run is to end early, in words; None: it goes on.
    """

    stop_reason: str | None

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """True if `rate` is due after so many updates and agent decisions; `done`: at the end."""
        ...

    def rate(self, policy: PolicyModule, name: str, agent_steps: int) -> dict[str, float]:
        """Rates the policy; returns metrics for the next row.

        Args:
            policy: as it is now, on the CPU in evaluation mode.
            name: of its checkpoint, such as "model_000100".
            agent_steps: its agent decisions of training.
        """
        ...


class TrainingLeague:
    """A rater that rates the policy against the pilots and earlier checkpoints of the run.

    All results of the run are rated at once, with fixed ratings of the pilots. So a new result also
    changes the rating of the older checkpoint. Results and ratings are kept in `league.json` of the
    run folder, and a resumed run goes on from there. For the limits of the intervals see
    `bradley_terry`.

    Args:
        folder: the run's.
        settings: [league]: updates between ratings, games with each opponent, half of them in
            each seat, and the number of checkpoints to meet.
        parameters: of the game.
        agent_steps: of training so far. Ratings of longer training, from before the run was
            resumed, are dropped.
        threads: for the engagements and policies; they do not change the results.

    Raises:
        CheckpointError: `league.json` is damaged.
    """

    stop_reason: str | None = None  # no rating ends a run

    def __init__(
        self,
        folder: Path,
        settings: LeagueConfig,
        parameters: Mapping[str, float],
        agent_steps: int,
        threads: int = 1,
    ) -> None:
        self._folder = folder
        self._threads = threads
        self._settings = settings
        self._parameters = resolve(parameters, teams=True)
        self._anchors = ANCHORS if is_standard(self._parameters) else None
        self._ratings: list[Rating] = []
        self._results: list[Pairing] = []
        if (folder / LEAGUE).exists():
            self._read()
            self._drop_from(agent_steps + 1)
        if self._anchors is None:
            self._anchors = rate_pilots(self._parameters)

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """True if a rating is due: at every league.interval, and at the end."""
        return done or epoch % self._settings.interval == 0

    def rate(self, policy: PolicyModule, name: str, agent_steps: int) -> dict[str, float]:
        """Lets the policy fight, and rates it; a rating of as much training is replaced.

        Returns:
            league/rating, league/rating_low and league/rating_high (its 95 % interval),
            league/panel_score and league/worst_score (mean and least of the scores against the
            pilots), league/score_vs_<pilot>, and league/score_vs_checkpoints if there are earlier
            checkpoints.

        Raises:
            WriteError: `league.json` could not be written.
        """
        self._drop_from(agent_steps)
        earlier = self._load_earlier(name, agent_steps)
        players = {name: policy, **{pilot: pilot for pilot in ANCHORS}, **earlier}
        pairs = [(name, opponent) for opponent in players if opponent != name]
        games = self._settings.games
        new = meet(
            pairs, players, games, agent_steps, threads=self._threads, parameters=self._parameters
        )
        self._results += new
        self._ratings.append(Rating(name, agent_steps))
        self._fit()
        self._write()
        rating = self._ratings[-1]
        scores = {result.second: result.score for result in new}
        metrics = {
            f"league/{key}": getattr(rating, key) for key in ("rating", "rating_low", "rating_high")
        }
        panel = panel_score(new)
        assert panel is not None  # as every pilot was met
        metrics |= {"league/panel_score": panel.score, "league/worst_score": panel.worst_score}
        metrics |= {f"league/score_vs_{pilot}": scores[pilot] for pilot in ANCHORS}
        if earlier:
            mean = float(np.mean([scores[opponent] for opponent in earlier]))
            metrics["league/score_vs_checkpoints"] = mean
        return metrics

    def _load_earlier(self, name: str, agent_steps: int) -> dict[str, PolicyModule]:
        """Returns earlier checkpoints by name: the newest, and others evenly spaced before it."""
        paths = sorted(self._folder.glob(model_file.MODELS))
        paths = [path for path in paths if path.stem != name]
        # The untrained first one is left out if there are enough others.
        places = np.linspace(0, len(paths) - 1, self._settings.checkpoints + 1)[1:]
        policies = {}
        for place in np.unique(places.round().astype(int)) if paths else ():
            try:
                policy, meta = load_policy(paths[place])
            except CheckpointError as error:
                print(f"league: left out: {shown(error)}", file=sys.stderr)
                continue
            if meta["agent_steps"] < agent_steps:
                policies[paths[place].stem] = policy
        return policies

    def _fit(self) -> None:
        """Rates all checkpoints anew."""
        opponents = {result.second for result in self._results}
        rated = [row.name for row in self._ratings]
        names = [*rated, *sorted(opponents - set(rated))]
        assert self._anchors is not None  # as `rate` has made them
        ratings, half_widths = Payoffs(names, self._results).rate(self._anchors)
        for place, row in enumerate(self._ratings):
            rating, half_width = float(ratings[place]), float(half_widths[place])
            row.rating = rating
            row.rating_low, row.rating_high = rating - half_width, rating + half_width

    def _drop_from(self, agent_steps: int) -> None:
        """Drops the ratings of `agent_steps` or more decisions of training, and their results."""
        dropped = {row.name for row in self._ratings if row.agent_steps >= agent_steps}
        self._ratings = [row for row in self._ratings if row.name not in dropped]
        self._results = [result for result in self._results if result.first not in dropped]

    def _write(self) -> None:
        content = {
            "parameters": self._parameters,
            "anchors": self._anchors,
            "ratings": [asdict(row) for row in self._ratings],
            "results": [result._asdict() for result in self._results],
        }
        write_json(self._folder / LEAGUE, content)

    def _read(self) -> None:
        """Reads the league of the run folder, if it is of the same game."""
        path = self._folder / LEAGUE
        try:
            content = read_league(path)
        except JsonError as error:
            raise CheckpointError(
                f"{error}; without the file the ratings of the run start anew"
            ) from None
        if content.parameters != self._parameters:
            message = f"league: {shown(path)} is of another game; the ratings start anew"
            print(message, file=sys.stderr)
            return
        self._anchors = self._anchors or content.anchors
        self._ratings, self._results = content.ratings, content.results


class TrainingReplays:
    """A rater that lets the policy fight pilots and keeps the replays in the run folder.

    The policy meets the pilots of env.opponent in all stages, or all pilots if there are none. It
    meets each once, as red, in the game of [env], and always from the same start. A failure to save
    a replay is reported on stderr and does not end the training.

    Args:
        folder: the run's.
        config: the run's, without any "auto".

    Raises:
        WriteError: The folder of the replays cannot be made.
    """

    stop_reason: str | None = None  # no replay ends a run

    def __init__(self, folder: Path, config: Config) -> None:
        self._folder = folder / REPLAYS
        self._interval = config.train.replay_interval
        self._seed = config.train.seed
        self._parameters = resolve(game_of(config), teams=True)
        mixes = (parse_mix(stage.env.opponent) for stage in run_configs(config))
        opponents = {name for mix in mixes for name in mix}
        self._pilots = [name for name in PILOTS if name in opponents] or list(ANCHORS)
        open_folder(self._folder)

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """True if replays are due: at every train.replay_interval, and at the end."""
        return done or epoch % self._interval == 0

    def rate(self, policy: PolicyModule, name: str, agent_steps: int) -> dict[str, float]:
        """Lets the policy fight, and saves the replays; returns no metrics."""
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
            print(f"not all replays of {name} were saved: {shown(error)}", file=sys.stderr)
        return {}

    def _save(
        self, name: str, recorders: Sequence[FightRecorder], records: Sequence[np.ndarray]
    ) -> None:
        """Writes the replays of a policy's fights.

        Raises:
            OSError: An old replay cannot be removed.
            WriteError: A replay could not be written.
            ReplayError, RuntimeError: A replay does not repeat its fight.
        """
        for old in self._folder.glob(f"{name}_*{SUFFIX}"):  # from before the run was resumed
            old.unlink()
        for pilot, recorder, [record] in zip(self._pilots, recorders, records, strict=True):
            [result] = [outcome for outcome, is_true in outcomes(record, 0).items() if is_true]
            path = self._folder / f"{name}_vs-{pilot}_{result}{SUFFIX}"
            save(recorder.replay(record), path)

"""The rating of a policy in training: a small league on a schedule."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
from torch import nn

from midrange_puffer.contest.match import meet, rate_pilots
from midrange_puffer.contest.ratings import ANCHORS, Pairing, Payoffs, is_standard
from midrange_puffer.errors import CheckpointError
from midrange_puffer.files import write_json
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.json_files import JsonError
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.train.league_file import FILE, Rating, panel_score, read_league


class TrainingLeague:
    """Rates a run's policy against the pilots and earlier checkpoints of the run.

    All results of the run are rated at once, the pilots' ratings fixed, so that a new result moves
    the rating of the older checkpoint, too. Results and ratings stand in `league.json` of the run
    folder, from which a resumed run goes on. What the intervals leave out: see `bradley_terry`.

    Args:
        folder: the run's.
        settings: [league]: updates between ratings, games with each opponent, half of them in
            each seat, and how many checkpoints to meet.
        parameters: of the game.
        agent_steps: how long the run has trained so far. What is noted there of longer training,
            before the run was resumed, is dropped.
        threads: that fly the engagements and compute the policies; the result does not depend on
            it.

    Raises:
        CheckpointError: `league.json` is damaged.
    """

    stop_reason = None  # no rating ends a run

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, object],
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
        if (folder / FILE).exists():
            self._take_up()
            self._drop_from(agent_steps + 1)
        if self._anchors is None:
            self._anchors = rate_pilots(self._parameters)

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """Whether it is time for a rating: at every league.interval, and at the end."""
        return done or epoch % self._settings["interval"] == 0

    def rate(self, policy: nn.Module, name: str, agent_steps: int) -> dict[str, float]:
        """Let a policy fight, and rate it.

        Args:
            policy: on the CPU, in evaluation mode.
            name: of its checkpoint, as "model_000100".
            agent_steps: how long it was trained; a rating of as much training is replaced.

        Returns:
            league/rating, league/rating_low and league/rating_high (its 95 % interval),
            league/panel_score and league/worst_score (mean and least of the scores against the
            pilots), league/score_vs_<pilot>, and league/score_vs_checkpoints if there are earlier
            ones.

        Raises:
            WriteError: `league.json` could not be written.
        """
        self._drop_from(agent_steps)
        earlier = self._load_earlier(name, agent_steps)
        players = {name: policy, **{pilot: pilot for pilot in PILOTS}, **earlier}
        pairs = [(name, opponent) for opponent in players if opponent != name]
        games = self._settings["games"]
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
        metrics |= {"league/panel_score": panel.score, "league/worst_score": panel.worst_score}
        metrics |= {f"league/score_vs_{pilot}": scores[pilot] for pilot in PILOTS}
        if earlier:
            mean = float(np.mean([scores[opponent] for opponent in earlier]))
            metrics["league/score_vs_checkpoints"] = mean
        return metrics

    def _load_earlier(self, name: str, agent_steps: int) -> dict[str, nn.Module]:
        """Some earlier checkpoints, by name: the newest, and others at even distances before it."""
        paths = sorted(self._folder.glob(model_file.MODELS))
        paths = [path for path in paths if path.stem != name]
        # The first is left out where there are enough: it is untrained and tells little.
        places = np.linspace(0, len(paths) - 1, self._settings["checkpoints"] + 1)[1:]
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
        """Rate all checkpoints anew."""
        opponents = {result.second for result in self._results}
        rated = [row.name for row in self._ratings]
        names = [*rated, *sorted(opponents - set(rated))]
        ratings, half_widths = Payoffs(names, self._results).rate(self._anchors)
        for place, row in enumerate(self._ratings):
            rating, half_width = float(ratings[place]), float(half_widths[place])
            row.rating = rating
            row.rating_low, row.rating_high = rating - half_width, rating + half_width

    def _drop_from(self, agent_steps: int) -> None:
        """Forget the ratings of so long and longer training, and the games played for them."""
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
        write_json(self._folder / FILE, content)

    def _take_up(self) -> None:
        """Go on with what is in the run folder, if it is of the same game."""
        path = self._folder / FILE
        try:
            content = read_league(path)
        except JsonError as error:
            raise CheckpointError(
                f"{error}; without the file the ratings of the run start anew"
            ) from None
        if content.parameters != self._parameters:
            told = f"league: {shown(path)} is of another game; the ratings start anew"
            print(told, file=sys.stderr)
            return
        self._anchors = self._anchors or content.anchors
        self._ratings, self._results = content.ratings, content.results

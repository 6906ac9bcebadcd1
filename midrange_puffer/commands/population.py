"""`puffer plot midrange --population`: who beats whom in a population, over time."""

from pathlib import Path

import numpy as np

from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import game_of
from midrange_puffer.contest.match import meet
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import resolve
from midrange_puffer.names import shown
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.models import MODELS, spread
from midrange_puffer.show.figures import save_figure
from midrange_puffer.show.run_plot import Exploiter, draw_population
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_files import Turn, format_turns, read_turns

CHECKPOINTS = 12  # of the run, at even distances
GAMES = 64  # of each with each exploiter


def plot_population(run: Path, out: str) -> None:
    """Let checkpoints of a run fight its exploiters, draw that, and print the exploiters.

    Raises:
        UsageError: It has none.
        CheckpointError: A model cannot be used.
        WriteError: The picture could not be written.
    """
    turns = read_turns(run)
    if not turns:
        raise UsageError(f"{shown(run)}: has no exploiter yet; --population.interval makes them")
    config = load_config(run / run_folder.CONFIG, complete=True, runs_code=False)
    checkpoints = spread(sorted(run.glob(MODELS)), CHECKPOINTS + 1)[1:]
    steps, scores = _scores(checkpoints, run, turns, resolve(game_of(config), teams=True))
    exploiters = [Exploiter(turn.kind, turn.agent_steps / 1e6, turn.score) for turn in turns]
    figure = draw_population(exploiters, steps, scores, config["population"]["score"])
    save_figure(figure, out)
    print(format_turns(turns), end="")
    print(shown(out))


def _scores(
    checkpoints: list[Path], run: Path, turns: list[Turn], parameters: dict[str, float]
) -> tuple[list[int], np.ndarray]:
    """The checkpoints' agent decisions, and their scores [checkpoints, turns]."""
    exploiters = {turn.path: load_policy(run / turn.path)[0] for turn in turns}
    steps, scores = [], []
    with progress_bar("checkpoints", len(checkpoints) * len(turns) * GAMES) as advance:
        for path in checkpoints:
            policy, about = load_policy(path)
            pairs = [(path.name, name) for name in exploiters]
            players = {path.name: policy, **exploiters}
            results = meet(pairs, players, GAMES, progress=advance, parameters=parameters)
            steps.append(about["agent_steps"])
            scores.append([result.score for result in results])
    return steps, np.array(scores)

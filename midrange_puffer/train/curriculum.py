"""The curriculum: the present stage of a run, and the condition for the next one."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from midrange_puffer.config.configuration import Config, ConfigError, stage_config, stage_names


class Curriculum:
    """The position of a run in its curriculum: the stage, its start and its recent scores.

    A run without a curriculum has one stage, its configuration.

    Args:
        config: of the run, with all its stages.
        state: the trainer state of a resumed run, which has its stage; None: a new run.

    Attributes:
        stages: the names of all stages, in their order.
        index: of the present stage.
        start: of the present stage, in agent decisions of the run.

    Raises:
        ConfigError: The run is in a stage that the configuration no longer names.
    """

    def __init__(self, config: Config, state: Mapping[str, Any] | None = None) -> None:
        self._config = config
        self.stages = stage_names(config)
        self.index = 0
        self.start = state["global_step"] if state else 0
        self._scores: deque[float] = deque(maxlen=config.curriculum.episodes)
        saved = state.get("curriculum") if state else None
        if saved and self.stages:
            self._restore(saved)

    def _restore(self, saved: Mapping[str, Any]) -> None:
        stage = saved["stage"]
        if stage not in self.stages:
            raise ConfigError(
                f"curriculum.stages = {', '.join(self.stages)}: the run is in the stage {stage}, "
                f"which must be among them"
            )
        self.index, self.start = self.stages.index(stage), saved["start"]
        self._scores.extend(saved["scores"])

    @property
    def stage(self) -> str | None:
        """The name of the present stage; None without a curriculum."""
        return self.stages[self.index] if self.stages else None

    @property
    def state(self) -> dict[str, Any] | None:
        """The entry of the trainer state; None without a curriculum."""
        if self.stage is None:
            return None
        scores = [float(score) for score in self._scores]
        return {"stage": self.stage, "start": self.start, "scores": scores}

    @property
    def config(self) -> Config:
        """The run's configuration in this stage."""
        return stage_config(self._config, self.stage) if self.stage else self._config

    @property
    def score(self) -> float | None:
        """The mean score of the last curriculum.episodes engagements; None before the first."""
        return sum(self._scores) / len(self._scores) if self._scores else None

    @property
    def metrics(self) -> dict[str, float]:
        """The stage, counted from 1, and its score."""
        if self.stage is None:
            return {}
        score = {} if self.score is None else {"curriculum/score": self.score}
        return {"curriculum/stage": self.index + 1, **score}

    def observe(self, scores: Sequence[float]) -> None:
        """Adds the scores of engagements that ended: win 1, draw 0.5, loss 0."""
        self._scores.extend(scores)

    def is_passed(self, steps: int) -> bool:
        """True if the next stage is due after `steps` agent decisions of the run."""
        if self.index + 1 >= len(self.stages):
            return False
        end, score = self._config.stage(self.stages[self.index]), self.score
        enough = len(self._scores) == self._scores.maxlen
        if end.score is not None and enough and score is not None and score >= end.score:
            return True
        return end.max_steps is not None and steps - self.start >= end.max_steps

    def advance(self, steps: int) -> None:
        """Enters the next stage after `steps` agent decisions of the run."""
        self.index += 1
        self.start = steps
        self._scores.clear()

    def __str__(self) -> str:
        return format_stage(self.stages, self.index + 1) if self.stages else ""


def format_stage(stages: Sequence[str], number: int) -> str:
    """Formats a stage, such as "stage 2/4 survive"."""
    return f"stage {number}/{len(stages)} {stages[number - 1]}"

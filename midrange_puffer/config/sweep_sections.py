"""The keys of sweeps; sections.py has those of the other sections."""

import re
from dataclasses import dataclass
from typing import Literal

from midrange_puffer.config.key import Typed, check_even, key
from midrange_puffer.config.text_checks import check_panel, check_run_name

Distribution = Literal["uniform", "int_uniform", "uniform_pow2", "log_normal", "logit_normal"]
METRICS_OF_PANEL = ("panel_score", "worst_score", "time_to_score")  # that a sweep measures itself


def _check_metric(text: str) -> None:
    from midrange_puffer.names import suggest

    if text in METRICS_OF_PANEL or re.fullmatch(r"\w+(/[^\s/]+)+", text, re.ASCII):
        return
    raise ValueError(
        f"must be {', '.join(METRICS_OF_PANEL)}, or a metric of metrics.jsonl with its group, such "
        f"as environment/episode_return{suggest(text, METRICS_OF_PANEL)}"
    )


# fmt: off
class SweepConfig(Typed):
    """[sweep]: a search for better settings."""

    method: Literal["Protein", "ParetoGenetic", "Random"] = key("Protein", meaning=
        "the search method that suggests the settings of a trial: PufferLib's class of that name")
    name: str | None = key(None, check=check_run_name, meaning=
        "name of the sweep's folder in <train.data_dir>/sweeps; None = date, time and a random "
        "suffix")
    trials: int = key(100, minimum=1, maximum=1_000_000, meaning=
        "how many trials there are, including failed ones")
    workers: int = key(1, minimum=1, maximum=1024, meaning=
        "how many trials run side by side, each with its share of the cores")
    engine: Literal["local", "ray"] = key("local", meaning=
        "where trials run: local = on this machine; ray = on the cluster of cluster.address")
    trial_cores: int = key(1, minimum=1, maximum=1024, meaning="ray: how many cores a trial takes")
    seed: int = key(0, minimum=0, maximum=2**31 - 1, meaning=
        "seed of the suggestions and of the trials' training")
    max_cost: float = key(3600.0, minimum=1, maximum=1e9, unit="s", meaning=
        "longest that a trial may take. A trial that takes longer has failed, and Protein "
        "suggests no trial that it expects to take longer")
    cost: Literal["seconds", "agent_steps"] = key("seconds", meaning=
        "what the method takes for the cost of a trial; with agent_steps a sweep with one worker, "
        "Serial and the CPU repeats to the digit")
    metric: str = key("panel_score", check=_check_metric, meaning=
        "what is sought: panel_score = a high mean score against the panel; worst_score = a high "
        "score against the pilot of it that is hardest for the policy; time_to_score = little "
        "time until the mean is sweep.metric_score, where a trial ends; or a metric of the runs, "
        "such as environment/episode_return")
    goal: Literal["maximize", "minimize"] = key("maximize", meaning=
        "for a metric of the runs: high or low values are sought")
    metric_score: float = key(0.95, minimum=0.01, maximum=1, meaning=
        "time_to_score: the mean score against the panel that is to be reached")
    panel: str = key("all", check=check_panel, meaning=
        "the pilots against which the trials are measured, separated by commas; all = every pilot")
    panel_episodes: int = key(512, minimum=2, maximum=1_000_000, check=check_even, meaning=
        "engagements with each pilot of the panel")
    panel_seed: int = key(2**31, minimum=2**31, maximum=2**63 - 1, meaning=
        "seed of the panel's starts and actions; no training can have it")
    readings: int = key(4, minimum=1, maximum=1000, meaning=
        "how often a trial meets the panel, at even distances; the last time is at its end")
    stop_quantile: float = key(0.25, minimum=0, maximum=1, meaning=
        "a trial ends early if it scores below this quantile of what other trials scored after as "
        "many steps; 0 = never")
    stop_after: int = key(8, minimum=1, maximum=1_000_000, meaning=
        "how many trials must have finished before any other ends early")


@dataclass(frozen=True)
class Swept:
    """[sweep.<section>.<key>]: the range of a key that a sweep varies.

    The names and distributions are PufferLib's. The start of a sweep checks that they fit the key.
    """

    distribution: Distribution | None = key(None, meaning=
        "how the range is divided: evenly, by powers of 2, by the logarithm, or by the logarithm "
        "of 1 - value")
    values: str | None = key(None, meaning=
        "the values that are tried, separated by commas, in place of a distribution and its "
        "range. Only so can words, and True or False, be varied")
    min: float | None = key(None, minimum=-1e15, maximum=1e15, meaning="least value")
    max: float | None = key(None, minimum=-1e15, maximum=1e15, meaning="greatest value")
    mean: float | None = key(None, minimum=-1e15, maximum=1e15, meaning=
        "value in the first trial (Random has no such trial). That of `values` is the middle one")
    scale: float | Literal["auto", "time"] = key("auto", minimum=1e-6, maximum=2, meaning=
        "how far from a good trial the next ones are, as a share of half the range; auto = 0.5; "
        "time = half a doubling up or down")
# fmt: on

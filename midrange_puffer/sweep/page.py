"""The web page of a sweep: one file, without scripts, readable offline, in light and in dark."""

import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from midrange_puffer.names import shown
from midrange_puffer.show.web_page import svg, web_page
from midrange_puffer.sweep.effects import effects_figure, format_value, parallel_figure
from midrange_puffer.sweep.figures import cost_figure, progress_figure
from midrange_puffer.sweep.objective import axis_label, in_words
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    Record,
    Trial,
    best_trial,
)
from midrange_puffer.sweep.space import Parameter, Space
from midrange_puffer.sweep.statistics import ENOUGH, chance_correlation, scored
from midrange_puffer.train.loggers import format_duration
from midrange_puffer.train.machine import usable_cores

TOP = 10  # trials in the table of the best
STATUSES = {FINISHED: "finished", STOPPED: "stopped early", FAILED: "failed", RUNNING: "running"}


def render(record: Record, best_config: Path) -> str:
    """The page of a sweep; `best_config` is where its best configuration is, once there is one.

    Raises:
        RecordError: A trial has no value of what the sweep varies.
    """
    trials, parameters = record.trials, Space(record.config).parameters
    record.check_params(parameters)
    title = f"Sweep {_told(record.folder.name)}"
    sections = [f"<h1>{title}</h1>", _summary(record, best_config)]
    if any(trial.readings for trial in record.over):
        sections += _outcomes(trials, axis_label(record.config.sweep))
    if scored(trials):
        sections += _influences(trials, parameters)
    sections += [_best_table(record), _failures(trials), _settings(record)]
    return web_page(title, sections)


def _summary(record: Record, best_config: Path) -> str:
    """How far the sweep is, and the best it has found."""
    counts = Counter(trial.status for trial in record.trials)
    states = ", ".join(
        f"{counts[status]} {word}" for status, word in STATUSES.items() if counts[status]
    )
    spent = sum(trial.seconds for trial in record.over)
    text = (
        f"<p>{len(record.over)} of {record.config.sweep.trials} trials are over"
        f"{states and ': '}{states}. Together they took {format_duration(spent)}.</p>"
    )
    best = best_trial(record.trials)
    if not best:
        return (
            text + "<p><strong>No trial has finished: there is no best configuration.</strong></p>"
        )
    return (
        f"{text}<p>The best is <strong>trial {best.number}: score {best.score:.3f}</strong> after "
        f"{format_duration(best.cost)} of training. {in_words(record.config.sweep)} To train "
        "with its settings:</p>"
        f"<pre>puffer train midrange --config {_told(best_config)}</pre>"
        '<p class="note">The best of many trials on one panel flatters itself: some of its lead is '
        "luck, of the seed it was trained with and of the engagements it was measured in. Train it "
        "again with other seeds, and measure it on other engagements, before it is said to be "
        "better than another.</p>"
    )


def _outcomes(trials: Sequence[Trial], score: str) -> list[str]:
    """The figures of scores, cost and time; `score` is what is sought."""
    cost = (
        "The trials on the front have their numbers. A trial stopped early stands at the cost it "
        "would have come to, with the score it had; one that failed, where it was last read."
    )
    progress = (
        "The line is the best score of a finished trial; the marks are the single trials, each "
        "with the last score it had. Time is that of their processes, one after another, with "
        "start and readings."
    )
    return [
        _picture("Score against cost", svg(cost_figure, trials, score), cost),
        _picture("Best score so far", svg(progress_figure, trials, score), progress),
    ]


def _influences(trials: Sequence[Trial], parameters: Mapping[str, Parameter]) -> list[str]:
    """The figures of parameters."""
    count = len(scored(trials))
    effects = (
        "A mark is a trial that finished or, hollow and with the score it had by then, was "
        "stopped early; failed ones are left out. "
    )
    if count < ENOUGH:
        effects += f"From {ENOUGH} trials on, a line shows the trend."
    else:
        effects += (
            "The line is the mean score of the trials nearby. The rank correlation (Spearman) of "
            "parameter and score is 1 where more of it is always better, −1 where always worse; "
            f"an optimum in the middle may give 0. Were these {count} trials drawn independently, "
            "19 of 20 parameters without any effect would stay within "
            f"±{chance_correlation(count):.2f}; a method that goes on from good trials makes "
            "larger ones by chance, and as it changes all parameters together, one may take the "
            "credit of another."
        )
    parallel = (
        "A line is a trial that finished or, with the score it had by then, was stopped early; "
        "failed ones are left out. The poorest is blue, the best orange; the parameters stand on "
        "the scales they are drawn from."
    )
    return [
        _picture("Effect of each parameter", svg(effects_figure, trials, parameters), effects),
        _picture("All parameters at once", svg(parallel_figure, trials, parameters), parallel),
    ]


def _picture(heading: str, picture: str, caption: str) -> str:
    return (
        f'<h2>{heading}</h2>\n<figure><div class="scroll">{picture}</div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _best_table(record: Record) -> str:
    """The best finished trials side by side: scores, cost, parameters."""
    finished = [trial for trial in record.trials if trial.status == FINISHED]
    top = sorted(finished, key=lambda trial: (-trial.score, trial.cost))[:TOP]
    if not top:
        return ""
    rows = [
        _row("th", ["", "searched", *(f"trial {trial.number}" for trial in top)]),
        _row("td", ["score", "", *(f"{trial.score:.3f}" for trial in top)]),
        _row("td", ["cost [s]", "", *(f"{trial.cost:.0f}" for trial in top)]),
        _group("score against", len(top)),
    ]
    for pilot in top[0].readings[-1].scores:
        # The pilots may be others where the sweep went on with another version.
        scores = [trial.readings[-1].scores.get(pilot) for trial in top]
        told = ["–" if score is None else f"{score:.3f}" for score in scores]
        rows.append(_row("td", [pilot, "", *told]))
    rows.append(_group("parameters", len(top)))
    for name, parameter in Space(record.config).parameters.items():
        bounds = f"{format_value(parameter.minimum)} to {format_value(parameter.maximum)}"
        values = [format_value(trial.params[name]) for trial in top]
        rows.append(_row("td", [name, bounds, *values]))
    heading = f"The best {len(top)}" if len(top) > 1 else "The one that finished"
    return f"<h2>{heading}</h2>\n{_table(rows)}"


def _failures(trials: Sequence[Trial]) -> str:
    """The failed trials with their reasons."""
    failed = [trial for trial in trials if trial.status == FAILED]
    if not failed:
        return ""
    rows = ['<tr><th>trial</th><th class="number">after</th><th>reason</th></tr>']
    rows += [
        f'<tr><td>{trial.number}</td><td class="number">{format_duration(trial.seconds)}</td>'
        f"<td>{_told(trial.reason or '')}</td></tr>"
        for trial in failed
    ]
    return f"<h2>Failures</h2>\n{_table(rows)}"


def _settings(record: Record) -> str:
    """How the sweep was made, and where this page was."""
    settings = {key: value for key, value in record.config.sweep.items() if key != "name"}
    settings["folder"] = record.folder.resolve()
    settings["this page was written on"] = (
        f"{platform.system()} {platform.machine()}, {usable_cores()} cores"
    )
    rows = [
        f"<tr><td>{_told(name)}</td><td>{_told(value)}</td></tr>"
        for name, value in settings.items()
    ]
    return f"<h2>Settings of the sweep</h2>\n{_table(rows)}"


def _row(tag: str, cells: Sequence[str]) -> str:
    """A name, and numbers."""
    name, *numbers = map(_told, cells)
    return f"<tr><th>{name}</th>" + "".join(
        f'<{tag} class="number">{text}</{tag}>' for text in numbers
    ) + "</tr>"  # fmt: skip


def _told(name: object) -> str:
    """A name or text as HTML."""
    return escape(shown(name))


def _group(name: str, trials: int) -> str:
    """The heading of rows that belong together."""
    return f'<tr class="group"><th colspan="{trials + 2}">{name}</th></tr>'


def _table(rows: Iterable[str]) -> str:
    return '<div class="scroll"><table>\n' + "\n".join(rows) + "\n</table></div>"

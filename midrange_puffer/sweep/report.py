"""Results of a sweep: best.ini, its best configuration, and report.html, a web page.

The page is one file without scripts. It can be read offline, in light and dark mode.
"""

import platform
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap

from midrange_puffer.config.configuration import Config, format_sections
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import STAGE
from midrange_puffer.config.sweep_sections import SweepConfig
from midrange_puffer.errors import require
from midrange_puffer.files import write_whole
from midrange_puffer.names import shown
from midrange_puffer.show.web_page import svg, web_page
from midrange_puffer.sweep.figures import (
    ENOUGH,
    chance_correlation,
    cost_figure,
    effects_figure,
    format_value,
    parallel_figure,
    progress_figure,
    scored,
)
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    MEAN,
    RUNNING,
    STOPPED,
    TIME,
    WORST,
    Record,
    Trial,
    best_trial,
    is_of_runs,
)
from midrange_puffer.sweep.space import Space, SweptKey, trial_config
from midrange_puffer.train.loggers import format_duration
from midrange_puffer.train.machine import usable_cores

REPORT, BEST = "report.html", "best.ini"
TOP = 10  # trials in the table of the best
STATUSES = {FINISHED: "finished", STOPPED: "stopped early", FAILED: "failed", RUNNING: "running"}


def write_report(record: Record) -> Path:
    """Writes `REPORT` into a sweep's folder, and `BEST` if a trial has finished.

    The sweep may still be running: nothing else in its folder is changed.

    Returns:
        The path of the report.

    Raises:
        UsageError: matplotlib is missing; the best configuration is written nevertheless.
        WriteError: A file could not be written.
    """
    best = best_trial(record.trials)
    if best:
        write_whole(record.folder / BEST, format_best(record, best).encode())
    require("plots need", "matplotlib")
    path = record.folder / REPORT
    write_whole(path, render(record, record.folder / BEST).encode())
    return path


def format_best(record: Record, trial: Trial) -> str:
    """Returns the ini file for training as in a trial, but with the sweep's train.seed."""
    config = trial_config(record.config, trial.params)
    config = config.only(name for name in config if name != "sweep")
    settings, scores = record.config.sweep, trial.readings[-1].scores.items()
    against = ", ".join(
        ["against its panel", *(f"{shown(name)} {score:.3f}" for name, score in scores)]
    )
    of = f"by {axis_label(settings)}" if is_of_runs(settings) else against
    lines = [
        f"The best of {len(record.over)} trials of the sweep {shown(record.folder.name)}: trial "
        f"{trial.number}, {time.strftime('%Y-%m-%d')}.",
        "",
        f"    puffer train midrange --config {BEST}",
        "",
        *wrap(f"Score {trial.score:.3f} {of}; {trial.cost:.0f} s.", 100),
        "",
        "Only what differs from the defaults; `puffer train midrange --help` lists every key.",
    ]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n" + _differences(config)


def _differences(config: Config) -> str:
    """Returns the values of a configuration that differ from the defaults, as an ini file."""
    defaults = load_config()
    different = {
        section: {
            name: value
            for name, value in items.items()
            if value != defaults.get(section, {}).get(name)
        }
        for section, items in config.items()
    }
    # A stage's section is kept even if it is empty, because it is the stage.
    kept = {
        section: items for section, items in different.items() if items or section.startswith(STAGE)
    }
    return format_sections(kept)


def render(record: Record, best_config: Path) -> str:
    """Returns the page of a sweep.

    Args:
        record: the sweep's record.
        best_config: path of its best configuration; the file exists once a trial has finished.

    Raises:
        RecordError: A trial has no value of a parameter of the sweep.
    """
    trials, parameters = record.trials, Space(record.config).parameters
    record.check_params(parameters)
    title = f"Sweep {_html(record.folder.name)}"
    sections = [f"<h1>{title}</h1>", _summary(record, best_config)]
    if any(trial.readings for trial in record.over):
        sections += _outcomes(trials, axis_label(record.config.sweep))
    if scored(trials):
        sections += _influences(trials, parameters)
    sections += [_best_table(record), _failures(trials), _settings(record)]
    return web_page(title, sections)


def _summary(record: Record, best_config: Path) -> str:
    """Returns the state of the sweep and its best trial, as HTML."""
    counts = Counter(trial.status for trial in record.trials)
    states = ", ".join(
        f"{counts[status]} {word}" for status, word in STATUSES.items() if counts[status]
    )
    spent = sum(trial.duration for trial in record.over)
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
        f"{format_duration(best.cost)} of training. {_objective_in_words(record.config.sweep)} "
        "To train with its settings:</p>"
        f"<pre>puffer train midrange --config {_html(best_config)}</pre>"
        '<p class="note">The best of many trials on one panel flatters itself: some of its lead is '
        "luck, of the seed it was trained with and of the engagements it was measured in. Train it "
        "again with other seeds, and measure it on other engagements, before it is said to be "
        "better than another.</p>"
    )


def _outcomes(trials: Sequence[Trial], score: str) -> list[str]:
    """Returns the figures of scores, costs and times; `score` is the label of the score's axis."""
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


def _influences(trials: Sequence[Trial], parameters: Mapping[str, SweptKey]) -> list[str]:
    """Returns the figures of the parameters' effects."""
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
    """Returns a table of the best finished trials: scores, costs, parameters."""
    finished = [trial for trial in record.trials if trial.status == FINISHED]
    top = sorted(finished, key=lambda trial: (-trial.score, trial.cost))[:TOP]
    if not top:
        return ""
    rows = [
        _row("th", ["", "searched", *(f"trial {trial.number}" for trial in top)]),
        _row("td", ["score", "", *(f"{trial.score:.3f}" for trial in top)]),
        _row("td", ["cost [s]", "", *(f"{trial.cost:.0f}" for trial in top)]),
    ]
    if top[0].readings[-1].scores:
        rows.append(_group("score against", len(top)))
    for pilot in top[0].readings[-1].scores:
        # Trials may have other pilots if the sweep was resumed with another version.
        scores = [trial.readings[-1].scores.get(pilot) for trial in top]
        cells = ["–" if score is None else f"{score:.3f}" for score in scores]
        rows.append(_row("td", [pilot, "", *cells]))
    rows.append(_group("parameters", len(top)))
    for name, parameter in Space(record.config).parameters.items():
        bounds = f"{format_value(parameter.minimum)} to {format_value(parameter.maximum)}"
        values = [format_value(trial.params[name]) for trial in top]
        rows.append(_row("td", [name, bounds, *values]))
    heading = f"The best {len(top)}" if len(top) > 1 else "The one that finished"
    return f"<h2>{heading}</h2>\n{_table(rows)}"


def _failures(trials: Sequence[Trial]) -> str:
    """Returns a table of the failed trials with their reasons."""
    failed = [trial for trial in trials if trial.status == FAILED]
    if not failed:
        return ""
    rows = ['<tr><th>trial</th><th class="number">after</th><th>reason</th></tr>']
    rows += [
        f'<tr><td>{trial.number}</td><td class="number">{format_duration(trial.duration)}</td>'
        f"<td>{_html(trial.reason or '')}</td></tr>"
        for trial in failed
    ]
    return f"<h2>Failures</h2>\n{_table(rows)}"


def _settings(record: Record) -> str:
    """Returns a table of the sweep's settings and of the machine that wrote the page."""
    settings: dict[str, object] = {
        key: value for key, value in record.config.sweep.items() if key != "name"
    }
    settings["folder"] = record.folder.resolve()
    settings["this page was written on"] = (
        f"{platform.system()} {platform.machine()}, {usable_cores()} cores"
    )
    rows = [
        f"<tr><td>{_html(name)}</td><td>{_html(value)}</td></tr>"
        for name, value in settings.items()
    ]
    return f"<h2>Settings of the sweep</h2>\n{_table(rows)}"


def _row(tag: str, cells: Sequence[str]) -> str:
    """Returns a row of a table: a name, then numbers."""
    name, *numbers = map(_html, cells)
    return f"<tr><th>{name}</th>" + "".join(
        f'<{tag} class="number">{text}</{tag}>' for text in numbers
    ) + "</tr>"  # fmt: skip


def _html(name: object) -> str:
    """Returns a name or text as HTML."""
    return escape(shown(name))


def _group(name: str, trials: int) -> str:
    """Returns the heading of a group of rows."""
    return f'<tr class="group"><th colspan="{trials + 2}">{name}</th></tr>'


def _table(rows: Iterable[str]) -> str:
    return '<div class="scroll"><table>\n' + "\n".join(rows) + "\n</table></div>"


def axis_label(settings: SweepConfig) -> str:
    """Returns the label of a figure's axis for the score that the sweep maximises."""
    if settings.metric == WORST:
        return f"{WORST}: least of the panel"
    if settings.metric == TIME:
        return f"{TIME}: mean, up to {settings.metric_score:g}"
    if is_of_runs(settings):
        return settings.metric if settings.goal == "maximize" else f"-({settings.metric})"
    return f"{MEAN}: mean of the panel"


def _objective_in_words(settings: SweepConfig) -> str:
    """Returns a sentence about the score that the sweep maximises."""
    if settings.metric == WORST:
        return "The score is that against the pilot of the panel that the policy does worst with."
    if settings.metric == TIME:
        return (
            "The score is the mean over the panel, at which no trial trains longer than to "
            f"{settings.metric_score:g}. Of the trials that reach it the quickest is the best."
        )
    if is_of_runs(settings):
        sign = (
            ""
            if settings.goal == "maximize"
            else ", with the opposite sign, as low values are sought"
        )
        return (
            f"The score is the metric {_html(settings.metric)} of the run, its mean since the "
            f"reading before{sign}."
        )
    return "The score is the mean over the panel."

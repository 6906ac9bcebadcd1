"""What a sweep leaves behind: a page that shows what was found, and the best configuration."""

import time
from pathlib import Path
from textwrap import wrap

from midrange_puffer.config.configuration import Config, format_sections
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import STAGE
from midrange_puffer.files import write_whole
from midrange_puffer.names import shown
from midrange_puffer.show.figures import require_matplotlib
from midrange_puffer.sweep.page import render
from midrange_puffer.sweep.record import Record, Trial, best_trial
from midrange_puffer.sweep.space import trial_config

REPORT, BEST = "report.html", "best.ini"


def write_report(record: Record) -> Path:
    """Write `BEST`, if a trial has finished, and `REPORT` into a sweep's folder.

    The sweep may still be running: nothing else of its folder is touched.

    Returns:
        The path of the report.

    Raises:
        UsageError: matplotlib is missing; the best configuration is written all the same.
        WriteError: A file could not be written.
    """
    best = best_trial(record.trials)
    if best:
        write_whole(record.folder / BEST, format_best(record, best).encode())
    require_matplotlib()
    path = record.folder / REPORT
    write_whole(path, render(record, record.folder / BEST).encode())
    return path


def format_best(record: Record, trial: Trial) -> str:
    """An ini file that trains as a trial did, but with the seed of the sweep's configuration."""
    config = trial_config(record.config, trial.params)
    config = config.only(name for name in config if name != "sweep")
    scores = ", ".join(
        f"{shown(name)} {score:.3f}" for name, score in trial.readings[-1].scores.items()
    )
    lines = [
        f"The best of {len(record.over)} trials of the sweep {shown(record.folder.name)}: trial "
        f"{trial.number}, {time.strftime('%Y-%m-%d')}.",
        "",
        f"    puffer train midrange --config {BEST}",
        "",
        *wrap(f"Score {trial.score:.3f} against its panel, {scores}; {trial.cost:.0f} s.", 100),
        "",
        "Only what differs from the defaults; `puffer train midrange --help` lists every key.",
    ]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n" + _differences(config)


def _differences(config: Config) -> str:
    """What of a configuration is not the default, as an ini file without where it is from."""
    defaults = load_config()
    different = {
        section: {
            name: value
            for name, value in items.items()
            if value != defaults.get(section, {}).get(name)
        }
        for section, items in config.items()
    }
    # The section of a stage must be there even if nothing is in it.
    kept = {
        section: items for section, items in different.items() if items or section.startswith(STAGE)
    }
    return format_sections(kept)

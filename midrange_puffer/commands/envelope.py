"""`puffer envelope midrange`: the ranges from which a missile hits, as a table and as pictures."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from midrange_puffer.commands import option
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.errors import MissingPackageError, UsageError, require
from midrange_puffer.files import open_folder, write_results
from midrange_puffer.game import envelope_height
from midrange_puffer.game.envelope import (
    FULL,
    LEAST_STEP,
    RELEVANT,
    RELEVANT_WITH_HEIGHT,
    Envelope,
    build,
)
from midrange_puffer.game.envelope_height import HeightEnvelope
from midrange_puffer.game.parameters import has_height, require_height, resolve
from midrange_puffer.names import shown

TABLE, ASPECT, OFF_BORESIGHT = "envelope.npz", "aspect.png", "off_boresight.png"
BY_HEIGHT = "heights.png"
ASPECTS = {"nose-on": 0.0, "beam": 1.0, "tail-on": -2.0}  # of the rows printed, diamond angles
POINT_BLANK = 1000.0  # m
RANGES = ("minimum", "inner", "nez", "cold", "aero")  # columns, by their names in `Edges`
HEADING = """\
           launched   target           no escape      to
 target         m/s      m/s   R_min        from   R_NEZ   R_cold   R_aero"""


DESCRIPTION = (
    "Fly missiles out at every aspect, off-boresight angle and speed, and find the ranges from "
    "which they hit. This takes about half a minute. A shorter env.physics_dt than "
    f"{LEAST_STEP:g} s is taken as {LEAST_STEP:g} s: shorter steps take longer and change the "
    "ranges little. With env.dimensions = 3 the map is of blue's aircraft and red's missile, both "
    f"fighters at {envelope_height.BASE:g} m, and a table says how the ranges change with both "
    "heights; this takes half a minute, too."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and a value for all `parameters`."""

    out: str = option.value(f"folder for {TABLE} and the pictures", "envelope")
    json: str | None = option.json()
    height: float | None = option.value(
        "with height: find the map for both at this height, without the table",
        None,
        0,
        20_000,
        unit="m",
    )
    target_height: float | None = option.value(
        "with height: the target's height; not given: as --height", None, 0, 20_000, unit="m"
    )
    game: dict[str, int | float] = option.game(dict.fromkeys((*RELEVANT, *RELEVANT_WITH_HEIGHT)))
    parameters: dict[str, int | float] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer envelope midrange`."""
    options = option.Parser("envelope", DESCRIPTION, Options).read(argv)
    try:
        parameters = resolve(options.game)
    except ValueError as error:
        raise UsageError(f"command line: {error}") from None
    for name, value in (("height", options.height), ("target_height", options.target_height)):
        if value is not None:
            require_height(parameters, f"--{name.replace('_', '-')} {value:g}")
    if options.target_height is not None and options.height is None:
        raise UsageError(f"--target-height {options.target_height:g}: needs --height")
    open_folder(Path(options.out))
    return replace(options, parameters=parameters)


def main(options: Options) -> int:
    """Builds and draws the envelope; returns the exit status."""
    parameters, folder = options.parameters, Path(options.out)
    if parameters["physics_dt"] < LEAST_STEP:
        print(f"physics_dt = {parameters['physics_dt']:g}: flown in steps of {LEAST_STEP:g} s")
    began = time.perf_counter()
    envelope, table = find(options)
    took = time.perf_counter() - began
    envelope.save(folder / TABLE)
    pictures = draw(envelope, folder)
    if table and pictures:
        pictures += draw_heights(parameters, folder)
    rows, counts = nose_on(envelope), count(envelope)
    print(f"{envelope.aero.size} geometries in {took:.1f} s; the nose on the target, in km:")
    print(format_table(rows))
    print(describe(counts))
    if table:
        print(describe_heights(table))
    print(f"{shown(folder)}: {', '.join([TABLE, *pictures])}")
    if options.json:
        report = {"seconds": took, "nose_on": rows, "counts": counts}
        if table:
            report["heights"] = envelope_height.HEIGHTS
            report["ratios"] = {edge: values.tolist() for edge, values in table.ratios.items()}
            report["climbs"] = dict(table.climbs)
        write_results(options.json, envelope.identity | report)
    return 0


def find(options: Options) -> tuple[Envelope, HeightEnvelope | None]:
    """Returns the map, and with height, unless heights are given, its table for all heights."""
    parameters, height, target_height = options.parameters, options.height, options.target_height
    if not has_height(parameters):
        with progress_bar("missile envelope", math.prod(FULL.shape)) as advance:
            return build(parameters, FULL, progress=advance), None
    if height is not None:
        at = height, height if target_height is None else target_height
        with progress_bar("missile envelope", math.prod(envelope_height.GRID.shape)) as advance:
            return build(parameters, envelope_height.GRID, progress=advance, heights=at), None
    with progress_bar("missile envelope", envelope_height.cells()) as advance:
        table = envelope_height.build_for_heights(parameters, progress=advance)
    return table.base, table


def nose_on(envelope: Envelope) -> list[dict[str, Any]]:
    """Returns ranges [m] by aspect and speeds [m/s]; the launcher's nose is on the target."""
    grid = envelope.grid
    speeds = [0, len(grid.launch_speeds) // 2, len(grid.launch_speeds) - 1]
    return [
        {
            "aspect": name,
            "launch_speed": grid.launch_speeds[speed],
            "target_speed": grid.target_speeds[speed],
        }
        | {edge: float(getattr(envelope, edge)[0, aspect, speed, speed]) for edge in RANGES}
        for name, aspect in ((name, grid.aspect_node(angle)) for name, angle in ASPECTS.items())
        for speed in speeds
    ]


def draw(envelope: Envelope, folder: Path) -> list[str]:
    """Draws the pictures; returns their names, none without matplotlib."""
    try:
        require("pictures need", "matplotlib")
    except MissingPackageError as error:
        print(f"no pictures: {error}")
        return []
    from midrange_puffer.show.envelope_plot import plot_aspect, plot_off_boresight

    plot_aspect(envelope, folder / ASPECT)
    plot_off_boresight(envelope, folder / OFF_BORESIGHT)
    return [ASPECT, OFF_BORESIGHT]


def describe_heights(table: HeightEnvelope) -> str:
    """Returns the table of heights in words."""
    lines = [
        f"Ranges at other heights, as multiples of those with both at {envelope_height.BASE:g} m",
        "(rows: launcher's height, columns: target's height, in km):",
    ]
    for edge, name in (("nez", "R_NEZ"), ("cold", "R_cold"), ("aero", "R_aero")):
        lines.append(f" {name:7}" + "".join(f"{z / 1000:8.0f}" for z in envelope_height.HEIGHTS))
        for z, row in zip(envelope_height.HEIGHTS, table.ratios[edge], strict=True):
            lines.append(f"{z / 1000:8.0f}" + "".join(f"{ratio:8.2f}" for ratio in row))
        lines.append(f"  times 1 {table.climbs[edge]:+.2f} per sine of the launcher's climb")
    return "\n".join(lines)


def draw_heights(parameters: dict[str, int | float], folder: Path) -> list[str]:
    """Draws ranges over the common height of both fighters; returns the picture's name."""
    from midrange_puffer.show.envelope_plot import plot_heights

    heights = np.arange(1000.0, 15_001.0, 1000.0)
    plot_heights(heights, envelope_height.ranges_by_height(parameters, heights), folder / BY_HEIGHT)
    return [BY_HEIGHT]


def format_table(rows: list[dict[str, Any]]) -> str:
    """Returns the rows of `nose_on` as a table, ranges in km."""
    lines = [HEADING, "─" * 75]
    for row in rows:
        cells = [f"{row['launch_speed']:.0f}", f"{row['target_speed']:.0f}"]
        cells += [f"{row[edge] / 1000:.2f}" for edge in RANGES]
        widths = (11, 9, 8, 12, 8, 9, 9)
        columns = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        lines.append(f" {row['aspect']:7}" + "".join(columns))
    return "\n".join(lines)


def count(envelope: Envelope) -> dict[str, int]:
    """Counts the geometries in which hits are not one interval of ranges.

    Returns:
        geometries: all; unreachable: no hit beyond `POINT_BLANK`; split: several stretches of hits
        on a target that flies on; gaps: ranges below R_NEZ from which some evasion escapes.
    """
    return {
        "geometries": envelope.aero.size,
        "unreachable": int((envelope.aero < POINT_BLANK).sum()),
        "split": int((envelope.stretches > 1).sum()),
        "gaps": int((envelope.gaps > 0).sum()),
    }


def describe(counts: dict[str, int]) -> str:
    """Returns the counts in words."""
    split, gaps, unreachable = (
        f"{100 * counts[name] / counts['geometries']:.0f} %"
        for name in ("split", "gaps", "unreachable")
    )
    return (
        "Of all geometries, also those with the target off the nose or behind,\n"
        f"  {unreachable} hit nothing beyond {POINT_BLANK:.0f} m;\n"
        f"  {split} hit a target that flies on in several stretches of range, such as point blank "
        "and from R_min on;\n"
        f"  {gaps} have ranges below R_NEZ, too, from which some evasion escapes."
    )

"""The data of a fight's page: the fight is flown again, recorded and packed."""

import itertools
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from midrange_puffer.game.atmosphere import SPEED_OF_SOUND
from midrange_puffer.game.contacts import SILENT, best_contact
from midrange_puffer.game.parameters import RADAR, SEATS, callsigns, has_height
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.shots import FlyOuts
from midrange_puffer.names import shown
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.told import tell
from midrange_puffer.show.page.packing import (
    Packed,
    pack_coarsely,
    pack_graphs,
    pack_path,
    sound_table,
)
from midrange_puffer.show.page.picture import Picture
from midrange_puffer.show.page.zones import fly_zones, look_up_zones

INTERVAL = 1.0  # about the shortest time between two space-time graphs [s]
# Most graphs of one fighter, and of all fighters of teams. In longer fights the interval is longer,
# so that the page does not become too large.
MOST, MOST_OF_ALL = 300, 1600
# With height zones are flown out, which takes time: about the shortest time between two [s], the
# most of one fighter, and of all fighters of teams.
ZONE_INTERVAL, MOST_FLOWN, MOST_FLOWN_OF_ALL = 2.0, 60, 320

_CONE = ("radar_half_angle_deg", "radar_range_nose")  # parameters of a radar's cone


def collect(replay: Replay, progress: Callable[[int], None]) -> dict[str, object]:
    """Flies a fight again and returns the data of its page, ready for JSON.

    Args:
        replay: The fight.
        progress: Called with 1 after every decision; with height the total is the same, but in
            other steps.

    Raises:
        ReplayError: The replay gives other states than recorded.
    """
    sim = replay.simulation()
    has_sensors = sim.parameters["sensing"] == RADAR
    high = has_height(sim.parameters)
    share = replay.decisions // 2 if high else replay.decisions  # the rest is for zones
    advance = _scaled(progress, replay.decisions, share)
    decision = sim.parameters["physics_dt"] * sim.parameters["substeps"]
    paths = Paths(sim)
    count = len(paths.fighters)
    interval = max(INTERVAL, replay.duration / min(MOST, MOST_OF_ALL // count))
    every = max(round(interval / decision), 1)
    zones_every = every
    if high:
        most = min(MOST_FLOWN, MOST_FLOWN_OF_ALL // (2 * count))
        zones_every = max(round(max(ZONE_INTERVAL, replay.duration / most) / decision), 1)
    truth, *known = pictures = [
        Picture(sim, side) for side in (None, *(range(len(SEATS)) if has_sensors else ()))
    ]
    for flown, _ in enumerate(itertools.chain([sim], replay.play(sim))):
        if flown:
            paths.note()
            advance(1)
        for picture in pictures:
            if flown % every == 0:
                picture.note_graphs()
            if flown % zones_every == 0:
                picture.note_shots()
    zones_of = _zones_of(replay, paths, pictures, progress, replay.decisions - share)
    return {
        "names": [shown(name) for name in replay.names],
        "sizes": paths.sizes,
        "callsigns": callsigns(paths.sizes),
        "outcome": shown(replay.outcome),
        "told": [
            [told.start, told.fighter, told.ordered, told.words] for told in tell(replay, paths)
        ],
        "length": paths.time,
        "gravity": replay.parameters["gravity"],
        "mach": SPEED_OF_SOUND,
        "line": None if paths.line is None else asdict(paths.line),
        "sound": sound_table() if high else None,
        "fighters": [pack_path(path) for path in paths.fighters],
        "missiles": [pack_path(path) for path in paths.missiles],
        "interval": every * decision,
        "zoneInterval": zones_every * decision,
        "radar": {name: sim.parameters[name] for name in _CONE} if has_sensors else None,
        **_pack_picture(truth, zones_of),
        "known": [
            _pack_picture(picture, zones_of) | _pack_contacts(picture, paths) for picture in known
        ],
    }


def _scaled(progress: Callable[[int], None], total: int, share: int) -> Callable[[int], None]:
    """Returns a function that counts up to `total`, and meanwhile reports `share` to `progress`."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        before, done = done, done + count
        progress(share * done // total - share * before // total)

    return advance


ZonesOf = Callable[[Picture], np.ndarray]


def _zones_of(
    replay: Replay,
    paths: Paths,
    pictures: list[Picture],
    progress: Callable[[int], None],
    share: int,
) -> ZonesOf:
    """Returns the function that gives the launch zones of a picture's shots.

    With height all zones together report `share` to `progress`.
    """
    if not paths.has_height:
        return lambda picture: look_up_zones(replay.parameters, picture.shots)
    shots = [shot for picture in pictures for rows in picture.shots for shot in rows]
    advance = _scaled(progress, sum(shot is not None for shot in shots), share)
    fly_outs = FlyOuts(replay.parameters, paths.types, paths.factors)
    return lambda picture: fly_zones(fly_outs, paths, picture.shots, advance)


def _pack_picture(picture: Picture, zones_of: ZonesOf) -> Packed:
    """Packs threats, graphs and zones of a picture."""
    return {
        "threats": picture.threats,
        "graphs": [pack_graphs(graphs) for graphs in picture.graphs],
        "zones": pack_coarsely(zones_of(picture)),
    }


def _pack_contacts(picture: Picture, paths: Paths) -> Packed:
    """Packs a side's belief about each enemy, and what its fighters' receivers warn of.

    Warnings are of radars: [fighters, enemies, entries] `levels`, and `bearings` [rad] with
    not-a-number where nothing is heard.
    """
    contacts = [path for path in paths.contacts if path.fighter in picture.numbers]
    enemies = sorted({path.enemy for path in contacts})
    by_pair = {(path.fighter, path.enemy): path for path in contacts}
    heard = [[by_pair[number, enemy] for enemy in enemies] for number in picture.numbers]
    levels, bearings = (
        np.array([[getattr(path, name) for path in row] for row in heard])
        for name in ("heard", "bearing")
    )
    return {
        "contacts": [
            pack_path(best_contact([path for path in contacts if path.enemy == enemy]))
            for enemy in enemies
        ],
        "levels": pack_coarsely(levels),
        "bearings": pack_coarsely(np.where(levels == SILENT, np.nan, bearings)),
    }

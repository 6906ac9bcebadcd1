"""The panels: fixed sets of opponents, so that figures of policies from anywhere can be compared.

Each of `GAMES` has a panel. Its rows are the scripted pilots of the game, wide families of them,
and frozen networks. A wide family is one pilot with `SETS` sets of values for its thresholds, drawn
at random from wide ranges. A change of a row, a range or a network raises the game's version.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.config.key import check_even
from midrange_puffer.contest.ratings import ANCHORS, Pairing, Payoffs, is_standard, score_interval
from midrange_puffer.files import pieces
from midrange_puffer.game.games import DEFAULT_GAME, GAMES
from midrange_puffer.game.parameters import EXPORTED, PARAMETERS, RADAR, pilots_of, resolve
from midrange_puffer.policies.models import FOLDER, LARGEST_MODEL

if TYPE_CHECKING:
    from midrange_puffer.contest.match import Contestant, Watch

# Version of each game's panel. Version 1 of the default game's had no rows of `patient`; its other
# rows are the same.
VERSIONS = {DEFAULT_GAME: 2, "radar": 2, "team2": 2, "team2_radar": 2}
EPISODES, SEED = 512, 0  # engagements a row of the public panel, and its seed
CANDIDATE = "candidate"  # the policy's name in the fit of its rating
GROUPS = ("pilots", "wide", "frozen")
MEMBERS = "members.json"  # file in a panel's folder: source and digest of each network
SETS = 32  # parameter sets of each wide family
SMALLEST = 2 * SETS  # fewest engagements of a row: every set in both seats

# Ranges of the pilots' thresholds, slightly wider than those of sensible tactics. Some pilots draw
# a threshold for each engagement from a range of the game: a set gives both ends the same value.
R_MAX = (0.3, 1.3)  # fires inside this fraction of R_max
R_NEZ = (0.4, 2.0)
TIME_TO_GO = (3.0, 30.0)  # s; evades a missile with less time to go
SALVO = (1, 4)  # most own missiles in the air
WIDE: dict[str, dict[str, tuple[float, float]]] = {
    "shooter": {"shooter_fire": R_MAX},
    "evader": {"shooter_fire": R_MAX, "evader_cold_time": TIME_TO_GO, "evader_salvo": SALVO},
    "crank": {
        "crank_fire": R_MAX,
        "crank_cold_time": TIME_TO_GO,
        "crank_angle_deg": (20.0, 110.0),
        "crank_salvo": SALVO,
    },
    "bracket_shooter": {
        "bracket_fire": R_NEZ,
        "bracket_cold_time": TIME_TO_GO,
        "bracket_salvo": SALVO,
    },
    "turn_back": {
        "turn_back_fire": R_MAX,
        "turn_back_delay": (0.0, 20.0),
        "turn_back_salvo": SALVO,
    },
    "snake": {
        "snake_fire": R_MAX,
        "snake_time": TIME_TO_GO,
        "snake_angle_deg": (30.0, 120.0),
        "snake_period": (4.0, 30.0),  # s
        "snake_salvo": SALVO,
    },
    "ace": {
        "ace_probe": R_MAX,
        "ace_reserve": (0, 4),  # missiles
        "ace_fire": R_NEZ,
        "ace_salvo": SALVO,
        "ace_crank_angle_deg": (20.0, 130.0),
        "ace_cold_time": (4.0, 16.0),  # s; narrower than TIME_TO_GO: `ace` evades late
        "ace_guard": (0.0, 25_000.0),  # m
    },
    "patient": {
        "patient_range": (14_000.0, 32_000.0),  # m
        "patient_band": (1_000.0, 10_000.0),  # m
        "patient_left": (0, 2),  # missiles
        "patient_cold_time": (10.0, 30.0),  # s; narrower than TIME_TO_GO: `patient` evades early
        "patient_fire": R_NEZ,
        "patient_crank_angle_deg": (20.0, 110.0),
        "patient_salvo": SALVO,
    },
}
# Families of games with sensors only, which replace those of the same pilot above.
WIDE_SENSORS: dict[str, dict[str, tuple[float, float]]] = {
    # It does not see how many missiles the enemy has left, so that it waits for a time.
    "patient": {
        **{name: ends for name, ends in WIDE["patient"].items() if name != "patient_left"},
        "patient_time": (30.0, 240.0),  # s
    },
    "notcher": {
        "notcher_fire": R_MAX,
        "notcher_salvo": SALVO,
        "notcher_period": (12.0, 60.0),  # s
        "notcher_time": (4.0, 20.0),  # s
    },
    "pair": {"pair_fire": R_MAX, "pair_salvo": SALVO},
}
OF_ALL = {"pilot_fire_off_boresight_deg": (5.0, 45.0)}  # fires within this angle off the nose


@dataclass(frozen=True)
class Row:
    """An opponent of the panel.

    Attributes:
        name: unique name; names of wide and frozen rows begin with their group.
        group: one of `GROUPS`.
        opponent: a pilot's name, or the file of a network.
        parts: parameter sets; each is fought in an equal share of the engagements.
    """

    name: str
    group: str
    opponent: str | Path
    parts: tuple[Mapping[str, float], ...] = ({},)


def rows_of(seed: int, game: str = DEFAULT_GAME) -> list[Row]:
    """Returns the rows of a game's panel, in the order of `GROUPS`.

    Args:
        seed: draws the sets of the wide families.
        game: one of `GAMES`.
    """
    pilots = [Row(pilot, "pilots", pilot) for pilot in pilots_of(game_values(game))]
    wide = [
        Row(f"wide:{pilot}", "wide", pilot, draw_sets(pilot, seed, game)) for pilot in wide_of(game)
    ]
    files = sorted(frozen_folder(game).glob(f"*{EXPORTED}"))
    return pilots + wide + [Row(f"frozen:{path.stem}", "frozen", path) for path in files]


def game_values(game: str) -> dict[str, Any]:
    """Returns a value for every parameter of one of `GAMES`."""
    return resolve(GAMES[game].settings, teams=True)


def wide_of(game: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Returns the wide families of a game: by pilot, the ranges of its own thresholds."""
    values = game_values(game)
    families = WIDE | WIDE_SENSORS if values["sensing"] == RADAR else WIDE
    return {pilot: families[pilot] for pilot in pilots_of(values) if pilot in families}


def frozen_folder(game: str) -> Path:
    """Returns the folder of the networks of a game's panel, which may be missing."""
    return FOLDER / "panel" / ("" if game == DEFAULT_GAME else game)


def check_episodes(count: int) -> None:
    """Raises ValueError if `count` engagements cannot be divided equally by seats and sets."""
    check_even(count)
    if count % SMALLEST:
        raise ValueError(
            f"must be a multiple of {SMALLEST}: each of the {SETS} parameter sets of a wide row "
            "fights as often, in both seats"
        )


def draw_sets(pilot: str, seed: int, game: str = DEFAULT_GAME) -> tuple[dict[str, float], ...]:
    """Returns the `SETS` parameter sets of a pilot's wide family, as keywords of a game.

    The sets are a Latin hypercube (McKay 1979): the range of each threshold is divided into `SETS`
    equal parts, one value is drawn from each part, and the values of different thresholds are
    combined at random. A seed gives the same sets on every machine.
    """
    sets: list[dict[str, float]] = [{} for _ in range(SETS)]
    for threshold, ends in {**wide_of(game)[pilot], **OF_ALL}.items():
        for values, share in zip(sets, _spread(seed, f"{pilot} {threshold}"), strict=True):
            values |= _setting(threshold, ends, share)
    return tuple(sets)


def _setting(threshold: str, ends: tuple[float, float], share: float) -> dict[str, float]:
    """Returns by parameter the value of a threshold at `share` of the way between its ends."""
    names = [name for name in (f"{threshold}_min", f"{threshold}_max") if name in PARAMETERS]
    low, high = ends
    if PARAMETERS[threshold if not names else names[0]].kind is int:
        value = int(low + share * (high - low + 1))
    else:
        value = float(f"{low + share * (high - low):.3g}")  # three digits, to be quoted
    return dict.fromkeys(names or [threshold], value)


def _spread(seed: int, key: str) -> np.ndarray:
    """Returns [SETS] numbers from 0 to 1, one in each of `SETS` equal parts, in random order.

    They come from numpy's `SeedSequence`, because NumPy guarantees that its output never changes.
    """
    words = np.random.SeedSequence([seed, *key.encode()]).generate_state(2 * SETS, np.uint64)
    order, within = np.argsort(words[:SETS], kind="stable"), words[SETS:] / 2**64
    return (order + within) / SETS


# Figures of a policy


def meet_row(
    policy: "Contestant",
    row: Row,
    episodes: int,
    seed: int,
    greedy: bool,
    progress: Callable[[int], None] = lambda count: None,
    watches: "Sequence[Watch | None]" = (None, None),
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
) -> tuple[Pairing, list[np.ndarray]]:
    """Flies the fights of a policy against a row; arguments as in `evaluation.fight`.

    Returns:
        The pairing with the policy as its first player, and the records of `fight`. For a wide row
        the pairing's covariance is taken within a parameter set, whose results may be correlated.

    Raises:
        ValueError: An argument has a wrong type or range.
        CheckpointError: A network's file cannot be used.
    """
    # Imported here, so that the command line can list the rows without loading torch.
    from midrange_puffer.contest.evaluation import fight
    from midrange_puffer.contest.match import tally
    from midrange_puffer.policies.contestants import find_contestant

    records = fight(
        policy,
        find_contestant("opponent", row.opponent),
        episodes,
        seed,
        greedy,
        progress,
        watches,
        threads=threads,
        parameters=parameters,
        parts=row.parts,
    )
    as_red, as_blue = records
    clusters = len(row.parts) if len(row.parts) > 1 else None
    return Pairing(CANDIDATE, row.name, *tally(as_red, as_blue, clusters)), records


def rate(
    pairings: Sequence[Pairing], parameters: Mapping[str, float]
) -> tuple[float, float] | None:
    """Returns the rating against the pilots, and the half width of its 95 % interval.

    Returns None in a game for which the pilots' fixed ratings do not hold.
    """
    if not is_standard(parameters):
        return None
    rated = [pairing for pairing in pairings if pairing.second in ANCHORS]
    ratings, half_widths = Payoffs([CANDIDATE, *ANCHORS], rated).rate(ANCHORS)
    return float(ratings[0]), float(half_widths[0])


def means(rows: Sequence[Row], pairings: Sequence[Pairing]) -> dict[str, float]:
    """Returns the mean score of each group, and of all rows ("all"); rows have equal weights."""
    scores: dict[str, list[float]] = {}
    for row, pairing in zip(rows, pairings, strict=True):
        scores.setdefault(row.group, []).append(pairing.score)
    groups = {group: fmean(scores[group]) for group in GROUPS if group in scores}
    return groups | {"all": fmean(pairing.score for pairing in pairings)}


def format_report(
    rows: Sequence[Row],
    pairings: Sequence[Pairing],
    parameters: Mapping[str, float],
    game: str = DEFAULT_GAME,
) -> dict[str, object]:
    """Returns a policy's figures on a game's panel, for a JSON file."""
    rating = rate(pairings, parameters)
    worst = min(pairings, key=lambda pairing: pairing.score)
    return {
        "game": game,
        "panel": VERSIONS[game],
        "rows": [_format_row(*pair) for pair in zip(rows, pairings, strict=True)],
        "means": means(rows, pairings),
        "worst": {"row": worst.second, "score": worst.score},
        "rating": rating and rating[0],
        "rating_ci95": rating and [rating[0] - rating[1], rating[0] + rating[1]],
    }


def interval(pairing: Pairing) -> list[float]:
    """Returns the 95 % interval of a score."""
    ends = score_interval(pairing.wins, pairing.draws, pairing.losses, pairing.covariance)
    return [float(end) for end in ends]


def digest(path: Path) -> str:
    """Returns the SHA-256 of a model's file."""
    found = hashlib.sha256()
    for piece in pieces(path, LARGEST_MODEL):
        found.update(piece)
    return found.hexdigest()


def _format_row(row: Row, pairing: Pairing) -> dict[str, object]:
    entry = {
        "row": row.name,
        "group": row.group,
        "wins": pairing.wins,
        "draws": pairing.draws,
        "losses": pairing.losses,
        "score": pairing.score,
        "score_ci95": interval(pairing),
    }
    if row.group == "wide":
        entry["parameter_sets"] = list(row.parts)
    if row.group == "frozen":
        entry["sha256"] = digest(Path(row.opponent))
    return entry

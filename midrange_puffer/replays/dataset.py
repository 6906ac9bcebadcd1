"""Datasets of engagements for imitation and offline learning, in Farama's Minari format.

An episode is one fighter of one engagement: its observations, actions and rewards, and the truth.
"""

import contextlib
import shutil
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer import _core
from midrange_puffer.errors import UsageError
from midrange_puffer.files import lock, open_folder
from midrange_puffer.game.actions import SYSTEMS, levels
from midrange_puffer.game.flown_types import drawn_types
from midrange_puffer.game.observation import Spaces, features_of, spaces_of
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    PARAMETERS,
    SEATS,
    Parameters,
    callsigns,
    game_controls,
    has_height,
    is_team,
    sizes_of,
)
from midrange_puffer.game.parameters import observed as observation_of
from midrange_puffer.game.records import summary
from midrange_puffer.policies.contestants import Mixed, is_module

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec
    from minari import MinariDataset
    from minari.data_collector import EpisodeBuffer

    from midrange_puffer.policies.contestants import Contestant

# Engagements that are flown together and then written. A decision of one takes about 1 kB.
AT_ONCE = 256
# Columns of the truth, in the infos "fighters" [decisions + 1, fighters, columns] and "missiles"
# [decisions + 1, slots, columns]. Rows of missiles that do not fly are zeros.
FIGHTER_COLUMNS = ("x", "y", "heading", "speed", "alive", "ammunition")
MISSILE_COLUMNS = ("x", "y", "heading", "speed", "active", "owner", "target")
HEIGHT_COLUMNS = ("z", "climb_sine")  # after the others, in games with height
LOADOUT_COLUMNS = (
    "kind",
)  # after these, of missiles: the place of its type in the loadout of its owner


def check_new(dataset_id: str) -> None:
    """Raises ValueError if a name is not Minari's form of one, or a dataset has it already."""
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage.datasets_root_dir import get_dataset_path

    try:
        parse_dataset_id(dataset_id)
    except (ValueError, TypeError):  # the latter without a number
        raise ValueError("must be NAME-vNUMBER or FOLDER/NAME-vNUMBER") from None
    if (path := get_dataset_path(dataset_id)).exists():
        raise ValueError(f"exists in {path}; take the next number, or delete it")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A recording: the fights to fly, and the sides to record.

    Attributes:
        contestants: red and blue.
        names: their names.
        seats: the sides of which every fighter is recorded: 0 (red), 1 (blue).
        engagements: number of engagements.
        seed: of the starts and the actions.
        greedy: True if policies take the likeliest action instead of drawing one.
        threads: of the core and the policies.
        parameters: a value for every row of csrc/params.h.
    """

    contestants: "tuple[Contestant, Contestant]"
    names: tuple[str, str]
    seats: tuple[int, ...]
    engagements: int
    seed: int
    greedy: bool
    threads: int
    parameters: Mapping[str, Any]

    @property
    def action_mode(self) -> str:
        """The mode of the actions: levels if only policies with levels are recorded."""
        recorded = [self.contestants[seat] for seat in self.seats]
        return "discrete" if all(map(_has_levels, recorded)) else "continuous"


def _has_levels(contestant: "Contestant") -> bool:
    """True if all that a contestant may do is to choose levels."""
    if isinstance(contestant, Mixed):
        flyers = [outsider.flyer for outsider in contestant.outsiders]
        return contestant.shares.keys() == {"agent"} and all(map(_has_levels, flyers))
    return (
        is_module(contestant)
        and not contestant.is_continuous
        and not getattr(contestant, "order_decisions", 0)
    )


def record(
    dataset_id: str, plan: Plan, progress: Callable[[int], None] = lambda count: None
) -> "MinariDataset":
    """Flies engagements and writes them as a new Minari dataset.

    A dataset whose recording is interrupted is deleted.

    Args:
        dataset_id: its name, for `minari.load_dataset`.
        plan: the fights to fly, and the sides to record.
        progress: called with the number of engagements that ended since its last call.

    Raises:
        ValueError: See `check_new`.
        UsageError: A pilot would be recorded in teams: the core does not return its targets.
        LockedError: Another process is recording this dataset.
    """
    if is_team(plan.parameters) and plan.action_mode == "continuous":
        raise UsageError(
            "in teams only policies with levels can be recorded: choose another --seat"
        )
    with _claimed(dataset_id) as path:
        try:
            return _record(dataset_id, plan, progress)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise


@contextlib.contextmanager
def _claimed(dataset_id: str) -> Generator[Path, None, None]:
    """Keeps other processes from recording a dataset of this name; returns its folder, to be made.

    Raises:
        ValueError: See `check_new`.
        LockedError: Another process has claimed it.
    """
    from minari.storage.datasets_root_dir import get_dataset_path

    path = get_dataset_path(dataset_id)
    claim = path.with_name(f".{path.name}.claim")
    open_folder(claim)
    with lock(claim, "is recording this dataset"):
        try:
            check_new(dataset_id)
            yield path
        finally:
            shutil.rmtree(claim, ignore_errors=True)


def _record(dataset_id: str, plan: Plan, progress: Callable[[int], None]) -> "MinariDataset":
    dataset = None
    for first in range(0, plan.engagements, AT_ONCE):
        count = min(AT_ONCE, plan.engagements - first)
        episodes, about = _fly(plan, count, first // AT_ONCE, progress)
        if dataset is None:
            dataset = _create(dataset_id, plan, episodes)
        else:
            dataset.update_dataset_from_buffer(episodes)
        total = len(dataset)
        dataset.storage.update_episode_metadata(about, range(total - len(about), total))
    assert dataset is not None  # there is at least one engagement
    return dataset


def _create(dataset_id: str, plan: Plan, episodes: "list[EpisodeBuffer]") -> "MinariDataset":
    """Creates the dataset with its first episodes."""
    import minari

    spaces = _spaces(plan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Minari's advice to name authors
        dataset = minari.create_dataset_from_buffers(
            dataset_id,
            episodes,
            env=_env_spec(plan),
            observation_space=spaces.single_observation_space,
            action_space=spaces.single_action_space,
            algorithm_name=", ".join(plan.names[seat] for seat in plan.seats),
            description=f"Mid-range air combat, red {plan.names[0]} against blue {plan.names[1]}.",
            requirements=["midrange_puffer"],
        )
    observation = observation_of("default", plan.parameters)
    features = features_of(observation, *sizes_of(plan.parameters))
    dataset.storage.update_metadata(
        {
            "features": [feature.name for feature in features],
            "fighter_columns": FIGHTER_COLUMNS + _height_columns(plan.parameters),
            "missile_columns": MISSILE_COLUMNS + _height_columns(plan.parameters, LOADOUT_COLUMNS),
            "seed": plan.seed,
        }
    )
    return dataset


def _height_columns(parameters: Parameters, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Returns the columns of games with height, with `more`; none in the plane."""
    return HEIGHT_COLUMNS + more if has_height(parameters) else ()


def _spaces(plan: Plan) -> Spaces:
    observation = observation_of("default", plan.parameters)
    return spaces_of(observation, plan.action_mode, *sizes_of(plan.parameters))


def _env_spec(plan: Plan) -> "EnvSpec":
    """Returns the spec of the Gymnasium environment that the first recorded side flew in."""
    from midrange_puffer.envs.gym import ENV_ID
    from midrange_puffer.gymnasium_import import gymnasium

    changed = {
        name: value
        for name, value in plan.parameters.items()
        if name in PARAMETERS and value != PARAMETERS[name].default
    }
    seat = plan.seats[0]
    settings = {"seat": SEATS[seat], "action_mode": plan.action_mode, **changed}
    return replace(gymnasium.spec(ENV_ID), kwargs={"opponent": plan.names[1 - seat], **settings})


class _Log:
    """The states, controls and rewards of the engagements of one fight, decision by decision.

    `follow` is called as a `match.Follow`.
    """

    def __init__(self, features: int) -> None:
        self._features = features
        self.observations: list[np.ndarray] = []
        self.fighters: list[np.ndarray] = []
        self.missiles: list[np.ndarray] = []
        self.controls: list[np.ndarray] = []
        self.rewards: list[np.ndarray] = []
        self.types: list[dict[str, Any]] = []  # of each engagement; empty in the plane

    def follow(
        self, _: int, core: _core.Core, controls: np.ndarray | None, rewards: np.ndarray
    ) -> None:
        """Adds the state, and, after a decision, the controls and rewards."""
        if not self.observations and has_height(core.parameters):
            self.types = [_types_of(core, env) for env in range(core.num_envs)]
        shape = (core.num_envs, core.fighters, core.features)
        seen = np.empty(shape, np.float32)
        core.observe_all(seen.reshape(-1, core.features))
        self.observations.append(seen[:, :, : self._features])
        fighters, missiles = core.read("fighter"), core.read("missile")
        columns = FIGHTER_COLUMNS + _height_columns(core.parameters)
        self.fighters.append(_columns(fighters, columns))
        columns = MISSILE_COLUMNS + _height_columns(core.parameters, LOADOUT_COLUMNS)
        flying = missiles["active"][..., None] != 0
        self.missiles.append(_columns(missiles, columns) * flying)
        if controls is None:
            return
        controls = controls.copy()
        if core.fighters == len(SEATS):  # also those of the core's pilots
            *names, fire = game_controls(core.parameters).names
            if SYSTEMS in names:
                fighters[f"{SYSTEMS}_command"] = core.read(SYSTEMS)["command"]
            commands = [*(fighters[f"{name}_command"] for name in names), fighters[fire]]
            controls = np.stack(commands, axis=-1).astype(np.float32)
        self.controls.append(controls)
        self.rewards.append(rewards.copy())


def _types_of(core: _core.Core, env: int) -> dict[str, Any]:
    """Returns what the fighters of an engagement fly, as entries of its episodes.

    Of red, for example: "red_aircraft" is a name, "red_missiles" are names, separated by commas in
    the order of the loadout, and "red_thrust_factor" is a number. In teams names begin with
    "red_0".
    """
    entries: dict[str, Any] = {}
    names = callsigns(sizes_of(core.parameters))
    for name, fighter in zip(names, drawn_types(core, env), strict=True):
        entries[f"{name}_aircraft"] = fighter.aircraft
        entries[f"{name}_missiles"] = ",".join(fighter.missiles)
        entries |= {f"{name}_{factor}": value for factor, value in fighter.factors.items()}
    return entries


def _columns(state: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
    """Returns fields of the core's state as float32 [engagements, entities, names]."""
    values = {**state, "heading": np.arctan2(state["s"], state["c"]), "speed": state["v"]}
    if "u" in state:
        values["climb_sine"] = state["u"]
    return np.stack([values[name].astype(np.float32) for name in names], axis=-1)


def _fly(
    plan: Plan, count: int, part: int, progress: Callable[[int], None]
) -> "tuple[list[EpisodeBuffer], list[dict[str, Any]]]":
    """Flies some engagements; returns their episodes, and the further entries of each."""
    from minari.data_collector import EpisodeBuffer

    from midrange_puffer.contest.match import Fight, play  # it imports torch

    seed = int(np.random.SeedSequence((plan.seed, part)).generate_state(1)[0])
    log = _Log(_spaces(plan).single_observation_space.shape[0])
    [records] = play(
        [Fight(*plan.contestants)], count, seed, plan.greedy, progress, follow=log.follow,
        threads=plan.threads, parameters=plan.parameters,
    )  # fmt: skip
    observations, fighters, missiles = map(np.stack, (log.observations, log.fighters, log.missiles))
    flown, rewards = np.stack(log.controls), np.stack(log.rewards)
    in_team, sizes = is_team(plan.parameters), sizes_of(plan.parameters)
    controls = game_controls(plan.parameters)
    actions = levels(flown, controls, in_team) if plan.action_mode == "discrete" else flown
    scores = [summary(records, seat)["score"] for seat in range(len(SEATS))]
    episodes, about = [], []
    for env, result in enumerate(records):
        steps = int(result["decisions"])
        is_last = np.arange(steps) == steps - 1
        truth = {"fighters": fighters[: steps + 1, env], "missiles": missiles[: steps + 1, env]}
        is_truncated = bool(result["truncated"])
        flown_by = [_flown_by(name, result, side) for side, name in enumerate(plan.names)]
        common: dict[str, Any] = {
            "seed": seed,
            "options": {"engagement": env, "episode": 0},
            "infos": truth,
            "terminations": is_last & (not is_truncated),
            "truncations": is_last & is_truncated,
        }
        for fighter in range(sum(sizes)):
            seat = int(fighter >= sizes[0])
            if seat not in plan.seats:
                continue
            own: dict[str, Any] = {  # arrays, although Minari declares lists
                "observations": observations[: steps + 1, env, fighter],
                "actions": actions[:steps, env, fighter],
                "rewards": rewards[:steps, env, fighter],
            }
            episodes.append(EpisodeBuffer(**common, **own))
            names = dict(zip(SEATS, flown_by, strict=True))
            score = float(scores[seat][env])
            types = log.types[env] if log.types else {}
            entries = {"seat": SEATS[seat], "fighter": fighter, "score": score}
            about.append({**entries, **names, **types})
    return episodes, about


def _flown_by(name: str, record: np.void, side: int) -> str:
    """Returns the pilot that was drawn for a side, or the contestant's name."""
    pilot = tuple(CONTROLLERS)[record["pilot"][side]]
    return name if pilot == "agent" else pilot

"""Random fights of all games: nothing breaks, and no decision of an engagement is lost.

The games combine DIMENSIONS, SIZES, SENSORS and MISSIONS. Action mode and seat are drawn for each.
`make test-all` flies 10^8 agent-steps, decisions of one agent.
"""

import itertools

import numpy as np
import pytest

from midrange_puffer import Midrange
from midrange_puffer.game.parameters import PILOTS, SENSOR_PILOTS, WING_PILOTS, reward_bound

SAMPLE, ALL = 1_200_000, 100_000_000  # agent-steps over all games, `make test` and `make test-all`
DIMENSIONS = (2, 3)
SIZES = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 8), (8, 8), (2, 16))
NOISE = {"radar_noise_bearing_deg": 2, "radar_noise_range": 200, "radar_noise_speed": 10}
JAMMERS = {"red_jammer": 12_000, "blue_jammer": 25_000}
SYSTEMS = {"emission_control": "on", "chaff": 6}
SENSED = {"sensing": "radar"}
SENSORS = {
    "full": {},
    "radar": SENSED,
    "noise": SENSED | NOISE,
    "jammers": SENSED | JAMMERS,
    "systems": SENSED | SYSTEMS,
    "all": SENSED | NOISE | JAMMERS | SYSTEMS,
}
# Near lines, so that attackers cross them.
MISSIONS = {
    "fight": {},
    "line": {"mission": "line", "start_line_depth": 0},
    "escort": {
        "mission": "escort",
        "start_line_depth": 0,
        "start_transport_trail": 2_000,
        "transport_speed": 400,
    },
}
# Starts from which both sides soon shoot. The spacing leaves room for sides of 16.
NEAR = {
    "start_range_min": 18_000,
    "start_range_max": 25_000,
    "start_spacing_min": 300,
    "start_spacing_max": 900,
    "time_limit": 70,
}
# With height each engagement draws its aircraft, whose jammers and chaff differ.
DRAWN = {
    "types": "heavy jammer=2 chaff=0.5, trainer jammer=0 chaff=0",
    "red_aircraft": "light,heavy,trainer",
    "blue_aircraft": "light,fast,heavy",
    "aircraft_spread": 0.3,
}
DECISIONS = 140  # least number of a run: those of an engagement that lasts until time_limit
KEPT = 0.8  # chance that an agent repeats its last action


def games(dimensions: int, sizes: tuple[int, int]) -> list[dict[str, object]]:
    """Returns all games of a dimension and of these sides."""
    red, blue = sizes
    sides = {"dimensions": dimensions, "red_size": red, "blue_size": blue}
    sides |= DRAWN if dimensions == 3 else {}
    return [
        NEAR | sides | sensors | mission
        for sensors in SENSORS.values()
        for mission in MISSIONS.values()
        if mission.get("mission") != "escort" or min(sizes) > 1
    ]


def drawn_roles(dimensions: int, sizes: tuple[int, int], count: int) -> list[tuple[str, str]]:
    """Draws an action mode and a seat for each of so many games, each pair equally often."""
    pairs = list(itertools.product(("discrete", "continuous"), ("red", "blue")))
    order = np.random.default_rng((dimensions, *sizes)).permutation(count)
    return [pairs[place % len(pairs)] for place in order]


def fly(game: dict[str, object], role: tuple[str, str], seed: int, agent_steps: int) -> int:
    """Flies a game for at least so many agent-steps, half of the engagements against pilots.

    A short run meets fewer pilots, so that it has room for an engagement up to its time limit.

    Args:
        game: parameters.
        role: the agents' action mode and seat.
        seed: of the engagements and of the actions.
        agent_steps: decisions, over all agents.

    Returns:
        The number of engagements that ended.
    """
    rng = np.random.default_rng(seed)
    senses, in_team = game.get("sensing") == "radar", game["red_size"] + game["blue_size"] > 2
    pilots = [
        *PILOTS,
        *(name for name in SENSOR_PILOTS if senses and (in_team or name not in WING_PILOTS)),
    ]
    mode, seat = role
    # Of two engagements for each pilot one is self-play, which has the agents of both sides.
    pair = game["red_size"] + game["blue_size"] + game[f"{seat}_size"]
    most_pilots = max(agent_steps // (DECISIONS * pair), 1)
    pilots = rng.permutation(pilots)[:most_pilots]
    opponent = f"self:{len(pilots)}," + ",".join(f"{name}:1" for name in pilots)
    copies = max(agent_steps // (DECISIONS * len(pilots) * pair), 1)
    env = Midrange(
        2 * copies * len(pilots), opponent=opponent, seat=seat, seed=seed, action_mode=mode, **game
    )
    env.reset()
    rules, space = env.parameters, env.single_action_space
    most = int(np.ceil(rules["time_limit"] / (rules["physics_dt"] * rules["substeps"])))
    bound = (1 + 1e-6) * reward_bound(rules)  # of exact sums; these are rounded to float32
    open_for = np.zeros(env.num_envs, int)  # decisions of the engagements that have not ended
    actions = draw(rng, space, env.num_agents)
    ended = 0
    for _ in range(-(-agent_steps // env.num_agents)):
        keeps = rng.random((env.num_agents, 1)) < KEPT
        actions = np.where(keeps, actions, draw(rng, space, env.num_agents))
        records = env.step_records(actions)
        assert env.observations.max() <= 1  # False for not-a-number
        assert env.observations.min() >= -1
        assert np.abs(env.rewards).max() <= bound
        ended, open_for = ended + len(records), open_for + 1
        assert (records["decisions"] <= most).all()
        assert (open_for[records["env"]] == records["decisions"]).all()
        open_for[records["env"]] = 0
        assert open_for.max() <= most
    env.close()
    return ended


def draw(rng: np.random.Generator, space: object, agents: int) -> np.ndarray:
    """Returns random actions of all agents."""
    if hasattr(space, "nvec"):
        return rng.integers(0, space.nvec, (agents, len(space.nvec)), np.int32)
    return rng.uniform(space.low, space.high, (agents, *space.shape)).astype(np.float32)


@pytest.mark.usefixtures("one_map")
@pytest.mark.parametrize(
    "total",
    [
        pytest.param(SAMPLE, id="sample"),
        pytest.param(ALL, id="all", marks=[pytest.mark.nightly, pytest.mark.timeout(3600)]),
    ],
)
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: "v".join(map(str, sizes)))
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_random_fights_lose_nothing(dimensions, sizes, total):
    """Numbers stay finite and within their bounds, and engagements end once, in time."""
    ours = games(dimensions, sizes)
    count = sum(len(games(*cell)) for cell in itertools.product(DIMENSIONS, SIZES))
    roles = drawn_roles(dimensions, sizes, len(ours))
    for seed, (game, role) in enumerate(zip(ours, roles, strict=True)):
        assert fly(game, role, seed, -(-total // count)) > 0, game

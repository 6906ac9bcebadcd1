"""Midrange: the C core as a native PufferLib environment."""

from typing import Any

import numpy as np

from midrange_puffer import _core
from midrange_puffer.observation import FEATURES
from midrange_puffer.parameters import (
    CONTROLLERS,
    OPTIONS,
    PILOTS,
    SEATS,
    SELF,
    checked_num_envs,
    checked_seed,
    parse_opponent,
    resolve,
    seat_weights,
    suggest,
)
from midrange_puffer.puffer_import import gymnasium, pufferlib

_DRAW = 3  # MrOutcome


class Midrange(pufferlib.PufferEnv):
    """Mid-range air combat: a fighter with missiles against another, many engagements at once.

    The agent flies `seat` against a scripted pilot, or both seats are agents (`opponent="self"`,
    agent = 2 * engagement + seat). The rules, equations and rewards are in csrc/RULES.md.

    Action space:
        MultiDiscrete([5, 3, 2]), int32: rudder -1 ... 1 (right ... left), throttle 0 ... 1, fire
        no/yes. Anything outside is clipped to the nearest.

    Observation space:
        Box(-1, 1, (len(FEATURES),), float32): own state, enemy, own missiles in the air and inbound
        missiles, each group by time to go, and the clock, in the pilot's own frame. `FEATURES` is
        the table of names, scales and meanings.

    Rewards:
        +1 for a win, 0 for a draw, -1 for a loss, at the end; besides, the change of a potential
        and a rate for pressing the enemy, zero-sum between the seats and weighted by the `reward_*`
        parameters. Always within [-1, 1].

    Starting state:
        Range, bearing, noses and speeds drawn from the `start_*` parameters, alike for both seats.

    Episode end (the next episode starts in the same step; its first observation is returned):
        1. Termination: a side is dead and no missile can change the result; or nobody has a missile
           left, on the wing or in the air (draw).
        2. Truncation: `time_limit` is reached with both alive (draw).

    Info:
        A list with, now and then, one dict of lists: a value for each engagement finished since,
        seen from the agent's seat (from red with `opponent="self"`): score (win 1, draw 0.5,
        loss 0), win, draw, loss, mutual_kill, truncated, shots, hits, shots_against, hits_against,
        hit_rate and launch_range [m] (of engagements with shots), episode_length [decisions],
        episode_return, and score_vs_<pilot>, win_vs_<pilot>.

    Args:
        num_envs: engagements, at least 1.
        opponent: a pilot, a weighted mix such as "shooter:1,evader:3" drawn for each engagement,
            or "self".
        seat: the agent's seat against pilots, "red" or "blue".
        seed: 0 <= seed < 2**64. The same seed and actions give the same bits everywhere.
        buf: PufferLib's buffers, or None to allocate them.
        isa: instruction set, "auto" for the best this machine has.
        **parameters: rows of csrc/params.h.

    Raises:
        ValueError: an argument of the wrong name, type or range.
    """

    def __init__(
        self,
        num_envs: int = OPTIONS["num_envs"].default,
        opponent: str = OPTIONS["opponent"].default,
        seat: str = OPTIONS["seat"].default,
        seed: int = 0,
        buf: Any = None,
        isa: str = "auto",
        **parameters: float,
    ) -> None:
        shares = parse_opponent(opponent)
        if seat not in SEATS:
            raise ValueError(f"seat = {seat!r}: must be red or blue{suggest(str(seat), SEATS)}")
        self.num_envs = checked_num_envs(num_envs)
        self.parameters = resolve(parameters)
        agent = seat_weights({"agent": 1.0})
        pilots = agent if SELF in shares else seat_weights(shares)
        self._seat = SEATS.index(seat)
        self._seed = checked_seed(seed)
        weights = (agent, pilots) if self._seat == 0 else (pilots, agent)
        self._core = _core.Core(
            self.parameters, self.num_envs, self._seed, weights, auto_reset=True, isa=isa
        )
        self.num_agents = self._core.agents
        self.single_observation_space = gymnasium.spaces.Box(
            -1.0, 1.0, (len(FEATURES),), dtype=np.float32
        )
        self.single_action_space = gymnasium.spaces.MultiDiscrete(_core.ACTION_LEVELS)
        super().__init__(buf)
        self._bind()
        self._steps = 0

    def _bind(self) -> None:
        """Give the core views of the buffers; it writes into them in place."""
        self._outputs = (
            self.observations,
            self.rewards,
            self.terminals.view(np.uint8),
            self.truncations.view(np.uint8),
        )
        self._highest_action = np.array(_core.ACTION_LEVELS) - 1

    @property
    def isa(self) -> str:
        """The instruction set in use."""
        return self._core.isa

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, list]:
        """Start episode 0 of every engagement, by default with the seed last given.

        Returns:
            Observations float32 [num_agents, features], and infos of engagements that finished
            before and were not yet logged.
        """
        if seed is not None:
            self._seed = checked_seed(seed)
        infos = self._take_infos()
        self._core.reset(self._seed)
        self._core.observe(self.observations)
        self.rewards[:] = 0
        self.terminals[:] = False
        self.truncations[:] = False
        self._steps = 0
        return self.observations, infos

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        """One decision of every engagement.

        Args:
            actions: whole numbers [num_agents, 3].

        Returns:
            Observations float32 [num_agents, features], rewards float32 [num_agents], terminals
            and truncations bool [num_agents], all of them the environment's own buffers, and infos.

        Raises:
            ValueError: actions of another shape.
            TypeError: actions that are not whole numbers.
        """
        self._core.step(self._as_int32(actions), *self._outputs)
        self._steps += 1
        # Log now and then, but always before the core's room for records could run out.
        if self._steps % 32 == 0 or self._core.record_count() > self.num_envs:
            return (*self._results(), self._take_infos())
        return (*self._results(), [])

    def step_records(self, actions: np.ndarray) -> np.ndarray:
        """One decision, as `step`, with records of the engagements that ended instead of infos.

        Returns:
            Array of `_core.RECORD`, the struct MrRecord of csrc/midrange.h; its `env` is the
            engagement's index. Everything else is in the environment's own buffers.
        """
        self._core.step(self._as_int32(actions), *self._outputs)
        return self._core.take_records()

    def _results(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.observations, self.rewards, self.terminals, self.truncations

    def _as_int32(self, actions: np.ndarray) -> np.ndarray:
        actions = np.asarray(actions)
        if actions.dtype == np.int32 and actions.flags.c_contiguous and actions.ndim == 2:
            return actions
        if actions.dtype.kind not in "iu":
            raise TypeError(f"actions of type {actions.dtype}: must be whole numbers")
        if actions.shape != self.actions.shape:
            raise ValueError(f"actions of shape {actions.shape}: must be {self.actions.shape}")
        # Clipped before they are narrowed, so that nothing wraps around.
        np.clip(actions, 0, self._highest_action, out=self.actions, casting="unsafe")
        return self.actions

    def _take_infos(self) -> list[dict]:
        """The engagements finished since the last call; none is left out or given twice."""
        records = self._core.take_records()
        if len(records) == 0:
            return []
        own, enemy = self._seat, 1 - self._seat
        win = records["outcome"] == 1 + own
        draw = records["outcome"] == _DRAW
        shots, hits = records["shots"][:, own], records["hits"][:, own]
        shot = shots > 0
        score = win + 0.5 * draw
        info = {
            "score": score,
            "win": win,
            "draw": draw,
            "loss": ~(win | draw),
            "mutual_kill": records["mutual_kill"],
            "truncated": records["truncated"],
            "shots": shots,
            "hits": hits,
            "shots_against": records["shots"][:, enemy],
            "hits_against": records["hits"][:, enemy],
            "hit_rate": hits[shot] / shots[shot],
            "launch_range": records["launch_range"][shot, own] / shots[shot],
            "episode_length": records["decisions"],
            "episode_return": records["episode_return"] * (1 if own == 0 else -1),
        }
        for index, pilot in enumerate(CONTROLLERS):
            against = records["pilot"][:, enemy] == index
            if pilot in PILOTS:
                info[f"score_vs_{pilot}"] = score[against]
                info[f"win_vs_{pilot}"] = win[against]
        # PufferLib averages over lists; a key without a value must not be there at all.
        lists = {key: value.astype(float).tolist() for key, value in info.items() if len(value)}
        return [lists]

    def state_hash(self) -> int:
        """64-bit hash of everything that the future depends on."""
        return self._core.state_hash()

    def close(self) -> None:
        """Nothing to do: the core is freed with this object."""

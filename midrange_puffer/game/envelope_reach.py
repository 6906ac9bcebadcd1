"""How far away a target can be hit at best: what bounds the search for missile envelopes."""

from collections.abc import Mapping

import numpy as np

LONGEST_FLIGHT = 300.0  # s; the core ends a fly-out then
FARTHEST = 400_000.0  # m, beyond which none is looked for: twice as far as engagements begin
_STEP = 0.25  # s
_MARGIN, _MARGIN_SHARE = 100.0, 0.01  # m and of the range, for what may be between two such steps


def farthest(
    parameters: Mapping[str, float],
    aspect: np.ndarray,
    launch_speeds: np.ndarray,
    target_speeds: np.ndarray,
) -> np.ndarray:
    """Ranges beyond which no shot hits a target that flies straight on [m], at most `FARTHEST`.

    The missile is taken to fly straight to where they meet, which no turn can better. The target's
    speed is between the one it has and the one that it can hold.

    Args:
        parameters: of flight and missiles.
        aspect: float [aspects, 2], unit vectors of the target's velocity, by its line to the
            launcher.
        launch_speeds, target_speeds: [launches] and [targets], m/s.

    Returns:
        float64 [aspects, launches, targets].
    """
    times, reach = _straight_flight(parameters, np.asarray(launch_speeds, float))
    times, reach = times[:, None, None, None], reach[:, None, :, None]
    ahead, aside = np.abs(aspect.T.astype(float))[:, :, None, None]
    ahead = np.copysign(ahead, aspect[:, 0, None, None])
    speeds = np.asarray(target_speeds, float)
    held = np.minimum(speeds, _top_speed(parameters))
    # A target that is met after going `way` was at a range of way * ahead + sqrt(reach^2 -
    # (way * aside)^2), by the law of cosines; that is greatest where way = reach * ahead / aside.
    with np.errstate(divide="ignore"):
        way = np.clip(reach * ahead / aside, held * times, speeds * times)
    room = reach**2 - (way * aside) ** 2
    ranges = np.where(room >= 0, way * ahead + np.sqrt(np.maximum(room, 0)), 0)
    return np.minimum((1 + _MARGIN_SHARE) * ranges.max(axis=0) + _MARGIN, FARTHEST)


def _straight_flight(
    parameters: Mapping[str, float], launch_speeds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far missiles come by flying straight: times [s], and distances [times, launches] [m].

    The distance is to a target that they hit, which they need not reach by the hit radius.
    """
    drag = parameters["gravity"] / parameters["missile_terminal_speed"] ** 2
    burn_time = parameters["missile_burn_time"]
    speed = launch_speeds
    reach = [np.full(len(speed), parameters["missile_launch_offset"])]
    reach[0] += parameters["missile_hit_radius"]
    flying = np.ones(len(speed), bool)
    while flying.any() and len(reach) * _STEP <= LONGEST_FLIGHT:
        burning = np.clip(burn_time / _STEP + 1 - len(reach), 0, 1)
        thrust = parameters["missile_thrust"] * burning
        after = (speed + thrust * _STEP) / (1 + drag * speed * _STEP)  # as the core's step
        reach.append(reach[-1] + flying * _STEP * (speed + after) / 2)
        flying &= (burning > 0) | (after >= parameters["missile_spent_speed"])
        speed = after
    return np.arange(len(reach)) * _STEP, np.array(reach)


def _top_speed(parameters: Mapping[str, float]) -> float:
    """A fighter's speed at which full thrust and drag balance [m/s]."""
    pull = parameters["fighter_thrust"] / parameters["gravity"]
    return parameters["fighter_terminal_speed"] * np.sqrt(pull)

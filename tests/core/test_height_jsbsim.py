"""Compares `light` with JSBSim's F-16, which the test flies."""

from dataclasses import dataclass

import jsbsim
import numpy as np
import pytest
import reference_height as law
from height import fields

MASS = 9584.0  # kg, of `light`: with half the fuel
POUND, FOOT = 4.4482216, 0.3048  # N, m
# Heights [m] and Mach numbers at which it is trimmed, and how much the drag may differ.
POINTS = [
    (1000, 0.6, 0.07), (1000, 0.9, 0.02), (1000, 1.2, 0.03), (5000, 0.8, 0.06), (5000, 1.0, 0.12),
    (5000, 1.4, 0.03), (10_000, 0.9, 0.03), (10_000, 1.6, 0.02), (14_000, 1.0, 0.07),
    (14_000, 1.4, 0.03),
]  # fmt: skip


@dataclass
class Flown:
    """JSBSim's F-16 in level flight: drag by its trim, and thrust at full throttle soon after."""

    drag: float  # N
    lift: float  # N
    thrust: float  # N
    z: float  # m, where the thrust was read
    mach: float


@pytest.fixture
def model() -> jsbsim.FGFDMExec:
    """Returns JSBSim with its F-16."""
    model = jsbsim.FGFDMExec(None)
    model.set_debug_level(0)
    model.load_model("f16")
    return model


def fly(model: jsbsim.FGFDMExec, z: float, mach: float) -> Flown:
    """Trims the aircraft with its gear up, and then opens its throttle for 3 s."""
    model["fcs/throttle-cmd-norm"] = 0
    for name, value in (("h-sl-ft", z / FOOT), ("mach", mach), ("gamma-deg", 0)):
        model[f"ic/{name}"] = value
    model["gear/gear-cmd-norm"] = 0
    model.run_ic()
    model["gear/gear-pos-norm"] = 0
    model["propulsion/set-running"] = -1
    model.do_trim(1)  # full
    drag, lift = (model[f"forces/fw{axis}-aero-lbs"] * POUND for axis in "xz")
    model["fcs/throttle-cmd-norm"] = 1
    for _ in range(360):  # steps of 1/120 s
        model.run()
    return Flown(
        drag, lift, model["propulsion/engine/thrust-lbs"] * POUND,
        model["position/h-sl-meters"], model["velocities/mach"],
    )  # fmt: skip


@pytest.mark.parametrize(("z", "mach", "most"), POINTS)
def test_the_light_fighter_is_near_the_f16_of_jsbsim(library, model, z, mach, most):
    own, its = fields(library, "light"), fly(model, z, mach)
    v = mach / np.sqrt(law.air(z)[2])
    drag = law.drag(own, z, v, its.lift / MASS) * MASS
    there = its.mach / np.sqrt(law.air(its.z)[2])
    thrust = law.thrust(own, its.z, there) * MASS
    assert drag == pytest.approx(its.drag, rel=most)
    assert thrust == pytest.approx(its.thrust, rel=0.02)

"""Physics steps a second of JSBSim's F-16 and of this core's `light`, on one core, in turns.

    pip install jsbsim
    python benchmarks/jsbsim_f16.py

JSBSim flies one aircraft: six degrees of freedom, aerodynamic tables, engine, control system. The
core flies ENGAGEMENTS of two fighters at once by its law of height, without missiles: three degrees
of freedom and an autopilot. So the ratio says what an engagement costs, not which is better made.
Both take the same step, and make nothing but physics steps.
"""

import argparse
import time

import numpy as np
from common import machine, median_and_spread

from midrange_puffer import Simulation

ENGAGEMENTS, STEP, ROUNDS, SECONDS = 2048, 0.1, 7, 1.0


def jsbsim_rate(model: object) -> float:
    """Returns the steps a second of JSBSim's aircraft."""
    steps, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < SECONDS:
        for _ in range(500):
            model.run()
        steps += 500
        if model["position/h-sl-ft"] < 10_000:
            begin(model)
    return steps / spent


def begin(model: object) -> None:
    """Puts JSBSim's aircraft to 5 km and Mach 0.8, level, with its engine running."""
    for name, value in (("h-sl-ft", 5000 / 0.3048), ("mach", 0.8), ("gamma-deg", 0)):
        model[f"ic/{name}"] = value
    model.run_ic()
    model["propulsion/set-running"] = -1


def core_rate(sim: Simulation) -> float:
    """Returns the steps a second of all fighters."""
    steps, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < SECONDS:
        sim.advance(50)
        steps += 50 * 2 * ENGAGEMENTS
    return steps / spent


def main() -> None:
    """Prints both rates and their ratio."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    import jsbsim  # no dependency of the package

    model = jsbsim.FGFDMExec(None)
    model.set_debug_level(0)
    model.load_model("f16")
    model.set_dt(STEP)
    begin(model)
    sim = Simulation(ENGAGEMENTS, dimensions=3)
    rates = [(jsbsim_rate(model), core_rate(sim)) for _ in range(ROUNDS)]
    theirs, ours = (median_and_spread([pair[n] for pair in rates]) for n in (0, 1))
    ratio = np.median([b / a for a, b in rates])
    print(f"{machine()['cpu']}, one thread, {sim.core.isa}, medians of {ROUNDS} rounds")
    print(f"JSBSim f16: {theirs[0] / 1e6:.3f} M steps/s (spread {theirs[1]:.0%})")
    print(f"core:       {ours[0] / 1e6:.1f} M steps/s (spread {ours[1]:.0%})")
    print(f"ratio:      {ratio:.0f}")


if __name__ == "__main__":
    main()

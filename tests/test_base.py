"""The base of the package: all that runs with numpy alone, and the extras that the rest names.

A finder of modules hides the other packages from a process, as if they were not installed.
"""

import subprocess
import sys
from pathlib import Path

import pytest

HIDE = """
import importlib.util, sys
allowed = {"midrange_puffer", "numpy", *sys.argv[1].split(",")} | sys.stdlib_module_names
find_spec = importlib.util.find_spec

def is_hidden(name):
    root = name.partition(".")[0]
    return root not in allowed and not root.startswith("_")

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if is_hidden(name):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
importlib.util.find_spec = lambda name, *rest: None if is_hidden(name) else find_spec(name, *rest)
"""
COMMAND = """
from midrange_puffer.commands.cli import main
for words in {lines}:
    sys.argv = ["puffer", *words]
    print("status", main())
"""


def run(code: str, *allowed: str, folder: Path) -> str:
    """Runs code in a process that has only numpy and these packages; returns its output."""
    command = [sys.executable, "-c", HIDE + code, ",".join(allowed)]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_numpy_is_enough_for_simulations_replays_envelopes_and_pages(tmp_path):
    code = """
import numpy as np
from midrange_puffer import Simulation, features_of
from midrange_puffer.game.envelope import Grid, build
from midrange_puffer.game.parameters import resolve
from midrange_puffer.spacetime import spacetime
sim = Simulation(num_envs=2, seed=0, blue="evader")
for _ in range(10):
    sim.step(np.array([[[0.5, 1.0, 1.0], [0, 0, 0]]] * 2, np.float32))
assert sim.missiles["active"].any() and len(features_of("default")) > 10
assert (build(resolve({}), Grid(2, 4, (300.0,), (300.0,))).aero > 0).any()
"""
    replay = [["replay", "midrange", "example", "--verify"],
              ["replay", "midrange", "example", "--html", "fight.html"]]  # fmt: skip
    out = run(code + COMMAND.format(lines=replay), folder=tmp_path)
    assert out.count("status 0") == 2
    assert (tmp_path / "fight.html").stat().st_size > 10_000


MISSING = {
    "train": "puffer train needs rich: python -m midrange_puffer.install",
    "eval": "puffer eval needs psutil: python -m midrange_puffer.install",
    "runs": "puffer runs needs rich: python -m midrange_puffer.install",
    "play": "the viewer needs pygame-ce: pip install 'midrange_puffer[view]'",
    "plot": "plots need matplotlib: pip install 'midrange_puffer[plots]'",
    "export": "exported policies need onnx: pip install 'midrange_puffer[onnx]'",
}


def test_a_command_names_the_extra_that_it_lacks_in_one_line(tmp_path):
    lines = [[mode, "midrange", *(["--load-model-path", "trained"] if mode == "eval" else [])]
             for mode in MISSING]  # fmt: skip
    lines[-1] += ["--onnx", "policy.onnx"]
    lines.append(["train", "puffer_breakout"])
    out = run(COMMAND.format(lines=lines), folder=tmp_path)
    assert out.count("status 2") == len(lines)
    for message in MISSING.values():
        assert f"puffer: error: {message}\n" in out
    assert "needs PufferLib: python -m midrange_puffer.install\n" in out
    assert "Traceback" not in out


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("from midrange_puffer import Midrange", "Midrange needs PufferLib: python -m "
         "midrange_puffer.install"),
        ("import midrange_puffer.sb3", "midrange_puffer.sb3 needs gymnasium"),
        ("import midrange_puffer.training", "midrange_puffer.training needs "),
    ],
)  # fmt: skip
def test_an_import_names_the_extra_that_it_lacks(tmp_path, code, message):
    lines = ["", "try:", f"    {code}", "except ModuleNotFoundError as error:", "    print(error)"]
    assert message in run("\n".join(lines), folder=tmp_path)


def test_gymnasium_is_enough_for_its_environments(tmp_path):
    code = """
import gymnasium
env = gymnasium.make("midrange_puffer.gym:Midrange-v0", opponent="evader")
env.reset(seed=0)
for _ in range(20):
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
print("status", observation.shape)
"""
    # Shimmy, where it is installed, is a plugin that gymnasium imports.
    packages = ["gymnasium", "farama_notifications", "cloudpickle", "typing_extensions", "shimmy"]
    assert "status" in run(code, *packages, "gym", "gym_notices", folder=tmp_path)

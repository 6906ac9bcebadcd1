"""Opponents of the user's own: functions and models in a mix, and their scores."""

import sys
from collections import Counter
from itertools import count
from pathlib import Path

import frozen
import numpy as np
import pytest
from places import EXAMPLES
from policies import Constant, random_policy
from quick_fights import LEVELS, SHORT, joined

from midrange_puffer import Midrange, Simulation
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.evaluate import evaluate
from midrange_puffer.game.actions import PLANE, controls
from midrange_puffer.game.parameters import resolve
from midrange_puffer.gym import MidrangeEnv, MidrangeVectorEnv
from midrange_puffer.policies import own_code
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.policies.own_code import OwnCodeError
from midrange_puffer.policies.own_pilot import OwnPilot
from midrange_puffer.sb3 import MidrangeVecEnv
from midrange_puffer.show.engagement_plot import record_engagement

SNIPER = f"{EXAMPLES / 'own_opponent.py'}:sniper"
LEFT = "import numpy as np\ndef left(seen):\n    return np.tile([4, 2, 0], (len(seen), 1))\n"
_numbers = count()


def own(folder: Path, text: str) -> Path:
    """Writes a file of code, a module that no other test has."""
    path = folder / f"own_pilots_{next(_numbers)}.py"
    path.write_text(text)
    return path


def fly(env: Midrange, steps: int, seed: int = 3) -> tuple[np.ndarray, dict[str, list[float]]]:
    """Flies at random from a reset; returns all observations, and the infos."""
    env.reset(seed)
    seen, told = [], []
    actions = np.random.default_rng(seed).integers(0, LEVELS, (steps, env.num_agents, 3), np.int32)
    for step in actions:
        observations, *_, infos = env.step(step)
        seen.append(observations.copy())
        told += infos
    return np.array(seen), joined(told)


@pytest.mark.parametrize("seat", ["red", "blue"])
def test_a_function_by_name_flies_the_other_seat(seat, tmp_path):
    """Compares with a simulation beside it, which follows the rules from what that seat sees."""
    path = own(
        tmp_path,
        "import numpy as np\ndef turn(seen):\n"
        "    left = seen[:, 15] > 0\n"
        "    return np.stack([4 * left, 2 * np.ones(len(seen), int), left], axis=1)\n",
    )
    env = Midrange(num_envs=3, opponent=f"{path}:turn", seat=seat, **SHORT)
    agent = ["red", "blue"].index(seat)
    sim = Simulation(3, 0, **SHORT)
    env.reset(0)
    rng = np.random.default_rng(0)
    flown = 0
    while not sim.outcome.any():
        flown += 1
        commands, seen = np.zeros((3, 2, 3), np.float32), sim.observe()
        assert np.array_equal(env.observations, seen[:, agent])
        left = seen[:, 1 - agent, 15] > 0
        answers = np.stack([4 * left, 2 + 0 * left, left], axis=1)
        commands[:, 1 - agent] = controls(answers, PLANE)
        actions = rng.integers(0, LEVELS, (3, 3), np.int32)
        commands[:, agent] = controls(actions, PLANE)
        env.step(actions)
        sim.step(commands)
    assert flown > 10


def test_a_function_sees_what_the_policy_in_the_other_seat_was_trained_with(tmp_path):
    """A function that needs the features of stg fights any policy, in every kind of fight."""
    path = own(
        tmp_path,
        "import numpy as np\ndef late(seen):\n"
        "    return np.tile([2, 2, 0], (len(seen), 1)) + 0 * int(seen[0, 71])\n",
    )
    name, seer = f"{path}:late", random_policy(observation="stg")
    assert evaluate(name, seer, 2, **SHORT)["length"] > 0
    assert evaluate(seer, f"{name},ace", 2, **SHORT)["length"] > 0
    assert record_engagement(load_contestant(name), seer, **SHORT).length > 0
    for fight in (evaluate, record_engagement):
        with pytest.raises(OwnCodeError, match=r"IndexError.*own_pilots_\d+.py, line 3\)"):
            fight(load_contestant(name), "ace", **SHORT)


def test_a_mix_is_scored_by_name_and_repeats_itself(tmp_path):
    first, second = tmp_path / "a.pt", tmp_path / "b.pt"
    for seed, path in enumerate((first, second)):
        frozen.save(path, frozen.policy(seed, recurrent=bool(seed)))
    text = f"self:1,shooter:2,{own(tmp_path, LEFT)}:left:2,file:{first}:1,{second}"
    env, again = (Midrange(num_envs=70, opponent=text, **SHORT) for _ in range(2))
    seen, told = fly(env, 80)
    seen_again, told_again = fly(again, 80)
    assert np.array_equal(seen, seen_again)
    assert told == told_again
    counts = {name: len(told[f"score_vs_{name}"]) for name in ("shooter", "left", "a", "b")}
    assert sum(counts.values()) == len(told["score"])
    shares = np.array(list(counts.values())) / len(told["score"])
    assert shares == pytest.approx([1 / 3, 1 / 3, 1 / 6, 1 / 6], abs=0.08)
    assert {name for name in told if name.startswith("win_vs_")} == {f"win_vs_{n}" for n in counts}


@pytest.mark.parametrize("make", [Midrange, MidrangeVectorEnv, MidrangeVecEnv])
def test_all_environments_take_the_same_mixes(make, tmp_path):
    """Environments for other trainers name each engagement's opponent."""
    path = own(tmp_path, LEFT)
    env = make(num_envs=64, opponent=f"ace:1,trained:2,{path}:left:3", **SHORT)
    if make is Midrange:
        assert env.num_agents == 64
        return
    met = Counter()
    if make is MidrangeVecEnv:
        env.seed(0)
        env.reset()
    else:
        env.reset(seed=0)
    for _ in range(150):
        result = env.step(np.tile([2, 1, 0], (64, 1)))
        if make is MidrangeVecEnv:
            met.update(info["opponent"] for info in result[3] if "opponent" in info)
        else:
            ended = result[4].get("final_info", ())
            met.update(info["opponent"] for info in ended if info)
    shares = [met[name] / met.total() for name in ("ace", "trained", "left")]
    assert shares == pytest.approx([1 / 6, 1 / 3, 1 / 2], abs=0.15)


def test_a_single_engagement_meets_all_of_a_mix(tmp_path):
    env, met = MidrangeEnv(f"weave,{own(tmp_path, LEFT)}:left", **SHORT), set()
    env.reset(seed=0)
    while met != {"weave", "left"}:
        *_, terminated, truncated, info = env.step([2, 1, 0])
        if terminated or truncated:
            met.add(info["opponent"])
            env.reset()


def test_a_function_given_from_python():
    """Midrange, evaluate and the environments of Gymnasium take it."""

    def level(seen: np.ndarray) -> np.ndarray:
        return np.tile([2, 1, 0], (len(seen), 1))

    env = Midrange(num_envs=4, opponent=level, **SHORT)
    _, told = fly(env, 70)
    assert told["score_vs_level"] == told["score"]
    assert evaluate("straight", level, 20)["score"] == 0.5  # neither fires
    assert record_engagement(level, "straight").names == ("level", "straight")
    assert Midrange(num_envs=4, opponent=Constant()).num_agents == 4


def test_a_mix_in_a_match_is_drawn_by_its_shares(tmp_path):
    """Some engagements are flown by pilots in the core, the others from outside."""
    mixed = load_contestant(f"ace:1,weave:2,{own(tmp_path, LEFT)}:left:3")
    [records] = play([Fight(mixed, "straight")], 600, parameters=resolve(SHORT))
    [again] = play([Fight(mixed, "straight")], 600, parameters=resolve(SHORT))
    assert np.array_equal(records, again)
    flown = Counter(records["pilot"][:, 0].tolist())
    assert sorted(flown.values()) == pytest.approx([100, 200, 300], abs=40)
    assert flown.most_common(1)[0][0] == 0  # from outside


def test_levels_and_controls_are_told_apart(tmp_path):
    """Whole numbers are levels, and others controls, in either action mode."""
    path = own(
        tmp_path, LEFT + "def smooth(seen):\n    return np.tile([1.0, 1.0, 0.0], (len(seen), 1))\n"
    )
    for action_mode in ("discrete", "continuous"):
        seen = []
        for name in ("left", "smooth"):
            env = Midrange(3, opponent=f"{path}:{name}", action_mode=action_mode, **SHORT)
            env.reset(0)
            for _ in range(10):
                env.step(np.zeros((3, 3), env.actions.dtype))
            seen.append(env.observations.copy())
        assert np.array_equal(*seen)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("np.zeros((len(seen), 2))", r"line 2\): gives actions of shape \(3, 2\)"),
        ("np.zeros(3)", r"gives actions of shape \(3,\).*expected \(3, 3\)"),
        ("np.zeros((len(seen), 3), bool)", "and type bool, expected"),
        ("None", r"gives actions of shape \(\) and type object"),
        ("np.full((len(seen), 3), np.nan)", r"gives nan as actions\[0, 0\], expected finite"),
        ("seen.nothing", r"AttributeError: .*own_pilots_\d+.py, line 3\)"),
    ],
)
def test_an_answer_that_is_no_action_is_refused_at_once(body, message, tmp_path):
    path = own(tmp_path, f"import numpy as np\ndef fly(seen):\n    return {body}\n")
    with pytest.raises(OwnCodeError, match=rf"opponent {path}:fly \({path}, .*{message}"):
        Midrange(num_envs=2, opponent=f"ace,{path}:fly")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("x = 1", "x", "is of type int, expected a function"),
        ("class fly: ...", "fly", "is the class fly, expected a function"),
        ("def fly(): ...", "fyl", "has no fyl; did you mean 'fly'"),
        ("def fly(:", "fly", "does not import: SyntaxError.*line 1"),
        ("import sys\nsys.exit('bye')", "fly", "does not import: SystemExit: bye .*line 2"),
    ],
)
def test_an_object_that_is_no_function_is_refused(text, name, message, tmp_path):
    with pytest.raises(OwnCodeError, match=message):
        evaluate("ace", f"{own(tmp_path, text)}:{name}", 2)


def test_a_file_imports_those_beside_it(tmp_path):
    (tmp_path / "beside_the_pilot.py").write_text(LEFT)
    path = own(tmp_path, "from beside_the_pilot import left")
    before = list(sys.path)
    assert OwnPilot(f"{path}:left").__name__ == "left"
    assert sys.path == before


def test_the_place_of_an_error_is_told_beside_the_package_too(tmp_path, monkeypatch):
    monkeypatch.setattr(own_code, "__file__", str(tmp_path / "pilot" / "policies" / "own_code.py"))
    path = tmp_path / "pilot_of_mine.py"
    path.write_text("1 / 0")
    with pytest.raises(OwnCodeError, match=r"ZeroDivisionError.*pilot_of_mine.py, line 1"):
        own_code.load(f"{path}:fly")


def test_a_later_error_is_reported_with_its_line(tmp_path):
    text = LEFT + "calls = []\ndef late(seen):\n    calls.append(1)\n    1 / (len(calls) < 4)\n"
    path = own(tmp_path, text + "    return left(seen)\n")
    env = Midrange(num_envs=2, opponent=f"{path}:late")
    with pytest.raises(OwnCodeError, match=r"ZeroDivisionError.*line 7"):
        fly(env, 9)


def test_a_policy_that_sees_more_is_refused(tmp_path):
    seer = frozen.policy()
    seer.features = 10_000
    with pytest.raises(ValueError, match="sees 10000 features, more than the"):
        Midrange(num_envs=2, opponent=seer)


def test_the_example_fights():
    assert evaluate(SNIPER, "evader", 100)["score"] > 0.6
    assert 0.02 < evaluate("trained", SNIPER, 100)["score"] < 0.98

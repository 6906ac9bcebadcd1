"""The observation `stg`: predicted misses against flown ones, and who sees how much of it."""

import frozen
import numpy as np
import pytest
import runs
import torch
from policies import Constant, random_policy
from reference import Airframe, Fighter, Missile, clip, guidance, least_distance, time_to_go
from scenes import BLUE, RED, place

from midrange_puffer import FEATURES, STG_FEATURES, Midrange, Simulation
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.envs.pool_crew import PoolCrew
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.policies.player import Player

P = resolve({})
FIRST_MISS = [feature.name for feature in STG_FEATURES].index("inbound_1_miss")


def misses(sim: Simulation) -> np.ndarray:
    """Predicted for red, [num_envs, 3] in metres; infinite without a missile."""
    with np.errstate(divide="ignore"):
        return 1000 / sim.observe()[:, RED, FIRST_MISS : FIRST_MISS + 3].astype(float) - 1000


# The prediction


def flying_scenes(decisions: int = 320, every: int = 16) -> list[tuple[dict, dict]]:
    """Missiles out of real fights and their targets."""
    rng = np.random.default_rng(7)
    found = []
    for seed, (red, blue) in enumerate(
        [("ace", "crank"), ("snake", "bracket_shooter"), ("agent", "shooter"), ("evader", "agent")]
    ):
        sim = Simulation(num_envs=24, seed=seed, red=red, blue=blue)
        hands = np.zeros((24, 2, 3))
        for decision in range(decisions):
            if decision % 8 == 0:  # hands that hold the rudder for a while
                hands[..., 0] = rng.integers(-2, 3, (24, 2)) / 2
                hands[..., 1] = rng.integers(0, 3, (24, 2)) / 2
            sim.step(hands)
            if decision % every:
                continue
            fighters, missiles = sim.fighters, sim.missiles
            open_ = (sim.outcome == 0)[:, None]
            for env, slot in zip(*np.nonzero(missiles["active"] & open_), strict=True):
                at = env, missiles["target"][env, slot]
                target = {name: float(v[at]) for name, v in fighters.items()}
                found.append((target, {name: float(v[env, slot]) for name, v in missiles.items()}))
    return found


def put(sim: Simulation, env: int, target: dict, missile: dict) -> None:
    """Place them, the target as red at the origin."""
    course = {"heading_deg": np.degrees(target["heading"]), "throttle": target["throttle"]}
    motion = {name: target[name] for name in ("speed", "rudder")}
    sim.set_fighter(env, RED, x=0, y=0, **course, **motion)
    sim.set_fighter(env, BLUE, x=500_000, y=0)
    sim.set_missile(
        env,
        0,
        owner=BLUE,
        x=missile["x"] - target["x"],
        y=missile["y"] - target["y"],
        heading_deg=np.degrees(missile["heading"]),
        speed=missile["speed"],
        age=int(missile["age"]),
        rudder=float(np.clip(missile["rudder"], -1, 1)),
    )


def test_predicted_misses_tell_hits_from_misses():
    """Flies shots out with the rudder held; the area under the curve separates both."""
    scenes = flying_scenes()
    sim = Simulation(num_envs=len(scenes), observation="stg")
    for env, scene in enumerate(scenes):
        put(sim, env, *scene)
    predicted = misses(sim)[:, 0]
    sim.advance(1000)
    assert not sim.missiles["active"].any()
    hit = sim.fighters["alive"][:, RED] == 0
    assert min(hit.sum(), (~hit).sum()) > 300
    nearer = (predicted[hit][:, None] < predicted[~hit]).mean()
    assert nearer > 0.95
    assert hit[predicted < 150].mean() > 0.9
    assert hit[predicted > 2000].mean() < 0.05


def predicted_by_the_rules(target: Fighter, missile: Missile) -> float:
    """The predicted miss distance [m] as csrc/RULES.md has it, in float64."""
    own, its = Airframe.of("fighter", P), Airframe.of("missile", P)
    burn = max(P["missile_burn_time"] - missile.age * P["physics_dt"], 0)
    horizon = clip(2 * time_to_go(missile, target), 10, 36)
    miss, dt = np.inf, horizon * 0.25 / (1.25**6 - 1)
    gentle = P | {"missile_navigation": 0.8 * P["missile_navigation"]}
    for _ in range(6):
        if missile.speed <= P["missile_spent_speed"] and burn == 0:
            break
        before = target.x - missile.x, target.y - missile.y
        missile.rudder = guidance(missile, target, gentle)
        burning = min(burn, dt)
        target.fly(own, P["fighter_thrust"] * target.throttle, dt)
        missile.fly(its, P["missile_thrust"] * burning / dt, dt)
        miss = min(miss, least_distance(before, (target.x - missile.x, target.y - missile.y)))
        burn -= burning
        dt *= 1.25
    return miss


def test_the_prediction_is_that_of_the_rules():
    scenes = flying_scenes(decisions=240, every=60)
    sim = Simulation(num_envs=len(scenes), observation="stg")
    for env, scene in enumerate(scenes):
        put(sim, env, *scene)
    assert len(scenes) > 50
    fighters, missiles = sim.fighters, sim.missiles
    for env, seen in enumerate(misses(sim)[:, 0]):
        target, missile = (
            {name: float(values[env, 0]) for name, values in group.items()}
            for group in (fighters, missiles)
        )
        expected = predicted_by_the_rules(
            Fighter(*body(target), throttle=target["throttle"]),
            Missile(*body(missile), age=int(missile["age"])),
        )
        assert 1000 / (1000 + seen) == pytest.approx(1000 / (1000 + expected), abs=2e-3)


def body(state: dict) -> tuple[float, ...]:
    """x, y, c, s, speed and rudder."""
    c, s = np.cos(state["heading"]), np.sin(state["heading"])
    return state["x"], state["y"], float(c), float(s), state["speed"], state["rudder"]


def test_misses_that_need_no_prediction():
    """Head on: none. Away from it: the present distance, or where it is spent. None there: 0."""
    sim = Simulation(num_envs=4, observation="stg")
    for env in range(4):
        place(sim, env)
    old = {"owner": BLUE, "speed": 900, "age": 200}
    sim.set_missile(0, 0, x=8000, y=0, heading_deg=180, **old)
    sim.set_missile(1, 0, x=-3000, y=0, heading_deg=180, **old)
    sim.set_missile(2, 0, x=3000, y=4000, heading_deg=0, **(old | {"speed": 150}))
    seen = misses(sim)
    assert seen[:3, 0] == pytest.approx([0, 3000, 5000], abs=2)
    assert np.isinf(seen[:, 1:]).all()
    assert np.isinf(seen[3]).all()


def test_each_missile_has_its_own_prediction():
    """In the order of the missiles' other features, in any slots; all foreseen as long as any."""
    alone = []
    shots = [
        {"x": 26_000, "y": 0, "heading_deg": 180},
        {"x": 0, "y": 25_000, "heading_deg": -90},
        {"x": 30_000, "y": 19_000, "heading_deg": -150},
    ]
    for chosen in ([0], [1], [2], [2, 0, 1]):
        sim = Simulation(observation="stg")
        place(sim)
        for slot, which in enumerate(chosen):
            sim.set_missile(0, slot, owner=BLUE, speed=1000, age=100, **shots[which])
        alone.append(misses(sim)[0])
    assert sorted(alone[3]) == sorted(row[0] for row in alone[:3])
    assert alone[3][0] == alone[0][0]


# Who sees how much


def stg_policy(seed: int = 5) -> torch.nn.Module:
    """A policy with random weights that sees all of it."""
    torch.manual_seed(seed)
    policy = make_policy(spaces_of("stg"), {"hidden_size": 16}).eval()
    with torch.no_grad():
        policy.actor.weight.mul_(100)
        policy.actor.bias.zero_()
    return policy


@pytest.mark.parametrize("opponent", ["self", "shooter", "self:1,ace:1"])
def test_the_default_observation_is_the_beginning_of_it(opponent):
    """Compares Midrange and Simulation; the engagements are the same."""
    envs = [
        Midrange(num_envs=20, opponent=opponent, seed=3, observation=name)
        for name in ("default", "stg")
    ]
    assert [env.single_observation_space.shape for env in envs] == [
        (len(FEATURES),),
        (len(STG_FEATURES),),
    ]
    rng = np.random.default_rng(0)
    for env in envs:
        env.reset()
    for _ in range(60):
        actions = rng.integers(0, (5, 3, 2), (envs[0].num_agents, 3))
        few, many = (env.step(actions)[0] for env in envs)
        assert np.array_equal(few, many[:, : len(FEATURES)])
    assert envs[0].state_hash() == envs[1].state_hash()
    assert np.ptp(many[:, len(FEATURES) :], axis=0).min() >= 0
    assert (np.ptp(many[:, len(FEATURES) :], axis=0) > 0).sum() > 5


def test_policies_of_both_observations_meet():
    """Each observes what it was made for; the fights of one do not depend on the other."""
    few, many = random_policy(), stg_policy()
    options = {"num_envs": 20, "parameters": resolve({"time_limit": 60})}
    alone = play([Fight(few, "ace")], **options)
    fights = [
        Fight(few, "ace"),
        Fight(many, "ace"),
        Fight(many, random_policy(seed=4)),
        Fight(many, Constant()),
    ]
    together = play(fights, **options)
    assert np.array_equal(alone[0], together[0])
    for records in together[1:]:
        assert (records["outcome"] > 0).all()
    blind = stg_policy()
    with torch.no_grad():
        blind.encoder[0].weight[:, len(FEATURES) :] = 0
    seeing, unseeing = (play([Fight(who, "ace")], **options)[0] for who in (many, blind))
    assert not np.array_equal(seeing, unseeing)


def test_a_player_sees_the_features_that_its_policy_was_made_for():
    seen = np.random.default_rng(0).uniform(-1, 1, (6, len(STG_FEATURES))).astype(np.float32)
    envs = np.arange(6)
    player = Player(random_policy(), 6, 0)
    assert player.features == len(FEATURES)
    for whole, part in zip(
        player.see(seen, envs), player.see(seen[:, : len(FEATURES)].copy(), envs), strict=True
    ):
        assert torch.equal(whole, part)


# Training, model files, pools, configurations


def test_a_run_with_it_trains_and_is_evaluated(tmp_path):
    """The run fights itself, its own past and a pilot."""
    options = ["--env.observation=stg", "--env.opponent=self:2,pool:1,shooter:1"]
    assert runs.train(tmp_path, *options, "--train.total-timesteps=3072") == 0
    model = max((tmp_path / "run").glob("model_*.pt"))
    policy, entries = load_policy(model)
    assert (policy.features, entries["env"]["observation"]) == (len(STG_FEATURES), "stg")
    logged = set().union(*runs.rows(tmp_path / "run"))
    assert {f"environment/{name}_share" for name in ("in_nez", "between", "wasted")} <= logged
    result = evaluate(policy, "shooter", 20, time_limit=20)
    assert 0 <= result["score"] <= 1


def save(path, policy: torch.nn.Module, observation: str):
    config = load_config(None, ["--policy.hidden-size=16", f"--env.observation={observation}"])
    model_file.save_model(path, config, policy.state_dict(), 0)
    return path


def test_a_model_file_tells_its_observation(tmp_path):
    policy, model = load_policy(save(tmp_path / "a.pt", stg_policy(), "stg"))
    assert model["env"]["observation"] == "stg"
    assert policy.features == len(STG_FEATURES)


def test_a_model_file_from_before_is_of_the_default(tmp_path):
    path = save(tmp_path / "a.pt", random_policy(), "default")
    model = torch.load(path)
    del model["env"]["observation"]
    torch.save(model, path)
    policy, model = load_policy(path)
    assert (policy.features, model["env"]["observation"]) == (len(FEATURES), "default")


def test_a_model_file_of_an_unknown_observation_is_refused(tmp_path):
    path = save(tmp_path / "a.pt", random_policy(), "default")
    model = torch.load(path)
    model["env"]["observation"] = "radar"
    torch.save(model, path)
    with pytest.raises(CheckpointError, match=r"env.observation = 'radar': must be default or stg"):
        load_policy(path)


def test_a_member_that_sees_more_than_there_is_is_left_out(tmp_path, capfd):
    pool = frozen.write_pool(tmp_path, {"few": 1, "many": 1}, few=frozen.constant(1))
    save(tmp_path / "many.pt", stg_policy(), "stg")
    assert set(PoolCrew(pool, 100, 0).names()) == {"few"}
    warning = capfd.readouterr().err
    assert "left out many" in warning
    assert "env.observation = stg" in warning
    assert set(PoolCrew(pool, 100, 0, len(STG_FEATURES)).names()) == {"few", "many"}


def test_members_of_both_observations_fly_in_an_environment(tmp_path):
    pool = frozen.write_pool(tmp_path, {"few": 1, "many": 1}, few=frozen.constant(1))
    save(tmp_path / "many.pt", stg_policy(), "stg")
    env = Midrange(num_envs=20, opponent="pool", pool=pool, observation="stg", time_limit=20)
    env.reset()
    log = set()
    for _ in range(96):
        *_, infos = env.step(np.ones((20, 3), np.int32))
        log |= {name for info in infos for name in info}
    assert {"pool/few", "pool/many"} <= log


def test_an_observation_cannot_change_with_a_stage(tmp_path):
    path = tmp_path / "a.ini"
    path.write_text("[curriculum]\nstages = a\n[curriculum.a]\nenv.observation = stg\n")
    with pytest.raises(ConfigError, match=r"env.observation.*holds for the whole run, in \[env\]"):
        load_config(str(path), [])


@pytest.mark.parametrize("make", [Midrange, Simulation])
def test_an_unknown_observation_is_refused(make):
    with pytest.raises(ValueError, match=r"'sgt'.*default or stg or radar; did you mean 'stg'"):
        make(num_envs=1, observation="sgt")

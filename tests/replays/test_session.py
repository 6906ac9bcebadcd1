"""Sessions: fights that humans fly, whose time is scaled and rewound, and the command `play`."""

import numpy as np
import policies
import pytest
import runs

from midrange_puffer import Simulation
from midrange_puffer.commands import cli
from midrange_puffer.commands import play as play_options
from midrange_puffer.commands.play import load_contestants
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import UserError
from midrange_puffer.game.actions import PLANE
from midrange_puffer.game.parameters import EASY, resolve
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.replays import session as fight_session
from midrange_puffer.replays.crews import FIRE
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import HUMAN, TIME_SCALES, Session
from midrange_puffer.show.engagement_plot import record_engagement

NEAR = {"start_range_min": 20_000, "start_range_max": 20_000, "start_off_boresight_max_deg": 0}
STEP = 0.1  # s, the physics step


def fighter(session: Session, seat: int = 0) -> dict[str, float]:
    return {name: float(values[0, seat]) for name, values in session.sim.fighters.items()}


def steps(session: Session, count: int) -> None:
    for _ in range(count):
        session.step()


def fly(session: Session, end: int) -> list[int]:
    """Flies on to a decision with turns, throttle and launches; returns the hashes on the way."""
    hashes = []
    while (decision := len(session.recorder)) < end:
        for seat in session.humans:
            session.steer(seat, ((decision // 13 + seat) % 3 - 1) / (1 + seat))
            if decision % 29 == 0:
                session.move_throttle(seat, -0.2 if decision % 2 else 0.3)
            if decision % 60 == 59:
                session.fire(seat)
        session.step()
        hashes.append(session.sim.state_hash())
    return hashes


def test_a_launch_waits_for_the_next_decision():
    session = Session((HUMAN, "straight"), physics_dt=0.5)
    session.fire(0)
    session.advance(0.1)
    assert fighter(session)["ammo"] == 6
    for _ in range(4):
        session.advance(0.1)
    assert fighter(session)["ammo"] == 5


def test_a_human_decides_every_physics_step_and_nobody_else_does():
    assert Session((HUMAN, "evader")).decision == STEP
    assert Session(("shooter", HUMAN), substeps=10, physics_dt=0.05).decision == 0.05
    assert Session(("shooter", "evader"), substeps=10).decision == 1


def test_the_fight_goes_by_real_time():
    session = Session((HUMAN, "evader"))
    for _ in range(100):
        session.advance(0.025)
    assert session.paths.time == pytest.approx(2.5, abs=1.5 * STEP)
    assert session.time == pytest.approx(2.5 - STEP, abs=1e-6)
    session.advance(100)  # a frame that hung
    assert session.paths.time == pytest.approx(2.5 + fight_session.MAX_LAG, abs=1.5 * STEP)


@pytest.mark.parametrize("scale", TIME_SCALES)
def test_time_is_scaled(scale):
    session = Session((HUMAN, "evader"))
    while session.time_scale != scale:
        session.scale_time(faster=scale > 1)
    for _ in range(16):
        session.advance(0.1)
    assert session.paths.time == pytest.approx(1.6 * scale, abs=1.5 * STEP)
    for _ in TIME_SCALES:
        session.scale_time(faster=scale > 1)
    assert session.time_scale == (TIME_SCALES[-1] if scale > 1 else TIME_SCALES[0])


MEMORY = ("Recurrent", {"input_size": 16, "hidden_size": 16})
CONTESTANTS = {
    "humans": lambda: (HUMAN, HUMAN),
    "pilot": lambda: ("evader", HUMAN),
    "policy": lambda: (HUMAN, policies.random_policy()),
    "recurrent": lambda: (HUMAN, policies.random_policy(*MEMORY)),
    "stg": lambda: (policies.random_policy(observation="stg"), HUMAN),
    "watching": lambda: (policies.random_policy(), "ace"),
}


@pytest.mark.parametrize("contestants", CONTESTANTS)
def test_rewind_takes_everything_back(contestants):
    """Compared with a twin that is flown in the same way without rewinds."""
    contestants = CONTESTANTS[contestants]()
    session, twin = Session(contestants, seed=4, **NEAR), Session(contestants, seed=4, **NEAR)
    hashes = [twin.sim.state_hash(), *fly(twin, 260)]
    fly(session, 260)
    for back in (1, 7, 30, 9, 100):
        session.rewind(back)
        assert session.sim.state_hash() == hashes[len(session.recorder)]
        assert session.paths.time == pytest.approx(len(session.recorder) * session.decision)
    assert len(session.recorder) == 260 - 147
    assert fly(session, 260) == hashes[-147:]
    for mine, others in zip(
        (*session.paths.fighters, *session.paths.missiles),
        (*twin.paths.fighters, *twin.paths.missiles),
        strict=True,
    ):
        assert mine == others
    assert len(session.paths.missiles) > 2
    session.rewind(10_000)
    assert session.sim.state_hash() == hashes[0]
    assert [len(path.times) for path in session.paths.fighters] == [1, 1]
    assert session.paths.missiles == []


def test_rewind_gives_the_lever_back():
    session = Session((HUMAN, "evader"))
    session.move_throttle(0, -0.5)
    steps(session, 25)
    session.move_throttle(0, -0.5)
    steps(session, 25)
    session.rewind(26)
    throttle = PLANE.names.index("throttle")
    assert session.commands[0, throttle] == 0.5


def test_a_fight_that_was_over_goes_on_after_rewind():
    session = Session(("shooter", HUMAN), **NEAR)
    while not session.over:
        session.step()
    end, victim = len(session.recorder), session.paths.fighters[1]
    assert victim.died is not None
    session.advance(0.1)
    assert len(session.recorder) == end
    session.rewind(50)
    assert not session.over
    assert victim.died is None
    assert session.paths.missiles[-1].fate == "flying"
    session.advance(0.1)
    assert len(session.recorder) == end - 49


def test_snapshots_are_bounded(monkeypatch):
    monkeypatch.setattr(fight_session, "MAX_MARKS", 4)
    session = Session((HUMAN, "evader"))
    steps(session, 100)
    session.rewind(1000)
    assert len(session.recorder) == 70  # one a second: at 70, 80, 90 and 100


def test_restart_and_next_start():
    session = Session((HUMAN, policies.random_policy()), seed=9)
    first = [session.sim.state_hash(), *fly(session, 40)]
    session.start(0)
    assert [session.sim.state_hash(), *fly(session, 40)] == first
    session.start(3)
    assert session.engagement == 3
    direct = Simulation(1, 9, substeps=1)
    direct.start(0, engagement=3)
    assert session.sim.state_hash() == direct.state_hash() != first[0]
    assert session.paths.time == len(session.recorder) == 0


@pytest.mark.parametrize("engagement", [0, 2])
@pytest.mark.parametrize("contestants", CONTESTANTS)
def test_replays_verify_after_rewinds(contestants, engagement, tmp_path):
    session = Session(CONTESTANTS[contestants](), ("here", "there"), seed=4, **NEAR)
    session.start(engagement)
    for back in (3, 55, 20):
        fly(session, len(session.recorder) + 90)
        session.rewind(back)
    fly(session, len(session.recorder) + 5)
    path = tmp_path / "fight.replay"
    session.replay().write(path)
    replay = Replay.read(path)
    replay.verify()
    assert replay.names == ("here", "there")
    assert replay.decisions == 3 * 90 - 78 + 5
    *_, last = replay.play()
    assert last.state_hash() == session.sim.state_hash()


def test_without_humans_it_is_the_fight_that_plot_draws_and_eval_plays():
    policy, given = policies.random_policy(), []
    session = Session((policy, "evader"), seed=6, greedy=True, **NEAR)
    while not session.over:
        session.advance(0.1)
    drawn = record_engagement(policy, "evader", 6, greedy=True, **NEAR)
    assert session.paths.fighters == drawn.paths.fighters
    assert session.paths.missiles == drawn.paths.missiles
    assert any(path.died for path in drawn.paths.fighters) or len(drawn.paths.missiles) > 3
    fights = [Fight(policy, "evader")]
    play(
        fights, 1, 6, True, watch=lambda *now: given.append(now[3].copy()), parameters=resolve(NEAR)
    )
    assert (session.replay().controls[:, 0] == np.array(given)[:, 0, 0]).all()


def test_with_a_human_a_policy_acts_as_often_as_it_was_trained_to():
    """Its launches are given once, not held over the launch interval."""
    policy = policies.Constant(rudder=4, throttle=1, fire=1)
    session = Session((policy, HUMAN), launch_interval=0.2, substeps=5)
    steps(session, 20)
    given = session.replay().controls[:, 0]
    assert (given[:, :2] == (1, 0.5)).all()
    assert given[:, FIRE].tolist() == [1, 0, 0, 0, 0] * 4
    assert fighter(session)["ammo"] == 2


def test_a_mix_has_no_seat():
    """A rewind could not restore its draws."""
    mix = load_contestant("ace:2,trained,trained:selfplay")
    with pytest.raises(UserError, match="blue = ace,trained,trained:selfplay: is a mix; must be"):
        Session((HUMAN, mix))


def read(*words: str):
    return load_contestants(play_options.read(words))


def test_the_default_is_a_human_against_an_easy_pilot():
    contestants, names, parameters = read("--env.time-limit", "77")
    assert contestants[0] == HUMAN
    assert names == [HUMAN, EASY]
    assert parameters["time_limit"] == 77


def test_a_policy_brings_its_game(tmp_path):
    assert runs.train(tmp_path) == 0
    newest = sorted((tmp_path / "run").glob("model_*.pt"))[-1]
    for word in ("latest", str(newest)):
        contestants, names, parameters = read("--blue", word, "--train.data-dir", str(tmp_path))
        assert names == [HUMAN, newest.stem]
        assert parameters["start_range_max"] == 6000
        assert parameters["time_limit"] == 10
        steps(Session(contestants, names, **parameters), 20)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--red", "evadr"], "'evadr': must be human.*did you mean 'evader'"),
        (["--blue", "humn"], "did you mean 'human'"),
        (["--blue", "shooter:1,evader:3"], ": must be human; from easy to hard straight"),
        (["--blue", "gone.pt"], "gone.pt: no such file"),
        (["--blue", "latest", "--train.data-dir", "nowhere"], "nowhere: no .*; train first"),
        (["--env.ammunition", "9"], "--env.ammunition: 9: must be an integer from 0 to 6"),
        (["--env.start-range-min", "90000"], "start_range_min = 90000 is above"),
        (["--save", __file__], "cannot make the folder .*File exists"),
        (["--savee", "x"], "--savee: no such option; did you mean '--save'"),
    ],
)
def test_play_names_what_is_wrong(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        cli.run("play", words)

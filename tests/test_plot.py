"""The picture of an engagement: what is recorded for it, and the file."""

import matplotlib
import numpy as np
import pytest
import runs
from matplotlib.image import imread

from midrange_puffer import Simulation, cli
from midrange_puffer.errors import UsageError
from midrange_puffer.plot import plot_engagement, record_engagement

# Nose to nose at 20 km: shots are exchanged within half a minute.
NEAR = {"start_range_min": 20_000, "start_range_max": 20_000, "start_off_boresight_max_deg": 0}


@pytest.fixture(scope="module")
def engagement():
    return record_engagement("shooter", "evader", 2, **NEAR)


@pytest.fixture(scope="module")
def final():
    """The same engagement in a simulation of its own, at its end."""
    sim = Simulation(1, 2, "shooter", "evader", **NEAR)
    while not sim.outcome[0]:
        sim.step()
    return sim


def test_the_end_is_the_simulations(engagement, final):
    seconds = final.time[0] * 0.1
    assert engagement.length == pytest.approx(seconds)
    words = {1: "red wins", 2: "blue wins", 3: "mutual kill"}
    assert engagement.outcome == words[final.outcome[0]]
    for trail, alive in zip(engagement.fighters, final.fighters["alive"][0], strict=True):
        assert trail.killed == (not alive)
        x, y = final.fighters["x"][0, trail.owner], final.fighters["y"][0, trail.owner]
        assert trail.points[-1] == pytest.approx((x, y))
        if alive:
            assert trail.times[-1] == pytest.approx(seconds)


def test_every_missile_has_a_trail(engagement, final):
    fired = 6 - final.fighters["ammo"][0]
    owners = [trail.owner for trail in engagement.missiles]
    assert [owners.count(0), owners.count(1)] == fired.tolist()
    assert sum(fired) > 2


def test_missiles_start_at_their_shooter_and_never_jump(engagement):
    for missile in engagement.missiles:
        shooter = engagement.fighters[missile.owner]
        x, y = np.array(shooter.points).T
        start = [np.interp(missile.times[0], shooter.times, axis) for axis in (x, y)]
        assert missile.points[0] == pytest.approx(start)
        assert missile.burnt_out == pytest.approx(missile.times[0] + 10)
        # Under 2 km/s, which takes more than 10 s at 147 m/s^2.
        legs = np.hypot(*np.diff(missile.points, axis=0).T)
        assert (legs < 2000 * np.diff(missile.times) + 100).all()


def test_the_killed_were_hit_by_the_other_side(engagement):
    for fighter in engagement.fighters:
        hits = [m for m in engagement.missiles if m.killed and m.owner != fighter.owner]
        assert len(hits) == fighter.killed
        for missile in hits:
            assert missile.points[-1] == fighter.points[-1]
            # Before, it was a decision's flight away.
            assert np.hypot(*np.diff(missile.points[-2:], axis=0)[0]) < 1000
    assert any(fighter.killed for fighter in engagement.fighters)


@pytest.mark.parametrize(
    ("parameters", "outcome"),
    [({"time_limit": 5}, "draw by time"), ({"ammunition": 0}, "draw, no missiles left")],
)
def test_draws_are_told_apart(parameters, outcome):
    assert record_engagement("weave", "straight", **parameters).outcome == outcome


def test_the_picture_shows_both_sides(engagement, tmp_path):
    path = tmp_path / "fight.png"
    backend = matplotlib.get_backend()
    plot_engagement(engagement, path)
    assert matplotlib.get_backend() == backend
    image = imread(path)[..., :3]
    assert image.shape[0] > 600
    assert image.shape[1] > 900
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    for mine, other in ((red, blue), (blue, red)):
        assert (((mine - other) > 0.4) & (mine > green)).sum() > 500
    assert [file.name for file in tmp_path.iterdir()] == ["fight.png"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    assert runs.train(folder) == 0
    return folder


def run_plot(folder, *options: str) -> int:
    return cli.run("plot", ["--train.data-dir", str(folder), *options])


def test_plot_draws_a_trained_policy(trained, tmp_path, capsys):
    path = tmp_path / "fight.svg"
    options = ["--opponent", "shooter", "--seat", "blue", "--out", str(path)]
    assert run_plot(trained, *options) == 0
    assert str(path) in capsys.readouterr().out
    assert path.read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--opponent", "shooter:1,evader:3"], "a mix"),
        (["--opponent", "evadr"], "did you mean 'evader'"),
        (["--out", "fight.txt"], r"--out: fight.txt: must end in \.png"),
        (["--seat", "green"], "--seat: green: must be one of red, blue"),
        (["--episodes", "3"], "--episodes: no such option"),
    ],
)
def test_plot_names_what_is_wrong(trained, options, message):
    with pytest.raises(UsageError, match=message):
        run_plot(trained, *options)

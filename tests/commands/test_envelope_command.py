"""`puffer envelope midrange`: what it prints, and the table and the pictures it writes."""

import json

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from midrange_puffer.commands import cli
from midrange_puffer.commands import envelope as envelope_command
from midrange_puffer.errors import UsageError
from midrange_puffer.files import WriteError
from midrange_puffer.game.envelope import Envelope, Grid
from midrange_puffer.show.envelope_plot import ZONES, plot_aspect, plot_off_boresight

pytestmark = pytest.mark.slow

SPEEDS = (200.0, 350.0, 500.0)
GRID = Grid(9, 16, SPEEDS, SPEEDS)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder, the report and what was printed, of a game with a smaller missile."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(envelope_command, "FULL", GRID)
        words = ["--env.missile-thrust", "120", "--out", str(folder / "new"), "--json"]
        assert cli.run("envelope", [*words, str(folder / "r.json")]) == 0
    return folder / "new", json.loads((folder / "r.json").read_text())


def test_the_table_is_of_the_game_that_was_asked_for(run):
    folder, report = run
    envelope = Envelope.load(folder / "envelope.npz")
    assert envelope.parameters["missile_thrust"] == 120
    assert envelope.grid == GRID
    identity = json.loads(json.dumps(envelope.identity))
    assert identity.items() <= report.items()
    assert len(report["nose_on"]) == 9
    for row in report["nose_on"]:
        aspect = {"nose-on": 8, "beam": 12, "tail-on": 0}[row["aspect"]]
        speeds = SPEEDS.index(row["launch_speed"]), SPEEDS.index(row["target_speed"])
        for name in ("minimum", "inner", "nez", "cold", "aero"):
            assert row[name] == getattr(envelope, name)[(0, aspect, *speeds)]
    counts = report["counts"]
    assert counts["geometries"] == envelope.aero.size
    assert counts["split"] == (envelope.stretches > 1).sum() > 0
    assert counts["gaps"] == (envelope.gaps > 0).sum() > 0
    assert counts["unreachable"] == (envelope.aero < 1000).sum() > 0


@pytest.fixture(scope="module")
def even():
    """An envelope with the same ranges everywhere: pictures of rings."""
    grid = Grid(9, 16, (300.0,), (300.0,))
    ranges = {"minimum": 2, "inner": 5, "nez": 14, "cold": 28, "aero": 50}
    arrays = {name: np.full(grid.shape, 1000.0 * km, np.float32) for name, km in ranges.items()}
    none = np.zeros(grid.shape, np.int32)
    return Envelope(**arrays, stretches=none, gaps=none, grid=grid, parameters={}, evasions=(),
                    code="")  # fmt: skip


def shares(path) -> dict[str, float]:
    """Returns the share of a picture's pixels in each zone's colour, by the edge it reaches to."""
    pixels = imread(path)[..., :3]
    return {
        far: float((np.abs(pixels - to_rgb(colour)).max(axis=-1) < 0.01).mean())
        for _, far, colour, _ in ZONES
    }


@pytest.mark.parametrize("plot", [plot_aspect, plot_off_boresight])
def test_the_zones_are_as_large_as_they_are(even, tmp_path, plot):
    """On the scale of the pictures the area of a ring is the difference of its ranges."""
    plot(even, tmp_path / "even.png")
    found = shares(tmp_path / "even.png")
    areas = {"aero": 22, "cold": 14, "nez": 9, "inner": 3}
    for name, area in areas.items():
        assert found[name] / found["aero"] == pytest.approx(area / 22, rel=0.15), name


@pytest.mark.parametrize("picture", ["aspect.png", "off_boresight.png"])
def test_the_pictures_show_every_zone_of_a_real_envelope(run, picture):
    found = shares(run[0] / picture)
    assert found["aero"] > found["nez"] > found["inner"] > 1e-4
    assert found["aero"] > 0.02


def test_a_file_in_place_of_the_folder_is_missed_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "new"):
        with pytest.raises(WriteError, match=f"cannot make the folder {path}"):
            cli.run("envelope", ["--out", str(path)])


@pytest.mark.parametrize(
    ("words", "said"),
    [([], ""), (["--env.physics-dt=0.01"], "physics_dt = 0.01: flown in steps of 0.05 s\n")],
)
def test_it_says_so_where_it_flies_longer_steps(words, said, tmp_path, monkeypatch, capsys):
    def build(parameters, *_, **__):
        raise KeyboardInterrupt  # there is no need to fly

    monkeypatch.setattr(envelope_command, "build", build)
    with pytest.raises(KeyboardInterrupt):
        cli.run("envelope", ["--out", str(tmp_path), *words])
    assert capsys.readouterr().out == said


def test_parameters_that_do_not_matter_are_no_options():
    with pytest.raises(UsageError, match=r"--env\.ammunition: no such option"):
        cli.run("envelope", ["--env.ammunition", "3"])
    with pytest.raises(UsageError, match=r"--env\.missile-thrust: 2000: must be a number from 0"):
        cli.run("envelope", ["--env.missile-thrust", "2000"])

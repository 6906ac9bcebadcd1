"""`puffer replay midrange`: what it says of replays, and what it makes of them."""

import contextlib
from dataclasses import replace

import acmi_reader
import pytest
from replays import record

from midrange_puffer.commands import cli
from midrange_puffer.commands import replay as replay_command
from midrange_puffer.errors import UsageError
from midrange_puffer.replays.replay import ReplayError
from midrange_puffer.replays.session import Session


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two replays, one damaged file, and one that goes another way than it says."""
    folder = tmp_path_factory.mktemp("replays")
    one, _ = record(("agent", "crank"), seed=3, names=("Ann", "crank"))
    other, _ = record(("ace", "ace"), seed=2)
    one.write(folder / "one.replay")
    other.write(folder / "other.replay")
    replace(one, seed=4).write(folder / "wrong.replay")
    (folder / "damaged.replay").write_bytes(one.to_bytes()[:-1] + b"?")
    return folder


def replay(folder, *words: str) -> int:
    """Run the command; words that name a file are of this folder."""
    return cli.run("replay", [str(folder / word) if "." in word else word for word in words])


@pytest.mark.parametrize("options", [(), ("--verify",)])
def test_it_says_that_a_replay_is_bit_exact(folder, capsys, options):
    assert replay(folder, "one.replay", "other.replay", *options) == 0
    first, second = capsys.readouterr().out.splitlines()
    one, _ = record(("agent", "crank"), seed=3)
    assert first == (
        f"{folder}/one.replay: Ann (red) against crank (blue), {one.outcome} after "
        f"{one.duration:.0f} s; bit-exact: {one.decisions} decisions, final state hash "
        f"{one.hashes[-1]:016x}"
    )
    assert second.startswith(f"{folder}/other.replay: ace (red) against ace (blue), ")


def test_the_transport_of_an_escort_is_called_so(tmp_path, capsys):
    """Its type's missiles and speed would be wrong: it is slow, and carries none."""
    game = {"dimensions": 3, "mission": "escort", "attacker": "blue", "time_limit": 480}
    escort = Session(("ace", "ace"), ("ace", "ace"), seed=3, red_size=2, blue_size=2, **game)
    while not escort.over:
        escort.step()
    escort.replay().write(tmp_path / "escort.replay")
    assert cli.run("replay", [str(tmp_path / "escort.replay")]) == 0
    flown = "(medium on light, medium on light, medium on light, transport)"
    assert f"ace (2 red) against ace (2 blue) {flown}, " in capsys.readouterr().out


def test_every_refusal_is_named_after_all_were_looked_at(folder, capsys):
    with pytest.raises(ReplayError) as error:
        replay(folder, "wrong.replay", "one.replay", "damaged.replay", "no.replay")
    wrong, damaged, missing = error.value.args
    assert wrong.startswith(f"{folder}/wrong.replay: differs at decision 0 of ")
    assert damaged == f"{folder}/damaged.replay: damaged: its checksum is not that of its content"
    assert missing == f"{folder}/no.replay: No such file or directory"
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{folder}/one.replay: ")


def test_a_recording_and_a_page_are_written(folder, tmp_path, capsys):
    acmi, page = tmp_path / "one.acmi", tmp_path / "one.html"
    assert cli.run("replay", [f"{folder}/one.replay", f"--acmi={acmi}", f"--html={page}"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [str(acmi), str(page)]
    recording = acmi_reader.read(acmi.read_bytes())
    assert recording.bodies[1].texts["Pilot"] == "Ann"
    assert "Ann against crank" in page.read_text()


def test_a_film_is_written_as_told(folder, tmp_path):
    from PIL import Image

    path = tmp_path / "one.gif"
    options = ["--size=320x180", "--fps=4", "--speed=5", "--view=spacetime"]
    assert cli.run("replay", [f"{folder}/one.replay", f"--gif={path}", *options]) == 0
    one, _ = record(("agent", "crank"), seed=3)
    with Image.open(path) as film:
        assert film.size == (320, 180)
        assert film.n_frames >= one.duration / 5 * 4


def test_a_film_without_end_is_refused_before_anything_is_written(folder, tmp_path):
    page, gif = tmp_path / "one.html", tmp_path / "one.gif"
    words = [f"--html={page}", f"--gif={gif}", "--speed=0.01", "--fps=50"]
    with pytest.raises(UsageError, match=r"speed = 0\.01 and fps = 50: a film of \d+,\d+ pictures"):
        cli.run("replay", [f"{folder}/one.replay", *words])
    assert list(tmp_path.iterdir()) == []


def test_a_page_takes_its_time_and_says_how_far_it_is(folder, tmp_path, monkeypatch):
    told = []

    @contextlib.contextmanager
    def progress_bar(what: str, total: int):
        yield lambda count: told.append((what, total, count))

    monkeypatch.setattr(replay_command, "progress_bar", progress_bar)
    page = tmp_path / "one.html"
    assert cli.run("replay", [f"{folder}/one.replay", f"--html={page}"]) == 0
    one, _ = record(("agent", "crank"), seed=3)
    assert {(what, total) for what, total, _ in told} == {(str(page), one.decisions)}
    assert sum(count for _, _, count in told) == one.decisions


def test_nothing_is_written_of_what_is_refused(folder, tmp_path):
    path = tmp_path / "wrong.acmi"
    with pytest.raises(ReplayError, match="differs at decision 0"):
        cli.run("replay", [f"{folder}/wrong.replay", f"--acmi={path}"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no file is given"),
        (("one.replay", "other.replay", "--html", "x.html"), "--html: takes one replay, not 2"),
        (("one.replay", "--acmi", "x.txt"), "must end in .acmi"),
        (("one.replay", "--html", "nowhere/x.html"), "there is no folder"),
        (("one.replay", "--gif", "x.mp4"), "must end in .gif"),
        (("one.replay", "--size", "12"), "must be width x height, as 1280x720"),
        (("one.replay", "--gif", "x.gif", "--size", "10x10"), "even numbers from 320x180 on"),
        (("one.replay", "--gif", "x.gif", "--size", "481x271"), "even numbers from 320x180 on"),
        (("one.replay", "--size", "640x360"), "--size: has no effect without --gif or --mp4"),
        (("one.replay", "--acmi", "x.acmi", "--view", "plane"), "--view: has no effect"),
        (("one.replay", "--verify", "--html", "x.html"), "--verify: writes nothing; --html alone"),
        (("one.replay", "--view", "plan"), "--view: plan: must be one of plane, spacetime"),
        (("one.replay", "--verfy"), "did you mean '--verify'"),
    ],
)
def test_an_impossible_request_is_named(folder, words, message):
    with pytest.raises(UsageError, match=message):
        replay(folder, *words)

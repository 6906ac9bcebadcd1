"""`puffer serve midrange`, and the client of the examples."""

import re
import runpy
import sys
import threading
import time

import pytest
from places import EXAMPLES
from seats import NEAR, Client

from midrange_puffer.commands import cli, serve
from midrange_puffer.errors import UsageError
from midrange_puffer.replays.replay import Replay

PILOT = EXAMPLES / "http_pilot.py"
WORDS = [f"--env.{name}={value}" for name, value in NEAR.items()]


def start(capsys, *words: str) -> tuple[threading.Thread, list[str], list[int]]:
    """Starts the command; returns its thread, its first lines, and a list for its exit status."""
    statuses: list[int] = []
    options = serve.read([*words, *WORDS])
    thread = threading.Thread(target=lambda: statuses.append(serve.main(options)), daemon=True)
    thread.start()
    text = ""
    while "curl" not in text and thread.is_alive():
        time.sleep(0.02)
        text += capsys.readouterr().out
    return thread, text.splitlines(), statuses


def test_the_example_wins_served_fights_that_are_recorded(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(serve, "LINGER", 0)
    words = ["--blue", "weave", "--fights", "2", "--record", str(tmp_path), "--token", "an-example"]
    thread, (url, told, curl, *_), statuses = start(capsys, *words)
    assert told == "red_0: token an-example"
    assert curl.endswith(f'curl -H "Authorization: Bearer an-example" {url}/seats/red_0')
    monkeypatch.setattr(sys, "argv", ["http_pilot.py", url, "an-example", "--fights", "2"])
    runpy.run_path(str(PILOT), run_name="__main__")
    thread.join(60)
    assert statuses == [0]
    out = capsys.readouterr().out
    assert re.search(
        r"^fight 1: win\. The fight is over after \d+ s\. Your side has won\.$", out, re.M
    )
    assert "red won 2, blue 0, draws 0; red's score 1.000\n" in out
    for number in range(2):
        replay = Replay.read(tmp_path / f"fight_{number:04d}.replay")
        assert (replay.names, replay.outcome) == (("agent", "weave"), "red wins")
        replay.verify()


def test_the_example_goes_on_after_it_was_killed(capsys, monkeypatch):
    """In the middle of a fight, by another run of it that ends there."""
    monkeypatch.setattr(serve, "LINGER", 0)
    thread, (url, *_), statuses = start(
        capsys, "--blue=straight", "--fights=1", "--token=an-example"
    )
    pilot = runpy.run_path(str(PILOT))
    client = Client(url, "an-example")
    for decision in range(20):
        client.fly(decision, **pilot["decide"](client.state()))
    monkeypatch.setattr(sys, "argv", ["http_pilot.py", url, "an-example"])
    pilot["main"]()
    thread.join(60)
    assert statuses == [0]
    assert "red won 1, blue 0" in capsys.readouterr().out


def test_clients_fly_some_fighters_of_both_sides(capsys):
    words = ["--red=agent,evader", "--blue=agent", "--env.red-size=2", "--clock=0.01"]
    options = serve.read(words)
    session = serve.make_session(options)
    assert session.agents == [0, 2]
    assert session.names == ("agent, evader", "agent")
    tokens = serve.tokens_of(options)
    assert set(tokens) == {0, 1}
    assert all(re.fullmatch("[0-9a-f]{64}", token) for token in tokens.values())
    assert tokens[0] != tokens[1]
    assert options.clock == 0.01


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--red=ace"], "--red, --blue: one must be agent"),
        (["--red=agnt"], "'agnt': must be agent .*; did you mean 'agent'"),
        (["--token=short"], "must have 8 to 200 letters"),
        (["--token=two-tokens,two-tokens"], "--token: 2 tokens; clients fly 1 sides"),
        (["--clock=0"], "--clock: 0: must be"),
        (["--clock=stand"], "--clock: stand: must be stands or a number"),
        (["--port=70000"], "--port: 70000"),
        (["--fights=0"], "--fights: 0"),
    ],
)
def test_wrong_options_are_named(words, message):
    with pytest.raises(UsageError, match=message):
        serve.read(words)


def test_a_wrong_number_of_contestants_is_named():
    with pytest.raises(UsageError, match="red: 2 contestants; red_size is 1"):
        serve.make_session(serve.read(["--red=agent,ace"]))


ESCORT = ["--env.mission=escort", "--env.time-limit=480"]
ESCORT += ["--env.red-size=2", "--env.blue-size=2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--red=ace,agent", "--env.attacker=red"], "--red: clients fly red_1 alone, .*transport"),
        (["--red=ace", "--blue=ace,agent", "--env.attacker=drawn"], "--blue: clients fly blue_1"),
    ],
)
def test_clients_that_fly_a_transport_alone_are_refused(words, message):
    """Such a fight would wait for controls that no seat takes."""
    with pytest.raises(UsageError, match=message):
        serve.make_session(serve.read([*words, *ESCORT]))


@pytest.mark.parametrize(
    "words",
    [
        ["--red=ace,agent", "--env.attacker=blue"],
        ["--red=agent", "--env.attacker=red"],
        ["--red=ace,agent", "--blue=ace,agent", "--env.attacker=drawn"],
    ],
)
def test_a_transport_among_other_seats_is_served(words):
    assert serve.make_session(serve.read([*words, *ESCORT])).agents


def test_help_lists_it(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["puffer", "--help"])
    assert cli.main() == 0
    assert "puffer serve midrange" in capsys.readouterr().out

"""The live stream for Tacview, read by a client of our own."""

import contextlib
import socket
import struct
import subprocess
import sys
import zlib
from math import hypot

import acmi_reader
import numpy as np
import pytest
import team_fights
from replays import record
from tacview_client import PROTOCOLS, Client, connect, serve_until
from team_fights import sized

from midrange_puffer import Simulation
from midrange_puffer.commands import cli, play
from midrange_puffer.errors import UsageError
from midrange_puffer.game.paths import HIT
from midrange_puffer.policies.models import EXAMPLE
from midrange_puffer.replays import telemetry
from midrange_puffer.replays.acmi import FIRST_MISSILE, format_acmi
from midrange_puffer.replays.replay import Recorder, Replay
from midrange_puffer.replays.session import Session
from midrange_puffer.tacview import Telemetry

HIGH = {"dimensions": 3, "red_aircraft": "light", "start_range_max": 40_000}
TEAMS = sized(2, 3)
SENSORS = {"sensing": "radar", "start_range_max": 40_000}


@pytest.fixture
def server():
    with Telemetry(0) as server:
        yield server


def high_fight() -> Replay:
    sim = Simulation(1, 3, "ace", "crank", **HIGH)
    recorder, controls = Recorder(sim, seed=3, pilots=("ace", "crank")), np.zeros((1, 2, 4))
    while not sim.outcome[0]:
        sim.step(controls)
        recorder.add(controls)
    return recorder.replay()


FIGHTS = {
    "plane": lambda: record(("ace", "evader"), 1, names=("Ann | 1", "Zoë"))[0],
    "height": high_fight,
    "teams": lambda: team_fights.record(TEAMS, ("shooter", "ace"), seed=1)[0],
    "sensors": lambda: record(("shooter", "notcher"), 1, **SENSORS)[0],
}


def fly(replay: Replay, server: Telemetry):
    """Streams a replay; yields after each decision."""
    sim = replay.simulation()
    server.begin(sim, names=replay.names, pilots=replay.fighter_names)
    server.note()
    for _ in replay.play(sim):
        server.note()
        yield sim


def finish(replay: Replay, server: Telemetry) -> None:
    for _ in fly(replay, server):
        pass


@pytest.mark.parametrize("kind", FIGHTS)
def test_a_stream_has_the_content_of_the_file(server, kind):
    """Names, types, paths, locks, events and removals."""
    replay = FIGHTS[kind]()
    clients = [Client.join(server) for _ in range(2)]
    finish(replay, server)
    server.close()
    file = acmi_reader.read(format_acmi(replay, replay.paths()).encode())
    assert len(file.bodies) > 2
    for client in clients:
        stream = client.recording()
        assert stream.bodies == file.bodies
        (time, event, [title]), *events = stream.events
        assert (time, event) == (0, "Bookmark")
        assert title == file.properties["Title"].replace("|", "/")
        assert events == file.events
        assert stream.properties.items() < file.properties.items()
        assert client.host == b"midrange_puffer"


@pytest.mark.parametrize("game", [{}, HIGH, TEAMS], ids=["plane", "height", "teams"])
def test_a_simulation_is_streamed_from_python(server, game):
    client = Client.join(server)
    sim = Simulation(2, 5, "ace", "ace", **game)
    server.begin(sim, 1)
    server.note()
    places: dict[float, dict[int, list[float]]] = {}

    def look() -> None:
        bodies = {name: values[1] for name, values in sim.fighters.items()}
        axes = [bodies[axis] for axis in ("x", "y", "z") if axis in bodies]
        time = round(float(sim.time[1]) * sim.parameters["physics_dt"], 3)
        places[time] = {
            1 + number: [float(axis[number]) for axis in axes]
            for number in np.flatnonzero(bodies["alive"])
        }

    look()
    while not sim.outcome[1]:
        sim.step(None)
        server.note()
        look()
    server.close()
    stream = client.recording()
    seen = 0
    for time, fighters in places.items():
        for number, (x, y, *z) in fighters.items():
            numbers = stream.bodies[number].numbers[time]
            assert hypot(numbers["U"] - x, numbers["V"] - y) < 0.01
            assert not z or abs(numbers["Altitude"] - z[0]) < 0.06
            seen += 1
    assert seen > 50
    assert {stream.bodies[number].texts["Pilot"] for number in (1, 2)} <= {"red", "blue"}


def test_nothing_is_left_to_the_end(server):
    """After each step, the client has everything up to the step before."""
    with connect(server) as client:
        client.sendall(PROTOCOLS + b"me\n0\0")
        serve_until(server, lambda: server.clients)
        text, times = b"", []
        for sim in fly(FIGHTS["plane"](), server):
            times.append(round(float(sim.time[0]) * sim.parameters["physics_dt"], 3))
            expected = times[-1] if sim.outcome[0] else [0.0, *times][-2]
            while f"\n#{expected}\n".encode() not in text:
                text += client.recv(65536)


def test_a_late_client_sees_the_present_objects(server):
    replay = FIGHTS["teams"]()
    early = Client.join(server)
    late, joined, dead = None, 0.0, 0
    for sim in fly(replay, server):
        alive = sim.fighters["alive"][0]
        if late is None and not alive.all() and sim.missiles["active"][0].any():
            late, dead = Client.join(server), int(np.flatnonzero(~alive)[0])
            joined = float(sim.time[0]) * sim.parameters["physics_dt"]
    server.close()
    assert late is not None
    whole, rest = early.recording(), late.recording()
    start = rest.times[0]
    assert joined - 1 < start < joined
    there = {
        number: body
        for number, body in whole.bodies.items()
        if body.removed is None or body.removed > start
    }
    assert max(there) >= FIRST_MISSILE
    for number, body in there.items():
        after = {time: values for time, values in body.numbers.items() if time >= start}
        assert rest.bodies[number].numbers == after
        assert rest.bodies[number].removed == body.removed
        for name, text in body.texts.items():
            if name != "LockedTarget":
                assert rest.bodies[number].texts[name] == text
    assert whole.bodies[1 + dead].removed <= joined
    assert rest.bodies[1 + dead].removed is not None
    later = [event for event in whole.events if event[0] > start]
    assert rest.events[1:] == later


def test_a_client_may_be_there_before_any_fight(server):
    client = Client.join(server)
    server.note()
    server.close()
    assert client.recording() == acmi_reader.read(client.data())
    assert client.recording().bodies == {}


def test_a_new_fight_takes_the_place_of_the_one_before(server):
    client = Client.join(server)
    first, second = record(("ace", "evader"), 1)[0], record(("ace", "crank"), 2)[0]
    for replay in (first, second):
        finish(replay, server)
    server.close()
    stream = client.recording()
    ends = first.duration, first.duration + second.duration
    assert stream.times[-1] == pytest.approx(ends[1])
    ids = sorted(stream.bodies)
    news = [number for number in ids if number > FIRST_MISSILE + 0x1000]
    for number in ids:
        body = stream.bodies[number]
        if number not in news:
            assert body.removed < ends[0] + 1e-6
        else:
            assert min(body.numbers) > ends[0] - 1e-6
    pilots = [stream.bodies[number].texts["Pilot"] for number in (1, 2, news[0], news[1])]
    assert pilots == ["ace", "evader", "ace", "crank"]
    alone = acmi_reader.read(format_acmi(second, second.paths()).encode())
    moved = [list(stream.bodies[number].numbers.values()) for number in news]
    assert moved == [list(alone.bodies[number].numbers.values()) for number in sorted(alone.bodies)]


def test_a_fight_flown_back_goes_on_with_new_objects(server):
    client = Client.join(server)
    session = Session(("human", "shooter"), seed=1)
    session.stream(server)
    for _ in range(40):
        session.advance(0.1)
    session.rewind(20)
    session.rewind(20)
    back = session.paths.time
    for _ in range(10):
        session.advance(0.1)
    server.close()
    stream = client.recording()
    old, new = (stream.bodies[number] for number in (1, 0x10001))
    assert old.removed is not None
    assert min(new.numbers) == pytest.approx(old.removed)
    path = session.paths.fighters[0]
    flown = [number for number, time in enumerate(path.times) if time > back]
    places = [(values["U"], values["V"]) for values in new.numbers.values()]
    expected = [(path.x[number], path.y[number]) for number in flown]
    assert places == [pytest.approx(place, abs=0.01) for place in expected[-len(places) - 1 : -1]]


def test_a_simulation_that_was_restored_goes_on_with_new_objects(server):
    client = Client.join(server)
    sim = Simulation(1, 5, "ace", "ace")
    server.begin(sim)
    snapshot = sim.snapshot()
    for _ in range(2):
        for _ in range(20):
            sim.step(None)
            server.note()
        sim.restore(snapshot)
        server.note()
    server.close()
    stream = client.recording()
    first, second = (
        [(values["U"], values["V"]) for values in stream.bodies[number].numbers.values()]
        for number in (1, 0x10001)
    )
    assert len(first) == 20
    assert second == first[1:]


def test_a_paused_session_lets_clients_in(server):
    session = Session(("human", "shooter"), seed=1)
    session.stream(server)
    session.paused = True
    client = Client(server.address)
    while not server.clients:
        session.advance(0.1)
    server.close()
    assert len(client.recording().bodies) == 2


# Clients that are not as they should be

SILENT, RUBBISH, ENDLESS, CLOSED, RESET, TALKER = range(6)


def misbehave(server: Telemetry, kind: int) -> socket.socket:
    """Returns a connection that is not used as it should be."""
    client = connect(server)
    if kind == RUBBISH:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n\0")
    elif kind == ENDLESS:
        client.sendall(PROTOCOLS + b"x" * 5000)
    elif kind == CLOSED:
        client.close()
    elif kind == RESET:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    elif kind == TALKER:
        client.sendall(PROTOCOLS + b"me\n0\0" + b"\xff\0" * 5000)
    return client


@pytest.mark.parametrize("kind", [SILENT, RUBBISH, ENDLESS, CLOSED, RESET, TALKER])
def test_a_client_that_misbehaves_disturbs_nobody(server, kind):
    replay, good = FIGHTS["plane"](), Client.join(server)
    with contextlib.ExitStack() as connections:
        for number, _ in enumerate(fly(replay, server)):
            if number % 10 == 0:
                connections.enter_context(misbehave(server, kind))
        assert server.clients >= 1
        server.close()
    file = acmi_reader.read(format_acmi(replay, replay.paths()).encode())
    assert good.recording().bodies == file.bodies


def test_rubbish_is_refused(server):
    for kind in (RUBBISH, ENDLESS):
        with misbehave(server, kind) as client:
            serve_until(server, lambda: server._clients)
            serve_until(server, lambda: not server._clients)
            received = b""
            with contextlib.suppress(ConnectionResetError):  # if not all was read
                while data := client.recv(100):
                    received += data
            assert b"FileType" not in received


def test_a_client_that_does_not_read_is_dropped(server, monkeypatch):
    monkeypatch.setattr(telemetry, "MOST_PENDING", 100_000)
    good, sim, fights = Client.join(server), Simulation(1, 0, "ace", "ace", **sized(8, 8)), 0
    with connect(server) as bad:
        bad.sendall(PROTOCOLS + b"me\n0\0")
        serve_until(server, lambda: server.clients == 2)
        while server.clients == 2:
            for _ in range(10):  # about 5 kB each, which the good client reads before the next
                server.begin(sim)
            fights += 10
            serve_until(server, lambda: not server._clients[0].pending)
            assert fights < 20_000
    assert server.clients == 1
    server.close()
    assert len(good.recording().bodies) == 16 * fights


def test_there_are_few_clients_and_silent_ones_make_room(server):
    silent = [connect(server) for _ in range(telemetry.MOST_CLIENTS)]
    server.note()
    clients = [Client.join(server) for _ in range(telemetry.MOST_CLIENTS)]
    with connect(server) as late:
        server.note()
        assert late.recv(100) == b""
    assert server.clients == telemetry.MOST_CLIENTS
    server.close()
    for client in clients:
        client.recording()
    for client in silent:
        client.close()


# Passwords and addresses


def test_checksums_of_passwords():
    assert telemetry.crc64(b"123456789") == 0x62EC59E3F1A4F00A  # of the catalogue of CRCs
    assert telemetry.crc64(b"") == 0


def test_a_password_is_needed_where_there_is_one():
    data = "Möwe".encode("utf-16-le")
    with Telemetry(0, password="Möwe") as server:
        for right in (f"{telemetry.crc64(data):x}", f"{zlib.crc32(data):x}"):
            Client.join(server, right)
        wrong = [Client(server.address, text) for text in ("0", "", "Möwe", "1234", "-1")]
        for client in wrong:
            serve_until(server, lambda client=client: not client._thread.is_alive())
            assert client.data() == b""
        assert server.clients == 2


def test_other_machines_are_let_in_only_if_asked_for(server):
    assert server.address[0] == "127.0.0.1"
    with Telemetry(0, "0.0.0.0") as open_to_all:
        assert open_to_all.address[0] == "0.0.0.0"


def test_wrong_addresses_are_named(server):
    _, port = server.address
    with pytest.raises(UsageError, match=f"port {port} of 127.0.0.1: Address already in use"):
        Telemetry(port)
    with pytest.raises(UsageError, match=r"port 65536: must be from 0 to 65535"):
        Telemetry(65536)
    with pytest.raises(UsageError, match=r"host 'localhost': must be an IP address"):
        Telemetry(0, "localhost")
    with pytest.raises(UsageError, match=r"port 0 of 192.0.2.1: "):  # of documentation
        Telemetry(0, "192.0.2.1")


# Commands


def test_puffer_replay_streams_to_whoever_connects():
    words = [sys.executable, "-m", "midrange_puffer", "replay", "midrange", "example"]
    words += ["--tacview", "0", "--speed", "100"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("Tacview: 127.0.0.1:"):
                port = int(line.split()[1].split(":")[1])
            if line == "waiting for a client\n":
                break
        client = Client(("127.0.0.1", port))
        stream = client.recording()
    assert process.returncode == 0
    replay = Replay.read(EXAMPLE)
    paths = replay.paths()
    assert stream.bodies == acmi_reader.read(format_acmi(replay, paths).encode()).bodies
    assert HIT in {missile.fate for missile in paths.missiles}


def test_puffer_play_streams_its_fights(monkeypatch, capsys):
    pytest.importorskip("pygame")
    joined = []

    def fly_a_second(session: Session, folder: object) -> None:
        port = int(capsys.readouterr().out.split()[1].split(":")[1])
        joined.append(Client(("127.0.0.1", port)))
        while len(joined[0]._data) < 10_000:
            session.advance(0.1)

    monkeypatch.setattr(play, "_play", fly_a_second)
    words = ["--red", "ace", "--blue", "crank", "--tacview", "0"]
    assert cli.run("play", words) == 0
    assert joined[0].recording().bodies[1].texts["Pilot"] == "ace"


def test_puffer_eval_streams_what_it_renders(monkeypatch):
    pytest.importorskip("pygame")
    from midrange_puffer.show.view import watch

    streamed = []
    monkeypatch.setattr(watch, "watch", lambda *given, **_: streamed.append(given[-1]))
    words = ["--load-model-path", "trained", "--opponent", "ace", "--render", "--tacview", "0"]
    assert cli.run("eval", words) == 0
    assert isinstance(streamed[0], Telemetry)


@pytest.mark.parametrize(
    ("mode", "words", "message"),
    [
        ("replay", ["example", "--tacview", "65536"], "65536: must be an integer from 0 to 65535"),
        ("replay", ["--tacview", "example"], "example: must be an integer from 0 to 65535"),
        ("replay", ["example", "--tacview-host", "::1"], "no effect without --tacview"),
        ("replay", ["example", "--tacview-password", "x"], "no effect without --tacview"),
        ("replay", ["example", "--tacview", "--verify"], "--verify: streams nothing"),
        ("replay", ["example", "example", "--tacview"], "--tacview: takes one replay, not 2"),
        ("replay", ["example", "--tacview", "0", "--tacview-host", "here"], "must be an IP addres"),
        ("eval", ["--tacview"], "--tacview: has no effect without --render"),
    ],
)
def test_options_that_do_not_fit_are_named(mode, words, message):
    with pytest.raises(UsageError, match=message):
        cli.run(mode, words)

"""The command line: what it prints, where it passes on, and how it fails."""

import dataclasses
import importlib
import os
import pty
import re
import signal
import subprocess
import sys
import types
import typing

import pytest
from places import ROOT

import midrange_puffer
from midrange_puffer.commands import cli, option, progress
from midrange_puffer.config.schema import schema
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import OPTIONS, PARAMETERS
from midrange_puffer.game.types import BASED_ON, CATEGORIES, FIELDS


def command(folder, *words: str, code: str | None = None) -> subprocess.CompletedProcess:
    words = ["-m", *words] if code is None else ["-c", code]
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def call(monkeypatch, capsys):
    """Run `puffer` with some words in this process: (exit status, stdout, stderr)."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["puffer", *words])
        status = cli.main()
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.mark.parametrize(("words", "status"), [((), 2), (("--help",), 0), (("-h",), 0)])
def test_usage_names_every_mode(call, words, status):
    got, out, _ = call(*words)
    assert got == status
    for name, mode in cli.MODES.items():
        assert f"puffer {name} midrange" in out
        assert mode.meaning in out


@pytest.mark.parametrize("mode", ["train", "sweep"])
def test_help_lists_every_key_with_default_unit_and_range(call, mode):
    status, out, _ = call(mode, "midrange", "--help")
    assert status == 0
    assert f"usage: puffer {mode} midrange" in out
    assert "--resume STR" in out
    listed = {}
    for line in out.splitlines():
        if line.startswith("  --"):
            option, _, default = line.strip().partition(" ")
            listed[option] = default.strip()
    for name, item in {**OPTIONS, **PARAMETERS}.items():
        default = "auto" if name.startswith("start_spacing_") else str(item.default)
        assert listed[f"--env.{name.replace('_', '-')}"] == default
    for section in ("vec", "policy", "rnn", "train", "sweep"):
        for name in schema()[section]:
            assert f"--{section}.{name}".replace("_", "-") in listed
    for kind in CATEGORIES:
        for name in (BASED_ON, *FIELDS[kind]):
            assert f"--{kind}.<name>.{name}".replace("_", "-") in listed
    assert listed["--wandb"] == "False"
    assert listed["--sweep.<section>.<key>.distribution"] == "None"
    text = " ".join(out.split())
    assert "physics step (s) [a number from 0.001 to 0.5]" in text
    assert "discount of each decision [a number from 0.0 to 1.0]" in text
    assert "how long the boost lasts (s) [a number from 0.0 to 120.0]" in text


@pytest.mark.parametrize("mode", cli.MODES)
def test_defaults_of_options_have_the_types_of_their_fields(mode):
    options = importlib.import_module(f"midrange_puffer.commands.{mode}").Options
    kinds = typing.get_type_hints(options)
    parser = option.Parser(mode, "", options)
    for item in dataclasses.fields(options):
        key = parser.keys.get(f"--{item.name}".replace("_", "-"))
        if key is not None and item.default is not dataclasses.MISSING:
            assert isinstance(item.default, typing.get_args(kinds[item.name]) or kinds[item.name])
            assert key.kind in (typing.get_args(kinds[item.name]) or [kinds[item.name]])


# Options of modes that fly no engagement of their own.
OF_NO_ENGAGEMENT = {
    "average": ("[FILE …]", "--run STR", "--last INT", "--out STR"),
    "envelope": ("--env.missile-thrust FLOAT", "--json STR"),
    "export": ("--load-model-path STR", "--onnx STR"),
    "runs": ("--last INT", "--train.data-dir STR", "--json STR"),
    "replay": ("[FILE …]", "--verify", "--acmi STR", "--speed FLOAT"),
}


@pytest.mark.parametrize(
    "mode", sorted(cli.MODES.keys() - {"train", "sweep", "profile", "autotune"})
)
def test_help_of_a_mode_names_its_options(call, mode):
    status, text, _ = call(mode, "midrange", "--help")
    assert status == 0
    assert f"usage: puffer {mode} midrange" in text
    usual = ("--seed INT", "--train.data-dir STR", "--help-env")
    for line in OF_NO_ENGAGEMENT.get(mode, usual):
        assert line in text
    if mode not in OF_NO_ENGAGEMENT:
        assert "--env." not in text.replace("--env.NAME", "").split("options:")[1]
        status, parameters, _ = call(mode, "midrange", "--help-env")
        assert status == 0
        assert "--env.time-limit FLOAT" in parameters


@pytest.mark.parametrize(
    ("mode", "option"),
    [("eval", "--json"), ("exploit", "--json"), ("league", "--json"), ("league", "--out"),
     ("plot", "--out")],
)  # fmt: skip
def test_a_folder_for_the_results_is_missed_before_there_are_any(mode, option, tmp_path):
    """Before a model is looked for, too."""
    (tmp_path / "a.png").mkdir()
    words = ["--train.data-dir", str(tmp_path / "none")]
    for path, message in ((tmp_path / "no" / "r.png", "there is no folder"),
                          (tmp_path / "a.png", "is a folder")):  # fmt: skip
        with pytest.raises(UsageError, match=f"{option}: {path}: {message}"):
            cli.run(mode, [*words, option, str(path)])


@pytest.mark.parametrize("words", [("trian", "midrange"), ("trian",), ("trian", "--x", "1")])
def test_an_unknown_mode_is_named_with_the_nearest(call, words):
    status, out, err = call(*words)
    assert status == 2
    assert out == ""
    assert "trian: no such mode" in err
    assert "did you mean 'train'" in err


def test_a_wrong_key_ends_in_one_line_and_status_2(tmp_path):
    done = command(tmp_path, "midrange_puffer", "train", "midrange", "--train.gama", "1")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "puffer: error: command line: --train.gama: no such key; did you mean --train.gamma?"
    ]


# As Ctrl-C at the moment when this module is looked for.
INTERRUPT = """
import runpy, os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # which whoever runs the tests may ignore
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["puffer", "train", "midrange"]
runpy.run_module("midrange_puffer", run_name="__main__")
"""


@pytest.mark.parametrize("name", ["midrange_puffer.commands.cli", "pufferlib.sweep"])
def test_an_interrupt_while_it_begins_ends_it_without_a_word(tmp_path, name):
    """Its own output is allowed: a line that names what it waits for."""
    done = command(tmp_path, code=INTERRUPT.format(name=name))
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "")
    assert done.stderr == ("puffer: loading PyTorch …\n" if name == "pufferlib.sweep" else "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN, signal.default_int_handler])
def test_a_mode_has_the_usual_interrupts_unless_they_are_ignored(monkeypatch, before):
    """A script that runs in the background ignores them."""
    seen = []
    mode = types.SimpleNamespace(
        read=lambda argv: None, main=lambda options: seen.append(signal.getsignal(signal.SIGINT))
    )
    monkeypatch.setattr(cli.importlib, "import_module", lambda name: mode)
    kept = signal.signal(signal.SIGINT, before)
    try:
        cli.run("train", [])
    finally:
        signal.signal(signal.SIGINT, kept)
    usual = signal.SIG_IGN if before is signal.SIG_IGN else signal.default_int_handler
    assert seen == [usual]


@pytest.mark.parametrize(("name", "told"), [("a\n.pt", r"a\n.pt"), (987, "987"), (b"a", "b'a'")])
def test_an_error_of_the_system_names_its_file(call, monkeypatch, name, told):
    def fail(*_):
        raise OSError(9, "Bad file descriptor", name)

    monkeypatch.setattr(cli, "run", fail)
    assert call("eval") == (1, "", f"puffer: error: {told}: Bad file descriptor\n")


def test_a_width_of_nothing_is_no_width(call, monkeypatch):
    seen = []
    monkeypatch.setattr(cli, "run", lambda mode, argv: seen.append(os.environ.get("COLUMNS")) or 0)
    for columns in ("0", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        call("eval")
    assert seen == [None, "120"]


TOO_LONG = "a/" + "x" * 5000


@pytest.mark.parametrize(
    "words",
    [
        ("train", "--config", TOO_LONG),
        ("train", "--resume", TOO_LONG),
        ("train", "--resume", "latest", "--train.data-dir", TOO_LONG),
        ("train", "--load-model-path", TOO_LONG),
        ("train", "--env.opponent=pool", "--pool.include", TOO_LONG),
        ("train", "--train.data-dir", TOO_LONG),
        ("eval", "--load-model-path", TOO_LONG),
        ("eval", "--opponent", f"{TOO_LONG}.pt", "--json", TOO_LONG),
        ("league", "--run", TOO_LONG),
        ("league", "--out", f"{TOO_LONG}.png"),
        ("envelope", "--out", TOO_LONG),
        ("replay", f"{TOO_LONG}.mrr"),
        ("replay", "x", "--html", f"{TOO_LONG}.html"),
        ("export", "--onnx", f"{TOO_LONG}.onnx"),
        ("profile", "--out", TOO_LONG),
        ("play", "--save", TOO_LONG),
        ("sweep", "--resume", TOO_LONG),
        ("sweep", "--report", TOO_LONG),
        ("exploit", "--load-model-path", TOO_LONG),
    ],
)
def test_a_path_that_is_too_long_is_told_in_a_line(call, monkeypatch, tmp_path, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    status, _, err = call(words[0], "midrange", *words[1:])
    assert status in (1, 2)
    assert err.startswith("puffer: error: ")
    assert err.endswith(": File name too long\n")
    assert len(err) < 400
    assert len(err.splitlines()) == 1


def test_the_name_of_the_environment_may_be_left_out(call):
    assert call("train", "--help") == call("train", "midrange", "--help")


@pytest.mark.slow
def test_other_environments_are_pufferlibs(tmp_path):
    done = command(tmp_path, "midrange_puffer", "train", "puffer_breakout", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: pufferl.py")
    assert "--env.frameskip" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "midrage"), "midrage: no such environment.*; did you mean 'midrange'?"),
        (("eval", "puffer_brekout"), "did you mean 'puffer_breakout'?"),
        (("replay", "fight.replay"), "ours is midrange: puffer replay midrange …"),
        (("midrange",), "midrange: is the environment and no mode; write puffer <mode> midrange"),
        (("midrange", "train"), "write puffer train midrange …; the modes are train, sweep,"),
    ],
)
def test_a_misplaced_or_mistyped_environment_is_told(call, words, said):
    status, out, err = call(*words)
    assert (status, out) == (2, "")
    assert re.search(said, err)
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("puffer_breakout", "installed without its compiled games; build it from its source"),
        ("cartpole", "its environment needs lost_module, which is not installed here"),
    ],
)
def test_an_environment_that_pufferlib_cannot_import_is_told(call, monkeypatch, name, said):
    def fail(module):
        raise ImportError(name="lost_module")

    monkeypatch.setattr(cli.importlib, "import_module", fail)
    status, out, err = call("train", name)
    assert (status, out) == (2, "")
    assert err.startswith(f"puffer: error: {name}: ")
    assert said in err
    assert len(err.splitlines()) == 1


def test_the_version_is_that_of_the_package(call):
    assert call("--version") == (0, f"midrange_puffer {midrange_puffer.__version__}\n", "")
    done = subprocess.run(
        [sys.executable, "setup.py", "--version"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == midrange_puffer.__version__


def test_the_package_lists_what_it_has():
    names = dir(midrange_puffer)
    assert {"Midrange", "Simulation", "__version__"} <= {*midrange_puffer.__all__} <= {*names}
    for name in midrange_puffer.__all__:
        assert getattr(midrange_puffer, name) is not None


def test_other_environments_get_every_word(monkeypatch):
    passed_on = []
    monkeypatch.setattr(sys, "argv", ["puffer", "eval", "breakout", "--train.gamma", "0.5"])
    monkeypatch.setattr(os, "execve", lambda program, words, variables: passed_on.append(words))
    monkeypatch.setattr(cli, "run", lambda mode, argv: 0)
    monkeypatch.setattr(cli, "_check_others", lambda name, package: None)
    cli.main()
    assert passed_on[0][1:] == [
        "-m", "pufferlib.pufferl", "eval", "breakout", "--train.gamma", "0.5"
    ]  # fmt: skip


@pytest.mark.slow
def test_imports_print_nothing_and_change_nothing(tmp_path):
    """PufferLib, torch, gym and pynvml print warnings when others import them."""
    done = command(tmp_path, code=IMPORT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


IMPORT = """
import importlib, pkgutil, signal, sys, warnings
import midrange_puffer
before = signal.getsignal(signal.SIGINT), sys.excepthook, list(warnings.filters)
import midrange_puffer.show.view.viewer, midrange_puffer.gym  # before PufferLib silences them
import midrange_puffer.train.trainer
after = signal.getsignal(signal.SIGINT), sys.excepthook, list(warnings.filters)
assert after[:2] == before[:2], after
errors = [entry for entry in after[2] if entry not in before[2] and entry[0] == "error"]
assert not errors, errors
for module in pkgutil.walk_packages(midrange_puffer.__path__, "midrange_puffer."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
assert {"torch", "pufferlib", "gymnasium", "pygame", "ray", "rich"} <= set(sys.modules)
"""


def test_a_log_gets_a_line_now_and_then(capsys, monkeypatch):
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress.progress_bar("missile\x1b envelope", 200) as advance:
        for seconds, count in ((0, 0), (1, 20), (3.9, 20), (0.1, 10), (4, 50), (60, 100)):
            now += seconds
            advance(count)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        r"missile\x1b envelope: 25%",
        r"missile\x1b envelope: 100%",
    ]


def test_a_short_wait_leaves_the_log_as_it_was(capsys):
    with progress.progress_bar("evader", 10) as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")


AWAIT = """
import sys
from midrange_puffer.commands import cli
cli.importlib.import_module = lambda name: sys.modules[__name__]
read = main = lambda words: 0
sys.exit(cli.run(sys.argv[1], []))
"""


def test_a_long_wait_is_shown_and_goes_away_on_a_terminal():
    word = "puffer: loading PyTorch …"
    for mode, told in (("eval", word), ("envelope", "")):
        command = [sys.executable, "-c", AWAIT, mode]
        piped = subprocess.run(command, capture_output=True, text=True, check=True)
        assert (piped.stdout, piped.stderr) == ("", f"{told}\n" if told else "")
        leader, follower = pty.openpty()
        subprocess.run(command, stderr=follower, check=True)
        os.close(follower)
        shown = os.read(leader, 1000).decode() if told else ""
        os.close(leader)
        assert shown == (f"{told}\r{' ' * len(told)}\r" if told else "")

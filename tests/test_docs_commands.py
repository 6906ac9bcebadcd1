"""Every command line of README and docs/ is run as it stands there.

They run in a folder with what a reader has by then: a run, a sweep, models and replays. Words that
make them shorter are appended; SHORTER says which. What is not run is in NOT_RUN, with the reason.
"""

import re
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sweeps
from near_exploiters import near_exploiters
from needs import nightly
from places import ROOT

from midrange_puffer.commands import cli
from midrange_puffer.contest.panel import Row, frozen_folder, rows_of
from midrange_puffer.game.games import GAMES
from midrange_puffer.policies.models import EXAMPLE, champion_name, path_of, shipped_models
from midrange_puffer.sweep import report

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN, SWEEP = "20260101-120000-abcd", "20260101-130000-abcd"  # in place of <run> and <sweep>
MODEL = "model_000001.pt"

# What begins a command -> words that are appended. The first that fits is taken. The last of two
# options with one name counts.
STEPS = 16384  # decisions
FEW = f"--env.num-envs 128 --train.total-timesteps {STEPS}"
# Not rated, and out of the way: the latest run is one against one in the plane, and rated.
SMALL_UPDATE = (
    f"{FEW} --train.run-name {{name}} --league.interval 0 --train.replay-interval 0 "
    "--train.data-dir small"
)
OF_TEAMS = f"{SMALL_UPDATE} --train.total-timesteps 32768 --train.data-dir teams"
HIGH = f"{SMALL_UPDATE} --train.data-dir high"
SHORTER = {
    "puffer train midrange --resume": "--train.total-timesteps {more}",
    "puffer train midrange --config configs/team_curriculum": (
        f"{OF_TEAMS} --curriculum.twos.env.num-envs 128"
    ),
    "puffer train midrange --config configs/team": OF_TEAMS,
    "puffer train midrange --config configs/champion_": (
        f"{SMALL_UPDATE} --env.num-envs 256 --train.total-timesteps 32768 --train.data-dir others"
    ),
    "puffer train midrange --config configs/commander4.ini --train.seed 1 --env.agents fighter": (
        f"{SMALL_UPDATE} --env.num-envs 64"
    ),
    "puffer train midrange --config configs/height": HIGH,
    "puffer train midrange --config configs/escort": f"{HIGH} --train.total-timesteps 32768",
    "puffer train midrange --env.mission line": f"{SMALL_UPDATE} --train.data-dir missions",
    "puffer train midrange --config configs/generalist": HIGH,
    "puffer train midrange --config configs/champion": (
        f"{SMALL_UPDATE} --env.num-envs 256 --train.total-timesteps 32768"
    ),
    "puffer train midrange --config configs/curriculum": (
        f"{SMALL_UPDATE} --train.total-timesteps 65536"
    ),
    "puffer train midrange --config": SMALL_UPDATE,
    "puffer replay midrange example --html fight.html --acmi": "--speed 60",
    "puffer autotune": "--updates 1 --rounds 1 --env.num-envs 128",
    "puffer profile": "--updates 1 --out profile --env.num-envs 128 --league.interval 0",
    "puffer record": "--episodes 2",
    "puffer sweep midrange --resume": "--sweep.trials 1",
    "puffer sweep midrange --config": (
        "--sweep.trials 1 --sweep.workers 1 --sweep.panel-episodes 2 --sweep.readings 1 "
        f"{FEW} --sweep.name {{name}}"
    ),
    "puffer eval": "--episodes 2",
    "puffer league": "--games 2",
    "puffer panel midrange trained --exploit": "--episodes 64 --budget 65536 --quick",
    "puffer panel": "--episodes 64",
    "puffer exploit": "--quick --budget 16384 --episodes 2 --env.num-envs 128",
}
# What is in a command -> why it is not run here.
NOT_RUN = {
    "tools/mission_matrix": "minutes; its games are flown in tests/core/test_missions.py",
    "--tacview": "open until a client has come: tests/replays/test_telemetry.py",
    "--render": "a window, open until it is closed: tests/show/test_play_window.py",
    "--pictures": "a model of a game with sensors: tests/show/test_picture_plot.py",
    "--blue notcher": "a model of a game with sensors: tests/replays/test_dataset.py",
    "<replay>": (
        "a fight of another game: tests/show/test_page_sensors.py, test_view_sensors.py, "
        "test_page_height.py, test_view_height.py, test_height_plot.py, "
        "tests/replays/test_acmi_height.py"
    ),
    "--env.subordinates": "a model of agents = subordinate: tests/policies/test_subordinates.py",
    "--env.types": "a model of a game with height: tests/train/test_height_training.py",
    "puffer play": "a window, open until it is closed: tests/show/test_play_window.py",
    "puffer serve": "open until clients have flown: tests/commands/test_serve_command.py",
    "--ranks": "tests/train/test_ranks.py",
    "cluster.ini": "Ray: tests/train/test_cluster.py",
    "--sweep.engine ray": "Ray: tests/sweep/test_ray.py",
    "ray ": "several machines",
    "torchrun ": "several machines",
    "export RAY_": "of a shell, for the commands of Ray",
    "pip install": "the network",
    "midrange_puffer.install": "the network",
    "clone.pt": "a model of examples/clone_champion.py: tests/replays/test_dataset.py",
    'eval "$(register': "of a shell: tests/commands/test_completion.py",
    "--population": "a run with exploiters: tests/train/test_population.py",
    "plot midrange --exploit": "trainings with a curve: tests/commands/test_plot.py",
    "ship_champion.py": "it replaces the champion",
    "puffer envelope": "half a minute: tests/commands/test_envelope_command.py",
    "examples/": (
        "tests/envs/test_clients.py, test_own_reward.py, tests/policies/test_own_policy.py, "
        "tests/train/test_library.py, test_own_opponents.py, tests/commands/test_serve_command.py"
    ),
    "eval midrange --load-model-path experiments/<run>/model_….pt": "stands for any model",
}
FIRST_WORDS = r"(?:puffer|python|make|taskset|torchrun|ray|pip|export|eval|midrange)"


def commands() -> list[str]:
    """Returns all command lines, each once, without comments."""
    text = "\n".join(page.read_text() for page in PAGES)
    text = re.sub(r"\\\n {4}", "", text)  # a command may take several lines
    blocks = "\n".join(re.findall(r"^```(?:bash|sh|console)\n(.*?)^```$", text, re.M | re.S))
    lines = re.findall(rf"^ {{4}}({FIRST_WORDS} .*)$", text, re.M)
    lines += re.findall(rf"^({FIRST_WORDS} .*)$", blocks, re.M)
    return list(dict.fromkeys(re.split(r"\s+#", line)[0].rstrip() for line in lines))


def is_run(command: str) -> bool:
    missing = {champion_name(game) for game in GAMES} - {*shipped_models()}
    return not any(part in command for part in [*NOT_RUN, *missing])


def sampled(commands: list[str]) -> Iterator[object]:
    """Yields the commands as cases; `make test` runs those with something not seen before.

    That is a mode, or one of its options or configurations. Exports import PyTorch's compiler, for
    seconds; `make test` runs tests/commands/test_export.py.
    """
    seen = set()
    for command in commands:
        _, mode, *words = shlex.split(command)
        options = {(mode, word) for word in words if word.startswith("--") or ".ini" in word}
        options.add((mode, ""))
        yield nightly(command) if options <= seen or mode == "export" else command
        seen |= options


ALL = commands()
PUFFER = [command for command in ALL if command.startswith("puffer ") and is_run(command)]
# The latest run may be one that the resume before went on with: each goes on for one update more.
RESUMED = [command for command in PUFFER if command.startswith("puffer train midrange --resume")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working directory with the files that the pages speak of."""
    folder = tmp_path_factory.mktemp("docs")
    run = folder / "experiments" / RUN
    sweep = folder / "experiments" / "sweeps" / SWEEP
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = f"--config configs/default.ini {FEW} --train.checkpoint-interval 1 --league.games 2"
        assert cli.run("train", [*words.split(), "--train.run-name", RUN]) == 0
        trained = path_of("trained")
        for name in ("a.pt", "b.pt", "average.pt"):
            shutil.copyfile(trained, name)
        nash = "trained trained:selfplay --pilots none --games 2 --nash nash.json"
        assert cli.run("league", nash.split()) == 0
        # Steps of other runs, of which the pages tell.
        for path in re.findall(r"model_\d{6}\.pt", "\n".join(ALL)):
            if not (run / path).exists():
                shutil.copyfile(run / MODEL, run / path)
        shutil.copyfile(frozen_folder("default") / "default_1.onnx", "fighter.onnx")
        Path("replays").mkdir()
        for name in ("fight.replay", "replays/fight.replay"):
            shutil.copyfile(EXAMPLE, name)
        sweeps.fake_trials(patch, "finish")
        patch.setattr(report, "render", lambda *_: "")
        words = "--config configs/sweep.ini --sweep.trials 1 --sweep.workers 1 --sweep.readings 1"
        words += f" --sweep.panel-episodes 2 {FEW} --sweep.name {SWEEP}"
        assert cli.run("sweep", words.split()) == 0
        assert sweep.is_dir()
    return folder


def few_rows(seed: int, game: str) -> list[Row]:
    """Returns the first row of each group of a panel."""
    rows = rows_of(seed, game)
    return list({row.group: row for row in reversed(rows)}.values())


@pytest.mark.slow
@pytest.mark.parametrize("command", [*sampled(PUFFER)])
def test_it_runs(folder, command, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    sweeps.fake_trials(monkeypatch, "finish")  # tests/sweep/test_trial.py trains
    if "--report" not in command:
        monkeypatch.setattr(report, "render", lambda *_: "")
    # A row of each group; all rows are met in tests/commands/test_panel.py.
    monkeypatch.setattr("midrange_puffer.commands.panel.rows_of", few_rows)
    name = f"run-{PUFFER.index(command)}"
    more = STEPS * (2 + (RESUMED.index(command) if command in RESUMED else 0))  # decisions
    shorter = next((words for start, words in SHORTER.items() if command.startswith(start)), "")
    if "--help" in command:
        shorter = ""
    text = re.sub("(?<!experiments/)<run>", f"experiments/{RUN}", command)
    text = text.replace("<run>", RUN).replace("<sweep>", SWEEP)
    _, mode, environment, *words = shlex.split(f"{text} {shorter.format(name=name, more=more)}")
    assert environment == cli.ENV_NAME
    words = [path for word in words for path in expanded(folder, word)]
    try:
        with near_exploiters():
            status = cli.run(mode, words)
    except SystemExit as exit:  # of --help
        status = exit.code
    assert status == 0
    assert capsys.readouterr().out


def expanded(folder, word: str) -> list[str]:
    """Returns a word as a shell expands it."""
    if "*" not in word:
        return [word]
    return sorted(str(path.relative_to(folder)) for path in folder.glob(word))


@pytest.mark.slow
def test_benchmarks_take_their_options(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    programs = [command for command in ALL if "benchmarks/" in command and is_run(command)]
    assert programs
    helps = {}
    for command in programs:
        words = shlex.split(command)
        program, *words = words[words.index("python") + 1 :]
        if program not in helps:
            monkeypatch.setattr(sys, "argv", [program, *words, "--help"])
            with pytest.raises(SystemExit):
                runpy.run_path(str(ROOT / program), run_name="__main__")
            helps[program] = capsys.readouterr().out
        for option in re.findall(r"--[\w-]+", command):
            assert option in helps[program], f"{command}: {option}"


def test_programs_that_sentences_name_are_there():
    text = "\n".join(page.read_text() for page in [*PAGES, ROOT / "CONTRIBUTING.md"])
    named = set(re.findall(r"python ((?:benchmarks|examples|tools)/\w+\.py)", text))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


def test_targets_of_make_are_there():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    text = "\n".join(page.read_text() for page in PAGES)
    named = set(re.findall(r"(?:`|^ {4})make ([a-z-]+)\b", text, re.M))
    assert {"train", "test"} <= named <= set(targets)


def test_exceptions_from_running_are_commands_of_the_docs():
    unused = [part for part in NOT_RUN if not any(part in command for command in ALL)]
    assert unused == []
    known = ("puffer ", "python benchmarks", "taskset -c 0 python benchmarks", "make ")
    strange = [c for c in ALL if is_run(c) and not c.startswith(known)]
    assert strange in ([], ["make"])

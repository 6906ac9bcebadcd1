"""The results of a sweep: a page that needs nothing else, and the best configuration."""

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import runs
from sweeps import TRIALS, make_trial, record_of

from midrange_puffer.commands import cli
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, Record
from midrange_puffer.sweep.report import format_best, write_report

VOID = {"meta"}  # elements of HTML without an end


class Page(HTMLParser):
    """The tags, attributes and texts of a page, each tag closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], set(), [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    options = ["--train.total-timesteps=1024"]  # of an update: it is trained with
    return record_of(tmp_path_factory.mktemp("sweep"), *TRIALS, options=options)


@pytest.fixture(scope="module")
def page(record):
    return write_report(record).read_text()


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ([], "panel_score: mean of the panel"),
        (["--sweep.metric=worst_score"], "worst_score: least of the panel"),
        (
            ["--sweep.metric=time_to_score", "--sweep.metric-score=0.6"],
            "time_to_score: mean, up to 0.6",
        ),
    ],
)
def test_the_axes_say_what_is_sought(options, label, tmp_path):
    options = ["--train.total-timesteps=1024", *options]
    page = write_report(record_of(tmp_path, *TRIALS, options=options)).read_text()
    assert page.count(f"<!-- {label} -->") == 2  # matplotlib draws letters as paths


def test_the_page_needs_nothing_else(page):
    parsed = Page(page)
    assert not parsed.tags & {"script", "link", "img", "iframe", "object", "embed"}
    targets = [
        value
        for name, value in parsed.attributes
        if name in ("src", "href", "xlink:href", "srcset", "data")
    ]
    targets += re.findall(r"url\(([^)]*)\)", page)
    assert targets
    assert all(target.startswith("#") for target in targets)
    assert "@import" not in page


def test_the_figures_are_whole_and_take_the_pages_colours(page):
    figures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(figures) == 4
    for figure in figures:
        assert len(list(ElementTree.fromstring(figure).iter())) > 50
        assert "var(--ink)" in figure
        used = set(re.findall(r"#[0-9a-f]{6}(?=[;\"])", figure))
        assert not used & {"#000000", "#ffffff"}  # one of them is unseen on either ground
    for name in ("--ink", "--paper"):
        assert len(re.findall(rf"{name}: #", page)) == 2  # light and dark


def test_every_mark_says_which_trial_it_is(page):
    cost = re.search(r"<svg.*?</svg>", page, re.DOTALL)[0]
    told = re.findall(r"<title>(trial[^<]*)</title>", cost)
    # The stopped one would have taken 1000 / 250 times as long.
    assert sorted(told) == [
        "trial 0, finished: 0.500 at 10 s",
        "trial 1, failed: 0.875 at 5 s",
        "trial 2, finished: 0.750 at 15 s",
        "trial 3, stopped: 0.812 at 20 s",
    ]


def test_the_page_says_what_was_found(page):
    text = " ".join(" ".join(Page(page).words).split())
    for words in (
        "5 of 6 trials are over: 2 finished, 1 stopped early, 2 failed, 1 running",
        "trial 2: score 0.750",
        "swept/best.ini",
        "flatters itself",
        "killed by <SIGKILL> & gone",
        "ended with status 1",
        "straight 0.760 0.510",
        "weave 0.740 0.490",
        "train.learning_rate 0.001 to 0.02 0.004 0.002",
        "method Random",
        "panel straight,weave",
        "panel_seed 2147483648",
    ):
        assert words in text.replace("  ", " ")


def test_best_ini_is_the_sweeps_configuration_with_the_best_parameters(record, page):
    best = load_config(record.folder / "best.ini")
    expected = load_config(
        record.folder / "sweep.ini",
        ["--train.learning-rate", "0.004", "--env.reward-geometry", "0.1"],
    )
    ours = [section for section in expected if not section.startswith("sweep")]
    assert {section: best[section] for section in ours} == {
        section: expected[section] for section in ours
    }
    assert best["sweep"] == load_config()["sweep"]
    assert best.keys() == {*ours, "sweep"}
    text = (record.folder / "best.ini").read_text()
    assert max(map(len, text.splitlines())) <= 110
    # The defaults of PufferLib and ours are left out: [train] has what runs.SMALL sets, and more.
    assert set(re.findall(r"^(\w+) =", text.partition("[train]")[2], re.MULTILINE)) == {
        "device", "total_timesteps", "bptt_horizon", "minibatch_size", "learning_rate",
        "replay_interval",
    }  # fmt: skip


def test_best_ini_trains_as_it_is(record, page, tmp_path):
    words = ["--config", str(record.folder / "best.ini"), "--train.data-dir", str(tmp_path)]
    assert cli.run("train", [*words, "--train.run-name", "run"]) == 0
    config = load_config(tmp_path / "run" / "config.ini")
    assert config["train"]["learning_rate"] == 0.004
    assert config["env"]["reward_geometry"] == 0.1


def test_names_are_text_in_the_page_and_in_best_ini(tmp_path):
    """The sweep's folder, and who stood on the panel, may be called anything."""
    record = record_of(tmp_path, *TRIALS)
    last = record.trials[2].readings[-1]
    record.trials[2].readings[-1] = replace(last, scores={"a\n[train]\ngamma = 0\n": 0.75})
    record.save(record.trials[2])
    name = "<b>\n[train]\rgamma = 0\n\x1b[2J\udcff"
    record = Record(record.folder.rename(tmp_path / name))
    text = write_report(record).read_text()
    assert "<h1>Sweep &lt;b&gt;\\n[train]\\rgamma = 0\\n\\x1b[2J\\udcff</h1>" in text
    assert load_config(record.folder / "best.ini")["train"]["gamma"] == 0.995
    assert "[train]\\rgamma" in (record.folder / "best.ini").read_text()


def test_best_ini_keeps_a_curriculum(tmp_path):
    stages = "[curriculum]\nstages = near, far\n[curriculum.near]\nmax_steps = 2048\n"
    stages += "env.opponent = weave\n[curriculum.far]\n"
    record = record_of(tmp_path, *TRIALS[:1], base=runs.SMALL + stages)
    path = tmp_path / "best.ini"
    path.write_text(format_best(record, TRIALS[0]))
    best = load_config(path)
    assert best["curriculum.near"] == {"score": None, "max_steps": 2048, "env.opponent": "weave"}
    assert best["curriculum.far"] == {"score": None, "max_steps": None}


@pytest.mark.parametrize(
    "trials", [(), (make_trial(0, FAILED, reason="no memory"),), (make_trial(0, RUNNING),)]
)
def test_without_a_finished_trial_there_is_a_page_but_no_best_ini(trials, tmp_path):
    record = record_of(tmp_path, *trials)
    before = {path: path.read_bytes() for path in record.folder.rglob("*") if path.is_file()}
    page = write_report(record)
    assert "No trial has finished" in page.read_text()
    after = {path: path.read_bytes() for path in record.folder.rglob("*") if path.is_file()}
    assert after.pop(page)
    assert after == before


@pytest.mark.parametrize(
    ("count", "caption"),
    [
        (1, "From 8 trials on, a line shows the trend."),
        (12, "Were these 12 trials drawn independently, 19 of 20 parameters without any effect "
             "would stay within ±0.59;"),
    ],
)  # fmt: skip
def test_trials_that_do_not_differ_are_drawn(count, caption, tmp_path):
    params = TRIALS[0].params
    alike = [make_trial(n, FINISHED, (1000, 0.5), params=params) for n in range(count)]
    page = write_report(record_of(tmp_path, *alike)).read_text()
    assert caption in " ".join(Page(page).words)


def test_without_matplotlib_the_best_configuration_is_there_all_the_same(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    record = record_of(tmp_path, *TRIALS)
    with pytest.raises(UsageError, match=r"pip install 'midrange_puffer\[plots\]'"):
        write_report(record)
    assert load_config(record.folder / "best.ini")["train"]["learning_rate"] == 0.004
    assert not (record.folder / "report.html").exists()

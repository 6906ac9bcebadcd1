"""README and the pages of docs/: their links, options and snippets are right as they stand."""

import json
import re
import subprocess
import sys

import exports
import pytest
from places import EXAMPLES, ROOT

from midrange_puffer.config.schema import section_keys
from midrange_puffer.policies.own_code import Own

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def anchors(text: str) -> set[str]:
    """Returns the anchors of a page: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def snippets(page) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


@EACH_PAGE
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text())
    assert links
    for path, anchor in links:
        target = (page.parent / path) if path else page
        assert target.is_file(), path
        if anchor:
            assert anchor in anchors(target.read_text()), f"{path}#{anchor}"


def test_the_readme_leads_to_every_page():
    readme = PAGES[0].read_text()
    for page in PAGES[1:]:
        assert f"(docs/{page.name})" in readme


def test_pages_name_only_options_that_there_are():
    text = "\n".join(page.read_text() for page in PAGES)
    options = re.findall(r"--((?:curriculum|aircraft|missile)\.\w+|[\w-]+)\.(\w[\w.-]*)", text)
    assert len(options) > 10
    own = Own(env_class=f"{EXAMPLES / 'standoff.py'}:Standoff")  # the pages' example of a reward
    for section, key in options:
        assert key.replace("-", "_") in section_keys(section.replace("-", "_"), own)


def test_pages_name_only_configurations_that_there_are():
    names = {name for page in PAGES for name in re.findall(r"configs/\w+\.ini", page.read_text())}
    assert names
    for name in names:
        assert (ROOT / name).is_file(), name


# Runs programs that share no names in one process, which imports the libraries once. Protein fits
# its Gaussian processes in few steps.
RUN = """
import functools, json, sys
from pyro.contrib.gp import util
util.train = functools.partial(util.train, num_steps=10)
for name, program in json.load(sys.stdin):
    exec(compile(program, name, "exec"), {"__name__": "__main__"})
"""
# Trainings of the snippets -> the shortest ones, a rollout of all their environments.
SHORTER = {
    "learn(120_000": "learn(1",
    '"train.total_timesteps": 400_000': '"train.total_timesteps": 16_384',
}


@pytest.mark.slow
def test_snippets_run(tmp_path):
    """They run in a folder with a run, a model and an exported model."""
    folder = tmp_path / "experiments" / "run"
    folder.mkdir(parents=True)
    made = exports.make(tmp_path)
    made.model.rename(folder / "model_000001.pt")
    made.exported.rename(tmp_path / "fighter.onnx")
    programs = [
        (f"{page.name}, snippet {number}", program)
        for page in PAGES
        for number, program in enumerate(snippets(page), 1)
    ]
    text = json.dumps(programs)
    for long, short in SHORTER.items():
        text = text.replace(json.dumps(long)[1:-1], json.dumps(short)[1:-1])
    assert not re.search(r"\.learn\(\d\d|total_timesteps\W+\d\d\d", text)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN],
        input=text,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr

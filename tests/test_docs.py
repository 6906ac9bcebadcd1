"""README and the pages of docs/: their links, options and snippets are right as they stand."""

import json
import re
import subprocess
import sys

import pytest
from places import EXAMPLES, ROOT

from midrange_puffer.config.schema import section_keys
from midrange_puffer.policies.own_code import Own

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def anchors(text: str) -> set[str]:
    """What a link into a page may name: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def snippets(page) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


# Run programs that know nothing of each other in one process, which imports what they need once.
RUN = """
import json, sys
for number, snippet in enumerate(json.load(sys.stdin), 1):
    exec(compile(snippet, f"snippet {number}", "exec"), {"__name__": "__main__"})
"""


def run(programs: list[str], folder) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN],
        input=json.dumps(programs),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


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
    options = re.findall(r"--(curriculum\.\w+|[\w-]+)\.(\w[\w.-]*)", text)
    assert len(options) > 10
    own = Own(env_class=f"{EXAMPLES / 'standoff.py'}:Standoff")  # the pages' example of a reward
    for section, key in options:
        assert key.replace("-", "_") in section_keys(section.replace("-", "_"), own)


def test_pages_name_only_configurations_that_there_are():
    names = {name for page in PAGES for name in re.findall(r"configs/\w+\.ini", page.read_text())}
    assert names
    for name in names:
        assert (ROOT / name).is_file(), name


# Pages with snippets that take files: test_snippets_with_a_model_run.
WITH_A_MODEL = [ROOT / "docs" / "evaluation.md", ROOT / "docs" / "export.md"]
WITHOUT = [page for page in PAGES if snippets(page) and page not in WITH_A_MODEL]
# What a snippet learns for -> the shortest there is, one rollout of all its environments.
LONG, SHORT = "learn(120_000", "learn(1"


@pytest.mark.slow
@pytest.mark.parametrize("page", WITHOUT, ids=lambda page: page.name)
def test_snippets_run(page, tmp_path):
    programs = snippets(page)
    assert all(".learn(" not in program or LONG in program for program in programs)
    run([program.replace(LONG, SHORT) for program in programs], tmp_path)


@pytest.mark.slow
def test_snippets_with_a_model_run(tmp_path):
    import exports

    folder = tmp_path / "experiments" / "run"
    folder.mkdir(parents=True)
    made = exports.make(tmp_path)
    made.model.rename(folder / "model_000001.pt")
    made.exported.rename(tmp_path / "fighter.onnx")
    run([program for page in WITH_A_MODEL for program in snippets(page)], tmp_path)

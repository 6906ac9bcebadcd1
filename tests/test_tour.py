"""The notebook of examples/ runs from its first cell to its last, and shows what it promises."""

import pytest
from places import EXAMPLES, ROOT

pytestmark = [
    pytest.mark.slow,
    # Jupyter's own, of where it keeps its files and of sockets that it leaves to the collector.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


def test_the_tour_runs(monkeypatch, tmp_path):
    import nbformat  # both take a second
    from nbclient import NotebookClient

    monkeypatch.setenv("TOUR_STEPS", "65536")
    monkeypatch.setenv("TOUR_GAMES", "2")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    book = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells)  # it is kept without
    NotebookClient(book, timeout=120, kernel_name="python3").execute(cwd=str(tmp_path))
    shown = [output for cell in book.cells for output in cell.get("outputs", ())]
    kinds = [kind for output in shown for kind in output.get("data", {})]
    texts = "".join(output.get("text", "") for output in shown)
    assert kinds.count("image/png") == 2  # the curves, the fight
    assert any("data:video/mp4" in output.get("data", {}).get("text/html", "") for output in shown)
    assert "decisions in" in texts
    assert texts.count("(") >= 9  # an interval for each pilot
    assert list(tmp_path.glob("*/fight.mp4"))

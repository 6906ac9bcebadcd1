"""Names from outside are shown as text, whatever they hold, and lead nowhere else."""

import io
import sys

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from midrange_puffer.commands import cli
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.errors import UsageError
from midrange_puffer.names import LONGEST, inside, label, shown


@given(st.text(st.characters(codec=None)))
def test_a_shown_name_is_one_printable_line(name):
    text = shown(name)
    assert text.isprintable()
    text.encode()
    if name.isprintable():
        assert text == name


def test_unprintable_characters_are_escaped():
    """The end of a colour, a new line, a change of direction, and a byte that is no UTF-8."""
    assert shown("a\x1b[0m\n\u202eb\udcff") == r"a\x1b[0m\n\u202eb\udcff"
    assert len(shown("x" * 10**6)) == LONGEST + 1


@pytest.mark.parametrize("name", [r"$\frac$", "a$b$", r"\$x", "$", "a\nb", "50 $ & <$1>", r"$$\$"])
def test_matplotlib_draws_a_name_as_it_is(name):
    figure = Figure()
    figure.text(0, 0, label(name))
    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(file, format="svg")
    text = shown(name).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f">{text}</text>" in file.getvalue()


def test_an_error_steers_no_terminal(monkeypatch, capsys):
    def fail(*_):
        raise UsageError("a\x1b]0;title\x07\n.pt: no such file", "b.pt: nor that")

    monkeypatch.setattr(cli, "run", fail)
    monkeypatch.setattr(sys, "argv", ["puffer", "eval", "midrange"])
    assert cli.main() == 2
    message = "puffer: error: a\\x1b]0;title\\x07\\n.pt: no such file\nb.pt: nor that\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("name", ["[/b]", "[red]a", ":snake:"])
def test_a_progress_bar_is_called_what_it_is_called(name, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar(name, 1) as advance:
        advance(1)
    assert name in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.pt", "pool/a b-1.pt", "..a", "[/b]", "new/folder/a"])
def test_a_path_inside_is_that_of_the_file(tmp_path, name):
    assert inside(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "/a", "../a", "a/../../b", "a/..", "a//b", "a/", "a\0b", "a\\b",
     "link/a", "link", "circle/a"],
)  # fmt: skip
def test_a_path_that_leads_out_is_refused(tmp_path, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "circle").symlink_to("circle")
    with pytest.raises(ValueError, match=r"within the folder|no name of more than"):
        inside(folder, name)


def test_a_name_that_no_file_system_takes_is_said_to_be_too_long(tmp_path):
    with pytest.raises(ValueError, match="must have no name of more than 255 bytes"):
        inside(tmp_path, "a/" + "é" * 128)


def test_a_folder_may_be_reached_by_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert inside(tmp_path / "link", "a") == tmp_path / "link" / "a"

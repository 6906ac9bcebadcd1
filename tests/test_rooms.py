"""The rooms of the package: imports point one way, and every file has its place."""

import importlib.util

import pytest
from places import ROOT

spec = importlib.util.spec_from_file_location("rooms", ROOT / "tools" / "rooms.py")
rooms = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rooms)

# What `render` draws with, Gymnasium's registry, and the processes of a trial and an exploiter.
BY_NAME = {"envs.arena", "envs.gym", "sweep.workers", "train.exploiters"}


@pytest.fixture(scope="module")
def graph():
    return rooms.imports()


def test_the_map_sees_imports(graph):
    """At the top of a file, within a function, of a module and of what it defines."""
    assert "game.parameters" in graph["game.simulation"]
    assert "envs.midrange" in graph["__init__"]
    assert "policies.exported" in graph["policies.loading"]
    assert "train.ranks" in graph["commands.train"]
    assert "_core" in graph["game.simulation"]


def test_every_module_is_in_a_room(graph):
    assert {name.partition(".")[0] for name in graph} <= rooms.LEVELS.keys()


def test_a_room_imports_only_from_those_above_it(graph):
    assert rooms.upward(graph) == []


def test_no_modules_import_each_other(graph):
    assert rooms.cycles(graph) == []


def test_a_wrong_way_and_a_circle_are_found():
    wrong = {"game.a": {"train.b"}, "train.b": {"train.c"}, "train.c": {"train.b"}, "game.d": set()}
    assert rooms.upward(wrong) == [("game.a", "train.b")]
    assert rooms.cycles(wrong) == [{"train.b", "train.c"}]


def test_modules_named_in_strings_are_few():
    """They are imports that the map does not see."""
    assert rooms.named_in_strings() == BY_NAME

"""JSON files have the expected content, or the error names what is wrong."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Annotated, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midrange_puffer.json_files import LARGEST, Count, JsonError, Share, Within, checked, read_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


class Point(NamedTuple):
    x: float
    name: str = "here"


@dataclass
class Thing:
    number: Count
    share: Share
    kind: Literal["a", "b"]
    points: Annotated[list[Point], Within(0, 2)]
    values: dict[str, int | float]
    is_old: bool = False
    seconds: Share | None = None


GOOD = {
    "number": 3,
    "share": 1,
    "kind": "b",
    "points": [{"x": 1.5}, {"x": 2, "name": "there"}],
    "values": {"a": 1, "b": 0.5},
    "seconds": None,
}


def test_a_file_becomes_what_it_tells_of(tmp_path):
    path = tmp_path / "thing.json"
    path.write_text(json.dumps(GOOD))
    points = [Point(1.5), Point(2, "there")]
    assert read_json(path, Thing) == Thing(3, 1, "b", points, {"a": 1, "b": 0.5})


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"number": -1}, "number = -1: must be an integer from 0 to"),
        ({"number": 2.0}, r"number = 2.0: must be an integer from 0"),
        ({"number": True}, "number = True: must be an integer"),
        ({"number": 2**53 + 1}, "must be an integer from 0 to 9007199254740992"),
        ({"share": 1.001}, r"share = 1.001: must be a number from 0 to 1$"),
        ({"share": "0.5"}, "share = '0.5': must be a number"),
        ({"kind": "c"}, "kind = 'c': must be one of a, b"),
        ({"kind": ["a"]}, r"kind = \['a'\]: must be one of a, b"),
        ({"points": {}}, "points = {}: must be a list"),
        ({"points": [{"x": 1}] * 3}, "points = .*: must be a list from 0 to 2"),
        ({"points": [{"x": 1}, {}]}, r"points\[1\].x: is missing"),
        ({"points": [{"x": None}]}, r"points\[0\].x = None: must be a number"),
        ({"points": [[1, "a"]]}, r"points\[0\] = \[1, 'a'\]: must be an object"),
        ({"points": [{"x": 1, "y": 1}]}, r"points\[0\].y: no such entry; there are x, name"),
        ({"values": {"a": "b"}}, r"values.a = 'b': must be an integer or a number"),
        ({"is_old": 0}, "is_old = 0: must be true or false"),
        ({"seconds": 2}, "seconds = 2: must be a number from 0 to 1 or null"),
        ({"share": 10**400}, "share = 1000.*: must be a number"),
    ],
)
def test_a_wrong_entry_is_named_with_what_it_must_be(tmp_path, entries, message):
    path = tmp_path / "thing.json"
    path.write_text(json.dumps(GOOD | entries))
    with pytest.raises(JsonError, match=f"thing.json: damaged: .*{message}"):
        read_json(path, Thing)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged: not JSON: Expecting value"),
        (b"{", "damaged: not JSON"),
        (b"null", "damaged: its content = None: must be an object"),
        (b'{"number": "\xff"}', "damaged: not JSON: no text in UTF-8"),
        (b'{"share": NaN}', "damaged: not JSON: NaN is no number of JSON"),
        (b'{"share": 1e999}', "damaged: share = inf: must be a number"),
        (b"[" * 100_000, "damaged: nested too deeply"),
        (b'{"number": ' + b"9" * 5000 + b"}", "damaged: not JSON"),
        (b" " * (LARGEST + 1), f"has {LARGEST + 1} bytes, more than {LARGEST}"),
    ],
)
def test_text_that_is_no_json_is_refused(tmp_path, content, message):
    path = tmp_path / "thing.json"
    path.write_bytes(content)
    with pytest.raises(JsonError, match=f"thing.json: {message}"):
        read_json(path, Thing)


def test_an_unreadable_file_is_reported(tmp_path):
    with pytest.raises(JsonError, match=r"thing.json: No such file or directory"):
        read_json(tmp_path / "thing.json", Thing)
    with pytest.raises(JsonError, match="Is a directory"):
        read_json(tmp_path, Thing)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([*GOOD, "is_old", "other"]), JSON, max_size=3))
def test_any_text_is_taken_or_refused(entries):
    """What is taken is within its bounds, and tells the same when it is written again."""
    content = GOOD | entries
    try:
        thing = checked(content, Thing)
    except ValueError:
        return
    assert thing.number >= 0
    assert 0 <= thing.share <= 1
    assert all(math.isfinite(value) for value in thing.values.values())
    again = {**asdict(thing), "points": [point._asdict() for point in thing.points]}
    assert checked(json.loads(json.dumps(again)), Thing) == thing

"""What a model file tells besides its policy: its score in training, and the user's own metadata.

The user's own are text by name from the command line, and from Python whatever JSON can say.
"""

import json
import re
from dataclasses import dataclass

from midrange_puffer.json_files import Count, Share

EXPECTED = "a dict of JSON values by name: text, numbers, True, False, None, lists and dicts"


@dataclass(frozen=True)
class PanelScore:
    """How a checkpoint fared against the panel: every scripted pilot.

    Attributes:
        score: the mean of the scores against the pilots (win 1, draw 0.5).
        worst_score, worst_pilot: the least of these scores, and against whom it was.
        games: engagements with each pilot.
    """

    score: Share
    worst_score: Share
    worst_pilot: str
    games: Count


def parse_metadata(text: str | None) -> dict[str, str]:
    """Read `author=me,idea=stay far`.

    Raises:
        ValueError: It is something else; the message says what is wrong with which part.
    """
    pairs: dict[str, str] = {}
    for part in text.split(",") if text else ():
        name, equals, value = (word.strip() for word in part.partition("="))
        if not (equals and re.fullmatch(r"\w[\w.-]*", name)):
            raise ValueError(
                f"{part.strip()!r}: must be name=text, separated by commas; a name is of letters, "
                "digits, '.', '_' and '-'"
            )
        if name in pairs:
            raise ValueError(f"{name!r} is given twice")
        pairs[name] = value
    return pairs


def checked_metadata(value: object) -> dict[str, object]:
    """What JSON makes of metadata: a copy, with lists for tuples.

    Raises:
        ValueError: JSON cannot say it.
    """
    try:
        copy = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"metadata: {error}: must be {EXPECTED}") from None
    if not isinstance(copy, dict) or copy.keys() != value.keys():  # as where a name was a number
        raise ValueError(f"metadata = {value!r:.100}: must be {EXPECTED}")
    return copy

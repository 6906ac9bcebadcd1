"""Which finished engagements may be told of, so that short ones do not count for more."""

import numpy as np

from midrange_puffer import _core

RAW = np.dtype((np.void, _core.RECORD.itemsize))  # numpy copies a record at a time, not its fields


class Ledger:
    """Keeps finished engagements until all that began by then must have finished, too.

    Of engagements that begin together the short ones finish first. A mean over those that have
    finished would show how well a policy fares in short engagements: where a run starts, where it
    is resumed, where a stage of a curriculum begins. So an engagement is told of as soon as it
    would be over even at its time limit, whenever it finished. At any time those that were told of
    are all that began until some moment, each once: their mean is right from the first one on.

    Args:
        num_envs: engagements side by side. In each place the next begins where one ends.
        longest: of an engagement [decisions].
    """

    def __init__(self, num_envs: int, longest: int) -> None:
        self._num_envs, self._longest = num_envs, longest
        self.clear()

    def clear(self) -> None:
        """Forget everything: in all places engagements begin now, at step 0."""
        self._begins = np.zeros(self._num_envs, np.int64)  # of the engagement that goes on there
        self._kept: list[np.ndarray] = []  # begins, records, other columns; nothing at first

    def tell(
        self, step: int, records: np.ndarray, *columns: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Take what has finished since the last call; return what may be told of now.

        Args:
            step: decisions since the engagements began.
            records: of `_core.RECORD`; those of a place in their order.
            columns: what else is to be known of them, [records, ...] each; always as many.

        Returns:
            Records, and the other columns of these.
        """
        told = [self._take_begins(records), records.view(RAW), *columns]
        if self._kept:
            told = [np.concatenate(both) for both in zip(self._kept, told, strict=True)]
        is_due = told[0] + self._longest <= step
        self._kept = [values[~is_due] for values in told]
        _, records, *columns = (values[is_due] for values in told)
        return records.view(_core.RECORD), columns

    def _take_begins(self, records: np.ndarray) -> np.ndarray:
        """The steps at which these engagements began, [records]."""
        order = np.argsort(records["env"], kind="stable")
        places, lengths = records["env"][order], records["decisions"][order]
        before = np.cumsum(lengths) - lengths
        _, firsts, counts = np.unique(places, return_index=True, return_counts=True)
        begins = np.empty(len(records), np.int64)
        begins[order] = self._begins[places] + before - np.repeat(before[firsts], counts)
        np.add.at(self._begins, places, lengths)
        return begins

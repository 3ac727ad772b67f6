"""Names of version 0.1: they work until 0.3, with a warning to whoever uses them."""

from __future__ import annotations

import numpy as np
import pytest

from sayahead import AudioChunk, WordTiming

WORD = WordTiming("fox", 4, 7, 100, 200)
CHUNK = AudioChunk(np.zeros(300, np.float32), 50, 8000, (WORD,))


@pytest.mark.parametrize(
    ("record", "old", "new"),
    [
        (WORD, "onset", "onset_samples"),
        (WORD, "offset", "offset_samples"),
        (CHUNK, "start", "start_samples"),
    ],
)
def test_times_in_samples_have_their_old_names(
    record: WordTiming | AudioChunk, old: str, new: str
) -> None:
    with pytest.warns(DeprecationWarning, match=f"{old} is {new} now") as caught:
        assert getattr(record, old) == getattr(record, new)
    assert [warning.filename for warning in caught] == [__file__]

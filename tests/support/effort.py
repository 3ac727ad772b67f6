"""How much the tests try: a part by default, all of it where SAYAHEAD_TESTS is "full", as in
.ci/run-all."""

import os

FULL = os.environ.get("SAYAHEAD_TESTS") == "full"


def examples(count: int) -> int:
    """How many examples to try of the ``count`` that a full run tries: a tenth by default."""
    return count if FULL else -(-count // 10)

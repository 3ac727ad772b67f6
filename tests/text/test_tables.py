"""A table of texts is one test, which names each row that fails."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support.tables import EACH, FailedRowsError, Table


def read(text: str) -> None:
    assert text != "b", "it is b"


def table(collector: pytest.Collector, texts: str) -> Table:
    rows = [
        SimpleNamespace(
            name=f"read[{text}]", obj=read, callspec=SimpleNamespace(params={"text": text})
        )
        for text in texts
    ]
    made: Table = Table.from_parent(collector, name="read", rows=rows)
    return made


def test_rows_that_fail_are_named(request: pytest.FixtureRequest) -> None:
    table(request.node.parent, "ac").runtest()
    with pytest.raises(FailedRowsError, match=r"2 of 4 rows:\n\nread\[b\]: Asser.* it is b"):
        table(request.node.parent, "abcb").runtest()


@pytest.mark.parametrize("text", ["a", "c"])
def test_a_row(text: str) -> None:
    read(text)


@pytest.mark.skipif(EACH, reason="SAYAHEAD_ROWS=each")
def test_rows_are_one_test(request: pytest.FixtureRequest) -> None:
    here = [item.name for item in request.session.items if item.path == request.node.path]
    own = [name for name in here if name.startswith("test_a_row")]
    assert own in ([], ["test_a_row"])

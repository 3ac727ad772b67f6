"""Tables of texts as tests: one for each function, which lists the rows that fail.

Reading a row takes a millisecond or two, and being a test of its own as long again. With
``SAYAHEAD_ROWS=each`` the rows are tests of their own, to choose one by its name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Generator
from typing import Any

import pytest

EACH = os.environ.get("SAYAHEAD_ROWS") == "each"
SHOWN = 40
"""Rows of a table that are named when they fail; all are counted."""


class FailedRowsError(Exception):
    """Rows of a table failed."""


class Table(pytest.Item):
    """A function with all of its parameters."""

    def __init__(self, *, rows: list[pytest.Function], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._rows = rows
        self.obj = rows[0].obj

    def runtest(self) -> None:
        """Call the function with each row; FailedRowsError names those that fail."""
        failed = []
        for row in self._rows:
            try:
                row.obj(**row.callspec.params)
            except Exception as error:
                failed.append(f"{row.name}: {type(error).__name__}: {error}")
        if failed:
            shown = "\n\n".join(failed[:SHOWN])
            raise FailedRowsError(f"{len(failed)} of {len(self._rows)} rows:\n\n{shown}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The rows, without the lines of this file."""
        if isinstance(excinfo.value, FailedRowsError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> Any:
        """Where the function is, and its name."""
        path, line, _ = self._rows[0].reportinfo()
        return path, line, self.name


def is_row(item: object) -> bool:
    """Whether nothing but parameters is given to a test, and nothing said of it apart."""
    return (
        isinstance(item, pytest.Function)
        and hasattr(item, "callspec")
        and set(item.callspec.params) == set(inspect.signature(item.obj).parameters)
        and all(mark.name == "parametrize" for mark in item.iter_markers())
        and not hasattr(item.obj, "is_hypothesis_test")
    )


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: Any, name: str) -> Generator[None, Any, Any]:
    """One test in place of a function's rows."""
    made = yield
    if EACH or not isinstance(made, list) or len(made) < 2 or not all(map(is_row, made)):
        return made
    return [Table.from_parent(collector, name=name, rows=made)]

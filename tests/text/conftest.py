"""Tables of texts are tests as a whole: there are thousands of rows."""

from support.tables import pytest_pycollect_makeitem

__all__ = ["pytest_pycollect_makeitem"]

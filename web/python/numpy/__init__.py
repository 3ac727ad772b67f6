"""What a session's own decisions want of NumPy, on lists: only in the page, where sound is made in
JavaScript.

A number is a Python float or int; an array has one axis (``ndarray``) or two (``Matrix``). What is
not here is met as ``AttributeError`` where it is called, not where a module is imported."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sounds import Sound


class ndarray:  # noqa: N801
    """Numbers in a row; a slice is a view of them."""

    __slots__ = ("_first", "_items", "_size")

    def __init__(self, items: list[Any], first: int = 0, size: int | None = None) -> None:
        self._items = items
        self._first = first
        self._size = len(items) if size is None else size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(self._items, self._first, self._first + self._size)

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            first, end, _ = at.indices(self._size)
            return ndarray(self._items, self._first + first, max(0, end - first))
        return self._items[self._first + range(self._size)[at]]

    def __setitem__(self, at: int | slice, value: Any) -> None:
        if isinstance(at, slice):
            places = range(*at.indices(self._size))
            values = list(value) if isinstance(value, Iterable) else [value] * len(places)
            if len(values) != len(places):
                raise ValueError(f"{len(values)} values for {len(places)} places")
            for place, one in zip(places, values, strict=True):
                self._items[self._first + place] = one
        else:
            self._items[self._first + range(self._size)[at]] = value

    def _with(self, other: Any, work: Any) -> ndarray:
        others = other if isinstance(other, ndarray) else [other] * self._size
        return ndarray([work(a, b) for a, b in zip(self, others, strict=True)])

    def __add__(self, other: Any) -> ndarray:
        return self._with(other, lambda a, b: a + b)

    def __mul__(self, other: Any) -> ndarray:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> ndarray:
        return self._with(other, lambda a, b: a / b)

    def tolist(self) -> list[Any]:
        """Its numbers."""
        return list(self)


class Matrix:
    """Rows of numbers, equally many in each."""

    __slots__ = ("rows", "shape")
    ndim = 2

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        self.rows = [ndarray(list(row)) for row in rows]
        self.shape = len(rows), len(rows[0]) if rows else 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> ndarray:
        return self.rows[at]

    def __matmul__(self, inputs: ndarray) -> ndarray:
        column = list(inputs)
        return ndarray([sum(map(float.__mul__, row, column)) for row in self.rows])


class _Number:
    """A type of numbers: calls make Python's, and annotations name it."""

    def __init__(self, name: str, make: type) -> None:
        self.name = name
        self._make = make

    def __call__(self, value: Any) -> Any:
        return self._make(value)


float16, float32, float64 = (_Number(name, float) for name in ("float16", "float32", "float64"))
int8, int16, int32, int64, uint8, intp = (
    _Number(name, int) for name in ("int8", "int16", "int32", "int64", "uint8", "intp")
)
bool_ = _Number("bool", bool)
floating = _Number("floating", float)
complex64 = _Number("complex64", complex)
pi = 3.141592653589793


def array(values: Iterable[Any], dtype: Any = None) -> Any:
    """Numbers as an array of one axis or two."""
    made = list(values)
    if made and isinstance(made[0], list | tuple | ndarray):
        return Matrix(made)
    return ndarray([dtype(value) for value in made] if dtype is not None else made)


asarray = array


def full(size: int, value: Any, dtype: Any = float) -> ndarray:
    """(size,) times the same."""
    return ndarray([dtype(value)] * int(size))


def zeros(size: int, dtype: Any = float) -> ndarray:
    """(size,) zeros."""
    return full(size, 0, dtype)


def ones(size: int, dtype: Any = float) -> ndarray:
    """(size,) ones."""
    return full(size, 1, dtype)


def concatenate(parts: Sequence[Any]) -> Any:
    """One after another: numbers, or sound."""
    if any(isinstance(part, Sound) for part in parts):
        return Sound.joined(parts)
    return ndarray([value for part in parts for value in part])


def repeat(values: Iterable[Any], counts: Iterable[int]) -> ndarray:
    """Each value so many times."""
    return ndarray(
        [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
    )


def diff(values: Sequence[Any]) -> ndarray:
    """What each is more than the one before."""
    return ndarray([after - before for before, after in itertools.pairwise(values)])


def maximum(values: ndarray, least: float) -> ndarray:
    """The values, none below ``least``."""
    return ndarray([max(value, least) for value in values])


def fmax(one: float, other: float) -> float:
    """The larger of two; where one is no number, the other."""
    return max((value for value in (one, other) if value == value), default=one)


class _Missing:
    """Stands for what is not here, where a module only names it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> _Missing:
        return _Missing(f"{self._name}.{name}")

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise AttributeError(f"numpy has no {self._name} in the page")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Missing(name)

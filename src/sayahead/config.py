"""Frozen dataclasses from JSON and TOML, strictly: errors name unknown and missing keys with their
paths."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import difflib
import functools
import inspect
import itertools
import math
import numbers
import tomllib
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from sayahead.errors import ConfigError, TextError

T = TypeVar("T")
Spec = str | Mapping[str, Any]
"""A thing by name: ``"learned"``, ``"learned:price=2,words_per_min=120"``, or ``{"name": "learned",
"price": 2}``."""


MAX_SHOWN = 1e6
"""A larger upper bound only keeps a number sane, and is not shown."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The range of a number, in its annotation: ``k: Annotated[int, Bound(0, 16)]``."""

    least: float = 0
    """Lower bound."""
    most: float = math.inf
    """Upper bound."""
    client: float | None = None
    """Upper bound for clients of a server; None: ``most``."""
    unit: str = ""
    """Unit, such as "s" or "semitones"."""

    def __str__(self) -> str:
        """``0 to 2 s``, ``0 and above``."""
        upper = f"to {self.most:g}" if self.most < MAX_SHOWN else "and above"
        return f"{self.least:g} {upper} {self.unit}".rstrip()


def hints_of(maker: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a dataclass's fields, or of the parameters of a function or class,
    with their Bounds."""
    kind: Any = maker
    return (
        hints_of_class(kind)
        if inspect.isclass(maker)
        else typing.get_type_hints(maker, include_extras=True)
    )


@functools.cache
def hints_of_class(kind: type) -> dict[str, Any]:
    """Return ``hints_of`` a class, computed once: it is needed for each object of the class."""
    own = kind if dataclasses.is_dataclass(kind) else vars(kind).get("__init__", kind)
    return typing.get_type_hints(own, include_extras=True)


def check_bound(name: str, value: Any, hint: Any, *, client: bool = False) -> Any:
    """Return a value checked against the Bound in its annotation ``hint``, as an int or a float;
    any value if there is no Bound.

    ``name``: the value's, for errors; ``client``: whether the bound for clients applies.
    ConfigError for a value beyond the bound, or one that is no number."""
    bound = bound_of(hint)
    if bound is None:
        return value
    most = bound.client if client and bound.client is not None else bound.most
    kinds = {hint.__origin__, *typing.get_args(hint.__origin__)}
    if value is None and types.NoneType in kinds:
        return None
    if int in kinds:
        return check_whole(name, value, int(bound.least), None if math.isinf(most) else int(most))
    return check_number(name, value, bound.least, most)


def bound_of(hint: Any) -> Bound | None:
    """Return the Bound in an annotation; None if it has none."""
    return next(
        (note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Bound)), None
    )


def documented(kind: type) -> dict[str, str]:
    """Return the docstrings below a dataclass's own fields, each in one line; none if the source is
    not available."""
    docs = dict[str, str]()
    with contextlib.suppress(OSError):
        tree = ast.parse(Path(inspect.getfile(kind)).read_text(encoding="utf-8"))
        own = next(
            node
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name == kind.__name__
        )
        for field, note in itertools.pairwise(own.body):
            match field, note:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                    docs[name] = " ".join(text.split())
    return docs


def check_bounds(record: Any, where: str = "") -> None:
    """Raise ConfigError if a field of a dataclass is beyond its Bound; ``where`` precedes the
    field's name in the error."""
    for name, hint in hints_of(type(record)).items():
        check_bound(f"{where or f'{type(record).__name__}: '}{name}", getattr(record, name), hint)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. ConfigError if it cannot be read or parsed."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from error


def from_mapping(kind: type[T], data: object, *, where: str) -> T:
    """Make a dataclass ``kind`` of a table of JSON or TOML; ``where`` is the start of the path in
    errors. ConfigError for unknown and missing keys, and for values of another type."""
    if not isinstance(data, Mapping):
        raise ConfigError(f"{where}: expected a table with keys, found {describe(data)}.")
    hints = hints_of(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in data:
        if key not in fields:
            raise ConfigError(
                f"{where}: unknown key {str(key)[:MAX_NAMED]!r}{nearest(str(key), fields)}."
            )
    values = {}
    for name, field in fields.items():
        if name in data:
            values[name] = convert(hints[name], data[name], where=f"{where}: {name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ConfigError(f"{where}: the key {name!r} is missing.")
    return kind(**values)


NUMBERS: dict[Any, type] = {float: numbers.Real, int: numbers.Integral}
"""Values that are accepted for each type of number; NumPy's belong to them."""


def convert(hint: Any, value: object, *, where: str) -> Any:
    """Convert a value of JSON or TOML to the annotated type ``hint``. ConfigError, which names
    ``where``, if that is impossible."""
    if hint is Any:
        return value
    if typing.get_origin(hint) is typing.Annotated:
        return check_bound(where, convert(hint.__origin__, value, where=where), hint)
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return from_mapping(hint, value, where=where)
    if origin in (types.UnionType, typing.Union):
        return convert_to_one(arguments, value, where=where)
    if origin is dict and isinstance(value, Mapping):
        return {
            str(key): convert(arguments[1], item, where=f"{where}.{key}")
            for key, item in value.items()
        }
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(
            convert(arguments[0], item, where=f"{where}[{i}]") for i, item in enumerate(value)
        )
    return convert_plain(hint, value, where=where)


def convert_plain(hint: Any, value: object, *, where: str) -> Any:
    """Do the same for types such as int and str, which contain no others."""
    if hint in NUMBERS and is_instance(value, NUMBERS[hint]):
        with contextlib.suppress(OverflowError):
            return hint(value)
    if isinstance(hint, type) and is_instance(value, hint):
        return value
    raise ConfigError(
        f"{where}: expected {getattr(hint, '__name__', hint)}, found {describe(value)}."
    )


def is_instance(value: object, kind: type) -> bool:
    """Return whether a value is of a type; True and False do not count as numbers."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def convert_to_one(hints: tuple[Any, ...], value: object, *, where: str) -> Any:
    """Convert a value to one of several types; if none fits, the error is that of the first."""
    if value is None and type(None) in hints:
        return None
    first, *others = (kind for kind in hints if kind is not type(None))
    for kind in others:
        with contextlib.suppress(ConfigError):
            return convert(kind, value, where=where)
    return convert(first, value, where=where)


def describe(value: object) -> str:
    """Return the type and the beginning of a value, for errors."""
    return f"{type(value).__name__} {shown(value)}"


def shown(value: object) -> str:
    """Return the beginning of a value's ``repr``."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


MAX_NAMED = 80
"""Characters of a name that an error shows."""
MAX_LISTED = 60
"""More choices than these are not listed: nobody reads them in an error."""


def nearest(word: str, known: typing.Iterable[str]) -> str:
    """Return the end of an error about an unknown word: ``" (did you mean 'x'?)"``, or the choices,
    or nothing if there are too many."""
    # A search for a long word would take long, and clients can send one.
    word = word[:MAX_NAMED]
    choices = sorted(known)
    close = difflib.get_close_matches(word, choices, n=1)
    if close:
        return f" (did you mean {close[0]!r}?)"
    return f" (known: {', '.join(choices)})" if 0 < len(choices) <= MAX_LISTED else ""


def unknown(name: object, known: typing.Iterable[str]) -> str:
    """Return the beginning of an error about a name: ``"'x' is unknown (did you mean 'y'?)"``."""
    shown_name = str(name)[:MAX_NAMED]
    return f"{shown_name!r} is unknown{nearest(shown_name, known)}"


def check_number(name: str, value: object, least: float, most: float) -> float:
    """Return a number, also one of NumPy's, as a float. ConfigError for one beyond the bounds, and
    for other values."""
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        with contextlib.suppress(OverflowError):
            if least <= (number := float(value)) <= most and number < math.inf:
                return number
    bounds = f"of at least {least:g}" if math.isinf(most) else f"from {least:g} to {most:g}"
    raise ConfigError(f"{name} is {shown(value)}, but must be a number {bounds}.")


def check_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number, also one of NumPy's, as an int. ConfigError for one beyond the bounds,
    and for other values."""
    if not isinstance(value, bool) and isinstance(value, numbers.Integral):
        whole = int(value)
        if least <= whole <= (whole if most is None else most):
            return whole
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise ConfigError(f"{name} is {shown(value)}, but must be a whole number {bounds}.")


def sent_as(value: object) -> int | float:
    """Return one of NumPy's numbers as Python's, for JSON. ConfigError for other objects, which
    cannot be sent to a server."""
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    raise ConfigError(
        f"{describe(value)} cannot be sent to a server: give names, numbers and tables of them."
    )


def check_text(call: str, text: object) -> str:
    """Return ``text`` if it is a str. TextError, which names the function ``call``, otherwise."""
    if isinstance(text, str):
        return text
    hint = (
        ": decode bytes as UTF-8 first" if isinstance(text, bytes | bytearray | memoryview) else ""
    )
    raise TextError(f"{call}() takes text, not {type(text).__name__}{hint}.")


def chosen(
    what: str,
    spec: Spec,
    table: Mapping[str, Callable[..., T]],
    given: Mapping[str, Callable[..., T]],
    options: Mapping[str, Any],
    whose: str,
) -> T:
    """Make an object, such as a policy, of its name and options.

    ``what``: the kind of object, for errors. ``table``: makers by name. ``given``: makers that
    belong to a voice, which take precedence; a maker of the table that is ``taught`` is only a
    placeholder for one of them. ``options`` are added to those of ``spec``. ``whose``: whose
    ``given`` is, for errors. ConfigError for an unknown name or option, with the nearest one, and
    for a value of the wrong type."""
    name, described = named(what, spec)
    if name not in given:
        if name not in table:
            raise ConfigError(f"{what} {name!r} is not known{nearest(name, {*table, *given})}.")
        if class_flag(table[name], "taught", default=False):
            raise ConfigError(f"{whose} has no {what} {name!r}: choose another {what}.")
    return call(given.get(name) or table[name], {**described, **options}, where=f"{what} {name!r}")


def class_flag(maker: Callable[..., Any], name: str, *, default: bool) -> bool:
    """Return a boolean attribute of a class, or of a class method's class; ``default`` if it has
    none."""
    return bool(getattr(getattr(maker, "__self__", maker), name, default))


def named(what: str, spec: object) -> tuple[str, dict[str, Any]]:
    """Split a Spec into a name and options. ConfigError, with ``what``, if it is none."""
    if isinstance(spec, str):
        name, _, rest = spec.partition(":")
        options = dict[str, Any]()
        for part in filter(None, rest.split(",")):
            key, equals, value = part.partition("=")
            if not equals:
                raise ConfigError(
                    f"{what} {name!r}: {part!r} is not an option: write"
                    " NAME:OPTION=VALUE,OPTION=VALUE."
                )
            options[key.strip()] = plain(value.strip())
        return name.strip(), options
    if isinstance(spec, Mapping) and isinstance(spec.get("name"), str):
        return spec["name"], {str(key): value for key, value in spec.items() if key != "name"}
    raise ConfigError(
        f"{what} is {describe(spec)}, but must be a name, a table with one, or an object."
    )


def is_spec(thing: object) -> TypeGuard[Spec]:
    """Return whether something is a Spec, and not the object itself."""
    return isinstance(thing, str | Mapping)


def plain(text: str) -> bool | int | float | str:
    """Parse text as true, false, an int or a float; other text is returned as it is."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def call(maker: Callable[..., T], options: Mapping[str, Any], *, where: str) -> T:
    """Call ``maker`` with options, converted to their annotated types. ConfigError, with ``where``,
    if an option is unknown, missing or of another type."""
    parameters = inspect.signature(maker).parameters
    function: Any = maker.func if isinstance(maker, functools.partial) else maker
    hints = hints_of(function)
    for key in options:
        if key not in parameters:
            raise ConfigError(f"{where}: unknown option {key!r}{nearest(key, parameters)}.")
    for name, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in options:
            raise ConfigError(f"{where}: the option {name!r} is missing.")
    return maker(
        **{
            key: convert(hints[key], value, where=f"{where}: {key}")
            for key, value in options.items()
        }
    )

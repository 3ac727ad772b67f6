"""The floor plan: which way imports go, what a file may hold, and that the documents describe the
rooms there are."""

from __future__ import annotations

import ast
import functools
import graphlib
import re
import runpy
import textwrap
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

SOURCE = Path(__file__).parents[1] / "src"
LEVELS = (
    {"errors"},
    {"types"},
    {"extensions"},
    {"config"},
    {"text", "sound"},
    {"engine"},
    {"policies", "contexts"},
    {"voices"},
    {"vocoders"},
    {"systems", "speech"},
    {"voice", "client"},
    {"voices.install", "server", "casting", "research", "books"},
    {"deploy"},
    {"cli"},
)
"""Rooms from the ground up: a room imports itself and rooms of lower levels. ``voices.install`` is
above the rest of ``voices``: what it installs must speak before it is there."""
MAX_MODULES = 10
PARTICIPLES = frozenset("made found said told taken begun given".split())
MAX_PARTICIPLES = 180
"""Variables of the package that are named by one: only ever fewer; 100 is the aim."""
MAX_COMPLEXITY = 15


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    path: Path
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    """All of the tree, in no order."""

    @property
    def room(self) -> str:
        """Its room; that of the package itself is ''."""
        return room(self.name)

    def imports(self) -> Iterator[str]:
        """Every module of the package that it imports anywhere, for types alone included."""
        for node in self.nodes:
            for name in imported(node):
                if name.split(".")[0] == "sayahead" and name != "sayahead.__version__":
                    yield name if name in modules() else name.rpartition(".")[0]


def room(name: str) -> str:
    """The folder or module right under the package, or a folder in it that has a level of its
    own."""
    outer, inner, *_ = [*name.split(".")[1:], "", ""]
    return f"{outer}.{inner}" if any(f"{outer}.{inner}" in rooms for rooms in LEVELS) else outer


def imported(node: ast.AST) -> list[str]:
    """What an import statement names; nothing for other nodes."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


@functools.cache
def modules() -> dict[str, Module]:
    """All modules of the package by name."""
    known = {}
    for path in sorted((SOURCE / "sayahead").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known[name] = Module(name, path, tree, tuple(ast.walk(tree)))
    return known


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (
        node for node in module.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def test_imports_lead_down() -> None:
    floors = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
    rooms = {module.room for module in modules().values()} - {"", "__main__"}
    assert rooms == set(floors)
    upward = [
        f"{module.name} imports {target}"
        for module in modules().values()
        if module.room in floors
        for target in module.imports()
        if room(target) not in ("", module.room) and floors[room(target)] >= floors[module.room]
    ]
    assert not upward, "\n".join(upward)
    # What the package offers to others comes from all levels.
    assert [
        name for name, module in modules().items() if module.room and "sayahead" in module.imports()
    ] == []


def test_the_document_tells_how_imports_run() -> None:
    text = (SOURCE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    chain = " <- ".join(", ".join(sorted(rooms)) for rooms in LEVELS)
    assert chain in " ".join(text.split())


SERVER = ("table of protocols", "operation", "synthesis", "modules", "protocols", "process")
"""Rooms of the server from the ground up; ``modules`` are those beside its folders."""


def test_imports_lead_down_in_the_server() -> None:
    def inner(name: str) -> str:
        if name == "sayahead.server.protocols":
            return "table of protocols"
        part = name.split(".")[2]
        return part if part in SERVER else "modules"

    own = {
        name: module for name, module in modules().items() if name.startswith("sayahead.server.")
    }
    assert {inner(name) for name in own} == set(SERVER)
    upward = [
        f"{name} imports {target}"
        for name, module in own.items()
        for target in module.imports()
        if target in own and SERVER.index(inner(target)) > SERVER.index(inner(name))
    ]
    assert not upward, "\n".join(upward)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        name: {target for target in module.imports() if target != name}
        for name, module in modules().items()
    }
    # The package's own names are imported when they are first asked for.
    graph["sayahead"] = set()
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_nothing_imports_torch_with_itself() -> None:
    def at_import(node: ast.AST) -> Iterator[ast.AST]:
        """The statements that run when a module is imported."""
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not types_only(node):
            for child in ast.iter_child_nodes(node):
                yield from at_import(child)

    def types_only(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        )

    heavy = [
        module.name
        for module in modules().values()
        for node in at_import(module.tree)
        if any(name.split(".")[0] == "torch" for name in imported(node))
    ]
    assert not heavy


def test_the_package_has_few_modules_beside_its_folders() -> None:
    assert len(list((SOURCE / "sayahead").glob("*.py"))) <= MAX_MODULES


def test_one_file_builds_on_the_inner_classes_of_the_servers_libraries() -> None:
    inner = (
        "uvicorn.protocols",
        "httptools",
        "websockets.frames",
        "websockets.protocol",
        "websockets.server",
    )
    users = {
        module.name
        for module in modules().values()
        for node in module.nodes
        if isinstance(node, ast.ImportFrom | ast.Import)
        for name in [getattr(node, "module", "") or "", *(alias.name for alias in node.names)]
        if name.startswith(inner)
    }
    assert users == {"sayahead.server.operation.transport"}
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    needed = {
        Requirement(line).name: Requirement(line)
        for line in project["optional-dependencies"]["server"]
    }
    for name in ("uvicorn", "websockets", "httptools"):
        assert any(one.operator == "<" for one in needed[name].specifier), name
        assert version(name) in needed[name].specifier


def complexity(function: ast.AST) -> int:
    """One, and one for each branch of the function itself: functions and classes inside it count by
    themselves."""
    return 1 + sum(branches(node) for node in own_nodes(function))


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from own_nodes(child)


def branches(node: ast.AST) -> int:
    """How many ways through the code a node adds to the one that there is without it."""
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    forks = (
        ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.match_case
    )
    return int(isinstance(node, forks))


def complexities(tree: ast.AST, name: str) -> Iterator[tuple[str, int]]:
    """All functions of a tree by their full names, with their complexity."""
    for child in ast.iter_child_nodes(tree):
        inner = name
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{name}.{child.name}"
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inner, complexity(child)
        yield from complexities(child, inner)


def complex_functions(trees: Iterable[tuple[str, ast.AST]]) -> dict[str, int]:
    """The functions above MAX_COMPLEXITY, of modules by name."""
    return {
        function: count
        for name, tree in trees
        for function, count in complexities(tree, name)
        if count > MAX_COMPLEXITY
    }


def test_complexity_counts_every_branch() -> None:
    source = """
        def outer(a, b):
            if a and b or not a:
                return 1 if b else 2
            elif b:
                for x in [y for y in a if y if b]:
                    while x:
                        pass
            try:
                match a:
                    case 1: pass
                    case _: pass
            except OSError:
                pass
            def inner():
                if a:
                    pass
    """
    assert dict(complexities(ast.parse(textwrap.dedent(source)), "m")) == {
        "m.outer": 14,
        "m.outer.inner": 2,
    }


def test_functions_are_simple() -> None:
    found = complex_functions((module.name, module.tree) for module in modules().values())
    assert not found, f"simpler, please: {found}"


def test_functions_of_the_laboratory_are_simple() -> None:
    folders = (SOURCE.parent / "lab" / "src", SOURCE.parent / "lab" / "benchmarks")
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    found = complex_functions((str(path), ast.parse(path.read_text("utf-8"))) for path in paths)
    assert paths
    assert not found, f"simpler, please: {found}"


def variables(function: ast.AST) -> set[str]:
    """Names that a function itself binds: its parameters and variables, not those of functions
    inside it."""
    names = set[str]()
    inside = list(ast.iter_child_nodes(function))
    while inside:
        node = inside.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.arg):
            names.add(node.arg)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        inside += ast.iter_child_nodes(node)
    return names


def test_variables_are_named_by_what_they_are() -> None:
    """``match`` and ``prefix``, not ``found`` and ``begun``."""
    source = "def f(given, *, one=1):\n  found = [told for told in given]\n  def g(): made = 1"
    tree = ast.parse(source).body[0]
    assert variables(tree) & PARTICIPLES == {"given", "found", "told"}
    named = [
        f"{module.name}.{function.name}: {name}"
        for module in modules().values()
        for function in functions(module)
        for name in variables(function) & PARTICIPLES
    ]
    assert len(named) <= MAX_PARTICIPLES, "\n".join(sorted(named))


def test_everything_is_annotated() -> None:
    assert not [
        f"{module.name}.{function.name}"
        for module in modules().values()
        for function in functions(module)
        if function.returns is None
        or any(argument.annotation is None for argument in arguments(function.args))
    ]


def arguments(given: ast.arguments) -> list[ast.arg]:
    """All that is declared but the object or class itself."""
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [
        argument
        for argument in every
        if argument is not None and argument.arg not in ("self", "cls")
    ]


def test_the_document_names_the_rooms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script: dict[str, Any] = runpy.run_path(str(SOURCE.parent / "docs" / "rooms.py"))
    assert script["main"](["--check"]) == 0
    document = tmp_path / "architecture.md"
    document.write_text(
        "Before.\n<!-- rooms src/sayahead -->\nold\n<!-- /rooms -->\nAfter.\n", encoding="utf-8"
    )
    monkeypatch.setitem(script["main"].__globals__, "DOCUMENT", document)
    assert script["main"](["--check"]) == 1
    assert script["main"]([]) == 0
    rooms = {module.room.partition(".")[0] for module in modules().values()} - {"", "__main__"}
    assert (
        set(re.findall(r"^\| `(\w+)", document.read_text(encoding="utf-8"), re.MULTILINE)) == rooms
    )


def test_the_reference_pages_have_the_docstrings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script: dict[str, Any] = runpy.run_path(str(SOURCE.parent / "docs" / "api.py"))
    assert script["main"](["--check"]) == 0
    (tmp_path / "errors.md").write_text(
        "<!-- api sayahead.errors.TextError -->\nold\n<!-- /api -->\n", "utf-8"
    )
    (tmp_path / "speech.md").write_text(
        "<!-- api sayahead.speech.Speech: save play -->\n<!-- /api -->\n", "utf-8"
    )
    monkeypatch.setitem(script["main"].__globals__, "PAGES", tmp_path)
    assert script["main"](["--check"]) == 1
    assert script["main"]([]) == 0
    assert "Text that cannot be accepted" in (tmp_path / "errors.md").read_text("utf-8")
    assert re.findall(r"### `(.*)`", (tmp_path / "speech.md").read_text("utf-8")) == [
        "Speech.save",
        "Speech.play",
    ]


def test_the_document_names_the_files_with_slow_tests() -> None:
    root = SOURCE.parent
    document = (root / "docs" / "testing.md").read_text(encoding="utf-8")
    slow = {
        path.relative_to(root).as_posix()
        for tests in (root / "tests", root / "lab" / "tests")
        for path in tests.rglob("test_*.py")
        if "pytest.mark." + "slow" in path.read_text(encoding="utf-8")
    }
    assert set(re.findall(r"^\| `((?:lab/)?tests/.*?)` \|", document, re.MULTILINE)) == slow
    assert slow


def test_no_test_module_imports_another() -> None:
    # Reading the syntax of all of them takes two seconds, and hardly one names another.
    texts = {
        path: text
        for path in Path(__file__).parent.rglob("*.py")
        for text in [path.read_text(encoding="utf-8")]
        if re.search(r"\bimport\b[^#\"']*?\btest_|\bfrom\s+\S*test_", text)
    }
    names = {
        (path.name, name)
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text))
        for name in imported(node)
    }
    assert [
        (path, name)
        for path, name in names
        if any(part.startswith("test_") for part in name.split("."))
    ] == []


FLOORS = ({"languages"}, {"markup"}, {"reading", "classes"}, {"saying"}, {"ssml"}, {"styles"})
"""Rooms of ``text`` from the ground up. A rule names its sayer, so two of them share a floor."""


def test_imports_lead_down_in_text() -> None:
    """What reads knows nothing of how words are pronounced, nor of the markup around it."""
    floors = {room: place for place, rooms in enumerate(FLOORS) for room in rooms}
    own = {
        name: floors[name.split(".")[2]]
        for name in modules()
        if name.startswith("sayahead.text.") and name.split(".")[2] in floors
    }
    upward = [
        f"{name} imports {target}"
        for name, floor in own.items()
        for target in modules()[name].imports()
        if own.get(target, 0) > floor
    ]
    assert not upward, "\n".join(upward)


DECISIONS = 2412
NODES = 89_290
"""What ``text`` may hold: it had 5,061 decisions and 120,249 nodes of syntax when each rule was a
branch. English in other languages, which it had not then, has 48 and 2,160 of them."""


def decisions(tree: ast.AST) -> int:
    """Branches, loops, handlers, comprehensions, cases, and each further operand of ``and`` and
    ``or``."""
    branching = (
        ast.If
        | ast.IfExp
        | ast.For
        | ast.While
        | ast.AsyncFor
        | ast.ExceptHandler
        | ast.comprehension
    )
    nodes = list(ast.walk(tree))
    further = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return further + sum(isinstance(node, branching | ast.match_case) for node in nodes)


UNSPACED = ("mandarin", "japanese")
"""Folders of languages whose words must be found first, which the limits are not for."""


def test_reading_is_data_more_than_code() -> None:
    folder = SOURCE / "sayahead" / "text"
    paths = [path for path in folder.rglob("*.py") if path.parent.name not in UNSPACED]
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    assert sum(map(decisions, trees)) <= DECISIONS
    assert sum(sum(1 for _ in ast.walk(tree)) for tree in trees) <= NODES

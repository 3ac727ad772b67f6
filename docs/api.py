"""Write signatures and docstrings into the pages of docs, or check that they are there.

    python docs/api.py [--check]

Each entry stands between a line such as ``<!-- api sayahead.types.AudioChunk -->`` and ``<!-- /api
-->``: a class with its public fields and methods, or a function. ``<!-- api sayahead.voice.Voice:
speak stream -->`` has these methods alone, in this order (and of the attributes those that are
named, if some are), and says nothing of how the class is made: others make it. With ``--check``
nothing is written, and a page that differs ends the run with an error.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs"
PLACE = re.compile(r"(<!-- api ([\w.]+)(?:: ([\w ]+))? -->\n).*?(?=<!-- /api -->)", re.DOTALL)
WIDTH = 100
BRIEF = 72
LITTLE = 260
"""Characters of a call, and of what is said about it, that fit a line of a list."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the pages; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args(arguments).check
    wrong = []
    for page in sorted(PAGES.rglob("*.md")):
        before = page.read_text(encoding="utf-8")
        after = PLACE.sub(
            lambda match: match[1] + "\n".join(entry(match[2], match[3])).strip() + "\n", before
        )
        if after != before:
            wrong.append(page.name)
            if not check:
                page.write_text(after, encoding="utf-8")
    if wrong and check:
        print(
            f"These pages are not as the code has it: {', '.join(wrong)}. Run: python docs/api.py",
            file=sys.stderr,
        )
        return 1
    return 0


def entry(name: str, methods: str | None = None) -> Iterator[str]:
    """The lines for a name of a module, with all methods or those named; SystemExit where there is
    none."""
    module, _, own = name.rpartition(".")
    path = ROOT / "src" / Path(*module.split(".")).with_suffix(".py")
    if not path.is_file():
        path = path.with_suffix("") / "__init__.py"
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    found = [
        node for node in nodes if isinstance(node, ast.ClassDef | Function) and node.name == own
    ]
    if not found:
        raise SystemExit(f"{path} has no {own}: mend the page that names it.")
    yield f"## `{own}`\n"
    if isinstance(found[-1], ast.ClassDef):
        yield from of_class(found[-1], methods.split() if methods else None)
    else:
        yield from of_functions([node for node in found if isinstance(node, Function)])


def of_class(node: ast.ClassDef, named: Sequence[str] | None = None) -> Iterator[str]:
    """What it is, how it is made, its fields, properties and methods; with ``named``, these methods
    alone."""
    bases = ", ".join(
        ast.unparse(base)
        for base in node.bases
        if ast.unparse(base) not in ("Protocol", "TypedDict")
    )
    methods: dict[str, list[Function]] = {}
    for one in node.body:
        if isinstance(one, Function):
            methods.setdefault(one.name, []).append(one)
    if "__init__" in methods and named is None:
        yield from signature(methods["__init__"][-1], node.name)
    elif bases:
        yield f"*A kind of* `{bases}`\n"
    yield from documented(node)
    if "__init__" in methods and named is None:
        yield from documented(methods["__init__"][-1])
    public = [
        name
        for name, every in methods.items()
        if name[0] != "_" and not is_attribute(every[-1]) and not is_old_name(every[-1])
        if ast.get_docstring(every[-1])
    ]
    chosen = public if named is None else named
    attributes = {**dict(fields(node)), **dict(properties(methods))}
    wanted = {name: methods[name] for name in chosen if name not in attributes}
    brief = [name for name, every in wanted.items() if is_brief(every)]
    shown = attributes.keys() & (named or ()) or attributes.keys()
    lines = [f"- `{name}`: {text}" for name, text in attributes.items() if name in shown]
    lines += [brief_line(wanted[name][-1]) for name in brief]
    if lines:
        yield "\n".join(lines) + "\n"
    for name, every in wanted.items():
        if name not in brief:
            yield f"### `{node.name}.{name}`\n"
            yield from of_functions(every)


def of_functions(every: Sequence[Function]) -> Iterator[str]:
    """A function's signature, which takes in those of its overloads, and what it does."""
    yield from signature(every[-1], every[-1].name)
    yield from documented(every[-1])


def is_brief(every: Sequence[Function]) -> bool:
    """Whether a method fits a line of a list: a short call, and little about it."""
    text = joined(ast.get_docstring(every[-1]) or "")
    return len(call(every[-1])) <= BRIEF and len(text) <= LITTLE and "::" not in text


def brief_line(node: Function) -> str:
    """A method as an item of a list."""
    return f"- `{call(node).removesuffix(' -> None')}`: {joined(ast.get_docstring(node) or '')}"


def is_old_name(node: Function) -> bool:
    """Whether it is there for programs written for an earlier version alone."""
    return (ast.get_docstring(node) or "").startswith("The name of ``")


def is_attribute(node: Function) -> bool:
    """Whether it is a property, or sets one."""
    return marked(node, "property") or marked(node, "setter")


def marked(node: Function, name: str) -> bool:
    """Whether a decorator stands above a function."""
    return any(
        ast.unparse(decorator).rpartition(".")[2] == name for decorator in node.decorator_list
    )


def signature(node: Function, name: str) -> Iterator[str]:
    """How it is called, in a block of Python."""
    line = call(node, name)
    if len(line) > WIDTH:
        line = call(node, name, "(\n    ", ",\n    ", ",\n)")
    yield f"```python\n{line}\n```\n"


def call(
    node: Function, name: str = "", begin: str = "(", between: str = ", ", end: str = ")"
) -> str:
    """How it is called, under its own name or another."""
    arguments = node.args
    if own := [
        one for one in (*arguments.posonlyargs, *arguments.args)[:1] if one.arg in ("self", "cls")
    ]:
        arguments = strip(arguments, own[0])
    prefix = "async def " if isinstance(node, ast.AsyncFunctionDef) else ""
    name = name or node.name
    result = "" if node.returns is None or name[0].isupper() else f" -> {ast.unparse(node.returns)}"
    return f"{prefix}{name}{begin}{between.join(parts(ast.unparse(arguments)))}{end}{result}"


def strip(arguments: ast.arguments, own: ast.arg) -> ast.arguments:
    """The arguments without the object or class itself."""
    return ast.arguments(
        [one for one in arguments.posonlyargs if one is not own],
        [one for one in arguments.args if one is not own],
        arguments.vararg,
        arguments.kwonlyargs,
        arguments.kw_defaults,
        arguments.kwarg,
        arguments.defaults,
    )


def parts(text: str) -> Iterator[str]:
    """Arguments one by one, at commas outside of brackets, with the spaces and quotes that a
    formatter would give."""
    text = re.sub(r"(?<=[^*\s=])=(?=[^=])", " = ", text).replace("'", '"')
    depth = 0
    begin = 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1
    yield text[begin:].strip()


def fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Annotated fields with the docstring below each, those of ``__init__`` included."""
    inits = [
        one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"
    ]
    for body in (node.body, *(one.body for one in inits)):
        for one, below in itertools.pairwise(body):
            if isinstance(one, ast.AnnAssign | ast.Assign) and isinstance(below, ast.Expr):
                target = one.target if isinstance(one, ast.AnnAssign) else one.targets[0]
                name = ast.unparse(target).removeprefix("self.")
                text = below.value.value if isinstance(below.value, ast.Constant) else None
                if not name.startswith("_") and isinstance(text, str):
                    yield name, joined(text)


def properties(methods: dict[str, list[Function]]) -> Iterator[tuple[str, str]]:
    """Public properties with their docstrings."""
    for name, every in methods.items():
        getters = [one for one in every if marked(one, "property")]
        if name[0] != "_" and getters and not is_old_name(getters[-1]):
            yield name, joined(ast.get_docstring(getters[-1]) or "")


def joined(text: str) -> str:
    """A docstring in one line."""
    return " ".join(plain(text).split())


def documented(node: ast.ClassDef | Function) -> Iterator[str]:
    """Its docstring as Markdown."""
    if text := ast.get_docstring(node):
        yield plain(re.sub(r"::\n\n((?:    .*\n?|\n)+)", block, text + "\n")).strip() + "\n"


def block(match: re.Match[str]) -> str:
    return f":\n\n```python\n{textwrap.dedent(match[1]).strip()}\n```\n"


def plain(text: str) -> str:
    """Code as Markdown marks it."""
    return re.sub(r"``(.+?)``", r"`\1`", text)


if __name__ == "__main__":
    sys.exit(main())

"""The command line, with Ctrl-C at a defined moment: ``python interrupted.py MOMENT ARGUMENT ...``.

A moment is a number, of calls and returns of functions since the command began, or
``MODULE:FUNCTION``, the first call of a function or of a method of that name. After it, or at its
end without one, the command goes on as it will. With moment 0, Ctrl-C does not come, and the number
of moments is the last line of standard error."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import inspect
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

from sayahead.__main__ import run

moment = sys.argv.pop(1)
module_name, _, function_name = moment.partition(":")
count = 0
is_over = False


def interrupt() -> None:
    """Ctrl-C, once."""
    global is_over
    if not is_over:
        is_over = True
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)


def watch(frame: FrameType, event: str, argument: Any) -> None:
    """Count what happens; Ctrl-C at the moment."""
    global count
    count += 1
    if count == int(moment):
        interrupt()


def interrupted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, before whose first call Ctrl-C comes."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        interrupt()
        return function(*arguments, **options)

    return call


class Patch(importlib.abc.MetaPathFinder):
    """Changes the function when its module is loaded: nothing else becomes slower."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != module_name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def patched(module: ModuleType) -> None:
            execute(module)
            classes = (one for one in vars(module).values() if inspect.isclass(one))
            own = [one for one in classes if one.__module__ == fullname]
            for place in (module, *own):
                if inspect.isfunction(function := vars(place).get(function_name)):
                    setattr(place, function_name, interrupted(function))

        spec.loader.exec_module = patched  # type: ignore[method-assign]
        return spec


if function_name:
    sys.meta_path.insert(0, Patch())
else:
    sys.setprofile(watch)
code = run()
sys.setprofile(None)
if moment == "0":
    print(count, file=sys.stderr)
sys.exit(code)

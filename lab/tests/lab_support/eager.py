"""Training without torch's compiler, which nothing here uses: imported before an optimizer takes
its first step.

That imports the compiler, some four seconds in each process, only to say that it may not compile
the step. ``test_a_terminated_run_saves_and_goes_on_exactly`` trains in a process of its own with
the real one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any


def disable(
    function: Callable[..., Any], recursive: bool = True, *, wrapping: bool = True
) -> Callable[..., Any]:
    """The function as it is."""
    return function


def graph_break() -> None:
    """Nothing is compiled."""


COMPILER = ModuleType("torch._dynamo")
# torch.func does its gradients without it.
vars(COMPILER).update(
    disable=disable,
    graph_break=graph_break,
    compiled_autograd=SimpleNamespace(_disable=nullcontext),
)
sys.modules.setdefault(COMPILER.__name__, COMPILER)

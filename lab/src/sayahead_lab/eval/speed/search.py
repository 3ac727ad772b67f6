"""How many sessions pass: which number is tried next, what its rounds say together, and what holds
back the rest.

A round has enough turns for its quantiles, and one outlier decides nothing: a number that neither
clearly passes nor clearly fails has further rounds, of which most decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

FIRST, MOST = 8, 4096
GROWTH = 1.25
"""How much larger the next number is while none has failed."""
APART = 16
"""The search ends where the most that pass and the fewest that fail are a part of so many apart."""
REPEATS = 3
"""Rounds of a number near the edge; most of them decide."""
STALLED = 200
"""One turn in so many may have a stall."""
CLEAR, BAD = 0.85, 3.0
"""Beyond these parts of the bound a first sound is clearly soon, or clearly late; one slow moment
of the machine alone makes it twice as late."""
LATE_MS = 20.0
"""Clients that are woken so late (95 of 100 times) measure themselves."""
IDLE, BUSY = 0.1, 1.0
"""A machine has no processor time left with so little of it idle; a process has the interpreter's
lock all the time with so many cores."""


def judged(row: dict[str, Any], clock: str, bound_ms: float) -> dict[str, Any]:
    """A round with what is told of it."""
    row["passed"] = passed(row, clock, bound_ms)
    row["clear"] = clear(row, clock, bound_ms)
    row["cause"] = "" if row["passed"] else cause(row)
    return row


def passed(row: Mapping[str, Any], clock: str, bound_ms: float) -> bool:
    """Whether a round stays within the bounds."""
    first = first_ms(row, clock)
    if row["broken"] or row["refused"] or first is None:
        return False
    return stalled(row) <= row["turns"] // STALLED and first <= bound_ms


def clear(row: Mapping[str, Any], clock: str, bound_ms: float) -> bool:
    """Whether a round is far enough from the bounds to decide by itself."""
    first = first_ms(row, clock)
    if row["broken"] or first is None:
        return True
    # A server that is late for a moment refuses, too.
    soon = not (stalled(row) or row["refused"]) and first <= CLEAR * bound_ms
    return soon or first > BAD * bound_ms


def first_ms(row: Mapping[str, Any], clock: str) -> float | None:
    """The time to first audio that counts, of 95 in 100 turns."""
    value: float | None = row["first_ms" if clock == "llm" else "after_its_text_ms"]["p95"]
    return value


def stalled(row: Mapping[str, Any]) -> int:
    """Turns with a stall."""
    return int(row.get("stalled_turns", row["stalls"]))


def verdicts(rounds: Sequence[Mapping[str, Any]]) -> dict[int, bool | None]:
    """Whether each number of sessions passes; None: it needs another round."""
    by_number = defaultdict[int, list[Mapping[str, Any]]](list)
    for row in rounds:
        by_number[row["sessions"]].append(row)
    return {number: verdict(rows) for number, rows in by_number.items()}


def verdict(rows: Sequence[Mapping[str, Any]]) -> bool | None:
    """Whether a number passes by its rounds; None: they do not say so yet."""
    if len(rows) == 1 and rows[0].get("clear", True):
        return bool(rows[0]["passed"])
    passing = sum(bool(row["passed"]) for row in rows)
    most = REPEATS // 2 + 1
    if passing >= most:
        return True
    return False if len(rows) - passing >= most else None


def following(
    given: Sequence[int] | None, rounds: Sequence[Mapping[str, Any]], *, guess: int = FIRST
) -> int:
    """How many sessions the next round has; 0: no more.

    Those given, up to the first that fails. Where none are, ``guess`` is tried first, then a
    quarter more or fewer until one number passes and another does not, and then what lies in the
    middle."""
    known = verdicts(rounds)
    undecided = [number for number, fine in known.items() if fine is None]
    if undecided:
        return undecided[0]
    passing = max((number for number, fine in known.items() if fine), default=0)
    failing = min((number for number, fine in known.items() if not fine), default=0)
    if given is not None:
        untried = [number for number in given if number not in known]
        return untried[0] if untried and not failing else 0
    return searched(passing, failing) if known else min(max(1, guess), MOST)


def searched(passing: int, failing: int) -> int:
    """The next number of sessions to try, by the largest that passed and the smallest that failed
    (0: none); 0: no more."""
    if not failing:
        return min(max(passing + 1, round(GROWTH * passing)), MOST) if passing < MOST else 0
    if not passing and failing > 1:
        return max(1, min(failing - 1, round(failing / GROWTH)))
    # What failed once may pass another time: then the rounds tell no more.
    gap = failing - passing
    return 0 if gap <= max(1, passing // APART) else passing + gap // 2


def limit(rounds: Sequence[Mapping[str, Any]]) -> dict[str, int | None]:
    """The most sessions that pass, and between which numbers the truth lies: up to the first every
    round passes, from the second on none does (None: no number failed every time)."""
    known = verdicts(rounds)
    passing = max((number for number, fine in known.items() if fine), default=0)
    mixed = {row["sessions"] for row in rounds if not row["passed"]}
    sure = max((n for n in known if n not in mixed and n <= min(mixed, default=n)), default=0)
    never = {row["sessions"] for row in rounds} - {
        row["sessions"] for row in rounds if row["passed"]
    }
    return {
        "largest": passing,
        "sure": sure,
        "never": min((n for n in never if n > passing), default=None),
    }


def cause(row: Mapping[str, Any]) -> str:
    """What held back a round that failed, as a sentence."""
    if row["broken"]:
        return f"Connections broke: {row['broken'][0]}."
    if row["refused"]:
        return f"Places: the server refused {row['refused']} sessions."
    cores, idle = row.get("cores"), row.get("idle_cores")
    server, clients = row.get("server_cores"), row.get("sessions_cores")
    if cores is not None and idle is not None and idle < IDLE * cores:
        used = f"server {server}, clients {clients}"
        return f"The processor: of {cores} cores {idle:.2f} were idle ({used})."
    late = row["sessions_late_ms"]["p95"]
    if late is not None and late > LATE_MS:
        return f"The clients: they were woken {late:.0f} ms late themselves (--clients)."
    busiest = row.get("busiest_cores")
    if busiest is not None and busiest >= BUSY:
        busy = f"a process of the server used {busiest:.2f} cores"
        return f"The interpreter's lock: {busy}, and {idle:.2f} were idle."
    if server is None:
        return "The server or the network: the server's processes are not seen from here."
    return (
        f"Waiting: {idle} cores were idle, and neither the clients nor a process was at its limit."
    )

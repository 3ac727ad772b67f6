"""What a key has used, and what is left to it: ``/v1/usage``."""

from __future__ import annotations

import csv
import datetime
import io
import json
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sayahead.server.http import RequestError, answers
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Caller, decode, encode
from sayahead.server.operation.usage import UnreadableError
from sayahead.server.operation.usage_file import Used, today
from sayahead.server.protocols.health import failure

PAGE = 10_000
"""Rows of one answer at most; the next ones come after its ``next``. Lines for a bill come all at
once."""
COLUMNS = tuple(asdict(Used("", "", "", "")))


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/usage``."""

    @answers(hub, failure, tokens=False)
    async def usage(request: Request, caller: Caller) -> ASGIApp:
        """What the key has used, from=DAY to=DAY; all keys with all=true; lines for a bill with
        format=csv; further rows with after=NEXT."""
        query = request.query_params
        key = caller.name
        every = query.get("all", "").lower() == "true"
        if every and not (caller.terms.admin or hub.access.open):
            raise RequestError(
                "forbidden",
                "This key may not see the usage of others: its terms need admin = true.",
            )
        first = day_of(query.get("from"), today()[:8] + "01")
        last = day_of(query.get("to"), today())
        after = place_of(query.get("after"))
        most = number_of(query.get("limit"), PAGE)
        told = {"from": first, "to": last, **standing(hub, caller)}

        def answer() -> Response:
            rows = hub.usage.rows(first, last, None if every else key)
            if query.get("format") == "csv":
                return Response(lines(rows), media_type="text/csv")
            page = [row for row in rows if row.place > after][:most]
            following = mark(page[-1]) if page and page[-1] is not rows[-1] else None
            return Response(body(told | {"next": following}, page), media_type="application/json")

        try:
            # A bill has what all processes noted up to now, written or not.
            await hub.siblings.ask("settle")
            return await hub.usage.read(answer)
        except UnreadableError as error:
            raise RequestError("unavailable", str(error)) from error

    return [Route("/v1/usage", usage)]


def number_of(text: str | None, usual: int) -> int:
    """How many rows a page has at most. RequestError for what is no such number."""
    if text is None:
        return usual
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= PAGE:
        raise RequestError(
            "invalid_option",
            f"limit is {text[:40]!r}, but must be a whole number from 1 to {PAGE}.",
        )
    return int(text)


def mark(row: Used) -> str:
    """Names a row of a bill in the order in which they are told: the next page comes after it."""
    return encode("\x1f".join(row.place).encode())


def place_of(text: str | None) -> tuple[str, ...]:
    """What a row's mark names; of none, what comes before all. RequestError for what is none."""
    try:
        return tuple(decode(text).decode().split("\x1f")) if text else ()
    except ValueError as error:
        raise RequestError(
            "invalid_option", "after must be the value of next in the answer before."
        ) from error


def body(told: dict[str, Any], rows: list[Used]) -> str:
    """JSON with rows, made one by one: a large one would hold the interpreter from the event
    loop."""
    parts = ", ".join(json.dumps(asdict(row)) for row in rows)
    return f'{json.dumps(told)[:-1]}, "rows": [{parts}]}}'


def day_of(text: str | None, usual: str) -> str:
    """A day in a query. RequestError for what is none."""
    try:
        return datetime.date.fromisoformat(text).isoformat() if text else usual
    except ValueError as error:
        raise RequestError(
            "invalid_option", f"{text[:40] if text else text!r} is no day such as {usual}."
        ) from error


def standing(hub: Hub, caller: Caller) -> dict[str, Any]:
    """What a key has used today and this month, and what it may use; 0: any number."""
    (day, month) = hub.usage.totals(caller.name)
    terms = caller.terms
    return {
        "key": caller.name,
        "today": {"characters": day, "limit": terms.characters_per_day},
        "month": {"characters": month, "limit": terms.characters_per_month},
        "sessions": {"taken": hub.places_of(caller), "limit": hub.share_of(caller)},
    }


def lines(rows: list[Used]) -> str:
    """Lines with commas, the names of the columns first."""
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS)
    table.writeheader()
    table.writerows(asdict(row) for row in rows)
    return out.getvalue()

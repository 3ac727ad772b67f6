"""Usage and quotas of a key: ``/v1/usage``."""

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
"""Most rows of one answer; ``next`` leads to further ones. CSV has all rows."""
COLUMNS = tuple(asdict(Used("", "", "", "")))


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/usage``."""

    @answers(hub, failure, tokens=False)
    async def usage(request: Request, caller: Caller) -> ASGIApp:
        """What the key has used, from=DAY to=DAY; all keys with all=true; lines for a bill with
        format=csv; further rows with after=NEXT."""
        query = request.query_params
        key = caller.name
        all_keys = query.get("all", "").lower() == "true"
        if all_keys and not (caller.terms.admin or hub.access.open):
            raise RequestError(
                "forbidden",
                "This key may not see the usage of others: its terms need admin = true.",
            )
        first = day_of(query.get("from"), today()[:8] + "01")
        last = day_of(query.get("to"), today())
        after = place_of(query.get("after"))
        limit = number_of(query.get("limit"), PAGE)
        head = {"from": first, "to": last, **standing(hub, caller)}

        def answer() -> Response:
            rows = hub.usage.rows(first, last, None if all_keys else key)
            if query.get("format") == "csv":
                return Response(lines(rows), media_type="text/csv")
            page = [row for row in rows if row.place > after][:limit]
            next_mark = mark(page[-1]) if page and page[-1] is not rows[-1] else None
            return Response(body(head | {"next": next_mark}, page), media_type="application/json")

        try:
            # A bill has what all processes noted up to now, written or not.
            await hub.siblings.ask("settle")
            return await hub.usage.read(answer)
        except UnreadableError as error:
            raise RequestError("unavailable", str(error)) from error

    return [Route("/v1/usage", usage)]


def number_of(text: str | None, default: int) -> int:
    """Parse the number of rows of a page. RequestError if it is invalid."""
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= PAGE:
        raise RequestError(
            "invalid_option",
            f"limit is {text[:40]!r}, but must be a whole number from 1 to {PAGE}.",
        )
    return int(text)


def mark(row: Used) -> str:
    """Return a row's mark, with which a client asks for the rows after it."""
    return encode("\x1f".join(row.place).encode())


def place_of(text: str | None) -> tuple[str, ...]:
    """Parse a row's mark; empty, which is before all rows, without one. RequestError if it is
    invalid."""
    try:
        return tuple(decode(text).decode().split("\x1f")) if text else ()
    except ValueError as error:
        raise RequestError(
            "invalid_option", "after must be the value of next in the answer before."
        ) from error


def body(head: dict[str, Any], rows: list[Used]) -> str:
    """Return a JSON object with rows.

    Rows are encoded one by one: encoding a large list at once would keep the interpreter lock from
    the event loop.
    """
    parts = ", ".join(json.dumps(asdict(row)) for row in rows)
    return f'{json.dumps(head)[:-1]}, "rows": [{parts}]}}'


def day_of(text: str | None, default: str) -> str:
    """Parse a day in a query. RequestError if it is invalid."""
    try:
        return datetime.date.fromisoformat(text).isoformat() if text else default
    except ValueError as error:
        raise RequestError(
            "invalid_option", f"{text[:40] if text else text!r} is no day such as {default}."
        ) from error


def standing(hub: Hub, caller: Caller) -> dict[str, Any]:
    """Return a key's usage of today and this month, its places, and its limits; 0 is unlimited."""
    (day, month) = hub.usage.totals(caller.name)
    terms = caller.terms
    return {
        "key": caller.name,
        "today": {"characters": day, "limit": terms.characters_per_day},
        "month": {"characters": month, "limit": terms.characters_per_month},
        "sessions": {"taken": hub.places_of(caller), "limit": hub.share_of(caller)},
    }


def lines(rows: list[Used]) -> str:
    """Return rows as CSV with a header."""
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS)
    table.writeheader()
    table.writerows(asdict(row) for row in rows)
    return out.getvalue()

"""What a key has used, and what is left to it: ``/v1/usage``."""

from __future__ import annotations

import asyncio
import csv
import datetime
import io
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sayahead.server.http import RequestError, answers
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Caller
from sayahead.server.operation.usage import Used, today
from sayahead.server.protocols.health import failure

COLUMNS = tuple(asdict(Used("", "", "", "")))


def routes(hub: Hub) -> list[BaseRoute]:
    """``/v1/usage``."""

    @answers(hub, failure, tokens=False)
    async def usage(request: Request, caller: Caller) -> ASGIApp:
        """What the key has used, from=DAY to=DAY; all keys with all=true; lines for a bill with format=csv."""
        query, key = request.query_params, caller.name
        every = query.get("all", "").lower() == "true"
        if every and not (caller.terms.admin or hub.access.open):
            raise RequestError("forbidden", "This key may not see the usage of others: its terms need admin = true.")
        first, last = day_of(query.get("from"), today()[:8] + "01"), day_of(query.get("to"), today())
        try:
            rows = await asyncio.to_thread(hub.usage.rows, first, last, None if every else key)
        except OSError as error:
            raise RequestError("failed", f"Usage cannot be read now: {error}.") from error
        if query.get("format") == "csv":
            return Response(lines(rows), media_type="text/csv")
        return JSONResponse({"from": first, "to": last, **standing(hub, caller), "rows": [asdict(row) for row in rows]})

    return [Route("/v1/usage", usage)]


def day_of(text: str | None, usual: str) -> str:
    """A day in a query. RequestError for what is none."""
    try:
        return datetime.date.fromisoformat(text).isoformat() if text else usual
    except ValueError as error:
        raise RequestError("invalid_option", f"{text[:40] if text else text!r} is no day such as {usual}.") from error


def standing(hub: Hub, caller: Caller) -> dict[str, Any]:
    """What a key has used today and this month, and what it may use; 0: any number."""
    (day, month), terms = hub.usage.totals(caller.name), caller.terms
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

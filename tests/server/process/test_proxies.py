"""Whose address counts where proxies stand between."""

from __future__ import annotations

import asyncio
import logging

import httpx
import pytest
from support.servers import serving

from sayahead.errors import ConfigError
from sayahead.server.operation.access import ELSEWHERE, share_of
from sayahead.server.operation.settings import Settings
from sayahead.server.process.app import Proxied


@pytest.mark.parametrize(
    ("proxies", "peer", "forwarded", "client"),
    [
        # Nobody is believed by default, this machine neither.
        ((), "127.0.0.1", ["203.0.113.5"], "127.0.0.1"),
        (("127.0.0.1",), "127.0.0.1", ["203.0.113.5"], "203.0.113.5"),
        (("127.0.0.1",), "127.0.0.1", [], "127.0.0.1"),
        # One that is not named is a client.
        (("127.0.0.1",), "10.0.0.1", ["203.0.113.5"], "10.0.0.1"),
        # A client's own words come first, and are not believed.
        (("127.0.0.1",), "127.0.0.1", ["1.2.3.4, 203.0.113.5"], "203.0.113.5"),
        (("127.0.0.1",), "127.0.0.1", ["1.2.3.4", "203.0.113.5"], "203.0.113.5"),
        (("10.0.0.0/8",), "10.0.0.1", ["1.2.3.4, 203.0.113.5, 10.0.0.2"], "203.0.113.5"),
        # What is no address is nobody's.
        (("127.0.0.1",), "127.0.0.1", ["anything at all"], "127.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ["x" * 60_000 + ", 10.0.0.2"], "10.0.0.2"),
        (("127.0.0.1",), "127.0.0.1", ["203.0.113.5:1234"], "203.0.113.5"),
        (("127.0.0.1",), "127.0.0.1", ["[2001:db8::1]:1234"], "2001:db8::1"),
        (("10.0.0.0/8",), "::ffff:10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
    ],
)
def test_where_a_request_comes_from(
    proxies: tuple[str, ...], peer: str, forwarded: list[str], client: str
) -> None:
    seen = list[str]()

    async def app(scope: dict[str, object], receive: object, send: object) -> None:
        address = scope["client"]
        assert isinstance(address, tuple)
        seen.append(address[0])

    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    scope = {"type": "http", "client": (peer, 1), "headers": headers}
    asyncio.run(Proxied(app, proxies)(scope, None, None))  # type: ignore[arg-type]
    assert seen == [client]


def test_a_forged_address_is_none(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever came from this machine, or by a proxy there, chose its name in the log and its share
    of the places."""
    with caplog.at_level(logging.INFO), serving(keys=("a:first-key",)) as server:
        for name in ("203.0.113.7", "anything at all"):
            answer = httpx.get(f"{server.http}/v1/models", headers={"X-Forwarded-For": name})
            assert answer.status_code == 401
    addresses = {
        vars(record).get("address") for record in caplog.records if record.msg == "refused"
    }
    assert addresses == {"127.0.0.1"}


def test_a_proxy_that_is_not_named_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """All of its clients counted as one, and nothing said why they were refused."""
    with caplog.at_level(logging.INFO), serving() as server:
        for _ in range(3):
            httpx.get(f"{server.http}/health", headers={"X-Forwarded-For": "203.0.113.7"})
    told = [record for record in caplog.records if "proxies does not name" in record.msg]
    assert [vars(record)["address"] for record in told] == ["127.0.0.1"]


def test_only_addresses_have_a_share() -> None:
    assert share_of("x" * 100) == ELSEWHERE
    assert share_of(None) == share_of("127.0.0.1") == share_of("::1") == ""
    assert share_of("203.0.113.5") == "203.0.113.5"


def test_what_is_no_network_is_told() -> None:
    with pytest.raises(ConfigError, match="no address or network"):
        Settings(proxies=("ingress.example",))

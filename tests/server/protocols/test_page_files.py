"""The page's files and their headers; test_page.py has what they do in a browser."""

from __future__ import annotations

import httpx
from support.servers import KEY, serving


def test_files_come_with_headers_that_keep_others_out() -> None:
    with serving() as server:
        answer = httpx.get(server.http + "/")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        again = httpx.get(server.http + "/", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert (
            httpx.get(server.http + "/page/ring.worklet.js")
            .headers["content-type"]
            .startswith("text/javascript")
        )


def test_nothing_else_is_read() -> None:
    with serving() as server:
        for path in (
            "/page/",
            "/page/index.html",
            "/page/..%2fpage.py",
            "/page/%2e%2e/page.py",
            "/page/icon.png",
        ):
            assert httpx.get(server.http + path).status_code == 404
        assert httpx.post(server.http + "/").status_code == 405


def test_the_page_needs_no_key_and_can_be_left_out() -> None:
    with serving(keys=(KEY,)) as server:
        assert httpx.get(server.http + "/").status_code == 200
    with serving(page=False) as bare:
        assert httpx.get(bare.http + "/").status_code == 404
        assert httpx.get(bare.http + "/page/main.js").status_code == 404

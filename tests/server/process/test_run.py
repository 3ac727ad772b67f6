"""The server as a process: its command, its log, and how it goes down."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from support.servers import certified, serving
from websockets.asyncio.client import connect

from sayahead.cli import main
from sayahead.client import AsyncClient, ServerError
from sayahead.server.operation.logs import JsonLines, Lines
from sayahead.server.operation.usage_file import File, Used
from sayahead.server.process.run import bind
from sayahead.sound.files import OutputError

TEXT = "Hello there, how are you today? I am fine. "


class Process:
    """``sayahead serve`` on a port of its own, and its log."""

    def __init__(self, *arguments: str) -> None:
        command = [
            sys.executable,
            "-m",
            "sayahead",
            "serve",
            "--port",
            "0",
            "--log",
            "json",
            "--voice",
            "heart",
        ]
        self.process = subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE, text=True)
        self.rows = list[dict[str, Any]]()
        self._said = threading.Condition()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()
        self.http = str(self.row("listening")["url"])
        self.ws = "ws://" + urlsplit(self.http).netloc

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._said:
                self.rows.append(json.loads(line))
                self._said.notify_all()

    def row(self, event: str) -> dict[str, Any]:
        """The log's first line of an event, when it comes."""
        with self._said:
            assert self._said.wait_for(
                lambda: any(row["event"] == event for row in self.rows), 60
            ), self.rows
        return next(row for row in self.rows if row["event"] == event)

    def wait(self) -> int:
        """The exit code."""
        code = self.process.wait(30)
        self._reading.join(10)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextlib.contextmanager
def process(*arguments: str) -> Iterator[Process]:
    running = Process(*arguments)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.wait()


def test_a_text_is_finished_before_the_server_goes() -> None:
    async def run(server: Process) -> None:
        with pytest.raises(ServerError, match="401"):
            async with AsyncClient(server.ws, key="wrong-key"):
                pass
        async with AsyncClient(server.ws, key="first-key") as client:
            speech = client.open_speech()
            await speech.push(TEXT)
            await anext(speech)
            server.process.send_signal(signal.SIGHUP)
            assert server.row("reloaded")["keys"] == 1
            server.process.send_signal(signal.SIGTERM)
            server.row("draining")
            answer = httpx.get(server.http + "/ready")
            assert (answer.status_code, answer.json()["ready"]) == (503, False)
            with pytest.raises(ServerError) as caught:
                async with AsyncClient(server.ws, key="first-key"):
                    pass
            assert caught.value.code == "shutdown"
            await speech.push("And Привет comes later. ")
            await speech.finish()
            words = [word.text async for chunk in speech for word in chunk.words]
            assert words[-1] == "later."

    with process("--set", "keys=me:first-key") as server:
        asyncio.run(run(server))
        assert server.wait() == 0
        # The log knows who was there, and neither the key nor the text.
        log = json.dumps(server.rows)
        assert server.row("open")["caller"] == "me"
        assert server.row("closed")["outcome"] in ("gone", "done")
        assert server.row("closed")["session"] == server.row("open")["session"]
        assert server.row("closed")["characters"] == len(TEXT) + len("And Привет comes later. ")
        assert "first-key" not in log
        assert "wrong-key" not in log
        assert "Привет" not in json.dumps(server.rows, ensure_ascii=False)
        assert (
            server.row("Skipped characters 47 to 53: this voice cannot read them.")["level"]
            == "warning"
        )
        # A wrong key is the client's fault, and no error of the server's.
        assert {row["level"] for row in server.rows} == {"info", "warning"}
        assert "today" not in log


def test_who_goes_on_for_too_long_is_told() -> None:
    async def run(server: Process) -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            await speech.push(TEXT)
            await anext(speech)
            server.process.send_signal(signal.SIGTERM)
            with pytest.raises(ServerError) as caught:
                [chunk async for chunk in speech]
            assert caught.value.code == "shutdown"

    with process("--drain", "0.3") as server:
        asyncio.run(run(server))
        assert server.wait() == 0


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the command openssl")
def test_a_certificate_makes_it_https(tmp_path: Path) -> None:
    key, certificate = certified(tmp_path)
    trusting = ssl.create_default_context(cafile=certificate)

    async def run(port: int) -> None:
        async with connect(
            f"wss://localhost:{port}/v1/stream", ssl=trusting, host="127.0.0.1"
        ) as socket:
            assert json.loads(await socket.recv())["type"] == "session.created"

    with serving(certificate=certificate, certificate_key=key) as server:
        asyncio.run(run(server.port))
        assert (
            httpx.get(f"https://localhost:{server.port}/health", verify=trusting).json()["status"]
            == "healthy"
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "prot=1"], "no setting 'prot' (did you mean 'port'?)"),
        (["--set", "port"], "write NAME=VALUE"),
        (["--voice", "hart"], "no voice 'hart' (did you mean 'heart'?)"),
        (["--workers", "0"], "workers is 0, but must be a whole number from 1 to 1024"),
        (["--port", "70000"], "port is 70000, but must be a whole number from 0 to 65535"),
        (["--set", "workers=0"], "workers is 0, but must be a whole number from 1 to 1024"),
        (["--set", "limits.contexts=2.5"], "limits.contexts is '2.5', but must be a whole number"),
        (["--config", "/nothing.toml"], "cannot be read"),
        (["--keys-file", "/nothing"], "cannot be read"),
        (["--set", "drain_s=x"], "drain_s is 'x', but must be a number"),
        (
            ["--certificate", "/nothing"],
            "The certificate /nothing cannot be read: No such file or directory.",
        ),
        (
            ["--certificate", __file__, "--certificate-key", "/nothing"],
            "The certificate key /nothing cannot be read",
        ),
        (["--certificate", __file__], "not a certificate in PEM with its private key"),
        (["--certificate-key", __file__], "certificate_key is set, but certificate is not"),
    ],
)
def test_wrong_settings_are_told(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sayahead.server.operation.logs.set_up", lambda form, text: None)
    with contextlib.suppress(SystemExit):
        assert main(["serve", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with serving() as server:
        command = [
            sys.executable,
            "-m",
            "sayahead",
            "serve",
            "--voice",
            "heart",
            "--port",
            str(server.port),
        ]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert (
        f"Cannot listen on port {server.port} of 127.0.0.1: Address already in use: choose another"
        in ended.stderr
    )
    assert "Traceback" not in ended.stderr


def test_without_the_extra_the_command_names_it() -> None:
    # In a process of its own: modules that are taken out of this one would come back as others.
    code = (
        "import sys; sys.modules['uvicorn'] = None; from sayahead.cli import main;"
        " sys.exit(main(['serve']))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "pip install 'sayahead[server]'" in ended.stderr


@pytest.mark.parametrize("wanted", [False, True])
def test_texts_are_in_the_log_only_where_that_was_asked_for(
    wanted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(address: str) -> None:
        async with AsyncClient(address) as client:
            assert [chunk async for chunk in client.stream([TEXT])]

    with serving(log_text=wanted) as server, caplog.at_level(logging.INFO, "sayahead"):
        asyncio.run(run(server.ws))
    assert (TEXT in [getattr(record, "text", "") for record in caplog.records]) == wanted


def test_lines_of_the_log() -> None:
    record = logging.makeLogRecord(
        {"msg": "open", "levelname": "INFO", "created": 0.5, "session": "ab", "audio_s": 1.5}
    )
    assert Lines().format(record) == "1970-01-01T00:00:00.500Z info open session=ab audio_s=1.5"
    assert json.loads(JsonLines().format(record)) == {
        "time": "1970-01-01T00:00:00.500Z",
        "level": "info",
        "event": "open",
        "session": "ab",
        "audio_s": 1.5,
    }


def test_check_says_what_is_open(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayahead.server.operation.logs.set_up", lambda form, text: None)
    command = ["serve", "--check", "--voice", "heart"]
    assert main([*command, "--host", "0.0.0.0", "--origin", "*", "--set", "log_text=yes"]) == 0
    told = capsys.readouterr().out
    for word in (
        "No API key is required: anyone who can reach 0.0.0.0",
        "not encrypted",
        "any origin",
        "/metrics",
        "in the log",
        "MB",
    ):
        assert word in told
    assert main([*command, "--set", "keys=me:first-key", "--set", "limits.connections=100000"]) == 0
    told = capsys.readouterr().out
    assert "No API key" not in told
    assert "encrypted" not in told


def test_check_says_what_is_large_and_which_proxy_is_not_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayahead.server.operation.logs.set_up", lambda form, text: None)
    monkeypatch.setattr("sayahead.server.process.check.MANY_KEYS", 20)
    monkeypatch.setattr("sayahead.server.process.check.MANY_ROWS", 30)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    keys = tmp_path / "keys"
    usage = tmp_path / "usage.db"
    keys.write_text("".join(f"key-{number}:secret-of-{number}\n" for number in range(20)))
    store = File(str(usage))
    store.add(
        [Used(f"key-{number}", "2026-11-28", "native", "heart", 1, 10, 1.0) for number in range(30)]
    )
    store.close()
    command = ["serve", "--check", "--voice", "heart", "--set", "hosts=tts.example"]
    assert main([*command, "--keys-file", str(keys), "--usage", str(usage)]) == 0
    told = capsys.readouterr().out
    assert "There are 20 keys" in told
    assert "usage.db has 30 rows of 30 keys" in told
    assert (
        "It is reached as tts.example, without a certificate of its own and without proxies" in told
    )
    assert (
        main(
            [
                "serve",
                "--check",
                "--voice",
                "heart",
                "--set",
                "proxies=127.0.0.1",
                "--set",
                "hosts=a.example",
            ]
        )
        == 0
    )
    told = capsys.readouterr().out
    assert "proxies" not in told
    assert "rows" not in told
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert main(["serve", "--check", "--voice", "heart"]) == 0
    assert "It runs in Kubernetes" in capsys.readouterr().out


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_check_says_which_ports_can_be_had(
    taken: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayahead.server.operation.logs.set_up", lambda form, text: None)
    command = ["serve", "--check", "--voice", "heart"]
    assert main([*command, "--port", str(taken), "--wyoming", f"tcp://localhost:{taken}"]) == 0
    told = capsys.readouterr().out
    assert f"Port {taken} of 127.0.0.1 is in use" in told
    assert f"Port {taken} of localhost is in use" in told
    assert main([*command, "--port", "0"]) == 0
    assert "is in use" not in capsys.readouterr().out
    for wrong in (["--host", "192.0.2.1"], ["--port", "0", "--wyoming", "tcp://192.0.2.1:10200"]):
        assert main([*command, *wrong]) == 1
        assert "of 192.0.2.1: " in capsys.readouterr().err
    assert main([*command, "--host", "nosuch.invalid"]) == 1
    assert "nosuch.invalid is not an address of this machine" in capsys.readouterr().err


def test_every_port_is_tried_before_voices_are_loaded(
    taken: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayahead.server.operation.logs.set_up", lambda form, text: None)
    pytest.importorskip("grpc")
    monkeypatch.setattr(
        "sayahead.server.hub.Hub.start", lambda self: pytest.fail("The voices were loaded first.")
    )
    free = free_port()
    command = ["serve", "--voice", "heart", "--port", str(free)]
    for more, port in (
        (["--wyoming", f"tcp://127.0.0.1:{taken}"], taken),
        (["--grpc-port", str(taken)], taken),
        (["--wyoming", f"tcp://127.0.0.1:{free}"], free),
        (["--grpc-port", str(free)], free),
    ):
        assert main([*command, *more]) == 1
        assert f"Cannot listen on port {port} of 127.0.0.1: " in capsys.readouterr().err


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_the_address_of_a_host_of_colons_has_brackets(caplog: pytest.LogCaptureFixture) -> None:
    try:
        bind("::1", 0).close()
    except OutputError:
        pytest.skip("This machine has no IPv6.")
    with caplog.at_level(logging.INFO), serving(host="::1") as running:
        pass
    assert f"http://[::1]:{running.port}" in {
        getattr(record, "url", "") for record in caplog.records
    }


@pytest.mark.parametrize(
    ("host", "keys", "warned"), [("0.0.0.0", (), True), ("0.0.0.0", ("me:first-key",), False)]
)
def test_a_server_that_is_open_to_others_warns(
    host: str, keys: tuple[str, ...], warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It said nothing."""
    with serving(host=host, keys=keys):
        pass
    assert ("No API key is required: anyone" in caplog.text) == warned

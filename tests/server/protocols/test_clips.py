"""Voices of clips over HTTP: who may make them, what is asked for, and that a new one speaks at
once. The fit itself is another process, whose place a script takes here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from support.servers import KEY, serving

from sayahead.server.operation.keys import digest_of
from sayahead.server.protocols import clips

PATH = "/v1/voices/add"
OTHER_KEY = "another-key-of-this-server"
FIELDS = {"name": "My voice", "consent": "It is my own voice."}
SCRIPT = """
import json, sys
from pathlib import Path
from sayahead.cli import main
given = dict(one[2:].split("=", 1) for one in sys.argv[2:])
clip = Path(sys.argv[1]).read_bytes()
if clip == b"a letter":
    sys.exit(f"sayahead: error: {sys.argv[1]} cannot be read as a sound.")
Path(r"REPORT").write_text(json.dumps(given))
sys.exit(main(["voices", "shape", given["name"], "--pitch", "3"]))
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the script that stands for the fit says what it was asked for."""
    report = tmp_path / "given.json"
    script = tmp_path / "fit.py"
    script.write_text(SCRIPT.replace("REPORT", str(report)))
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "voices"))
    monkeypatch.setattr(clips, "COMMAND", (sys.executable, str(script)))
    monkeypatch.setattr(clips, "NICENESS", "0")
    return report


@pytest.fixture
def http(told: Path) -> Iterator[httpx.Client]:
    with serving() as server, httpx.Client(base_url=server.http) as client:
        yield client


def post(http: httpx.Client, clip: bytes = b"RIFF", /, **fields: str) -> httpx.Response:
    return http.post(
        PATH, data={**FIELDS, **fields}, files={"files": ("clip.wav", clip)}, timeout=120
    )


def message(answer: httpx.Response) -> str:
    return str(answer.json()["detail"]["message"])


def test_a_new_voice_speaks_at_once(http: httpx.Client, told: Path) -> None:
    answer = post(http, near="0.5")
    assert answer.json() == {"voice_id": "My-voice", "requires_verification": False}
    assert json.loads(told.read_text()) == {
        "name": "My-voice",
        "consent": "It is my own voice.",
        "near": "0.5",
    }
    names = [voice["voice_id"] for voice in http.get("/v1/voices").json()["voices"]]
    assert "My-voice" in names
    spoken = http.post(
        "/v1/text-to-speech/My-voice?output_format=pcm_8000",
        json={"text": "Here I am."},
        timeout=60,
    )
    assert spoken.status_code == 200
    assert len(spoken.content) > 1000


def test_what_was_wrong_with_the_clip_is_said_without_the_servers_folders(
    http: httpx.Client,
) -> None:
    answer = post(http, b"a letter")
    assert answer.status_code == 400
    assert message(answer) == "clip cannot be read as a sound."


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": ""}, "name is missing"),
        ({"name": "???"}, "name is missing"),
        ({"consent": ""}, "consent is missing: who agreed"),
    ],
)
def test_a_voice_has_a_name_and_somebody_who_agreed(
    fields: dict[str, str], sentence: str, http: httpx.Client
) -> None:
    answer = post(http, **fields)
    assert answer.status_code == 400
    assert sentence in message(answer)


def test_consent_may_be_a_label_as_other_clients_send_no_fields_of_their_own(
    http: httpx.Client, told: Path
) -> None:
    labels = json.dumps({"consent": "She agreed.", "accent": "none"})
    assert post(http, consent="", labels=labels).status_code == 200
    assert json.loads(told.read_text())["consent"] == "She agreed."


def test_a_form_without_a_clip_and_one_that_is_too_long(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "files is missing" in message(http.post(PATH, data=FIELDS, files={"other": b"x"}))
    assert "no form" in message(http.post(PATH, json=FIELDS))
    monkeypatch.setattr(clips, "MAX_BYTES", 1000)
    assert "send 5 to 20 seconds" in message(post(http, bytes(2000)))


def test_clients_elsewhere_make_no_voices_of_a_server_without_keys(http: httpx.Client) -> None:
    assert http.get(PATH).json() == {"allowed": True, "why": ""}
    proxied = {"X-Forwarded-For": "192.0.2.1"}
    refused = http.post(PATH, data=FIELDS, files={"files": b"RIFF"}, headers=proxied)
    assert refused.status_code == 403
    assert "on the server's own machine" in message(refused)
    assert http.get(PATH, headers=proxied).json()["allowed"] is False


def test_only_keys_that_the_settings_name(told: Path) -> None:
    keys = (f"maker:{KEY}", f"other:{OTHER_KEY}")
    assert digest_of(KEY, "maker") != digest_of(OTHER_KEY, "other")
    with serving(keys=keys, clip_keys=("maker",)) as server:
        for key, status in ((KEY, 200), (OTHER_KEY, 403), ("no-key-of-this-server", 401)):
            headers = {"xi-api-key": key}
            with httpx.Client(base_url=server.http, headers=headers) as http:
                assert post(http).status_code == status


def test_a_server_whose_voices_are_named_gets_no_others(told: Path) -> None:
    with serving(voices=("heart",)) as server, httpx.Client(base_url=server.http) as http:
        refused = post(http)
        assert refused.status_code == 403
        assert "that its settings name" in message(refused)

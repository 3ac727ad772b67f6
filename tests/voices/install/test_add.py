"""Voices into the user's folder and out of it, whole or not at all."""

from __future__ import annotations

import functools
import http.server
import io
import json
import os
import re
import shutil
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.whistled import whistled

from sayahead.engine.files import sha256
from sayahead.errors import ConfigError, VoiceError
from sayahead.sound.loudness import loudness
from sayahead.voice import load_voice
from sayahead.voices.install import add as adding
from sayahead.voices.install import catalogue as module
from sayahead.voices.install.add import add, for_trade, pack, remove
from sayahead.voices.install.catalogue import catalogue
from sayahead.voices.install.trial import TARGET_LUFS, kept, sample
from sayahead.voices.locations import home, installed_voices


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "voices"))
    return tmp_path / "voices"


@pytest.fixture
def silbo(tmp_path: Path) -> Path:
    return whistled(tmp_path / "silbo")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of a folder's files."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def packed(folder: Path, archive: Path) -> Path:
    """An archive of a voice's folder."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w") as zipped:
            zipped.write(folder / "voice.json", f"{folder.name}/voice.json")
    else:
        with tarfile.open(archive, "w:gz") as tarred:
            tarred.add(folder, folder.name)
    return archive


def test_a_folder_is_added_heard_and_removed(silbo: Path, own_home: Path) -> None:
    added = add(str(silbo))
    assert added.folder == own_home / "silbo" == installed_voices()["silbo"]
    voice = load_voice("silbo")
    assert loudness(voice.synthesize(sample("x-silbo")), voice.sample_rate) == pytest.approx(
        TARGET_LUFS, abs=0.2
    )
    assert kept(added.folder) == added.measured
    assert remove("silbo") == own_home / "silbo"
    assert not list(home().iterdir())


@pytest.mark.parametrize("name", ["silbo.zip", "silbo.tar.gz"])
def test_an_archive_is_added_under_another_name(silbo: Path, tmp_path: Path, name: str) -> None:
    added = add(str(packed(silbo, tmp_path / name)), name="whistle")
    assert added.config.name == "whistle"
    assert load_voice("whistle").config.name == "whistle"


@pytest.mark.parametrize("ending", [".tar.gz", ".tgz", ".tar.xz", ".tar", ".zip"])
def test_a_voice_is_packed_the_same_every_time(
    silbo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    archives = [tmp_path / f"one{ending}", tmp_path / f"two{ending}"]
    for later, archive in enumerate(archives):
        monkeypatch.setattr(time, "time", lambda later=later: 1e9 + 1000 * later)
        assert pack(silbo, archive) == []
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with pytest.raises(ConfigError, match="there already"):
        pack(silbo, archives[0])
    with pytest.raises(ConfigError, match="no name of an archive"):
        pack(silbo, tmp_path / "voice.exe")
    assert add(str(archives[0])).config.name == "silbo"


def test_a_packed_voice_takes_files_from_the_package(tmp_path: Path) -> None:
    heart = installed_voices()["heart"]
    own = tmp_path / "twin"
    shutil.copytree(heart, own)
    about = json.loads((own / "voice.json").read_text())
    (own / "voice.json").write_text(json.dumps(about | {"name": "twin"}))
    assert pack(own, tmp_path / "twin.zip") == list(about["files"])
    assert (tmp_path / "twin.zip").stat().st_size < 40_000
    assert load_voice(add(str(tmp_path / "twin.zip")).folder).config.files == about["files"]


def test_a_name_is_taken_once_and_by_wish_again(silbo: Path) -> None:
    add(str(silbo))
    with pytest.raises(ConfigError, match="already"):
        add(str(silbo))
    assert add(str(silbo), replace=True).config.name == "silbo"
    assert [path.name for path in home().iterdir()] == ["silbo"]


def test_a_download_is_what_was_promised(silbo: Path, tmp_path: Path) -> None:
    archive = packed(silbo, tmp_path / "silbo.zip")
    digest = sha256(archive)
    progress = list[tuple[str, int, int | None]]()
    with served(tmp_path) as address:
        source = f"{address}/silbo.zip"
        with pytest.raises(ConfigError, match="SHA-256"):
            add(source)
        with pytest.raises(VoiceError, match="not what was promised"):
            add(source, sha256="0" * 64)
        with pytest.raises(VoiceError, match="cannot be downloaded"):
            add(f"{address}/none.zip", sha256=digest)
        assert not list(home().iterdir())
        added = add(source, sha256=digest, progress=lambda *told: progress.append(told))
    assert added.config.name == "silbo"
    assert progress[-1] == ("silbo.zip", archive.stat().st_size, archive.stat().st_size)


def test_an_archive_of_the_release_is_added_by_name(
    silbo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = sha256(packed(silbo, tmp_path / "silbo.tar.gz"))
    monkeypatch.setattr(module, "archives", lambda: {"silbo": digest})
    with served(tmp_path) as address:
        monkeypatch.setattr(module, "RELEASE", address)
        assert module.downloads("silbo")[0][1] == f"{address}/silbo.tar.gz"
        assert add("silbo").config.name == "silbo"
        (tmp_path / "silbo.tar.gz").write_bytes(b"another")
        with pytest.raises(VoiceError, match="not what was promised"):
            add("silbo", replace=True)
    assert "silbo" in installed_voices()


def test_a_voice_of_the_registry_is_listed_and_added_by_name(
    silbo: Path, sayahead: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = sha256(packed(silbo, tmp_path / "silbo.tar.gz"))
    with served(tmp_path) as address:
        line = f"silbo\tgom\tCC0-1.0\t{address}/silbo.tar.gz\t{digest}\tGomera, gomera.example"
        monkeypatch.setattr(
            module, "community", lambda: {"silbo": module.Shared(*line.split("\t"))}
        )
        listed = sayahead("voices", "catalogue", "gom")[0].decode()
        assert all(told in listed for told in ("silbo", "CC0-1.0", "Gomera"))
        assert add("silbo").config.name == "silbo"
        (tmp_path / "silbo.tar.gz").write_bytes(b"another")
        with pytest.raises(VoiceError, match="not what was promised"):
            add("silbo", replace=True)


def test_the_registry_has_addresses_with_digests_and_licences() -> None:
    for name, entry in module.community().items():
        assert re.fullmatch("[a-z0-9-]+", name)
        assert entry.address.startswith("https://")
        assert re.fullmatch("[0-9a-f]{64}", entry.digest)
        assert all((entry.language, entry.license, entry.maker))


def test_without_a_network_all_addresses_and_the_way_by_hand_are_told(
    sayahead: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "BASE", "http://127.0.0.1:9/")
    entry = catalogue()["fr_FR-siwis-medium"]
    for words in (("add", entry.key), ("download", entry.key, "-o", str(tmp_path / "there"))):
        message = sayahead("voices", *words, code=2)[1]
        for _, address, _ in entry.downloads():
            assert f"  {address}\n" in message
        assert f"sayahead voices add FOLDER/{entry.key}.onnx" in message
        assert "Nothing was added" in message
    printed = sayahead("voices", "download", "kokoro", "--print")[0].decode()
    assert "/kokoro-v1.0.int8.onnx  (save it as kokoro.onnx)\n" in printed
    assert "/config.json\n" in printed
    assert "no voice of this name" in sayahead("voices", "download", "nobody", code=2)[1]


def test_a_voice_is_downloaded_and_added_elsewhere(
    silbo: Path, sayahead: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = sha256(packed(silbo, tmp_path / "silbo.tar.gz"))
    monkeypatch.setattr(module, "archives", lambda: {"silbo": digest})
    with served(tmp_path) as address:
        monkeypatch.setattr(module, "RELEASE", address)
        told = sayahead("voices", "download", "silbo", "-o", str(tmp_path / "there"))[0].decode()
    assert f"sayahead voices add {tmp_path / 'there' / 'silbo.tar.gz'}" in told
    assert "silbo" not in installed_voices()
    assert add(str(tmp_path / "there" / "silbo.tar.gz")).config.name == "silbo"


def test_kokoro_that_was_downloaded_has_its_licence(
    silbo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = packed(silbo, tmp_path / "silbo.zip")
    with served(tmp_path) as address:
        monkeypatch.setattr(
            module, "KOKORO_FILES", (("silbo.zip", f"{address}/silbo.zip", sha256(archive)),)
        )
        added = add("kokoro", name="kokoro")
    assert added.config.license == "Apache-2.0"


def test_a_voice_whose_files_are_nowhere_says_where_they_are(tmp_path: Path) -> None:
    own = tmp_path / "twin"
    shutil.copytree(installed_voices()["heart"], own)
    about = json.loads((own / "voice.json").read_text())
    (own / "voice.json").write_text(
        json.dumps(about | {"name": "twin", "files": {"text.onnx": "0" * 64}})
    )
    (own / "text.onnx").unlink()
    with pytest.raises(VoiceError, match=r"lacks text\.onnx.* pip install sayahead-voices-papers"):
        add(str(own))


def evil(path: Path, name: str) -> Path:
    with tarfile.open(path, "w") as tarred:
        entry = tarfile.TarInfo(name)
        entry.size = 1
        tarred.addfile(entry, io.BytesIO(b"x"))
    return path


def test_what_cannot_be_added_leaves_nothing(silbo: Path, tmp_path: Path, own_home: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("a")
    (tmp_path / "bad.zip").write_bytes(b"PK no")
    (tmp_path / "bad.tar.gz").write_bytes(b"no")
    wrong = whistled(tmp_path / "wrong")
    about = json.loads((wrong / "voice.json").read_text())
    (wrong / "voice.json").write_text(json.dumps(about | {"kind": "unheard-of"}))
    cases: list[tuple[str | Path, dict[str, Any], type[Exception], str]] = [
        ("no-such-thing", {}, ConfigError, "no file or folder"),
        ("de_DE-thorsten-mediun", {}, ConfigError, "de_DE-thorsten-medium"),
        (tmp_path / "empty", {}, VoiceError, "no voice.json"),
        (tmp_path / "text.txt", {}, ConfigError, "not a voice that can be added"),
        (tmp_path / "bad.zip", {}, VoiceError, "cannot be unpacked"),
        (tmp_path / "bad.tar.gz", {}, VoiceError, r"bad\.tar\.gz cannot be unpacked: [^\n]+\.\Z"),
        (evil(tmp_path / "a.tar", "../x"), {}, VoiceError, "lies outside"),
        (evil(tmp_path / "b.tar", "/x"), {}, VoiceError, "lies outside"),
        (wrong, {}, VoiceError, "unheard-of"),
        (silbo, {"name": "heart"}, ConfigError, "came with sayahead"),
        (silbo, {"name": "../up"}, ConfigError, "not a name for a voice"),
        (silbo, {"sha256": "0" * 64}, ConfigError, "not an address"),
    ]
    for source, options, error, message in cases:
        with pytest.raises(error, match=message):
            add(str(source), **options)
        assert not list(own_home.iterdir())
    assert not (tmp_path / "x").exists()


def long_name(archive: Path) -> Path:
    """An archive of a file with a name of 2 MB, which GNU's tar writes before it."""
    with tarfile.open(archive, "w:gz", format=tarfile.GNU_FORMAT) as tarred:
        tarred.addfile(tarfile.TarInfo("a" * 2_000_000))
    return archive


def many_files(archive: Path) -> Path:
    """One of more files than a voice has, and then nothing that can be read."""
    with tarfile.open(archive, "w:gz") as tarred:
        for number in range(300):
            tarred.addfile(tarfile.TarInfo(str(number)))
    return archive


def test_archives_take_no_more_than_they_may(tmp_path: Path, own_home: Path) -> None:
    """2.3 MB became 576 MB of memory, and 300,000 entries were all read before they were
    counted."""
    sound = many_files(tmp_path / "many.tar.gz").read_bytes()
    xz = b"\xfd7zXZ\0\0\4" + bytes(range(200))
    cases = [
        (long_name(tmp_path / "long.tar.gz"), "longer than any voice's"),
        (tmp_path / "many.tar.gz", "more than 200 files"),
        *(
            (damaged(tmp_path / f"{n}.tar.gz", sound[:n] + b"\xff" + sound[n + 1 :]), ".")
            for n in (12, 40, 200)
        ),
        (damaged(tmp_path / "bad.tar.xz", xz), "cannot be unpacked"),
    ]
    for archive, why in cases:
        with pytest.raises(VoiceError, match=why):
            add(str(archive))
        assert not list(own_home.iterdir())
    with pytest.raises(ConfigError, match="no file or folder"):
        add("http://[::1/x.zip", sha256=None)


def damaged(archive: Path, data: bytes) -> Path:
    archive.write_bytes(data)
    return archive


def test_one_of_two_who_add_a_name_has_it(
    silbo: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both said that they had added it; and what a killed one had begun was left for ever."""
    left = own_home / ".adding-dead"
    left.mkdir(parents=True)
    (left / "file").write_bytes(b"a")
    os.utime(left, (0, 0))
    alive = own_home / ".adding-alive"
    alive.mkdir()
    inner = adding.try_voice

    def meanwhile(folder: Path, name: str) -> Any:
        shutil.copytree(folder, own_home / name)
        return inner(folder, name)

    monkeypatch.setattr(adding, "try_voice", meanwhile)
    with pytest.raises(ConfigError, match="added meanwhile"):
        add(str(silbo))
    assert sorted(path.name for path in own_home.iterdir()) == [".adding-alive", "silbo"]


def test_a_network_of_hidden_states_is_the_voices_own(silbo: Path, tmp_path: Path) -> None:
    """An absolute path was loaded, and needed no place in the list of files."""
    about = json.loads((silbo / "voice.json").read_text())
    for graph in ("/etc/hostname", "../a.onnx", "unlisted.onnx"):
        hidden = {"graph": graph, "width": 4, "model": "none"}
        (silbo / "voice.json").write_text(json.dumps(about | {"hidden": hidden}))
        with pytest.raises(VoiceError, match="files does not list"):
            load_voice(silbo)


def test_only_added_voices_are_removed() -> None:
    messages = {"heart": "came with sayahead and stays", "nobody": "none was added"}
    if "ma-lj" in installed_voices():
        messages["ma-lj"] = "goes with it: pip uninstall sayahead-voices-papers"
    for name, message in messages.items():
        with pytest.raises(VoiceError, match=message):
            remove(name)


def test_licences_that_forbid_trade() -> None:
    assert not any(
        map(for_trade, ("CC-BY-NC-4.0", "CC BY-NC-SA 4.0", "Non-commercial", "research use only"))
    )
    assert all(map(for_trade, ("CC0-1.0", "Apache-2.0", "MIT", "CC-BY-4.0", "")))


def test_the_catalogue_names_what_is_fetched() -> None:
    entries = catalogue()
    assert len(entries) > 150
    joe = entries["en_US-joe-medium"]
    assert (joe.language, joe.speakers) == ("en-US", 1)
    names = {name: (address, digest) for name, address, digest in joe.downloads()}
    assert names["en_US-joe-medium.onnx"][0].endswith("/en/en_US/joe/medium/en_US-joe-medium.onnx")
    assert all(
        len(digest.value) == 32 for entry in entries.values() for *_, digest in entry.downloads()
    )


def test_the_command_line(sayahead: Command, silbo: Path, tmp_path: Path) -> None:
    told = sayahead("voices", "add", str(silbo))[0].decode()
    assert "Added silbo" in told
    assert "a second of speech takes" in told
    assert any(line.startswith("silbo ") for line in sayahead("voices")[0].decode().splitlines())
    assert [
        row["name"] for row in json.loads(sayahead("voices", "--language", "x", "--json")[0])
    ] == ["silbo"]
    sayahead("voices", "try", "silbo", "-o", str(tmp_path / "out.wav"))
    assert (tmp_path / "out.wav").stat().st_size > 1000
    assert "de_DE-thorsten-medium" in sayahead("voices", "catalogue", "German")[0].decode()
    assert "Klingon" in sayahead("voices", "catalogue", "Klingon", code=2)[1]
    (home() / "broken").mkdir()
    (home() / "broken" / "voice.json").write_text("{")
    assert "broken" in sayahead("voices")[0].decode()
    assert "Removed" in sayahead("voices", "remove", "silbo")[0].decode()
    assert "none was added" not in sayahead("voices", "remove", "silbo", code=2)[1]

"""Settings: where they come from, and what is wrong with them."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from sayahead import ConfigError
from sayahead.cli import serve
from sayahead.server.operation.settings import load_settings, names, settings_of


def test_without_anything_the_server_is_this_machines_own() -> None:
    settings = load_settings(environment={"PATH": "/bin", "SAYAHEAD_WHISPER": "x"})
    assert settings == settings_of({})
    assert settings.host == "127.0.0.1"


def test_flags_outweigh_the_environment_and_that_the_file(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(
        'port = 1\nhost = "0.0.0.0"\nlog = "json"\n[limits]\nidle_s = 5\ncontexts = 3\n',
        encoding="utf-8",
    )
    environment = {
        "SAYAHEAD_SERVE_PORT": "2",
        "SAYAHEAD_SERVE_LIMITS_IDLE_S": "7.5",
        "SAYAHEAD_SERVE_KEYS": "a:b, c",
    }
    settings = load_settings(
        file, environment=environment, given={"port": 3, "limits.contexts": "4", "page": "no"}
    )
    assert (settings.port, settings.host, settings.log, settings.page) == (
        3,
        "0.0.0.0",
        "json",
        False,
    )
    assert settings.keys == ("a:b", "c")
    assert (settings.limits.idle_s, settings.limits.contexts) == (7.5, 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("prot = 1", "serve.toml: unknown key 'prot' .did you mean 'port'"),
        ("[limits]\nidle = 1", "limits: unknown key 'idle' .did you mean 'idle_s'"),
        ('port = "x"', "port: expected int"),
        ("port = 70000", "must be a whole number from 0 to 65535"),
        ("workers = 0", "workers is 0, but must be a whole number from 1 to 1024"),
        ("workers = 2000", "workers is 2000, but must be a whole number from 1 to 1024"),
        ("drain_s = -1", "drain_s is -1.0, but must be a number of at least 0"),
        ("drain_s = nan", "must be a number of at least 0"),
        ("breath_s = -0.1", "breath_s is -0.1, but must be a number of at least 0"),
        (
            "[limits]\nsession_s = inf",
            "limits: session_s is inf, but must be a number of at least 0.01",
        ),
        (
            "[limits]\ncontexts = 0",
            "limits: contexts is 0, but must be a whole number of at least 1",
        ),
        (
            "[limits]\nsessions = -1",
            "limits: sessions is -1, but must be a whole number of at least 0",
        ),
        ('log = "jsn"', "did you mean 'json'"),
        ("port", "is not TOML"),
    ],
)
def test_a_wrong_file_says_where(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_settings(file, environment={})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.toml cannot be read"):
        load_settings(tmp_path / "nothing.toml", environment={})


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (
            {"SAYAHEAD_SERVE_PROT": "1"},
            "SAYAHEAD_SERVE_PROT is unknown .did you mean 'SAYAHEAD_SERVE_PORT'",
        ),
        ({"SAYAHEAD_SERVE_PORT": "x"}, "SAYAHEAD_SERVE_PORT is 'x', but must be a whole number"),
        ({"SAYAHEAD_SERVE_PAGE": "perhaps"}, "must be true or false"),
    ],
)
def test_a_wrong_variable_is_named(environment: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_settings(environment=environment)


def test_a_wrong_name_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"no setting 'limits.idel_s' .did you mean 'limits.idle_s'"
    ):
        load_settings(environment={}, given={"limits.idel_s": "1"})


def test_every_setting_has_a_variable_of_its_own() -> None:
    variables = [name.upper().replace(".", "_") for name in names()]
    assert len(set(variables)) == len(variables)


def test_a_breath_is_on_and_a_flag_changes_it() -> None:
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    for flags, breath_s in (([], 0.6), (["--breath", "0"], 0.0), (["--breath", "1.5"], 1.5)):
        settings = load_settings(None, environment={}, given=serve.given(parser.parse_args(flags)))
        assert settings.breath_s == breath_s

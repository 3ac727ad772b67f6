"""``sayahead serve``: speech for other programs, over WebSockets and HTTP."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from pathlib import Path
from typing import Any

from sayahead.cli import FAILED, INTERRUPTED
from sayahead.config import documented
from sayahead.errors import ConfigError

EPILOG = """examples:
  sayahead serve                                  on this machine: http://127.0.0.1:8000
  sayahead serve --host 0.0.0.0 --keys-file keys  on the network, with API keys
  sayahead serve --config serve.toml --set limits.idle_s=60
Every setting can also be set by an environment variable: SAYAHEAD_SERVE_PORT=9000, SAYAHEAD_SERVE_LIMITS_IDLE_S=60.
"""  # noqa: E501
FLAGS = {
    "voices": "voice",
    "origins": "origin",
    "hosts": "allowed-host",
    "breath_s": "breath",
    "drain_s": "drain",
}
"""Flags whose names differ from their settings."""
STAND_INS = {
    "voices": "NAME",
    "lexicon": "FILE",
    "workers": "N",
    "step_words": "N",
    "usage": "FILE",
    "origins": "URL",
    "hosts": "NAME",
    "proxies": "ADDRESS",
    "certificate": "FILE",
    "certificate_key": "FILE",
    "log": "FORM",
    "wyoming": "URL",
}
"""Placeholders for the values of flags, where the last word of the name is not clear."""
NO_FLAGS = ("keys", "token_secret", "usage_database", "limits", "protocols")
"""Settings without a flag: secrets, which other users of the machine could see, and tables."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    try:
        from sayahead.server.operation.settings import Settings, declared

        records: list[type] = [Settings, *declared()]
    except ImportError as error:
        raise missing(error) from error
    add = parser.add_argument
    for record in records:
        descriptions = documented(record)
        for field in dataclasses.fields(record):
            if field.name in NO_FLAGS:
                continue
            flag = "--" + FLAGS.get(field.name, field.name).replace("_", "-")
            default = field.default
            text = descriptions.get(field.name, "").rstrip(".").replace("%", "%%")
            # Lower case as in all help, except for names such as API.
            text = text if text[:2].isupper() else text[:1].lower() + text[1:]
            if isinstance(default, bool):
                add(
                    flag,
                    dest=field.name,
                    action=argparse.BooleanOptionalAction,
                    default=None,
                    help=text,
                )
            else:
                is_list = default == ()
                if is_list:
                    text += "; may be repeated"
                elif default is not None:
                    text += f" (default: {default})"
                action = "append" if is_list else "store"
                stand_in = STAND_INS.get(field.name) or field.name.rpartition("_")[2].upper()
                add(flag, dest=field.name, action=action, metavar=stand_in, help=text)
    add("--config", type=Path, metavar="FILE", help="TOML file with settings")
    check = "say what the settings leave open and whether the ports can be had, and end"
    add("--check", action="store_true", help=check)
    add(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        help="any setting, such as limits.sessions=64",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C; return the exit code. Changed files are adopted, also on
    SIGHUP."""
    try:
        from sayahead.server.hub import Hub
        from sayahead.server.operation import logs, malloc
        from sayahead.server.operation.settings import load_settings
        from sayahead.server.process import check
        from sayahead.server.process.run import Server, check_ports
        from sayahead.server.process.supervisor import Supervisor, processes_of
        from sayahead.server.synthesis.capacity import threads_for
    except ImportError as error:
        raise missing(error) from error
    reread = functools.partial(load_settings, arguments.config, given=given(arguments))
    settings = reread()
    logs.set_up(settings.log, text=settings.log_text)
    if not arguments.check and (processes := processes_of(settings)) > 1:
        supervisor = Supervisor(settings, processes, config=arguments.config, reread=reread)
        return supervisor.run() or INTERRUPTED * supervisor.interrupted
    malloc.bound_heaps(threads_for(settings, 1))
    hub = Hub(settings, config=arguments.config, reread=reread)
    if arguments.check:
        hub.close()
        print(*check.findings(hub), *check.taken(settings), sep="\n")
        return 0
    # Report problems with a port or voice before anybody connects; gRPC and Wyoming open their
    # ports too late for that.
    try:
        check_ports(settings)
        hub.start()
    except BaseException:
        hub.close()
        raise
    malloc.keep()
    server = Server(hub)
    server.run()
    return INTERRUPTED * server.interrupted if server.started else FAILED


def missing(error: ImportError) -> ConfigError:
    """Return the error for a missing package."""
    return ConfigError(f"sayahead serve needs {error.name}: pip install 'sayahead[server]'.")


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings given as flags."""
    flags = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
    }
    flags = {
        name: value
        for name, value in flags.items()
        if value is not None and name not in ("config", "check", "set")
    }
    for entry in arguments.set or ():
        name, equals, value = entry.partition("=")
        if not equals:
            raise ConfigError(f"--set {entry}: write NAME=VALUE, for example limits.sessions=64.")
        flags[name.strip()] = value.strip()
    return flags

"""``sayahead serve``: speech for others, over sockets and HTTP."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sayahead.cli import number, one_of
from sayahead.errors import ConfigError

HELP = "serve speech to other programs"
EPILOG = """examples:
  sayahead serve                                  on this machine: http://127.0.0.1:8000
  sayahead serve --host 0.0.0.0 --keys-file keys  on the network, with API keys
  sayahead serve --config serve.toml --set limits.idle_s=60
Every setting can also be set by an environment variable: SAYAHEAD_SERVE_PORT=9000, SAYAHEAD_SERVE_LIMITS_IDLE_S=60.
"""
# Flags that are settings under the same name.
SAME = "host port keys_file lexicon workers wyoming grpc_port log certificate certificate_key breath_s drain_s".split()
LEXICON_HELP = "how words are said in all texts: lines such as Nguyen = /ˈwɪn/ or SQL = sequel, or a PLS file"
BREATH_HELP = "after so long without text, speak what is there, then go on; 0 is never (default: 0.6)"
VOICE_HELP = (
    "offer only this voice, a name or folder; may be repeated, the first is the default (default: all installed)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add, port, seconds = parser.add_argument, number(int, 0, 65535), number(float, 0.0)
    add("--host", metavar="ADDRESS", help="address to listen on (default: 127.0.0.1)")
    add("--port", type=port, metavar="N", help="port to listen on; 0 picks a free one (default: 8000)")
    add("--voice", action="append", metavar="NAME", help=VOICE_HELP)
    add("--keys-file", metavar="FILE", help="file of API keys, one NAME:KEY per line; clients then need one")
    add("--lexicon", metavar="FILE", help=LEXICON_HELP)
    add("--origin", action="append", metavar="URL", help="let web pages of this origin connect; * allows any")
    add("--wyoming", metavar="URL", help="also listen for Home Assistant, at an address such as tcp://0.0.0.0:10200")
    add("--grpc-port", type=port, metavar="N", help="also serve Google's Text-to-Speech over gRPC, on this port")
    add("--zeroconf", action="store_true", help="announce the Wyoming address on the local network")
    add("--workers", type=number(int, 1, 1024), metavar="N", help="synthesis threads (default: one per CPU core)")
    add("--certificate", metavar="FILE", help="PEM certificate, for https and wss")
    add("--certificate-key", metavar="FILE", help="its private key")
    add("--breath", dest="breath_s", type=seconds, metavar="S", help=BREATH_HELP)
    add(
        "--drain",
        dest="drain_s",
        type=seconds,
        metavar="S",
        help="how long utterances may continue after SIGTERM (default: 30)",
    )
    add("--log", type=one_of("text", "json"), metavar="FORM", help="log format: text (default) or json")
    add("--config", type=Path, metavar="FILE", help="TOML file with settings")
    add(
        "--check",
        action="store_true",
        help="say what the settings leave open and whether the ports can be had, and end",
    )
    add("--set", action="append", metavar="NAME=VALUE", help="any setting, such as limits.sessions=64")


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    try:
        from sayahead.engine.onnx import cores
        from sayahead.server.hub import Hub
        from sayahead.server.operation import check, logs, memory
        from sayahead.server.operation.run import Server, check_ports
        from sayahead.server.operation.settings import load_settings
    except ImportError as error:
        raise ConfigError(f"sayahead serve needs {error.name}: pip install 'sayahead[server]'.") from error
    settings = load_settings(arguments.config, given=given(arguments))
    logs.set_up(settings.log, text=settings.log_text)
    memory.bound_heaps(settings.workers or cores())
    hub = Hub(settings)
    if arguments.check:
        hub.close()
        print(*check.findings(hub), *check.taken(settings), sep="\n")
        return 0
    # Report problems with a port or a voice before anybody connects; gRPC and Wyoming open theirs too late for that.
    try:
        check_ports(settings)
        hub.start()
    except BaseException:
        hub.close()
        raise
    memory.keep()
    server = Server(hub)
    server.run()
    return 0 if server.started else 1


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given as flags."""
    flags: dict[str, Any] = {name: getattr(arguments, name) for name in SAME if getattr(arguments, name) is not None}
    if arguments.voice:
        flags["voices"] = tuple(arguments.voice)
    if arguments.origin:
        flags["origins"] = tuple(arguments.origin)
    if arguments.zeroconf:
        flags["zeroconf"] = True
    for entry in arguments.set or ():
        name, equals, value = entry.partition("=")
        if not equals:
            raise ConfigError(f"--set {entry}: write NAME=VALUE, for example limits.sessions=64.")
        flags[name.strip()] = value.strip()
    return flags

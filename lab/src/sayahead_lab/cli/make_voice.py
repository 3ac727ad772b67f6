"""``sayahead train voice``: trained runs become a voice folder, which needs no torch."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.cli.console import Console
from sayahead.errors import ConfigError
from sayahead.policies.learned import Network
from sayahead.voice import load_voice
from sayahead.voices import installed_voices

from sayahead_lab.training.voice import exchange_vocoder, extend_voice, make_heart, make_voice

if TYPE_CHECKING:
    from sayahead_lab.training.loop.saved_run import Trained

HELP = "make a voice from the runs of an acoustic model and a vocoder"
EPILOG = r"""Two runs become a folder that every command accepts as --voice:

  sayahead train voice --acoustic runs/dv3-small --vocoder runs/melvocoder --name ma-lj -o voices/ma-lj
  sayahead say --voice voices/ma-lj "It learned to speak."

The vocoder can be another voice's, used in place; a context student is added with its word vectors:

  sayahead train voice --acoustic runs/guided-small --vocoder ma-lj --student runs/student-medium --name saeki-lj \
    -o voices/saeki-lj

An installed voice can be heard with another vocoder:

  sayahead train voice --acoustic ma-lj --vocoder runs/clarinet-small --name ma-clarinet -o voices/ma-clarinet

The default voice, as imported from hibari-tts, and with what it has learned since:

  sayahead train voice --heart lab/recipes/heart/voice.toml -o voices/imported
  sayahead train voice --heart lab/recipes/heart/voice.toml --acoustic runs/heart-prefixes-near \
    --student runs/heart-student-voice --policy runs/heart-policy -o voices/heart
  sayahead train voice --heart lab/recipes/heart/voice.toml --acoustic runs/memory \
    --student heart --policy FOLDER/policy.npz -o voices/heart

and the same weights in graphs as they are written today, to the bit:

  sayahead train voice --heart lab/recipes/heart/voice.toml --acoustic heart --student heart \
    --policy FOLDER/policy.npz -o voices/heart

Another speaker in the default voice's networks, which need no vocoder (a run that "sayahead train own" has ended with):

  sayahead train voice --acoustic runs/mine/prosody --name mine --license ID -o voices/mine

A student, a policy or an agent can be added to an existing voice:

  sayahead train voice --policy runs/heart-policy -o voices/heart
"""  # noqa: E501


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--acoustic",
        metavar="RUN",
        type=Path,
        help="the acoustic model's run or checkpoint, or a voice's name",
    )
    add(
        "--vocoder",
        metavar="RUN",
        type=Path,
        help="the vocoder's run, or a voice's name for its vocoder",
    )
    add(
        "--heart",
        metavar="VOICE.toml",
        type=Path,
        help="make the default voice, with these settings",
    )
    add(
        "--student",
        metavar="RUN",
        type=Path,
        help="a context student's run, or a voice for its student",
    )
    add("--policy", metavar="RUN", type=Path, help="a learned policy's run, or a file policy.npz")
    add(
        "--agent",
        metavar="RUN",
        type=Path,
        help="an agent's run, the policy of a voice that reads characters",
    )
    about = (
        "another speaker: use heart's context network and its student in place, for voices that go"
        " with it"
    )
    add("--borrow", action="store_true", default=None, help=about)
    add("--name", metavar="NAME", help="the voice's name")
    add("-o", "--out", metavar="FOLDER", type=Path, required=True, help="where the voice goes")
    add("--description", metavar="TEXT", help="one line about the voice")
    add(
        "--license",
        metavar="ID",
        help="SPDX identifier (default: Apache-2.0 if the default voice was the teacher)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the folder and load the voice; the exit code."""
    console = Console(quiet=False)
    make(arguments)
    voice = load_voice(arguments.out)
    size = sum(path.stat().st_size for path in arguments.out.glob("*.onnx"))
    console.note(f"{arguments.out}: {voice.config.name}, {size / 1e6:.1f} MB of graphs, loads")
    return 0


def make(arguments: argparse.Namespace) -> None:
    """Write what the options ask for; ConfigError for options that exclude each other."""
    options = {name for name, value in vars(arguments).items() if value is not None}
    extras: dict[str, Any] = {
        "student": arguments.student and named_or_run(arguments.student),
        "policy": arguments.policy and network(arguments.policy),
    }
    if arguments.heart is not None:
        refuse(
            options & {"vocoder", "name", "description", "license", "agent", "borrow"}, "--heart"
        )
        acoustic = arguments.acoustic and named_or_run(arguments.acoustic)
        make_heart(arguments.heart, arguments.out, acoustic=acoustic, **extras)
        return
    extras["agent"] = arguments.agent and load(arguments.agent)
    if arguments.acoustic is None:
        refuse(
            options & {"vocoder", "name", "description", "license", "borrow"}, "an existing voice"
        )
        if not options & set(extras):
            raise ConfigError(
                "Nothing to make: give --acoustic and --vocoder, --heart, or what to add to a"
                " voice."
            )
        extend_voice(arguments.out, **extras)
        return
    make_from_runs(arguments, options, extras)


def make_from_runs(
    arguments: argparse.Namespace, options: set[str], extras: dict[str, Any]
) -> None:
    """Write a voice with the acoustic model that is named."""
    about = {key: getattr(arguments, key) for key in ("name", "description", "license")}
    first = str(arguments.acoustic)
    vocoder = str(arguments.vocoder)
    voices = installed_voices()
    if arguments.vocoder is None and arguments.name is not None and first not in voices:
        run = load(arguments.acoustic)
        if run.recipe.task == "heart-voice":
            refuse(options & {"agent"}, "a voice with the default voice's networks")
            if arguments.borrow:
                refuse(options & {"student"}, "a voice that borrows heart's")
            del extras["agent"]
            from sayahead_lab.training.heart.speaker import make_speaker

            make_speaker(run, arguments.out, **about, **extras, borrow=bool(arguments.borrow))
            return
    refuse(options & {"borrow"}, "any voice but another speaker with the default voice's networks")
    if arguments.vocoder is None or arguments.name is None:
        raise ConfigError("--acoustic needs --vocoder (a run or a voice's name) and --name.")
    if first in voices:
        refuse(
            options & set(extras) | ({"vocoder"} if vocoder in voices else set()),
            "an installed voice's acoustic model",
        )
        exchange_vocoder(first, load(arguments.vocoder), arguments.out, **about)
        return
    second = vocoder if vocoder in voices else load(arguments.vocoder)
    make_voice(load(arguments.acoustic), second, arguments.out, **about, **extras)


def refuse(options: set[str], what: str) -> None:
    """ConfigError for options that do not apply to this kind of voice."""
    if options:
        raise ConfigError(f"--{min(options)} does not apply to {what}: leave it out.")


def named_or_run(path: Path) -> Trained[Any, Any] | str:
    """A voice's name or folder as it is, or a run's model."""
    return (
        str(path)
        if str(path) in installed_voices() or (path / "voice.json").is_file()
        else load(path)
    )


def load(path: Path) -> Trained[Any, Any]:
    """A run's model."""
    from sayahead_lab.training.loop.saved_run import load_trained

    return load_trained(path)


def network(path: Path) -> Network:
    """A learned policy of a run or a file."""
    if path.suffix == ".npz":
        return Network.load(path)
    from sayahead_lab.training.learned.task import Deciding, LearnedTask
    from sayahead_lab.training.loop.saved_run import load_run_of

    run = load_run_of(LearnedTask, Deciding, path)
    return run.task.network(run.model)

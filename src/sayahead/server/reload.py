"""What a running server takes over from changed files, and on SIGHUP: no conversation ends, and
nothing half-way."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import math
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Access, check_certificate
from sayahead.server.operation.owner import Worker
from sayahead.server.operation.settings import Settings
from sayahead.server.voices import Voices
from sayahead.text.saying.lexicon import Lexicon

log = logging.getLogger("sayahead.server")
LOOK_S = 0.1
"""Between two looks at the files."""
QUIET_S = 1.0
"""A file that is written in place is taken when it was the same for so long: half of it may be
there. One that was renamed into its place is whole, and taken when it was the same at two looks."""
FEWER_S = 10.0
"""The same for a keys file that has fewer than half of its keys."""
RENAME = "Write another file beside it, and rename that one."
UNLOAD_EACH = 250
"""Looks until voices are looked for that nobody uses."""
FILES = ("certificate", "certificate_key", "keys_file", "lexicon")
TAKEN_OVER = (
    "voices lexicon keys keys_file token_s hosts certificate certificate_key breath_s drain_s"
    " unload_s limits"
)
"""Settings that a running server takes over; the others need a new one."""


State: TypeAlias = tuple[int, int, int] | None
"""When a file was changed, how long it is, and which one it is; None where there is none."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file at the last look."""

    state: State
    since: float
    """When it was first seen so."""


@dataclass(slots=True)
class Wanted:
    """What a part of the settings is to become, and what was made of it."""

    settings: Settings
    access: Access | None = None
    lexicon: Lexicon | None = None
    voices: Voices | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Settings that are taken over together: a mistake in one part holds up no other."""

    names: tuple[str, ...]
    read: Callable[[Wanted], Awaitable[None]]
    keys: bool = False
    """Whether it says who may connect: it waits for no other part."""


class Reloader:
    """Watches a server's files."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        # Keys that are to go wait behind no lexicon, no voice, and nothing else that takes long or
        # hangs.
        self._keys_thread = Worker("reload-keys")
        self._thread = Worker("reload")
        # Files as they were at the last look, when they were last taken over, and when that was
        # last tried.
        self._seen = {path: Seen(state(path), -math.inf) for path in self._files()}
        self._taken = {path: seen.state for path, seen in self._seen.items()}
        self._tried = dict(self._taken)
        # Keys files that have suspiciously few keys.
        self._fewer = dict[Path, State]()
        # One after the other: what is read later holds.
        self._one = asyncio.Lock()
        self._one_of_keys = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._parts = (
            Part(("keys", "keys_file", "hosts", "token_s"), self._access, keys=True),
            Part(("certificate", "certificate_key"), self._certificate),
            Part(("lexicon",), self._lexicon),
            Part(("voices",), self._voices),
        )

    def _files(self) -> list[Path]:
        settings = self._hub.settings
        config = self._hub.config
        names = (config, *(getattr(settings, name) for name in FILES))
        return [Path(name) for name in names if name is not None]

    async def _look(self) -> None:
        """See how the files are now."""
        paths = self._files()
        states = await self._keys_thread.run(lambda: [state(path) for path in paths])
        now = time.monotonic()
        before = self._seen
        self._seen = {
            path: (
                before[path] if path in before and before[path].state == found else Seen(found, now)
            )
            for path, found in zip(paths, states, strict=True)
        }

    def _new(self, *files: str | Path | None) -> list[Path]:
        """Those of the files that are others than were taken over, or tried."""
        paths = [Path(file) for file in files if file is not None]
        return [
            path
            for path in paths
            if path in self._seen and self._seen[path].state != self._tried.get(path)
        ]

    def _in_place(self, path: Path) -> bool:
        """Whether a file was written where it was, or is a new one, so that half of it may be
        there."""
        seen = self._seen[path].state
        taken = self._taken.get(path)
        return taken is None or (seen is not None and seen[2] == taken[2])

    def _quiet_s(self, path: Path) -> float:
        """For how long a file has been the same."""
        return time.monotonic() - self._seen[path].since

    def _settled(self, paths: Iterable[Path]) -> bool:
        """Whether the files are whole, by all that can be seen."""
        return all(self._quiet_s(path) >= self._wait_s(path) for path in paths)

    def _wait_s(self, path: Path) -> float:
        """For how long a file must have been the same to be taken for whole."""
        if path in self._fewer and self._fewer[path] == self._seen[path].state:
            return FEWER_S
        return QUIET_S if self._in_place(path) else LOOK_S / 2

    async def watch(self) -> None:
        """Reload when a file has changed, for ever; and give back the memory of voices that nobody
        uses."""
        for looks in itertools.count(1):
            await asyncio.sleep(LOOK_S)
            try:
                await self._look()
                await self._reload_changed()
                if looks % UNLOAD_EACH == 0:
                    self._hub.voices.unload(self._hub.settings.unload_s)
            except Exception:
                # Without this, no key would be revoked any more.
                log.exception("Files could not be looked at; the next time is in a moment.")

    async def _reload_changed(self) -> None:
        """Take over files that have changed and are whole."""
        settings = self._hub.settings
        keys = self._new(settings.keys_file)
        if keys and self._settled(keys):
            await self._take_over_keys(keys)
        others = self._new(
            self._hub.config, *(getattr(settings, name) for name in FILES if name != "keys_file")
        )
        if others and self._settled(others) and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._reload(every=False))

    async def reload(self) -> None:
        """Take over what the files say now, and voices that were installed. What is wrong is told,
        and stays as it was; what changes meanwhile is for the next look."""
        end = time.monotonic() + FEWER_S
        await self._look()
        while not self._settled(self._new(*self._files())) and time.monotonic() < end:
            # Somebody is writing.
            await asyncio.sleep(LOOK_S)
            await self._look()
        await self._reload(every=True)

    async def _reload(self, *, every: bool) -> None:
        """Take over the files that have changed, or all."""
        async with self._one:
            settings = await self._reread(every)
            for part in self._parts:
                files = self._new(
                    *(getattr(settings, name) for name in part.names if name in FILES)
                )
                if not (every or files or self._differs(settings, part.names)):
                    continue
                if not part.keys:
                    await self._take_over(part, files, settings)
                elif self._settled(files):
                    await self._take_over_keys(files, settings)

    async def _reread(self, every: bool) -> Settings:
        """The settings as their file says now, of which those that are no part are taken over."""
        hub = self._hub
        settings = self._hub.settings
        if hub.config is not None:
            self._tried |= {path: self._seen[path].state for path in self._new(hub.config)}
        elif not every:
            return settings
        with self._telling():
            settings, kept = taken_over(hub.settings, await self._thread.run(hub.reread))
            if kept:
                log.warning("Some settings need a restart.", extra={"settings": ", ".join(kept)})
        own = {name for part in self._parts for name in part.names}
        others = [field.name for field in fields(Settings) if field.name not in own]
        if self._differs(settings, others):
            self._adopt({name: getattr(settings, name) for name in others}, Wanted(settings))
        return settings

    def _differs(self, settings: Settings, names: Iterable[str]) -> bool:
        """Whether one of these settings is another than now."""
        return any(getattr(settings, name) != getattr(self._hub.settings, name) for name in names)

    async def _take_over_keys(self, files: list[Path], settings: Settings | None = None) -> None:
        """Take over who may connect; without other settings, as they are."""
        async with self._one_of_keys:
            await self._take_over(self._parts[0], files, settings or self._hub.settings)

    async def _take_over(self, part: Part, files: list[Path], settings: Settings) -> None:
        """Read a part, and go on with it."""
        states = {path: self._seen[path].state for path in files}
        self._tried |= states
        with self._telling():
            await part.read(wanted := Wanted(settings))
            self._adopt({name: getattr(settings, name) for name in part.names}, wanted)
            self._taken |= states

    def _adopt(self, names: dict[str, Any], wanted: Wanted) -> None:
        """Go on with some other settings, and what was made of them."""
        hub = self._hub
        lexicon = wanted.lexicon if "lexicon" in names else hub.lexicon
        settings = replace(hub.settings, **names)
        hub.adopt(settings, wanted.access or hub.access, lexicon, wanted.voices or hub.voices)
        hub.metrics.reloads.labels("done").inc()
        told = {"keys": hub.access.keys, "voices": ", ".join(hub.voices.configs)}
        told |= {"settings": ",".join(names) if len(names) < 5 else "others"}
        # Each process has read the files; one says so.
        log.log(logging.INFO if hub.siblings.leads else logging.DEBUG, "reloaded", extra=told)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Tell what is wrong, and go on."""
        try:
            yield
        except (SayaheadError, OSError, ValueError) as error:
            self._hub.metrics.reloads.labels("failed").inc()
            log.error("Not reloaded: %s", error)

    async def _access(self, wanted: Wanted) -> None:
        before = self._hub.access
        path = Path(wanted.settings.keys_file or "")
        # One that was named only now was read at no earlier time.
        seen = self._seen.get(path)
        taken = self._taken.get(path)
        in_place = (
            seen is not None and taken is not None and seen.state != taken and self._in_place(path)
        )

        def read() -> Access:
            if in_place and not ends_a_line(path):
                raise ConfigError(
                    f"{path} does not end with a line's end: is it being written? {RENAME}"
                )
            return Access(wanted.settings, before=before)

        access = await self._keys_thread.run(read)
        if (
            seen is not None
            and in_place
            and 2 * access.keys < before.keys
            and self._quiet_s(path) < FEWER_S
        ):
            # It is tried again once it has been the same for longer.
            self._fewer[path] = seen.state
            self._tried[path] = taken
            raise ConfigError(
                f"{path} has {access.keys} of {before.keys} keys: is it being written? It is taken"
                f" when it has been the same for {FEWER_S:g} seconds. {RENAME}"
            )
        wanted.access = access

    async def _certificate(self, wanted: Wanted) -> None:
        await self._thread.run(lambda: check_certificate(wanted.settings))

    async def _lexicon(self, wanted: Wanted) -> None:
        path = wanted.settings.lexicon
        voices = self._hub.voices

        def read() -> Lexicon | None:
            if path is None:
                return None
            lexicon = Lexicon.of(path)
            # It may have signs that no voice can say.
            voices.load(voices.default).pronunciations(lexicon)
            return lexicon

        wanted.lexicon = await self._thread.run(read)

    async def _voices(self, wanted: Wanted) -> None:
        if not self._hub.given_voices:
            wanted.voices = await self._thread.run(lambda: Voices(wanted.settings.voices))
            wanted.voices.take_over(self._hub.voices)


def ends_a_line(path: Path) -> bool:
    """Whether a text file ends with the end of a line, as one does that was written to its end."""
    return path.read_bytes()[-1:] in (b"", b"\n")


def taken_over(old: Settings, new: Settings) -> tuple[Settings, list[str]]:
    """The new settings as far as a running server takes them over, and the names of others that
    have changed."""
    names = TAKEN_OVER.split()
    if (old.certificate is None) != (new.certificate is None):
        names = [name for name in names if not name.startswith("certificate")]
    kept = [field.name for field in fields(Settings) if field.name not in names]
    changed = [name for name in kept if getattr(old, name) != getattr(new, name)]
    return replace(new, **{name: getattr(old, name) for name in kept}), changed


def state(path: Path) -> State:
    """What changes when a file does; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino

"""Reloading: a running server adopts changed files without ending a conversation, at once or on
SIGHUP; each part changes completely or not at all."""

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
"""Interval of polling the files."""
QUIET_S = 1.0
"""A file that is written in place may be incomplete, so it is read once it has not changed for this
long. A file that was renamed into place is complete, and read at the second poll."""
FEWER_S = 10.0
"""The same time for a keys file that has lost more than half of its keys."""
MAX_SETTLE_S = FEWER_S
"""No file needs longer to count as written."""
RENAME = "Write another file beside it, and rename that one."
UNLOAD_EACH = 250
"""Polls between searches for unused voices."""
FILES = ("certificate", "certificate_key", "keys_file", "lexicon")
TAKEN_OVER = (
    "voices lexicon keys keys_file token_s hosts certificate certificate_key breath_s drain_s"
    " unload_s limits"
)
"""Settings that a running server adopts; the others need a restart."""


State: TypeAlias = tuple[int, int, int] | None
"""Modification time, size and inode of a file; None if it does not exist."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file at the last poll."""

    state: State
    since: float
    """When it was first seen in this state."""


@dataclass(slots=True)
class Wanted:
    """New settings, and the objects made from them."""

    settings: Settings
    access: Access | None = None
    lexicon: Lexicon | None = None
    voices: Voices | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Settings that are adopted together; an error in one part does not affect the others."""

    names: tuple[str, ...]
    read: Callable[[Wanted], Awaitable[None]]
    keys: bool = False
    """Whether it decides who may connect: then it waits for no other part."""


class Reloader:
    """Watches a server's files and adopts changes."""

    def __init__(self, hub: Hub) -> None:
        """``hub``: whose settings, keys, certificate, lexicon and voices are replaced."""
        self._hub = hub
        # A separate thread for keys, so that revoking one never waits for a lexicon or a voice.
        self._keys_thread = Worker("reload-keys")
        self._thread = Worker("reload")
        # States of the files at the last poll, when they were last adopted, and when that was last
        # tried.
        self._seen = {path: Seen(state(path), -math.inf) for path in self._files()}
        self._adopted = {path: seen.state for path, seen in self._seen.items()}
        self._tried = dict(self._adopted)
        # Keys files, and their states, that have suspiciously few keys.
        self._fewer = dict[Path, State]()
        # Reloads run one after the other, so that the state read last wins.
        self._lock = asyncio.Lock()
        self._keys_lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._parts = (
            Part(("keys", "keys_file", "hosts", "token_s"), self._access, keys=True),
            Part(("certificate", "certificate_key"), self._certificate),
            Part(("lexicon",), self._lexicon),
            Part(("voices",), self._voices),
        )

    def _files(self) -> list[Path]:
        """Return all files to watch."""
        settings = self._hub.settings
        config = self._hub.config
        names = (config, *(getattr(settings, name) for name in FILES))
        return [Path(name) for name in names if name is not None]

    async def _poll(self) -> None:
        """Read the current states of the files."""
        paths = self._files()
        states = await self._keys_thread.run(lambda: [state(path) for path in paths])
        now = time.monotonic()
        before = self._seen
        self._seen = {
            path: (
                before[path]
                if path in before and before[path].state == current
                else Seen(current, now)
            )
            for path, current in zip(paths, states, strict=True)
        }

    def _changed(self, *files: str | Path | None) -> list[Path]:
        """Return those of the files whose state was neither adopted nor tried."""
        paths = [Path(file) for file in files if file is not None]
        return [
            path
            for path in paths
            if path in self._seen and self._seen[path].state != self._tried.get(path)
        ]

    def _is_written_in_place(self, path: Path) -> bool:
        """Return whether a file is new or was written in place, so that it may be incomplete."""
        seen = self._seen[path].state
        taken = self._adopted.get(path)
        return taken is None or (seen is not None and seen[2] == taken[2])

    def _quiet_s(self, path: Path) -> float:
        """Return how long a file has not changed."""
        return time.monotonic() - self._seen[path].since

    def _settled(self, paths: Iterable[Path]) -> bool:
        """Return whether all files have been unchanged for long enough to be complete."""
        return all(self._quiet_s(path) >= self._wait_s(path) for path in paths)

    def _wait_s(self, path: Path) -> float:
        """Return how long a file must be unchanged to count as complete."""
        if path in self._fewer and self._fewer[path] == self._seen[path].state:
            return FEWER_S
        return QUIET_S if self._is_written_in_place(path) else LOOK_S / 2

    async def watch(self) -> None:
        """Poll the files, adopt changes, and unload unused voices; never returns."""
        for poll_count in itertools.count(1):
            await asyncio.sleep(LOOK_S)
            try:
                await self._poll()
                await self._reload_changed()
                if poll_count % UNLOAD_EACH == 0:
                    self._hub.voices.unload(self._hub.settings.unload_s)
            except Exception:
                # An error must not end the task: keys could not be revoked any more.
                log.exception("Files could not be looked at; the next time is in a moment.")

    async def _reload_changed(self) -> None:
        """Adopt the files that have changed and are complete."""
        settings = self._hub.settings
        keys = self._changed(settings.keys_file)
        if keys and self._settled(keys):
            await self._take_over_keys(keys)
        others = self._changed(
            self._hub.config, *(getattr(settings, name) for name in FILES if name != "keys_file")
        )
        if others and self._settled(others) and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._reload(every=False))

    async def reload(self) -> None:
        """Adopt the current files and newly installed voices, once files have settled that are
        being written.

        Errors are logged and leave the part as it was; files that change meanwhile are left to the
        next poll.
        """
        end = time.monotonic() + MAX_SETTLE_S
        await self._poll()
        while not self._settled(self._changed(*self._files())) and time.monotonic() < end:
            # A file is being written.
            await asyncio.sleep(LOOK_S)
            await self._poll()
        await self._reload(every=True)

    async def _reload(self, *, every: bool) -> None:
        """Adopt the files that have changed or, with ``every``, all."""
        async with self._lock:
            settings = await self._reread(every)
            for part in self._parts:
                files = self._changed(
                    *(getattr(settings, name) for name in part.names if name in FILES)
                )
                if not (every or files or self._differs(settings, part.names)):
                    continue
                if not part.keys:
                    await self._take_over(part, files, settings)
                elif self._settled(files):
                    await self._take_over_keys(files, settings)

    async def _reread(self, every: bool) -> Settings:
        """Read the settings again, adopt those that belong to no part, and return them."""
        hub = self._hub
        settings = self._hub.settings
        if hub.config is not None:
            self._tried |= {path: self._seen[path].state for path in self._changed(hub.config)}
        elif not every:
            return settings
        with self._log_errors():
            settings, ignored = taken_over(hub.settings, await self._thread.run(hub.reread))
            if ignored:
                log.warning("Some settings need a restart.", extra={"settings": ", ".join(ignored)})
        in_parts = {name for part in self._parts for name in part.names}
        others = [field.name for field in fields(Settings) if field.name not in in_parts]
        if self._differs(settings, others):
            self._adopt({name: getattr(settings, name) for name in others}, Wanted(settings))
        return settings

    def _differs(self, settings: Settings, names: Iterable[str]) -> bool:
        """Return whether one of these settings differs from the current one."""
        return any(getattr(settings, name) != getattr(self._hub.settings, name) for name in names)

    async def _take_over_keys(self, files: list[Path], settings: Settings | None = None) -> None:
        """Read and adopt who may connect; ``settings``: None for the current ones."""
        async with self._keys_lock:
            await self._take_over(self._parts[0], files, settings or self._hub.settings)

    async def _take_over(self, part: Part, files: list[Path], settings: Settings) -> None:
        """Read and adopt a part."""
        states = {path: self._seen[path].state for path in files}
        self._tried |= states
        with self._log_errors():
            await part.read(wanted := Wanted(settings))
            self._adopt({name: getattr(settings, name) for name in part.names}, wanted)
            self._adopted |= states

    def _adopt(self, values: dict[str, Any], wanted: Wanted) -> None:
        """Make the hub use new values of some settings and the objects made from them."""
        hub = self._hub
        lexicon = wanted.lexicon if "lexicon" in values else hub.lexicon
        settings = replace(hub.settings, **values)
        hub.adopt(settings, wanted.access or hub.access, lexicon, wanted.voices or hub.voices)
        hub.metrics.reloads.labels("done").inc()
        summary = {"keys": hub.access.keys, "voices": ", ".join(hub.voices.configs)}
        summary |= {"settings": ",".join(values) if len(values) < 5 else "others"}
        # Each process reads the files; only one says so.
        log.log(logging.INFO if hub.siblings.leads else logging.DEBUG, "reloaded", extra=summary)

    @contextlib.contextmanager
    def _log_errors(self) -> Iterator[None]:
        """Log an expected error of the code inside, and go on."""
        try:
            yield
        except (SayaheadError, OSError, ValueError) as error:
            self._hub.metrics.reloads.labels("failed").inc()
            log.error("Not reloaded: %s", error)

    async def _access(self, wanted: Wanted) -> None:
        """Read the keys into ``wanted.access``.

        A keys file that is being written in place may be read half-written, and its other clients
        would be locked out. ConfigError if such a file does not end with a newline, or if it has
        lost more than half of its keys and changed less than ``FEWER_S`` ago; in the second case
        the next poll tries again.
        """
        current = self._hub.access
        path = Path(wanted.settings.keys_file or "")
        seen = self._seen.get(path)
        adopted = self._adopted.get(path)
        # A file that was named only now has no earlier state to compare with.
        may_be_partial = (
            seen is not None
            and adopted is not None
            and seen.state != adopted
            and self._is_written_in_place(path)
        )

        def read() -> Access:
            if may_be_partial and not ends_a_line(path):
                raise ConfigError(
                    f"{path} does not end with a line's end: is it being written? {RENAME}"
                )
            return Access(wanted.settings, before=current)

        access = await self._keys_thread.run(read)
        if (
            seen is not None
            and may_be_partial
            and 2 * access.keys < current.keys
            and self._quiet_s(path) < FEWER_S
        ):
            # With the adopted state as the one last tried, the next poll finds the file changed.
            self._fewer[path] = seen.state
            self._tried[path] = adopted
            raise ConfigError(
                f"{path} has {access.keys} of {current.keys} keys: is it being written? It is taken"
                f" when it has been the same for {FEWER_S:g} seconds. {RENAME}"
            )
        wanted.access = access

    async def _certificate(self, wanted: Wanted) -> None:
        """Check the certificate, which ``Server`` loads itself."""
        await self._thread.run(lambda: check_certificate(wanted.settings))

    async def _lexicon(self, wanted: Wanted) -> None:
        """Read the lexicon into ``wanted.lexicon``."""
        path = wanted.settings.lexicon
        voices = self._hub.voices

        def read() -> Lexicon | None:
            if path is None:
                return None
            lexicon = Lexicon.of(path)
            # It may have phonemes that the voice does not know.
            voices.load(voices.default).pronunciations(lexicon)
            return lexicon

        wanted.lexicon = await self._thread.run(read)

    async def _voices(self, wanted: Wanted) -> None:
        """Read the list of voices into ``wanted.voices``, and keep those that are loaded."""
        if not self._hub.given_voices:
            wanted.voices = await self._thread.run(lambda: Voices(wanted.settings.voices))
            wanted.voices.take_over(self._hub.voices)


def ends_a_line(path: Path) -> bool:
    """Return whether a file is empty or ends with a newline, as a completely written text file
    does."""
    return path.read_bytes()[-1:] in (b"", b"\n")


def taken_over(old: Settings, new: Settings) -> tuple[Settings, list[str]]:
    """Return the new settings as far as a running server can adopt them, and the names of the
    others that changed."""
    names = TAKEN_OVER.split()
    if (old.certificate is None) != (new.certificate is None):
        names = [name for name in names if not name.startswith("certificate")]
    fixed = [field.name for field in fields(Settings) if field.name not in names]
    changed = [name for name in fixed if getattr(old, name) != getattr(new, name)]
    return replace(new, **{name: getattr(old, name) for name in fixed}), changed


def state(path: Path) -> State:
    """Return the state of a file, which changes whenever the file does; None if it does not
    exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino

"""What a running server takes over from changed files, and on SIGHUP: no conversation ends, and nothing half-way."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeAlias

from sayahead.errors import SayaheadError
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Access, check_certificate
from sayahead.server.operation.settings import Settings
from sayahead.server.voices import Voices
from sayahead.text.lexicon import Lexicon

log = logging.getLogger("sayahead.server")
LOOK_S = 0.1
"""Between two looks at the files; what is being written is taken when it was the same at two."""
UNLOAD_EACH = 250
"""Looks until voices are looked for that nobody uses."""
FILES = ("certificate", "certificate_key", "keys_file", "lexicon")
TAKEN_OVER = "voices lexicon keys keys_file token_s hosts certificate certificate_key breath_s drain_s unload_s limits"
"""Settings that a running server takes over; the others need a new one."""


State: TypeAlias = tuple[int, int, int] | None
"""When a file was changed, how long it is, and which one it is; None where there is none."""


@dataclass(slots=True)
class InForce:
    """What is taken over together."""

    settings: Settings
    access: Access
    lexicon: Lexicon | None
    voices: Voices


class Reloader:
    """Watches a server's files."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        # Files as they were at the last look, at the last reload, and when they were last taken over.
        self._seen = self._applied = self._look()
        self._taken = dict(self._seen)
        # One after the other: the keys of the later one hold.
        self._one = asyncio.Lock()
        # By the names of its settings, each part that is read by itself: a mistake in one holds up no other.
        self._parts: dict[tuple[str, ...], Callable[[InForce], Awaitable[None]]] = {
            ("certificate", "certificate_key"): self._certificate,
            ("keys", "keys_file", "hosts", "token_s"): self._access,
            ("lexicon",): self._lexicon,
            ("voices",): self._voices,
        }

    def _look(self) -> dict[Path, State]:
        """The state of each file."""
        return {path: state(path) for path in self._files()}

    def _files(self) -> Iterator[Path]:
        settings, config = self._hub.settings, self._hub.config
        for name in (config, *(getattr(settings, name) for name in FILES)):
            if name is not None:
                yield Path(name)

    async def watch(self) -> None:
        """Reload when a file has changed, for ever; and give back the memory of voices that nobody uses."""
        for looks in itertools.count(1):
            await asyncio.sleep(LOOK_S)
            try:
                before, self._seen = self._seen, await asyncio.to_thread(self._look)
                if self._seen != self._applied and self._seen == before:
                    await self.reload(every=False)
                if looks % UNLOAD_EACH == 0:
                    self._hub.voices.unload(self._hub.settings.unload_s)
            except Exception:
                # Without this, no key would be revoked any more.
                log.exception("Files could not be looked at; the next time is in a moment.")

    async def reload(self, *, every: bool = True) -> None:
        """Take over what the files say now: those that have changed, or ``every`` one, and voices that were installed.
        What is wrong is told, and stays as it was; what changes meanwhile is for the next look."""
        async with self._one:
            await self._reload(every)

    async def _reload(self, every: bool) -> None:
        self._applied = found = await asyncio.to_thread(self._look)
        hub, old = self._hub, self._hub.settings
        now, kept, done = InForce(old, hub.access, hub.lexicon, hub.voices), list[str](), False
        if every or self._changed(found, hub.config):
            with self._telling():
                now.settings, kept = taken_over(old, hub.reread())
                self._take(found, hub.config)
        for names, read in self._parts.items():
            files = [getattr(now.settings, name) for name in names if name in FILES]
            own = {name: getattr(old, name) for name in names}
            if every or self._changed(found, *files) or any(getattr(now.settings, name) != own[name] for name in own):
                wanted, now.settings = now.settings, replace(now.settings, **own)
                with self._telling():
                    await read(then := replace(now, settings=wanted))
                    now, done = then, True
                    self._take(found, *files)
        if kept:
            log.warning("Some settings need a restart.", extra={"settings": ", ".join(kept)})
        if done or now.settings != old:
            hub.adopt(now.settings, now.access, now.lexicon, now.voices)
            hub.metrics.reloads.labels("done").inc()
            log.info("reloaded", extra={"keys": now.access.keys, "voices": ", ".join(now.voices.configs)})

    def _changed(self, found: dict[Path, State], *files: str | Path | None) -> bool:
        """Whether one of the files is another than was taken over."""
        return any(found.get(Path(file)) != self._taken.get(Path(file)) for file in files if file is not None)

    def _take(self, found: dict[Path, State], *files: str | Path | None) -> None:
        self._taken |= {Path(file): found.get(Path(file)) for file in files if file is not None}

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Tell what is wrong, and go on."""
        try:
            yield
        except (SayaheadError, OSError, ValueError) as error:
            self._hub.metrics.reloads.labels("failed").inc()
            log.error("Not reloaded: %s", error)

    async def _certificate(self, now: InForce) -> None:
        check_certificate(now.settings)

    async def _access(self, now: InForce) -> None:
        now.access = Access(now.settings, before=now.access)

    async def _lexicon(self, now: InForce) -> None:
        now.lexicon = (
            None if now.settings.lexicon is None else await asyncio.to_thread(Lexicon.of, now.settings.lexicon)
        )
        if now.lexicon is not None:
            # It may have signs that no voice can say.
            voices = self._hub.voices
            await asyncio.to_thread(voices.load(voices.default).pronunciations, now.lexicon)

    async def _voices(self, now: InForce) -> None:
        if not self._hub.given_voices:
            now.voices = await asyncio.to_thread(Voices, now.settings.voices)
            now.voices.take_over(self._hub.voices)


def taken_over(old: Settings, new: Settings) -> tuple[Settings, list[str]]:
    """The new settings as far as a running server takes them over, and the names of others that have changed."""
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

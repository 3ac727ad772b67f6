"""What a running server takes over from changed files, and on SIGHUP: no conversation ends, and nothing half-way."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

from sayahead.errors import SayaheadError
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Access
from sayahead.server.operation.settings import Settings
from sayahead.server.voices import Voices
from sayahead.text.lexicon import Lexicon

log = logging.getLogger("sayahead.server")
LOOK_S = 0.25
"""Between two looks at the files; what is being written is taken when it was the same at two."""
UNLOAD_EACH = 100
"""Looks until voices are looked for that nobody uses."""
TAKEN_OVER = "voices lexicon keys keys_file token_s hosts certificate certificate_key breath_s drain_s unload_s limits"
"""Settings that a running server takes over; the others need a new one."""


class Reloader:
    """Watches a server's files."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._seen = self._applied = self._look()

    def _look(self) -> tuple[tuple[int, int, int] | None, ...]:
        """When each file was changed, how long it is, and which one it is."""
        return tuple(state(path) for path in self._files())

    def _files(self) -> Iterator[Path]:
        settings, config = self._hub.settings, self._hub.config
        for name in (config, settings.keys_file, settings.lexicon, settings.certificate, settings.certificate_key):
            if name is not None:
                yield Path(name)

    async def watch(self) -> None:
        """Reload when a file has changed, for ever; and give back the memory of voices that nobody uses."""
        for looks in itertools.count(1):
            await asyncio.sleep(LOOK_S)
            try:
                before, self._seen = self._seen, await asyncio.to_thread(self._look)
                if self._seen != self._applied and self._seen == before:
                    await self.reload()
                if looks % UNLOAD_EACH == 0:
                    self._hub.voices.unload(self._hub.settings.unload_s)
            except Exception:
                # Without this, no key would be revoked any more.
                log.exception("Files could not be looked at; the next time is in a moment.")

    async def reload(self) -> bool:
        """Take over what the files say now; whether it could be. What is wrong changes nothing, and is told; what
        changes meanwhile is for the next look."""
        hub, self._applied = self._hub, await asyncio.to_thread(self._look)
        try:
            settings, kept = taken_over(hub.settings, hub.reread())
            access = Access(settings, before=hub.access)
            lexicon = None if settings.lexicon is None else await asyncio.to_thread(Lexicon.of, settings.lexicon)
            if lexicon is not None:
                # It may have signs that no voice can say.
                await asyncio.to_thread(hub.voices.load(hub.voices.default).pronunciations, lexicon)
            voices = hub.voices
            if not hub.given_voices:
                voices = await asyncio.to_thread(Voices, settings.voices)
                voices.take_over(hub.voices)
        except (SayaheadError, OSError, ValueError) as error:
            hub.metrics.reloads.labels("failed").inc()
            log.error("Nothing was reloaded: %s", error)
            return False
        if kept:
            log.warning("Some settings need a restart.", extra={"settings": ", ".join(kept)})
        hub.adopt(settings, access, lexicon, voices)
        hub.metrics.reloads.labels("done").inc()
        log.info("reloaded", extra={"keys": access.keys, "voices": ", ".join(voices.configs)})
        return True


def taken_over(old: Settings, new: Settings) -> tuple[Settings, list[str]]:
    """The new settings as far as a running server takes them over, and the names of others that have changed."""
    names = TAKEN_OVER.split()
    if (old.certificate is None) != (new.certificate is None):
        names = [name for name in names if not name.startswith("certificate")]
    kept = [field.name for field in fields(Settings) if field.name not in names]
    changed = [name for name in kept if getattr(old, name) != getattr(new, name)]
    return replace(new, **{name: getattr(old, name) for name in kept}), changed


def state(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file does; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino

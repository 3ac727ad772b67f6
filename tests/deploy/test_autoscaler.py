"""The autoscaler fires when clients are refused, and drains afterwards: Kubernetes' rule over
servers' own metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from support.servers import toy_voice

from sayahead.server.hub import WANTED_S, Hub, Lease, RefusedError
from sayahead.server.operation.access import Caller
from sayahead.server.operation.settings import settings_of
from sayahead.server.voices import Voices

PLACES = 32
SCALER = yaml.safe_load(
    (Path(__file__).parents[2] / "deploy" / "kubernetes" / "autoscaler.yaml").read_text()
)["spec"]
TARGET = int(SCALER["metrics"][0]["pods"]["target"]["averageValue"].removesuffix("m")) / 1000
TOLERANCE = 0.1


@dataclass
class Cluster:
    """Replicas, and who has places on them."""

    keys: tuple[str, ...]
    hubs: list[Hub] = field(default_factory=list)
    leases: list[tuple[Hub, Lease]] = field(default_factory=list)

    def scale(self, count: int) -> None:
        while len(self.hubs) < count:
            voices = Voices(("heart",))
            voices.put(toy_voice())
            settings = settings_of(
                {"limits": {"sessions": PLACES}, "keys": self.keys, "workers": 1}
            )
            self.hubs.append(Hub(settings, voices=voices))
        while len(self.hubs) > count:
            self.hubs.pop().close()

    def speak(self, share: str) -> bool:
        """Begin a text on one of the replicas, as a balancer spreads them; whether there is a
        place."""
        for hub in sorted(self.hubs, key=lambda hub: hub.taken):
            try:
                lease = hub.enter("native", Caller(share, share))
                hub.open_utterance(lease)
            except RefusedError:
                continue
            self.leases.append((hub, lease))
            return True
        return False

    def end(self) -> None:
        for hub, lease in self.leases:
            hub.close_utterance(lease)
            hub.leave(lease)
        self.leases.clear()

    def ratio(self) -> float:
        """As the metric's rule has it for each pod, on average."""

        def value(hub: Hub, name: str) -> float:
            return hub.metrics.registry.get_sample_value(f"tts_sessions_{name}") or 0.0

        return sum(value(hub, "wanted") / value(hub, "limit") for hub in self.hubs) / len(self.hubs)

    def wish(self) -> int:
        """How many replicas Kubernetes would have: its documented rule."""
        change = self.ratio() / TARGET
        if abs(change - 1) <= TOLERANCE:
            return len(self.hubs)
        most = SCALER["maxReplicas"]
        least = SCALER["minReplicas"]
        return int(min(most, max(least, math.ceil(len(self.hubs) * change))))


@contextmanager
def cluster(*keys: str) -> Iterator[Cluster]:
    running = Cluster(keys)
    running.scale(1)
    try:
        yield running
    finally:
        running.end()
        running.scale(0)


@pytest.mark.parametrize(
    "keys", [("a:first-key", "b:second-key"), ()], ids=["keys", "an ingress's address"]
)
def test_one_busy_client_has_servers_added(
    keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the places were all it got, a ratio of 0.5, and 0.7 was never reached: refused for
    ever."""
    share = "a" if keys else "203.0.113.1"
    with cluster(*keys) as running:
        monkeypatch.setattr("sayahead.server.operation.access.Access.knows", lambda *_: True)
        missing = [running.speak(share) for _ in range(100)].count(False)
        assert missing
        rounds = 0
        while missing:
            rounds += 1
            assert rounds < 5
            before = len(running.hubs)
            running.scale(running.wish())
            assert len(running.hubs) > before
            missing = [running.speak(share) for _ in range(missing)].count(False)
        # Others find a place everywhere.
        assert all(hub.ready for hub in running.hubs)
        # And when all is said, they are taken away again.
        running.end()
        monkeypatch.setattr("sayahead.server.hub.WANTED_S", -1.0)
        assert running.ratio() == 0.0
        assert running.wish() == 1
    assert SCALER["behavior"]["scaleDown"]["stabilizationWindowSeconds"] > WANTED_S

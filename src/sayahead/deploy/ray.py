"""A fleet of servers on Ray Serve: the application as it is, in replicas behind Ray's own ingress
(HAProxy).

``serve run sayahead.deploy.ray:build replicas=2``, a ``serveConfigV2`` file, or
``serve.run(build({...}))``. The variables of ``ENVIRONMENT`` belong to the processes that Ray
starts: set them before ``ray start``."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sayahead.config import check_number, check_whole, from_mapping, hints_of, plain
from sayahead.errors import ConfigError
from sayahead.server.hub import PLACES_PER_CORE, Hub
from sayahead.server.operation import logs
from sayahead.server.operation.settings import Settings, declared, load_settings
from sayahead.server.process.app import create_app

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.samples import Sample
    from ray.serve import Application
    from starlette.applications import Starlette

ENVIRONMENT = {
    "RAY_SERVE_ENABLE_HA_PROXY": "1",
    "RAY_SERVE_HAPROXY_HARD_STOP_AFTER_S": "3700",
    "RAY_SERVE_HAPROXY_TIMEOUT_CLIENT_S": "3700",
    "RAY_SERVE_DEFAULT_HTTP_HOST": "0.0.0.0",
    "RAY_worker_niceness": "0",
}
"""Traffic past Ray's Python proxy; no session cut when replicas come and go (HAProxy is reloaded
then, and would end what is older than 120 s); replicas that the other machines' HAProxy can reach,
and that other programs of their machine do not keep waiting (Ray has its workers run at niceness
15)."""
REPORT_S = 2.0
HOST = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class Fleet:
    """What an operator decides; in ``serveConfigV2`` the keys of ``args``."""

    replicas: int = 1
    """Servers that there are at least."""
    most_replicas: int = 0
    """Servers that there may be, when there is more to speak; 0: no more than ``replicas``."""
    cores: float = 1.0
    """Processor cores that Ray keeps for each; its threads, and 16 places, for each core."""
    load: float = 0.7
    """Share of its places at which a replica is busy: above it another one is started."""
    grow_s: float = 10.0
    """How long there must be too much to speak before a replica is started."""
    shrink_s: float = 300.0
    """How long there must be too little before one is ended."""
    drain_s: float = 3600.0
    """How long a replica that is to end may go on with the texts it speaks."""
    serve: dict[str, Any] = field(default_factory=dict)
    """Settings of ``sayahead serve`` by name, such as ``voices`` or ``limits.sessions``."""

    def __post_init__(self) -> None:
        check_whole("replicas", self.replicas, 1, 10_000)
        check_whole("most_replicas", self.most_replicas, 0, 10_000)
        check_number("cores", self.cores, 0.1, 1024.0)
        check_number("load", self.load, 0.05, 1.0)
        for name in ("grow_s", "shrink_s", "drain_s"):
            check_number(name, getattr(self, name), 0.0, 1e6)
        if self.most_replicas and self.most_replicas < self.replicas:
            raise ConfigError(
                f"most_replicas is {self.most_replicas}, but there are at least {self.replicas}"
                " replicas: raise it, or leave it out."
            )

    def settings(self) -> Settings:
        """The settings of each replica. ConfigError for one that a replica cannot have."""
        listeners = [name for kind in declared() for name in hints_of(kind)]
        for name in ("host", "port", "processes", "certificate", "certificate_key", *listeners):
            if name in self.serve:
                raise ConfigError(
                    f"serve: {name} is not a replica's: Ray listens, and passes HTTP and"
                    " WebSockets on."
                )
        workers = max(1, round(self.cores))
        given: dict[str, Any] = {
            "workers": workers,
            "limits.sessions": max(1, round(PLACES_PER_CORE * self.cores)),
        }
        given |= {"drain_s": self.drain_s} | self.serve | {"host": HOST}
        if not given.get("token_secret") and (given.get("keys") or given.get("keys_file")):
            # A browser gets its token from one replica, and connects to another.
            given["token_secret"] = secrets.token_hex(32)
        return load_settings(
            given={name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
        )


def build(arguments: Mapping[str, Any] | None = None) -> Application:
    """The application of a fleet; the keys are Fleet's. ConfigError for what it cannot be, or
    without Ray."""
    try:
        from ray import serve
    except ImportError as error:
        raise ConfigError("A fleet needs Ray Serve: pip install 'sayahead[ray]'.") from error
    fleet = from_mapping(Fleet, parsed(arguments or {}), where="args")
    settings = fleet.settings()
    places = settings.limits.sessions

    # Ray takes a plain function for one that builds the application, and anything else for the
    # application.
    def application() -> Starlette:
        return replica(settings)

    @serve.deployment(
        name="sayahead",
        ray_actor_options={"num_cpus": fleet.cores},
        # The server refuses what is too much, at once and in words that each protocol has.
        max_ongoing_requests=2 * places,
        autoscaling_config={
            "min_replicas": fleet.replicas,
            "max_replicas": fleet.most_replicas or fleet.replicas,
            "target_ongoing_requests": max(1.0, fleet.load * places),
            "upscale_delay_s": fleet.grow_s,
            "downscale_delay_s": fleet.shrink_s,
            "metrics_interval_s": REPORT_S,
            "look_back_period_s": max(5.0, min(30.0, fleet.grow_s)),
        },
        graceful_shutdown_timeout_s=fleet.drain_s + 10,
        graceful_shutdown_wait_loop_s=1.0,
        health_check_period_s=5.0,
    )
    @serve.ingress(application)
    class Sayahead:
        """One server."""

    return Sayahead.bind()  # type: ignore[attr-defined]


def parsed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, where ``serve run`` gives all of them as text: ``replicas=2
    serve.voices=heart``."""
    given: dict[str, Any] = {"serve": dict(arguments.get("serve", {}))}
    for name, value in arguments.items():
        if name.startswith("serve."):
            given["serve"][name.removeprefix("serve.")] = value
        elif name != "serve":
            given[name] = plain(value) if isinstance(value, str) else value
    return given


def replica(settings: Settings) -> Starlette:
    """One server's application, in the process of a replica; its log is in the worker's ``.err``
    file of Ray's."""
    logs.set_up(settings.log, text=settings.log_text)
    hub = Hub(settings)
    threading.Thread(target=report, args=(hub,), name="report", daemon=True).start()
    return create_app(hub)


def report(hub: Hub) -> None:
    """Tell Ray's metrics what the server's own say, for ever: a scrape through the ingress would
    meet any one replica.

    Every sample becomes a gauge of its name, which Ray exports with ``ray_`` before it, and by
    replica."""
    from ray.serve import metrics

    gauges: dict[str, Any] = {}
    while not hub.closing.is_set():
        for sample in samples(hub.metrics.registry):
            if sample.name not in gauges:
                about = {"description": sample.name, "tag_keys": tuple(sample.labels)}
                gauges[sample.name] = metrics.Gauge(sample.name, **about)
            gauges[sample.name].set(sample.value, tags=dict(sample.labels))
        time.sleep(REPORT_S)


def samples(registry: CollectorRegistry) -> Iterator[Sample]:
    """What the server counts, without what Ray knows itself of its processes."""
    for family in registry.collect():
        if not family.name.startswith(("process_", "python_")):
            yield from (sample for sample in family.samples if not sample.name.endswith("_created"))

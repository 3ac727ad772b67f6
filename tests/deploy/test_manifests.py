"""The files in deploy/ and .github/ fit the program that they run: settings, metrics, times, and
each other."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from support.servers import certified, serving

from sayahead import __version__
from sayahead.config import from_mapping
from sayahead.deploy.ray import ENVIRONMENT, Fleet, parsed
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.settings import PREFIX, Settings, load_settings, names

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def deployment() -> dict[str, Any]:
    return next(
        each for path in KUBERNETES for each in documents(path) if each["kind"] == "Deployment"
    )


def environment(container: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container["env"]}


def test_kubernetes_gives_a_replica_the_time_that_it_needs() -> None:
    pod = deployment()["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    settings = load_settings(environment=environment(container))
    waits = int(
        re.findall(r"sleep\((\d+)\)", container["lifecycle"]["preStop"]["exec"]["command"][-1])[0]
    )
    assert pod["terminationGracePeriodSeconds"] > settings.drain_s + waits
    assert container["resources"]["requests"]["cpu"] == str(settings.processes)
    assert container["image"].endswith(f":{__version__}")


def test_a_replica_has_nothing_that_it_does_not_need() -> None:
    assert deployment()["spec"]["template"]["spec"]["automountServiceAccountToken"] is False
    policy = next(
        each for path in KUBERNETES for each in documents(path) if each["kind"] == "NetworkPolicy"
    )
    assert policy["spec"]["egress"] == []
    assert policy["spec"]["ingress"] == [{"ports": [{"port": "http"}]}]


def test_kubernetes_scales_on_places() -> None:
    scaler = next(
        each for path in KUBERNETES for each in documents(path) if "Autoscaler" in each["kind"]
    )
    assert scaler["spec"]["scaleTargetRef"]["name"] == deployment()["metadata"]["name"]
    (metric,) = scaler["spec"]["metrics"]
    assert metric["pods"]["target"]["averageValue"] == "700m"
    rule = (DEPLOY / "kubernetes" / "autoscaler.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"tts_sessions_(?:active|wanted|limit)", rule)) == {
        "tts_sessions_wanted",
        "tts_sessions_limit",
    }


def test_selectors_find_their_pods() -> None:
    labels = deployment()["spec"]["template"]["metadata"]["labels"]
    for path in KUBERNETES:
        for each in documents(path):
            selector = each["spec"].get("selector", each["spec"].get("podSelector", labels))
            assert selector.get("matchLabels", selector) == labels


def test_the_chart_uses_the_values_that_it_has() -> None:
    chart = DEPLOY / "helm" / "sayahead"
    values = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    schema = json.loads((chart / "values.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(values, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values | {"replica": 2}, schema)
    for template in (chart / "templates").glob("*.yaml"):
        for path in re.findall(r"\.Values\.([\w.]+)", template.read_text(encoding="utf-8")):
            value = values
            for name in path.split("."):
                assert name in value, f"{template.name}: .Values.{path}"
                value = value[name]
    about = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    assert about["appVersion"] == __version__
    source = (chart / "templates" / "sayahead.yaml").read_text(encoding="utf-8")
    for variable in re.findall(rf"{PREFIX}([A-Z_]+), ", source):
        assert variable.lower() in {name.replace(".", "_") for name in names()}


VALUES = """
drain: 1000000
keysSecret: my-keys
keysToml: true
certificateSecret: my-tls
image: {digest: "sha256:%s"}
networkPolicy: {ports: [{port: 50051}]}
hosts: [speech.example]
ingress: {enabled: true, host: tts.example, tlsSecret: tls}
serviceAccount: {create: true}
podMonitor: {enabled: true, labels: {release: prometheus}}
autoscaling: {enabled: true, ratio: 0.65}
settings: {breath_s: 0.5, limits.utterance_characters: 2000000, page: false, voices: [heart, ma-lj], grpc_port: 50051}
""" % (64 * "0")  # noqa: E501


def test_helm_makes_of_it_what_kubernetes_and_the_server_take() -> None:
    """By Helm's own engine. A million was written as 1e+06, which no whole number is."""
    helm = pytest.importorskip("helm_python", reason="needs helm-python-sdk")
    kubernetes = pytest.importorskip("kubernetes_validate", reason="needs kubernetes-validate")
    folder = DEPLOY / "helm" / "sayahead"
    assert helm.lint(str(folder), strict=True)["errors"] == []
    with helm.Chart.load(str(folder)) as chart:
        rendered = [chart.render(yaml.safe_load(values), name="one") for values in ("{}", VALUES)]
    plain, full = (
        [
            each
            for name, text in files.items()
            for each in yaml.safe_load_all(text * name.endswith(".yaml"))
            if each is not None
        ]
        for files in rendered
    )
    assert {each["kind"] for each in plain} == {
        "Deployment",
        "Service",
        "PodDisruptionBudget",
        "NetworkPolicy",
    }
    kinds = "HorizontalPodAutoscaler Ingress PodMonitor PrometheusRule ServiceAccount".split()
    assert {each["kind"] for each in full} == {each["kind"] for each in plain} | set(kinds)
    (container,) = next(each for each in plain if each["kind"] == "Deployment")["spec"]["template"][
        "spec"
    ]["containers"]
    hosts = load_settings(environment=environment(container)).hosts
    assert hosts == (
        "one",
        "one.default",
        "one.default.svc",
        "one.default.svc.cluster.local",
        "localhost",
    )
    for each in [*plain, *full, *(each for path in KUBERNETES for each in documents(path))]:
        if not each["apiVersion"].startswith("monitoring"):
            kubernetes.validate(each, "1.37", strict=True)
    of_kind = {each["kind"]: each for each in full}
    (container,) = of_kind["Deployment"]["spec"]["template"]["spec"]["containers"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["scheme"] == "HTTPS", "kubelet asks in plain text"
    assert container["image"].endswith("@sha256:" + 64 * "0")
    assert of_kind["NetworkPolicy"]["spec"]["ingress"][0]["ports"] == [
        {"port": "http"},
        {"port": 50051},
    ]
    given = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
    files = {f"{PREFIX}{name}" for name in ("KEYS_FILE", "CERTIFICATE", "CERTIFICATE_KEY")}
    settings = load_settings(
        environment={name: value for name, value in given.items() if name not in files}
    )
    assert (settings.drain_s, settings.limits.utterance_characters, settings.limits.sessions) == (
        1e6,
        2_000_000,
        32,
    )
    assert (settings.breath_s, settings.page, settings.voices) == (0.5, False, ("heart", "ma-lj"))
    assert settings.hosts[-2:] == ("tts.example", "speech.example")
    assert (
        of_kind["HorizontalPodAutoscaler"]["spec"]["metrics"][0]["pods"]["target"]["averageValue"]
        == "650m"
    )


def test_ray_takes_its_files() -> None:
    config = documents(DEPLOY / "ray" / "serve.yaml")[0]
    service = documents(DEPLOY / "ray" / "kuberay.yaml")[0]
    for serve in (config, yaml.safe_load(service["spec"]["serveConfigV2"])):
        (application,) = serve["applications"]
        assert application["import_path"] == "sayahead.deploy.ray:build"
        fleet = from_mapping(Fleet, parsed(application["args"]), where="args")
        assert fleet.settings().limits.sessions == 32
    cluster = service["spec"]["rayClusterConfig"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        assert environment(container) == ENVIRONMENT


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    path = DEPLOY / "grafana" / "sayahead.json"
    alerts = (DEPLOY / "helm" / "sayahead" / "alerts.yaml").read_text(encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    known = {
        sample.name for family in Metrics().registry.collect() for sample in family.samples
    } | {
        name
        for family in Metrics().registry.collect()
        for name in (f"{family.name}_bucket", f"{family.name}_total")
    }
    known |= {family.name for family in Metrics().registry.collect()}
    asked = set(re.findall(r"\b(?:tts|process)_\w+", text + alerts))
    assert asked <= known, asked - known
    # It is what its maker makes.
    runpy.run_path(str(DEPLOY / "grafana" / "make.py"), run_name="__main__")
    assert path.read_text(encoding="utf-8") == text


def test_incidents_name_metrics_and_lines_that_there_are() -> None:
    page = (ROOT / "docs" / "how-to" / "incidents.md").read_text(encoding="utf-8")
    families = list(Metrics().registry.collect())
    known = {name for family in families for name in (family.name, f"{family.name}_total")}
    asked = set(re.findall(r"`((?:tts|process)_\w+)", page)) - {"tts_sessions_ratio"}
    assert asked <= known, asked - known
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    lines = re.findall(r"\*([A-Z][^*|]+)\*", page)
    assert len(lines) > 8
    assert [line for line in lines if line[:40] not in source] == []
    events = re.findall(
        r"`(\w+)`", "".join(row.split("|")[3] for row in page.splitlines() if row.count("|") > 5)
    )
    assert [event for event in events if event not in source] == []


def test_compose_ends_no_text_too_early() -> None:
    services = documents(DEPLOY / "compose.yaml")[0]["services"]
    server = services["sayahead"]
    settings = load_settings(environment=server["environment"])
    assert int(server["stop_grace_period"].removesuffix("s")) > settings.drain_s
    assert settings.hosts[0] == "sayahead"
    for service in ("prometheus", "grafana"):
        for volume in services[service]["volumes"]:
            assert (DEPLOY / volume.partition(":")[0]).exists()
    rules = [
        each["alert"]
        for group in documents(DEPLOY / "helm/sayahead/alerts.yaml")[0]["groups"]
        for each in group["rules"]
    ]
    page = (ROOT / "docs" / "how-to" / "operate.md").read_text(encoding="utf-8")
    assert [rule for rule in rules if f"`{rule}`" not in page] == []
    targets = documents(DEPLOY / "prometheus.yaml")[0]["scrape_configs"][0]["static_configs"][0][
        "targets"
    ]
    assert targets == [f"sayahead:{Settings().port}"]


def test_the_container_has_all_that_the_package_is_built_of() -> None:
    """The list of archives was missing, so nothing could be built."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = [project["project"]["readme"], *project["project"]["license-files"]]
    needed += [*wheel["packages"], "pyproject.toml", "requirements.lock"]
    build, _ = (ROOT / "Containerfile").read_text(encoding="utf-8").split("FROM ${BASE}\n")
    copied = [
        name
        for line in re.findall(r"^COPY (.*)", build, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    ignored = [
        (ROOT / name).read_text(encoding="utf-8") for name in (".dockerignore", ".containerignore")
    ]
    assert ignored[0] == ignored[1]
    for name in needed:
        assert any(name == each or name.startswith(f"{each}/") for each in copied), name
        assert any(
            name == each[1:] or name.startswith(f"{each[1:]}/") for each in ignored[0].split()
        ), name


def test_what_others_make_is_named_by_its_digest() -> None:
    """A tag may point elsewhere tomorrow."""
    used = [
        name
        for path in (ROOT / ".github" / "workflows").glob("*.yaml")
        for name in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    ]
    assert [name for name in used if not re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", name)] == []
    base = re.findall(
        r"^ARG BASE=(.*)", (ROOT / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    services = documents(DEPLOY / "compose.yaml")[0]["services"].values()
    images = [*base, *(each["image"] for each in services if "build" not in each)]
    assert [name for name in images if not re.search(r"@sha256:[0-9a-f]{64}$", name)] == []


def test_what_is_locked_is_what_the_image_installs() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", lock, re.MULTILINE))
    tested = dict(
        re.findall(
            r"^([\w.-]+)==([\w.]+)", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE
        )
    )
    assert {name: tested[name] for name in locked if name in tested} == {
        n: v for n, v in locked.items() if n in tested
    }
    assert lock.count("==") <= lock.count("--hash=sha256:")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for each in [*project["dependencies"], *extras["server"], *extras["codecs"], *extras["mp3"]]:
        name = re.split(r"[\[><=]", each)[0]
        assert name == project["name"] or name in locked, each


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the command openssl")
def test_the_image_knows_that_a_server_is_alive_with_a_certificate_too(tmp_path: Path) -> None:
    """A certificate made every container unhealthy."""
    key, certificate = certified(tmp_path)

    def healthy(port: int) -> bool:
        command = [sys.executable, str(DEPLOY / "container" / "healthy.py")]
        return (
            subprocess.run(
                command, env={**os.environ, "SAYAHEAD_SERVE_PORT": str(port)}, check=False
            ).returncode
            == 0
        )

    with serving() as running:
        assert healthy(running.port)
    assert not healthy(running.port)
    with serving(certificate=certificate, certificate_key=key) as running:
        assert healthy(running.port)


def test_workflows_run_what_there_is() -> None:
    flows = {
        path.stem: documents(path)[0] for path in (ROOT / ".github" / "workflows").glob("*.yaml")
    }
    assert set(flows) == {"ci", "docs", "nightly", "release"}
    parts = re.findall(
        r"^(\w+)\(\) \{", (ROOT / ".ci" / "nightly").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert flows["nightly"]["jobs"]["part"]["strategy"]["matrix"]["part"] == parts
    adapters = flows["ci"]["jobs"]["integrations"]["strategy"]["matrix"]["adapter"]
    assert sorted(adapters) == sorted(
        path.parent.name for path in (ROOT / "integrations").glob("*/pyproject.toml")
    )
    for flow in flows.values():
        # Nothing may write but what says so.
        assert flow["permissions"] == {"contents": "read"}

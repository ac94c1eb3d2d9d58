"""The Helm chart by the real helm: it renders for several houses, is valid Kubernetes, and starts commands that exist."""

import copy
import json
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it ships no types
import pytest
import yaml

from tests.support.known_commands import refusal
from tests.support.prometheus_server import CONFIGURATION, ROOT

CHART = ROOT / "helm" / "holecard"
KUBERNETES = "1.37.0"
CUSTOM = {"ServiceMonitor", "PrometheusRule"}
"""The Prometheus operator's kinds, of which Kubernetes itself has no schema."""

CASES: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "split": {
        "owners": {
            "cell": None,
            **{
                name: {"services": [name], "replicas": 2, "resources": {"requests": {"cpu": "1"}, "limits": {}}}
                for name in ("shoe", "table", "wager")
            },
        }
    },
    "everything": {
        "image": {"digest": f"sha256:{'0' * 64}", "pullSecrets": ["registry"]},
        "kafka": {"securitySecret": "kafka-client", "prefix": "west."},
        "surveillance": {"projectionSecret": "projection"},
        "gateways": {"black-hawk": {"tlsSecret": "black-hawk-tls"}, "central-city": {"tlsSecret": "central-city-tls"}},
        "floorsConfigMap": "floors",
        "snapshots": {"storageClass": "fast"},
        "gateway": {"storageClass": "fast"},
    },
    "bare": {"monitoring": {"enabled": False}, "networkPolicy": {"enabled": False}, "kafka": {"createTopics": False}},
}

pytestmark = pytest.mark.xdist_group("helm")


@cache
def helm() -> str:
    """The real helm's path; it is built when it is not in the cache."""
    built = subprocess.run([ROOT / "deploy" / "go-binary", "helm"], check=True, capture_output=True, text=True)
    return built.stdout.strip()


def run(*words: str, values: dict[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
    """Run helm on the chart."""
    extra = ["--values", "-"] if values else []
    given = yaml.safe_dump(values) if values else ""
    return subprocess.run([helm(), *words, *extra], input=given, capture_output=True, text=True, check=False)


@cache
def rendered(case: str) -> tuple[dict[str, Any], ...]:
    """Every manifest of a case."""
    done = run("template", "house", str(CHART), "-n", "casino", "--kube-version", KUBERNETES, values=CASES[case])
    assert done.returncode == 0, done.stderr
    return tuple(one for one in yaml.safe_load_all(done.stdout) if one)


def pods(case: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every pod template with the name of what makes it."""
    for one in rendered(case):
        template = one.get("spec", {}).get("template")
        if template:
            yield f"{one['kind']} {one['metadata']['name']}", template["spec"]


@pytest.mark.parametrize("case", CASES)
def test_helm_finds_nothing_wrong(case: str) -> None:
    done = run("lint", str(CHART), "--strict", "--kube-version", KUBERNETES, values=CASES[case])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("case", CASES)
def test_every_manifest_is_valid_kubernetes_and_has_its_own_name(case: str) -> None:
    names = [(one["kind"], one["metadata"]["name"]) for one in rendered(case)]
    assert len(set(names)) == len(names) > 8
    for one in rendered(case):
        assert one["metadata"]["labels"]["app.kubernetes.io/name"] == "holecard"
        if one["kind"] not in CUSTOM:
            kubernetes_validate.validate(copy.deepcopy(one), "1.37", strict=True)


@pytest.mark.parametrize("case", CASES)
def test_every_command_of_an_image_is_one_that_holecard_knows(case: str) -> None:
    commands = [container["args"] for _, pod in pods(case) for container in pod["containers"]]
    assert len(commands) >= 3
    for words in commands:
        assert refusal([str(word) for word in words]) == ""


@pytest.mark.parametrize("case", CASES)
def test_nothing_runs_as_root_or_writes_where_it_should_not(case: str) -> None:
    for name, pod in pods(case):
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["automountServiceAccountToken"] is False, name
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in pod["containers"]:
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"] is True, name
            assert security["allowPrivilegeEscalation"] is False, name
            assert security["capabilities"] == {"drop": ["ALL"]}, name
            assert container["resources"]["requests"], name
            assert "command" not in container, f"{name}: the image's own command is holecard"
            if not name.startswith("Job"):
                assert {"readinessProbe", "livenessProbe"} <= container.keys(), name
                volumes.add("data")  # of a claim
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes, name


@pytest.mark.parametrize("case", ["split", "everything"])
def test_owners_keep_their_names_are_disturbed_one_at_a_time_and_let_in_nobody_from_outside(case: str) -> None:
    by_kind: dict[str, dict[str, Any]] = {}
    for one in rendered(case):
        by_kind.setdefault(one["kind"], {})[one["metadata"]["name"]] = one
    for name, owner in by_kind["StatefulSet"].items():
        if "gateway" not in name:
            assert by_kind["Service"][name]["spec"]["clusterIP"] == "None"
        assert owner["spec"]["serviceName"] == name
        assert by_kind["PodDisruptionBudget"][name]["spec"]["maxUnavailable"] == 1
        rules = by_kind["NetworkPolicy"][name]["spec"]["ingress"]
        assert all("from" in rule for rule in rules) is ("gateway" not in name)
        assert by_kind["ServiceMonitor"][name]["spec"]["endpoints"][0]["honorLabels"] is True


def test_secrets_are_named_and_never_written() -> None:
    assert not [one for one in rendered("everything") if one["kind"] == "Secret"]


def test_prometheus_and_grafana_get_the_same_files_as_without_kubernetes() -> None:
    rules = [one["spec"] for one in rendered("as it comes") if one["kind"] == "PrometheusRule"]
    own = [yaml.safe_load(path.read_text()) for path in sorted((CONFIGURATION / "rules").glob("*.yaml"))]
    assert rules == own
    boards = {
        name: json.loads(text)
        for one in rendered("as it comes")
        if one["kind"] == "ConfigMap"
        for name, text in one["data"].items()
    }
    files = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
    assert boards == {path.name: json.loads(path.read_text()) for path in files}


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"kafka": {"partitions": 0}}, "partitions"),
        ({"kafka": {"bootstrap": "somewhere"}}, "bootstrap"),
        ({"image": {"tag": "latest"}}, "tag"),
        ({"replicas": 3}, "replicas"),
        ({"owners": {"cell": {"services": ["shoe", "console"]}}}, "services"),
        ({"owners": {"cell": {"services": ["shoe", "table"]}}}, "no owner hosts wager"),
        ({"gateways": {"Black Hawk": {"tlsSecret": "x"}}}, "Black Hawk"),
    ],
)
def test_values_that_cannot_work_are_refused_by_name(values: dict[str, Any], complaint: str) -> None:
    done = run("template", "house", str(CHART), "--kube-version", KUBERNETES, values=values)
    assert done.returncode != 0
    assert complaint in done.stderr


def test_a_command_that_does_not_exist_is_found_out() -> None:
    assert "No such option" in refusal(["serve", "shoe", "--no-such-option=1"])
    assert "No such command" in refusal(["deal"])
    assert "is not one of" in refusal(["serve", "roulette"])
    assert "0" in refusal(["journal", "--partitions=0", "create-topics"])
    assert refusal(["journal", "--partitions=3", "create-topics", "--copies=3"]) == ""
    assert Path(CHART / "values.schema.json").is_file()

"""What other programs go by is told to a tool only where the admin has said so."""

import json
from typing import Any

import pytest

from ferrule.trust.foreign_variables import OWNERS, owner_of
from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.pool import Served

TOKEN = "ghp-of-another-program-4711"
ENVIRONMENT = {
    "GITHUB_TOKEN": TOKEN,
    "KUBECONFIG": "/home/ann/cluster",
    "AWS_PROFILE": "production",
    "WEATHER_UNIT": "celsius",
}
HOOK = """
@hookimpl
def credentials():
    return [Credential("token", environment="GITHUB_TOKEN", path="code.token")]
"""


def call(machine: Machine, name: str = "reader") -> Any:
    return machine.ferrule("run", name, "{}", "--json", environment=ENVIRONMENT).document


THEIRS = [
    "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "SSH_AUTH_SOCK", "GOOGLE_APPLICATION_CREDENTIALS",
    "OPENAI_API_KEY", "AZURE_TENANT_ID", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CI_JOB_TOKEN", "TWINE_PASSWORD",
    "UV_INDEX_URL", "AWS_*", "AWS_S*", "llm.anthropic.api_key",
]  # fmt: skip
OWN = [
    "BRAVE_API_KEY", "GOOGLE_SEARCH_API_KEY", "GOOGLE_SEARCH_ENGINE_ID", "TAVILY_API_KEY", "EXA_API_KEY",
    "FERRULE_REDIS", "FERRULE_FETCH_*", "web_search.brave.api_key", "HOME",
]  # fmt: skip


@pytest.mark.parametrize("name", THEIRS)
def test_these_belong_to_other_programs(name: str) -> None:
    assert owner_of(name) in OWNERS


@pytest.mark.parametrize("name", OWN)
def test_these_do_not(name: str) -> None:
    assert owner_of(name) is None


@pytest.mark.process
@pytest.mark.parametrize("way", ["by credentials accept", pytest.param("by permissions grant", marks=pytest.mark.slow)])
def test_a_credential_that_is_another_programs_waits_for_the_admin(machine: Machine, way: str) -> None:
    machine.install("reader", properties={}, top=HOOK, execute="return {'length': len(context.credential('token'))}")
    for _ in range(2):
        refused = call(machine)
        assert refused["error_code"] == "PERMISSION_DENIED"
        assert "asks for GITHUB_TOKEN, which programs of a host of code go by" in refused["error"]
        assert TOKEN not in json.dumps(refused)
    shown = machine.ferrule("credentials", "--json", environment=ENVIRONMENT).document["credentials"]
    assert [one["state"] for one in shown] == ["claimed"]
    command = ["credentials", "accept", "reader"]
    if way == "by permissions grant":
        command = ["permissions", "grant", "reader", "--variable", "GITHUB_TOKEN"]
    assert machine.ferrule(*command).code == 0
    assert call(machine) == {"length": len(TOKEN)}


@pytest.mark.process
def test_a_server_gives_it_to_no_tool(machine: Machine) -> None:
    machine.install("reader", properties={}, top=HOOK, execute="return {'length': len(context.credential('token'))}")
    served = Served(machine)
    served.environment.update(ENVIRONMENT)
    assert {one["error_code"] for one in served.calls("reader", 2)} == {"PERMISSION_DENIED"}


SEEN = "import os; return {'seen': sorted(set(os.environ) & {'KUBECONFIG', 'AWS_PROFILE', 'WEATHER_UNIT'})}"


@pytest.mark.process
@pytest.mark.parametrize(
    "names", [["KUBECONFIG", "AWS_*", "WEATHER_UNIT"], ["KU*", "AW*", "WE*"]], ids=["named", "begun"]
)
def test_a_variable_that_a_declaration_names_is_seen_once_the_admin_says_so(machine: Machine, names: list[str]) -> None:
    machine.install("reader", properties={}, execute=SEEN, permissions={"environment": names})
    assert call(machine) == {"seen": ["WEATHER_UNIT"]}
    granted = machine.ferrule("permissions", "grant", "reader", "--variable", "KUBECONFIG", "--variable", "AWS_*")
    assert granted.code == 0
    assert call(machine) == {"seen": ["AWS_PROFILE", "KUBECONFIG", "WEATHER_UNIT"]}

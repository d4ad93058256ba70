"""Whatever somebody else has written: it is read, or refused in words, and nothing else happens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.text.visibility import make_visible
from ferrule_mcp.environment.differences import compare_records, describe_differences
from ferrule_mcp.launch.bundles import Bundle, _read_command, _read_setting
from ferrule_mcp.launch.client_configs import ConfiguredServer, _read_server
from ferrule_mcp.launch.client_values import Expansion
from ferrule_mcp.launch.command_line import parse_command
from ferrule_mcp.launch.plan import Launch, LaunchRefused, Secret, fill_secrets
from ferrule_mcp.launch.registry import read_entry

RUNNERS = ("npx", "uvx", "uv", "pipx", "node", "python", "npm", "bunx", "bash", "cmd", "env", "docker", "deno")
WORDS = ("-y", "-p", "--package", "-c", "--", "run", "exec", "tool", "-m", "--from", "--with", "--python", "--index",
         "a-mcp", "@s/p@1", "a@1", "git+https://x/y", "./x", "server.py", "--api-key", "k-123", "KEY=v", "/c", "-",
         "{x}", "${X}", "{", "}", "%s")  # fmt: skip
KEYS = ("command", "args", "env", "url", "httpUrl", "headers", "type", "cwd", "envFile", "enabled", "env_vars",
        "bearer_token_env_var", "path", "name", "packages", "remotes", "registryType", "identifier", "version",
        "transport", "packageArguments", "runtimeArguments", "environmentVariables", "value", "variables", "isSecret",
        "default", "choices", "isRequired", "isRepeated", "npm", "pypi", "stdio", "tools", "permissions", "description",
        "inputSchema", "properties", "required", "digest", "streamable-http", "named", "positional")  # fmt: skip

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.sampled_from(KEYS)
)
keys = st.one_of(st.sampled_from(KEYS), st.text())
documents = st.dictionaries(
    keys, st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=8)
)


def refuse_or(work):
    """What the work returns; None where it is refused, with a message and a hint."""
    try:
        return work()
    except LaunchRefused as refused:
        error = refused
    assert error.message
    assert error.hint
    return None


@given(st.sampled_from(RUNNERS), st.lists(st.one_of(st.sampled_from(WORDS), st.text()), max_size=8))
def test_any_command_line_is_a_plan_or_refused(runner, words):
    launch = refuse_or(lambda: parse_command([runner, *words], "/nowhere"))
    if launch is not None:
        assert Launch.from_json(json.loads(json.dumps(launch.to_json()))).arguments == launch.arguments
        for secret in launch.secrets:
            assert secret.variable or any("{" + secret.name + "}" in word for word in launch.arguments)


@given(st.lists(st.text(alphabet="ab{}", max_size=8)), st.dictionaries(st.sampled_from("ab"), st.text(alphabet="ab{}")))
def test_filling_in_changes_nothing_but_the_marks(words, values):
    filled = fill_secrets(words, values)
    assert len(filled) == len(words)
    for word, after in zip(words, filled, strict=True):
        if not any("{" + name + "}" in word for name in values):
            assert after == word


@given(documents)
def test_any_entry_of_a_registry_is_read_or_refused(content):
    entry = refuse_or(lambda: read_entry(content))
    for choice in entry.choices if entry else ():
        refuse_or(lambda choice=choice: choice.plan({}))


@given(documents)
def test_any_entry_of_a_client_is_a_plan_or_a_problem(content):
    expansion = Expansion(Path("/nowhere"), [], {}, knows_shell=True)
    found = _read_server("file", "x", Path("/x"), "user", content, expansion, Path("/nowhere"))
    assert isinstance(found, ConfiguredServer)
    assert bool(found.plan) != bool(found.problem)


@given(documents)
def test_any_manifest_has_settings_and_a_command(content):
    assert _read_setting("x", content).name == "x"
    bundle = Bundle(Path("/x"), "x", "1", "node", (), {"server": {"mcp_config": content, "entry_point": "i.js"}})
    assert all(isinstance(word, str) for word in _read_command(bundle, Path("/x")).words)


@pytest.mark.slow
@given(documents, documents)
def test_any_two_records_are_compared(before, after):
    for line in describe_differences(compare_records(before, after)):
        assert make_visible(line) == line
    assert compare_records(before, before) == []


def test_a_secret_shows_no_value():
    assert "hidden" not in repr([Secret("a", "hidden")])

"""What the admin decides about artifacts, and what is a handle and what only resembles one."""

import pytest

from ferrule.config import configuration
from ferrule.content.artifacts.handles import describe, digest, name_in, uri
from ferrule.content.artifacts.settings import (
    DEFAULT_SECONDS,
    DEFAULT_THRESHOLD_BYTES,
    DEFAULT_TOTAL_BYTES,
    MAX_SECONDS,
    Settings,
)

NAME = digest(b"{}")


def test_the_settings_have_the_documented_defaults() -> None:
    settings = Settings(lambda key, variable: None)
    assert (settings.threshold_bytes, settings.seconds, settings.total_bytes, settings.redis) == (
        24_576,
        1_800,
        268_435_456,
        "",
    )
    assert (DEFAULT_THRESHOLD_BYTES, DEFAULT_SECONDS, DEFAULT_TOTAL_BYTES) == (24_576, 1_800, 268_435_456)


@pytest.mark.parametrize("nonsense", ["", "many", "-1", "0", 0, -5, True, 1e400, [], None])
def test_a_setting_that_is_no_positive_number_counts_as_not_said(nonsense: object) -> None:
    settings = Settings(lambda key, variable: nonsense)
    assert (settings.threshold_bytes, settings.seconds, settings.total_bytes) == (
        DEFAULT_THRESHOLD_BYTES,
        DEFAULT_SECONDS,
        DEFAULT_TOTAL_BYTES,
    )


def test_the_environment_wins_over_the_table() -> None:
    table = {"wrappers": {"artifacts": {"threshold": 1000, "seconds": 60, "redis": "redis://file"}}}
    environ = {"FERRULE_ARTIFACTS_THRESHOLD": "2000", "FERRULE_REDIS": "redis://environment"}
    settings = Settings.of(configuration.Configuration("config.toml", table, environ))
    assert (settings.threshold_bytes, settings.seconds, settings.redis) == (2000, 60, "redis://environment")


def test_no_artifact_lives_longer_than_a_day() -> None:
    assert Settings(lambda key, variable: 10**9).seconds == MAX_SECONDS


@pytest.mark.parametrize("table", [{"wrappers": 5}, {"wrappers": {"artifacts": 5}}, {}])
def test_odd_tables_count_as_none(table: dict[str, object]) -> None:
    assert Settings.of(configuration.Configuration("config.toml", table, {})).threshold_bytes == DEFAULT_THRESHOLD_BYTES


def test_a_handle_is_the_uri_or_the_name_alone() -> None:
    assert uri(NAME) == f"research://artifact/{NAME}"
    assert name_in(uri(NAME)) == name_in(NAME) == NAME


NO_HANDLES = [
    "",
    NAME[:-1],
    NAME + "0",
    NAME.upper(),
    "g" * 64,
    "٣" * 64,
    f" {NAME}",
    f"{NAME}\n",
    f"research://artifact/{NAME}/",
    f"research://artifact//{NAME}",
    f"RESEARCH://artifact/{NAME}",
    f"research://artefact/{NAME}",
    f"research://artifact/research://artifact/{NAME}",
    f"file:///tmp/{NAME}",
    f"https://artifact/{NAME}",
    f"../{NAME[:2]}/{NAME}",
    f"research://artifact/../{NAME[3:]}",
    "../" * 21 + "a",
    "/etc/passwd",
]


@pytest.mark.parametrize("resource", NO_HANDLES)
def test_what_only_resembles_a_handle_is_none(resource: str) -> None:
    assert name_in(resource) is None
    assert describe(resource) == resource[:120]

"""Where the login at a server is kept."""

import json
import stat
from pathlib import Path

import pytest

from ferrule import Credential
from ferrule.config import CredentialsFile
from ferrule_mcp.remote.oauth import account

TOKEN = {"access_token": "access-4711", "refresh_token": "refresh-4711", "login": "ferrule mcp login my-notes"}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IKIGAI_CONFIG_DIR", str(tmp_path))
    return tmp_path / "credentials.json"


def test_a_login_is_kept_where_the_credential_of_the_tools_is_looked_up(path: Path) -> None:
    account.store_login("my-notes", TOKEN)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    credential = Credential(**account.describe_credential("my-notes", "https://mcp.example.com/mcp"))
    assert credential.environment == "FERRULE_MCP_MY_NOTES_TOKEN"
    found = credential.look_up({}, CredentialsFile(str(path)))
    assert found is not None
    assert found.value == "access-4711"
    assert CredentialsFile(str(path)).token(credential.path) == TOKEN
    assert account.forget_login("my-notes")
    assert json.loads(path.read_text()) == {}
    assert not account.forget_login("my-notes")


def test_the_address_of_a_login_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    account.show_address("https://auth.example.com/authorize?state=1")
    shown = capsys.readouterr()
    assert "https://auth.example.com/authorize?state=1" in shown.err
    assert shown.out == ""

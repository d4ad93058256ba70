"""What a tool asked for when it was accepted, while several first calls of it begin at the same time."""

import os
from pathlib import Path

import pytest

from ferrule.trust import records
from ferrule.trust.accepted_version import path_of


def test_a_record_that_another_call_makes_meanwhile_is_no_untrusted_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path))
    path, opened = Path(path_of("tide_table")), os.open

    def open_before_it_is_there(name: str, flags: int, mode: int = 0o777) -> int:
        if name == str(path) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return opened(name, flags, mode)
            finally:
                path.write_text("{}")
        return opened(name, flags, mode)

    monkeypatch.setattr(os, "open", open_before_it_is_there)
    assert records.read("tide_table") is None
    assert path.exists()


@pytest.mark.parametrize("kind", ["link to nothing", "writable by others"])
def test_a_record_that_no_call_has_made_is_untrusted(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path))
    path = Path(path_of("tide_table"))
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link to nothing":
        path.symlink_to(tmp_path / "nothing")
    else:
        path.write_text("{}")
        path.chmod(0o666)
    with pytest.raises(records.UntrustedRecord, match="no private file"):
        records.read("tide_table")

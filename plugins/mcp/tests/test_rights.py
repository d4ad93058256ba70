"""What a server wanted at its start, as rights that can be granted."""

from ferrule_mcp.installation.rights import Right, find_wanted


def test_what_cannot_be_granted_is_not_offered() -> None:
    denied = [
        {"kind": "write", "what": "/data/environments/mcp/word-1/lib/a/__pycache__/b.pyc.1399"},
        {"kind": "write", "what": "/dev/shm/sem.CAyl2N"},
        {"kind": "write", "what": "/dev/shm/sem.joblib-24542"},
        {"kind": "read", "what": "/data/environments/mcp/word-1/secret"},
        {"kind": "run", "what": "/usr/bin/git"},
        {"kind": "signal", "what": "1"},
    ]
    assert find_wanted({"denied": denied}, "/data/environments/mcp/word-1") == [
        Right("write", "/dev/shm"),
        Right("read", "/data/environments/mcp/word-1/secret"),
        Right("programs", "/usr/bin/git"),
    ]

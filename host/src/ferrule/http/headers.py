"""Headers, in which letter case does not matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

RawHeader = tuple[bytes, bytes]


class Headers(Mapping[str, str]):
    """The headers of an answer by name, and those of the same name joined by commas."""

    def __init__(self, raw: Iterable[RawHeader]) -> None:
        self._values: dict[str, str] = {}
        for name, value in raw:
            key, text = _text(name).lower(), _text(value)
            self._values[key] = f"{self._values[key]}, {text}" if key in self._values else text

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def merge_headers(*layers: Mapping[str, str]) -> list[RawHeader]:
    """The headers to send, where each layer replaces those of the same name. Raises UnicodeError for other text."""
    headers: dict[str, RawHeader] = {}
    for layer in layers:
        for name, value in layer.items():
            headers.pop(name.lower(), None)
            headers[name.lower()] = name.encode("ascii"), value.encode("ascii")
    return list(headers.values())


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")

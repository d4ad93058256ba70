"""What a file is that is no text, in words: by its first bytes, or by the media type that it is given."""

from __future__ import annotations

import re

_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})  # hardly in any text; 1B begins escape sequences of ISO-2022
_SIGNATURE_BYTES = 1024

_AT_THE_START = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\xff\x0a", "a JPEG XL image"),
    (b"\0\0\0\x0cJXL ", "a JPEG XL image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\0\0\1\0", "an icon"),
    (b"8BPS", "a Photoshop image"),
    (b"ID3", "an MP3 audio file"),
    (b"OggS", "an Ogg audio or video file"),
    (b"fLaC", "a FLAC audio file"),
    (b"MThd", "a MIDI file"),
    (b"\x1a\x45\xdf\xa3", "a WebM or Matroska video"),
    (b"FLV\1", "a Flash video"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"MSCF\0", "a Windows cabinet"),
    (b"!<arch>\ndebian-binary", "a Debian package"),
    (b"\xed\xab\xee\xdb", "an RPM package"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office document"),
    (b"%!PS", "a PostScript document"),
    (b"{\\rtf", "an RTF document"),
    (b"wOFF", "a WOFF font"),
    (b"wOF2", "a WOFF2 font"),
    (b"OTTO", "an OpenType font"),
    (b"\0\1\0\0\0", "a TrueType font"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"\x7fELF", "a Linux program"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program"),
    (b"\xca\xfe\xba\xbe", "a Java class or macOS program"),
)
# RIFF files and those of ISO's media format say what they are a few bytes later. Compiled where one is looked for.
_LATER = (
    (rb"RIFF....WEBP", "a WebP image"),
    (rb"RIFF....WAVE", "a WAV audio file"),
    (rb"RIFF....AVI ", "an AVI video"),
    (rb"....ftypavi[fs]", "an AVIF image"),
    (rb"....ftyp(?:hei|hev|mif)", "an HEIF image"),
    (rb"....ftypM4A", "an M4A audio file"),
    (rb"....ftyp", "an MP4 video"),
    (rb"BM....\0\0\0\0", "a BMP image"),
    (rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", "an MP3 audio file"),
    (rb".{257}ustar", "a tar archive"),
)
_ZIPPED = (
    (b"META-INF/", "a Java archive"),
    (b"AndroidManifest.xml", "an Android app"),
)
_UNREADABLE_TEXT = (b"%!PS", b"{\\rtf")
_NAMED = {
    "application/gzip": "a gzip archive",
    "application/java-archive": "a Java archive",
    "application/msword": "a Word document",
    "application/postscript": "a PostScript document",
    "application/rtf": "an RTF document",
    "application/vnd.ms-powerpoint": "a PowerPoint presentation",
    "application/wasm": "a WebAssembly module",
    "application/x-tar": "a tar archive",
    "application/zip": "a ZIP archive",
    "image/gif": "a GIF image",
    "image/jpeg": "a JPEG image",
    "image/png": "a PNG image",
    "image/webp": "a WebP image",
}
_FAMILIES = {"image": "an image", "audio": "an audio file", "video": "a video", "font": "a font", "model": "a 3D model"}


def kind_by_signature(body: bytes) -> str | None:
    """What a file is by its first bytes, such as "a PNG image"; None where they could be text, or are unknown."""
    if body.startswith(b"PK\x03\x04"):
        return _kind_of_zip(body)
    if not _count_controls(body[:_SIGNATURE_BYTES]) and not body.startswith(_UNREADABLE_TEXT):
        return None  # it may begin with one of the shorter signatures all the same
    return next(
        (kind for start, kind in _AT_THE_START if body.startswith(start)),
        next((kind for start, kind in _LATER if re.match(start, body, re.S)), None),
    )


def is_binary(body: bytes) -> bool:
    """Whether a body begins as no text does: with a null character, or with many controls."""
    beginning = body[:_SIGNATURE_BYTES]
    return b"\0" in beginning or _count_controls(beginning) * 10 > len(beginning)


def _count_controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, _CONTROLS))


def kind_by_type(media_type: str) -> str | None:
    """What a file is by its media type; None where that says nothing in words."""
    return _NAMED.get(media_type) or _FAMILIES.get(media_type.partition("/")[0])


def _kind_of_zip(body: bytes) -> str:
    names = re.findall(rb"PK\x03\x04.{26}([ -~]{3,120})", body[: 64 * _SIGNATURE_BYTES], re.S)
    return next((kind for start, kind in _ZIPPED if any(name.startswith(start) for name in names)), "a ZIP archive")

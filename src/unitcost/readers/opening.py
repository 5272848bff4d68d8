"""Opening a file: how it is packed, how its text is encoded, and never more of it in memory than a bound."""

from __future__ import annotations

import bz2
import codecs
import gzip
import importlib
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, cast

from unitcost.errors import BadFile, NeedsAnswer
from unitcost.facts.encodings import codec_of
from unitcost.readers.head import Format
from unitcost.readers.json_rows import BrokenObject
from unitcost.units import KIB, MIB

Packing = Literal["", "gzip", "bzip2", "xz", "zstd"]
HEAD_BYTES = 64 * KIB
_MAGIC: tuple[tuple[bytes, Packing], ...] = (
    (b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"),
)  # fmt: skip
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "unpack it, or save the sheet as csv"),
    (b"%PDF", "a PDF", "export the bill as csv or parquet"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as csv"),
    (b"ORC", "an ORC file", "export the bill as csv or parquet"),
    (b"SQLite format 3", "a SQLite database", "export the bill as csv or parquet"),
    (b"Obj\x01", "an Avro file", "export the bill as csv or parquet"),
)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_UNPACKING_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file whose build is known.

    Parameters
    ----------
    path, name
        Where it is and how messages call it.
    size_bytes
        As it lies on the disk.
    encoding
        Python codec of its text; `utf-8-sig` with a byte order mark.
    data
        First bytes, unpacked; empty for parquet.
    columns
        Header as written, trimmed; exact repeats and empty names made distinct (see `flags`).
    repeated
        Position of each exact repeat of a name -> position of its first.
    skipped
        Lines above the header that are left out.
    flags
        What was done to the header.
    held
        Objects of a small JSON file, taken apart; empty where they must be read.
    """

    path: Path
    name: str
    size_bytes: int
    packing: Packing = ""
    format: Format = "csv"
    encoding: str = "utf-8"
    data: bytes = b""
    delimiter: str = ""
    columns: tuple[str, ...] = ()
    repeated: dict[int, int] = field(default_factory=dict)
    skipped: int = 0
    flags: tuple[str, ...] = ()
    held: tuple[dict[str, str] | BrokenObject, ...] = ()


def first_bytes(path: Path, name: str) -> tuple[Packing, bytes]:
    """How a file is packed, and its first unpacked bytes.

    Raises
    ------
    BadFile
        When it is empty, cannot be opened, or is of a kind that holds no table.
    """
    try:
        with path.open("rb") as stream:
            start = stream.read(16)
    except OSError as error:
        raise BadFile(
            f"the file cannot be opened ({error.strerror})", where=name, mend="check the path and its rights"
        ) from error
    if not start:
        raise BadFile("the file is empty", where=name, mend="export it again")
    for magic, kind, mend in _FOREIGN:
        if start.startswith(magic):
            raise BadFile(f"the file is {kind}, not a table", where=name, mend=mend)
    packing: Packing = next((kind for magic, kind in _MAGIC if start.startswith(magic)), "")
    with unpacked(path, packing, name) as (stream, _):
        data = stream.read(HEAD_BYTES)
    if not data.strip(b"\x00\t\n\r \xef\xbb\xbf\xff\xfe"):
        kind = "nothing but blanks" if b"\x00" not in data else "nothing but zero bytes"
        raise BadFile(f"the file holds {kind}", where=name, mend="export it again")
    return packing, data


@contextmanager
def unpacked(path: Path, packing: Packing, name: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Unpacked bytes of a file, and the file itself, whose position tells how far the reading is.

    Raises
    ------
    BadFile
        When the packing is damaged, or nothing here can unpack it.
    """
    with path.open("rb") as raw:
        try:
            yield _unpack(raw, packing, name), raw
        except _UNPACKING_ERRORS as error:
            raise BadFile(
                f"the {packing or 'packed'} data is damaged or ends early ({error})", where=name,
                mend="fetch the file again",
            ) from error  # fmt: skip
        except OSError as error:
            if packing != "bzip2":
                raise
            raise BadFile(f"the bzip2 data is damaged ({error})", where=name, mend="fetch the file again") from error


def _unpack(raw: IO[bytes], packing: Packing, name: str) -> IO[bytes]:
    if packing == "gzip":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw, mode="rb"))
    if packing == "bzip2":
        return cast("IO[bytes]", bz2.BZ2File(raw))
    if packing == "xz":
        return cast("IO[bytes]", lzma.LZMAFile(raw))
    if packing != "zstd":
        return raw
    for module in ("compression.zstd", "backports.zstd"):  # the former from Python 3.14 on
        try:
            return cast("IO[bytes]", importlib.import_module(module).ZstdFile(raw))
        except ImportError:
            continue
    raise BadFile(
        "the file is packed with zstd, which this Python cannot unpack", where=name, mend="run `zstd -d` on it"
    )


@contextmanager
def text_of(source: Source) -> Iterator[tuple[io.TextIOWrapper, IO[bytes]]]:
    """Decoded text of a source from its header on, line ends as written, and the file itself.

    Raises
    ------
    BadFile
        When a byte cannot be decoded; says which.
    """
    with unpacked(source.path, source.packing, source.name) as (stream, raw):
        text: io.TextIOWrapper = io.TextIOWrapper(
            cast("IO[bytes]", _buffered(stream)), encoding=source.encoding, errors="strict", newline=""
        )
        try:
            for _ in range(source.skipped):
                text.readline()
            yield text, raw
        except UnicodeError as error:
            raise undecodable(source) from error
        finally:
            text.detach()


def _buffered(stream: IO[bytes]) -> io.BufferedIOBase:
    if isinstance(stream, io.BufferedIOBase):
        return stream
    return io.BufferedReader(cast(io.RawIOBase, stream))


def undecodable(source: Source) -> BadFile:
    """Error that names the first byte that is not of the encoding."""
    decoder = codecs.getincrementaldecoder(source.encoding)("strict")
    line, offset = 1, 0
    with unpacked(source.path, source.packing, source.name) as (stream, _):
        while block := stream.read(MIB):
            try:
                line += decoder.decode(block).count("\n")
            except UnicodeDecodeError as error:
                good = error.object[: error.start].decode(source.encoding, "replace")
                line += good.count("\n")
                at = offset - (len(error.object) - len(block)) + error.start
                return _not_encoded(source, f"{source.name}:{line}", at, error.object[error.start])
            except UnicodeError:
                break
            offset += len(block)
    return _not_encoded(source, source.name, offset, None)


def _not_encoded(source: Source, where: str, at: int, byte: int | None) -> BadFile:
    shown = f"byte 0x{byte:02x} at offset {at}" if byte is not None else f"the end at offset {at}"
    return BadFile(
        f"{shown} is not {source.encoding.removesuffix('-sig').upper()}", where=where,
        mend="name the encoding with --encoding latin-1 (or cp1252, utf-16 ...), or encoding = \"...\" in [[load]]",
    )  # fmt: skip


def encoding_of(data: bytes, said: str, name: str) -> str:
    """Codec of a text: what the user said, else its byte order mark, else UTF-8.

    Raises
    ------
    UnknownName
        When there is no encoding of text of the name that was given.
    BadFile
        When the bytes are no text.
    NeedsAnswer
        When they are text, but not UTF-8.
    """
    if said:
        codec = codec_of(said, where=name)
        return "utf-8-sig" if codec == "utf-8" and data.startswith(codecs.BOM_UTF8) else codec
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return codec
    if b"\x00" in data:
        raise _binary(data, name)
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(data)
    except UnicodeDecodeError as error:
        if sum(byte < 32 and byte not in b"\t\n\r\x0c" for byte in data) > len(data) // 100:
            raise _binary(data, name) from None
        line = data.count(b"\n", 0, error.start) + 1
        raise NeedsAnswer(
            f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8, and the encoding is not known",
            where=f"{name}:{line}",
            mend='name it with --encoding latin-1 (or cp1252 ...), or encoding = "latin-1" in [[load]]',
        ) from None
    return "utf-8"


def _binary(data: bytes, name: str) -> Exception:
    # Text in UTF-16 without a mark has a zero in every second byte.
    if len(data) > 3 and (data[1::2].count(0) > len(data) // 3 or data[0::2].count(0) > len(data) // 3):
        return NeedsAnswer(
            "the file looks like UTF-16 without a byte order mark", where=name, mend="name it with --encoding utf-16-le"
        )
    return BadFile("the file is binary, not a table", where=name, mend="give a csv, JSON or parquet file")

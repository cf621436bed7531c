"""Read records with named fields one by one: JSON Lines, CSV, TSV, Parquet, Arrow. Never loads a whole file.

A line that cannot be read is yielded as a `Flaw`, which describes the problem: readers raise an error at the first one,
checks continue. A problem with the whole file raises an error immediately.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from assay.errors import FormatError, InputError, MissingExtraError, did_you_mean, show_id
from assay.formats.chosen import joined_id, joined_names
from assay.formats.expansion import decoded_size, refuse_large_arrow, refuse_large_parquet
from assay.formats.sources import Content, refuse_expansion
from assay.formats.text import NO_DATA, Chunk, decoded, line_chunks, lines_of, refuse_old_mac_lines

FlawKind: TypeAlias = Literal["json", "columns", "encoding", "id", "empty", "file"]  # the last two: the whole file
Columns: TypeAlias = Mapping[str, str | Sequence[str]]  # role -> name of its field, or of several fields
Bare: TypeAlias = Callable[[Sequence[str]], Sequence[str] | None]
Names: TypeAlias = Mapping[str, tuple[str, ...]]  # role -> known names, likeliest first

_MAGIC = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")
_BATCH = 2048  # rows of a Parquet file in memory at once
_LONGEST_FIELD = 2**31 - 1
_IGNORED = str.maketrans("", "", "-_ ")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_TEXT_ADVICE = "A text field is text, a number, null, or a list of these: fix these records."
_ID_ADVICE = "Ids must be non-empty text or whole numbers: fix or remove these records."
NOT_UTF8 = "Convert the file to UTF-8: iconv -f LATIN1 -t UTF-8 OLD > NEW."


class RawRecord(Struct, frozen=True):
    """A record of a file."""

    number: int  # counted from 1
    line: int | None  # first line, in a text file
    fields: Mapping[str, Any]


class Flaw(Struct, frozen=True):
    """A line or record that cannot be read."""

    kind: FlawKind
    what: str
    advice: str
    line: int | None = None

    def error(self, source: str) -> InputError:
        """The exception for readers."""
        return InputError(f"{self.what}. {self.advice}", source=source, line=self.line)


def is_table(content: Content) -> bool:
    """Whether a content is Parquet or Arrow."""
    return content.head.startswith(_MAGIC)


def scan_records(content: Content, bare: Bare = lambda row: None) -> Iterator[RawRecord | Flaw]:
    """All records of a content in order, with a `Flaw` for each that cannot be read.

    `bare` gets the first row of a tab-separated table and returns column names if that row is not a header.
    """
    if is_table(content):
        return _arrow_records(content)
    chunks = line_chunks(content)
    start = next(((chunk, line) for chunk in chunks for line in lines_of(chunk.data) if line.strip()), None)
    if start is None:
        raise InputError(NO_DATA, source=content.name)
    chunk, line = start
    refuse_old_mac_lines(chunk, content)
    # The chunk of the first line is read again; chunks before it are blank.
    if line.lstrip().startswith((b"{", b"[")):
        return _json_records(chain([chunk], chunks), content)
    return _delimited_records(chain([chunk], chunks), content, bare)


# JSON Lines


def _json_records(chunks: Iterator[Chunk], content: Content) -> Iterator[RawRecord | Flaw]:
    import msgspec  # several times as fast as json

    decode = msgspec.json.Decoder().decode
    number = 0
    for chunk in chunks:
        for place, line in enumerate(chunk.data.split(b"\n"), chunk.line):
            if not line or line.isspace():
                continue
            number += 1
            try:
                fields = decode(line)
            except (ValueError, RecursionError):
                fields = _decoded_slowly(line, place)
            if isinstance(fields, dict):
                yield RawRecord(number, place, fields)
            elif number == 1 and _is_opening(line):
                raise FormatError(
                    "expected one JSON object per line, found a list or an object that spans several lines. "
                    "Convert it: jq -c '.[]' OLD > NEW.jsonl",
                    source=content.name,
                    line=place,
                )
            elif isinstance(fields, Flaw):
                yield fields
            else:
                what = f"expected an object, found '{show_id(decoded(line))}'"
                yield Flaw("json", what, "Each line must be one JSON object: fix or remove these lines.", place)


def json_lines(text: str, source: str) -> Iterator[tuple[int, Any]]:
    """The values of a text of JSON Lines with their line numbers; a line that is not valid JSON is an error."""
    import json

    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"the line is not valid JSON: {error}", source=source, line=number) from None


def _is_opening(line: bytes) -> bool:
    """Whether a line starts JSON that spans several lines, or is a whole list."""
    return line.strip() == b"{" or line.lstrip().startswith(b"[")


def _decoded_slowly(line: bytes, place: int) -> Any:
    """Decode what the fast decoder rejects, such as NaN and lone surrogates; or a `Flaw`."""
    import json

    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return Flaw("encoding", f"the line is not UTF-8: '{show_id(decoded(line))}'", NOT_UTF8, place)
    except json.JSONDecodeError as error:
        shown = show_id(decoded(line))
        what = f"the line is not valid JSON: {error.msg}: column {error.colno} of '{shown}'"
    except (RecursionError, ValueError):
        what = "the JSON is nested too deeply, or a number in it is too long"
    return Flaw("json", what, "Each line must be one JSON object: fix or remove these lines.", place)


# CSV and TSV


def _delimited_records(chunks: Iterator[Chunk], content: Content, bare: Bare) -> Iterator[RawRecord | Flaw]:
    lines = _text_lines(chunks)
    place, header = next(((place, line) for place, line in lines if line.strip()), (1, ""))
    if not header:  # only blanks that are not ASCII
        raise InputError(NO_DATA, source=content.name)
    delimiter = max("\t,;", key=header.count)
    rows = _tab_rows if delimiter == "\t" else _quoted_rows
    numbered = rows(chain([(place, header)], lines), delimiter, content)
    first = next(numbered)
    names = [name.strip() for name in first[1]]
    if delimiter == "\t" and (own := bare(names)):
        names, numbered = list(own), chain([first], numbered)
    for number, (line, row) in enumerate(numbered, 1):
        if len(row) == len(names):
            yield RawRecord(number, line, dict(zip(names, row, strict=True)))
        else:
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            what = f"the line has {fields}, the header has {len(names)}: '{show_id(delimiter.join(row))}'"
            advice = "Quote fields that contain the delimiter; text with line breaks needs CSV or JSON Lines."
            yield Flaw("columns", what, advice, line)


def _text_lines(chunks: Iterator[Chunk]) -> Iterator[tuple[int, str]]:
    for chunk in chunks:
        yield from enumerate(decoded(chunk.data).split("\n")[:-1], chunk.line)


def _tab_rows(lines: Iterator[tuple[int, str]], delimiter: str, content: Content) -> Iterator[tuple[int, list[str]]]:
    """Tab-separated rows. Quotes are ordinary characters, as in MS MARCO, unless the whole field is quoted."""
    for place, line in lines:
        if line.strip():
            yield place, [_unquoted(field) for field in line.removesuffix("\r").split(delimiter)]


def _unquoted(field: str) -> str:
    if field.startswith('"') and _QUOTED.fullmatch(field):
        return field[1:-1].replace('""', '"')
    return field


def _quoted_rows(lines: Iterator[tuple[int, str]], delimiter: str, content: Content) -> Iterator[tuple[int, list[str]]]:
    """Rows separated by commas or semicolons, with their first lines; a quoted field may span several lines."""
    import csv

    csv.field_size_limit(_LONGEST_FIELD)  # global setting; by default a field over 128 kB is an error
    first, header = next(lines)
    reader = csv.reader(
        chain([f"{header}\n"], (f"{line}\n" for _, line in lines)),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=True,
    )
    begin = first
    try:
        for row in reader:
            if row:
                yield begin, row
            begin = first + reader.line_num
    except csv.Error as error:
        advice = "A field that starts with a quote must end with one; double any quotes inside it."
        raise InputError(f"{error}. {advice}", source=content.name, line=begin) from error


# Parquet and Arrow


def _arrow_records(content: Content) -> Iterator[RawRecord | Flaw]:
    from assay.formats.frames import listed

    number = 0
    for batch in _batches(content):
        names = batch.schema.names
        columns = [listed(column, content.name) for column in batch.columns]
        for row in zip(*columns, strict=True):
            number += 1
            yield RawRecord(number, None, dict(zip(names, row, strict=True)))


def _batches(content: Content) -> Iterator[Any]:
    try:
        import pyarrow
        from pyarrow import ipc, parquet
    except ImportError:
        raise MissingExtraError("reading Parquet and Arrow files", "frames") from None
    try:
        # A plain file is read in pieces; a compressed file or a pipe is read into memory.
        data = None if content.file else content.read()
        source = pyarrow.OSFile(content.name) if data is None else pyarrow.BufferReader(data)
        if source.read(4) == b"PAR1":
            source.seek(0)
            file = parquet.ParquetFile(source)
            again = content.name if data is None else pyarrow.BufferReader(data)
            refuse_large_parquet(file, again, file.schema_arrow.names, source.size(), content.name)
            yield from file.iter_batches(_BATCH, use_threads=False)
            return
        source.seek(0)
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        refuse_large_arrow(pyarrow.memory_map(content.name).read_buffer() if data is None else data, content.name)
        opened = ipc.open_file(source) if is_file else ipc.open_stream(source)
        batches = (opened.get_batch(n) for n in range(opened.num_record_batches)) if is_file else opened
        for batch in batches:
            batch.validate(full=True)  # a damaged file could cause reads out of bounds
            refuse_expansion(sum(map(decoded_size, batch.columns)), source.size(), content.name)
            yield from (batch.slice(start, _BATCH) for start in range(0, len(batch), _BATCH))
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, SystemError) as error:
        raise InputError(f"the Parquet or Arrow data is damaged: {error}", source=content.name) from error


# The roles of fields


class Fields:
    """Finds the fields of each role in records, by given or known names.

    The first record decides which fields are used. If a later record lacks one, its text is empty or its id missing. A
    role that another one can replace may be missing from the first record and come later.
    """

    def __init__(
        self,
        known: Names,
        columns: Columns | None,
        *,
        required: tuple[str, ...],
        stands_in: Mapping[str, str] | None = None,  # role -> an earlier role that can replace it
    ) -> None:
        self._known, self._required, self._stands_in = known, required, stands_in or {}
        self._given = {role: joined_names(names, role) for role, names in (columns or {}).items()}
        for role in self._given:
            if role not in known:
                hint = did_you_mean(role, known) or "."
                raise InputError(f"columns: unknown role '{show_id(role)}'{hint} The roles are {', '.join(known)}.")
        self._found: dict[str, tuple[str, ...]] | None = None

    def lack(self, record: RawRecord) -> Flaw | None:
        """Choose the fields from the first record; returns a `Flaw` if a required one is missing."""
        if self._found is not None:
            return None
        self._found = {}
        claimed = {name for names in self._given.values() for name in names}  # not available for other roles
        free = {name: value for name, value in record.fields.items() if name not in claimed}
        for role, known in self._known.items():
            wanted = self._given.get(role)
            there = tuple(name for name in wanted if name in record.fields) if wanted else _first(known, free)
            missing = [name for name in wanted or () if name not in record.fields]
            if missing and record.line is None:  # in Parquet, all records have the same columns
                return self._lack(role, record, missing[0])
            if not there and not wanted and self._found.get(self._stands_in.get(role, "")):
                there = known
            if not there and (wanted or role in self._required):
                return self._lack(role, record, missing[0] if missing else None)
            self._found[role] = wanted or there
        return None

    def _lack(self, role: str, record: RawRecord, name: str | None) -> Flaw:
        there = ", ".join(map(show_id, record.fields)) or "none"
        if name is not None:
            hint = did_you_mean(name, record.fields) or "."
            what = f"no field '{show_id(name)}' for the {role}{hint} The fields are {there}"
            return Flaw("columns", what, "Check the names given as columns.", record.line)
        what = f"no {role} field; the fields are {there}"
        advice = f"Rename one of them (accepted names: {', '.join(self._known[role])}), or choose one: {role}=FIELD."
        return Flaw("columns", what, advice, record.line)

    def id(self, record: RawRecord, role: str = "id") -> str | Flaw:
        """The id of a record; several fields are joined as in runs and qrels."""
        names = (self._found or {}).get(role, ())
        parts: list[str] = []
        for name in names:
            value = record.fields.get(name)
            if type(value) is str and value and not value.isspace():
                parts.append(value)
            elif isinstance(value, int) and not isinstance(value, bool):
                parts.append(str(value))
            elif value is not None and not isinstance(value, str):
                what = f"{_place(record)}the id is {_kind(value)}"
                return Flaw("id", what, _ID_ADVICE, record.line)
        if not parts or len(parts) < len(names):
            return Flaw("id", f"{_place(record)}there is no id", _ID_ADVICE, record.line)
        return parts[0] if len(parts) == 1 else joined_id(parts)

    def has(self, role: str) -> bool:
        """Whether the first record has a field for the role."""
        return bool((self._found or {}).get(role))

    def value(self, record: RawRecord, role: str) -> Any:
        """The value of a field, unchanged; None if it is missing."""
        return next((record.fields[name] for name in (self._found or {}).get(role, ()) if name in record.fields), None)

    def text(self, record: RawRecord, role: str = "text") -> str | Flaw:
        """The text of a record: its text fields joined with spaces."""
        names = (self._found or {}).get(role, ())
        if len(names) == 1 and type(value := record.fields.get(names[0])) is str:
            return value
        parts: list[str] = []
        for name in names:
            found = _plain(record.fields.get(name))
            if found is None:
                what = f"{_place(record)}'{show_id(name)}' is {_kind(record.fields[name])}"
                return Flaw("columns", what, _TEXT_ADVICE, record.line)
            if found:
                parts.append(found)
        return " ".join(parts)


def writable(text: str) -> bool:
    """Whether a text can be written as UTF-8: it has no surrogate escapes or lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> str | None:
    """A value as text; None if it has no text form."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "" if math.isnan(value) else str(value)
    if isinstance(value, (list, tuple)):
        parts = [_plain(part) for part in value if not isinstance(part, (list, tuple))]
        return None if None in parts or len(parts) < len(value) else " ".join(part for part in parts if part)
    return None


def _kind(value: Any) -> str:
    kinds: dict[type, str] = {
        bool: "true or false",
        float: "a number with a fraction",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), f"a {type(value).__name__}")


def _place(record: RawRecord) -> str:
    return "" if record.line is not None else f"row {record.number}: "


def _first(known: Sequence[str], fields: Mapping[str, Any]) -> tuple[str, ...]:
    by_fold = {folded(name): name for name in reversed(list(fields))}
    found = (by_fold.get(folded(name)) for name in known)
    return next(((name,) for name in found if name is not None), ())


def folded(name: str) -> str:
    """The name of a field for comparison: case, spaces, - and _ are ignored."""
    return name.translate(_IGNORED).casefold()

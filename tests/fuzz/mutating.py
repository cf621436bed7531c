"""Make inputs from others by small random changes. Knows no reader; the same seed gives the same inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

LONGEST = 4000  # bytes; longer inputs take longer and find no more
MOST_KEPT = 2000

# What readers stumble over: ends of lines, blanks, marks, bytes that are not UTF-8, numbers at the edges.
HOSTILE = (
    *(b"\n", b"\r\n", b"\r", b"\r\r\n", b"\n\n", b"\t", b"\t\t", b" ", b"  ", b"\v", b"\f", b"\0", b"\x01", b"\x1b[31m"),
    *(b"\x1c", b"\x85", b"\xc2\x85", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xe2\x80\x8b", b"\xef\xbb\xbf", b"\n\xef\xbb\xbf"),
    *(b"\xff\xfe", b"\xfe\xff", b"\xe9", b"\xc3\xa9", b"\xed\xa0\x80", b"\xed\xb3\xa9", b"\xf0\x9d\x84\x9e", b"\xff", b"\x80"),
    *(b"#", b"\n#", b'"', b"'", b'""', b"\\", b",", b";", b":", b"=", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"@"),
    *(b"0", b"1", b"-1", b"+1", b"-0", b"-0.0", b"5.", b".5", b".", b"-", b"1e3", b"1E-3", b"1e22", b"1e400", b"1e-400"),
    *(b"nan", b"NaN", b"inf", b"-Infinity", b"0x1", b"1_0", b"01", b"\xd9\xa1", b"16777217", b"9007199254740993"),
    *(b"12345678.123456789", b"12345678901234567890", b"9223372036854775807", b"1" * 400, b"0." + b"0" * 400 + b"1"),
    *(b"null", b"true", b"None", b"d1", b"d2", b"q1", b"q2", b"../x", b"/dev/null", b"%s", b"{0}", b"a" * 300),
)  # fmt: skip
_NUMBER = re.compile(rb"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")


class Mutator:
    """Gives changed copies of the seeds, of the tokens between them, and of inputs that did something new."""

    def __init__(self, seeds: Sequence[bytes], tokens: Sequence[bytes], chance: Random) -> None:
        self._kept = list(seeds)
        self._tokens = (*HOSTILE, *tokens, *tokens, *tokens)
        self._chance = chance
        self._changes: tuple[Callable[[bytes], bytes], ...] = (
            *(self._insert_token, self._insert_token, self._replace_by_token, self._change_number, self._change_number),
            *(self._flip_bit, self._delete, self._copy, self._splice, self._move_lines, self._repeat_line, self._cut),
        )

    def keep(self, data: bytes) -> None:
        """Start from this input, too, from now on."""
        if len(self._kept) < MOST_KEPT:
            self._kept.append(data)

    def next(self) -> bytes:
        """The next input: most have one or two changes, so that they can still be read."""
        data = self._chance.choice(self._kept)
        for _ in range(self._chance.choice((1, 1, 1, 2, 2, 3, 6))):
            data = self._chance.choice(self._changes)(data)[:LONGEST]
        return data

    def _place(self, data: bytes) -> int:
        return self._chance.randint(0, len(data))

    def _part(self, data: bytes, longest: int) -> tuple[int, int]:
        start = self._place(data)
        return start, start + self._chance.randint(1, longest)

    def _insert_token(self, data: bytes) -> bytes:
        place = self._place(data)
        return data[:place] + self._chance.choice(self._tokens) + data[place:]

    def _replace_by_token(self, data: bytes) -> bytes:
        start, end = self._part(data, 8)
        return data[:start] + self._chance.choice(self._tokens) + data[end:]

    def _change_number(self, data: bytes) -> bytes:
        found = list(_NUMBER.finditer(data))
        if not found:
            return self._insert_token(data)
        chosen = self._chance.choice(found)
        return data[: chosen.start()] + self._chance.choice(self._tokens) + data[chosen.end() :]

    def _flip_bit(self, data: bytes) -> bytes:
        changed = bytearray(data or b" ")
        changed[self._chance.randrange(len(changed))] ^= 1 << self._chance.randrange(8)
        return bytes(changed)

    def _delete(self, data: bytes) -> bytes:
        start, end = self._part(data, 12)
        return data[:start] + data[end:]

    def _copy(self, data: bytes) -> bytes:
        start, end = self._part(data, 40)
        place = self._place(data)
        return data[:place] + data[start:end] + data[place:]

    def _splice(self, data: bytes) -> bytes:
        other = self._chance.choice(self._kept)
        return data[: self._place(data)] + other[self._place(other) :]

    def _move_lines(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        self._chance.shuffle(lines)
        return b"\n".join(lines)

    def _repeat_line(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        place = self._chance.randrange(len(lines))
        return b"\n".join([*lines[:place], *[lines[place]] * self._chance.choice((2, 2, 20)), *lines[place + 1 :]])

    def _cut(self, data: bytes) -> bytes:
        return data[: self._place(data)]

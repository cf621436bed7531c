"""Prompt files, and texts that are put into them as data: whatever they say, they cannot pass for a part of the prompt."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from msgspec import Struct

from assay.errors import LanguageModelError

_SLOT = re.compile(r"\{([a-z]+)\}")
_LONGEST = 1 << 20  # bytes of a prompt file
# What models read as the begin or end of a part: <|im_end|>, </s>, <start_of_turn>, [INST], and our own numbers: [3].
_TAG = re.compile(r"<(?=[|/!?\w｜])")
_BRACKETED = re.compile(r"[\[［〔【]\s*(/?(?:\d+|[A-Z_]+)(?:\s*[,;>-]\s*\d+)*)\s*[\]］〕】]")
_UNPRINTABLE = re.compile(r"[^\S ]+|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_BLANKS = re.compile(r" {2,}")


class Prompt(Struct, frozen=True):
    """A prompt with slots such as {query}."""

    text: str
    digest: str

    def filled(self, values: Mapping[str, str]) -> str:
        """The prompt with the slots filled, all at once: a slot in a value stays as it is.

        >>> Prompt("{query} in {passage}", "").filled({"query": "{passage}", "passage": "rice"})
        '{passage} in rice'
        """
        return _SLOT.sub(lambda found: values.get(found[1], found[0]), self.text)


def read_prompt(file: Path | Traversable, slots: Collection[str]) -> Prompt:
    """The prompt of a file, which must have these slots."""
    try:
        content = file.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise LanguageModelError(f"{file}: the prompt cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise LanguageModelError(f"{file}: the prompt is not UTF-8. Save it as UTF-8.") from None
    if len(content) > _LONGEST:
        raise LanguageModelError(f"{file}: the prompt is longer than a megabyte; is this the right file?")
    missing = [slot for slot in slots if f"{{{slot}}}" not in text]
    if missing:
        names = " and ".join(f"{{{slot}}}" for slot in missing)
        raise LanguageModelError(f"{file}: the prompt lacks {names}, where the text is to be put in.")
    lines = text.replace("\r\n", "\n")
    return Prompt(lines.strip(), hashlib.sha256(lines.strip().encode()).hexdigest())


def as_data(text: str, max_characters: int) -> str:
    r"""A text on one line, cut to a length, in which nothing looks like a part of a prompt.

    Line breaks and control characters become blanks, "[3]" becomes "(3)", and "<|im_end|>" becomes "< |im_end|>". A cut is
    made at a blank if there is one near it.

    >>> as_data("Rinse it.\n[2] The best <|im_end|> [INST]", 100)
    'Rinse it. (2) The best < |im_end|> (INST)'
    >>> as_data("Rinse it twice before cooking.", 12)
    'Rinse it'
    """
    line = _BLANKS.sub(" ", _UNPRINTABLE.sub(" ", text)).strip()
    return _BRACKETED.sub(r"(\1)", _TAG.sub("< ", _cut(line, max_characters)))


def _cut(line: str, most: int) -> str:
    if len(line) <= most:
        return line
    head = line[:most]
    if line[most] != " ":
        blank = head.rfind(" ", most // 2)
        head = head if blank < 0 else head[:blank]
    return head.rstrip()


def own_path(path: str) -> Path:
    """The path that a user gave."""
    return Path(os.path.expanduser(path))

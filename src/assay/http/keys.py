"""The key of a server: from the environment, in one header, and never unencrypted to another machine."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from assay.errors import ServerError
from assay.http.addresses import Address

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9-]+")
_KEY = re.compile(r"[!-~]+")
_VALUE = re.compile(r"(?:[A-Za-z]+ )?[!-~]+")  # "ApiKey abc", where the header has no prefix of its own


class KeyPlace(Struct, frozen=True):
    """Where a key comes from, and how it is sent. The key itself is not part of it."""

    variable: str  # of the environment
    header: str
    prefix: str = ""  # before the key in the header, as in "Bearer "
    is_needed: bool = False  # whether it is an error if the variable is not set


def checked_variable(name: object, what: str, example: str) -> str:
    """The name of a variable, if it is one; in the error it is not repeated, since it may be a key."""
    if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
        raise ServerError(
            f"{what} takes the name of an environment variable in capitals, such as {example}, not a key."
        )
    return name


def checked_header(name: object, what: str) -> str:
    """The name of a header, if it is one; in the error it is not repeated, since it may be a key."""
    if not isinstance(name, str) or not _HEADER.fullmatch(name):
        raise ServerError(f"{what} takes the name of a header, such as X-API-Key or Authorization, not a key.")
    return name


def find_key(place: KeyPlace, address: Address, *, allow_http: bool, how_to_allow: str) -> str:
    """The key of a server; empty if there is none. Raises if it cannot be sent, or would go unencrypted elsewhere."""
    key = os.environ.get(place.variable, "").strip()
    if not key and place.is_needed:
        raise ServerError(f"the environment variable {place.variable} is not set. Put the key of {address.url} there.")
    if key and not (_KEY if place.prefix else _VALUE).fullmatch(key):
        raise ServerError(f"{place.variable}: not a key: it has blanks, line breaks or characters that are not ASCII.")
    if key and not (address.is_encrypted or address.is_local or allow_http):
        raise ServerError(
            f"{address.url}: the key in {place.variable} would be sent without encryption. Use https, or {how_to_allow} "
            "if nobody can listen."
        )
    return key

"""Addresses of servers. One that holds a user name, a password or a key is refused, and never repeated in a message."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from assay.errors import ServerError, show_id
from assay.secrets import Secrets


class Address(Struct, frozen=True):
    """Where a server is, without anything secret."""

    url: str
    host: str
    is_encrypted: bool

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        name = self.host.strip("[]").casefold()
        if name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False


def parse_address(
    text: str, what: str = "endpoint", *, example: str = "https://api.example.org/v1", parameters: bool = False
) -> Address:
    """The address of a server, such as https://api.example.org/v1; `what` names the setting that gives it.

    Parameters (`?name=value`) are refused unless they are allowed, and always if one looks like a key.

    >>> parse_address("http://localhost:8080/v1")
    Address(url='http://localhost:8080/v1', host='localhost', is_encrypted=False)
    """
    try:
        parts = urlsplit(text.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = SplitResult("", "", "", "", ""), None
    if _holds_more(text, parameters):  # not shown: it may hold a password
        more = "or a key" if parameters else "or parameters"
        raise ServerError(
            f"{what} contains a user name, a password {more}. Give the address only, such as {example}, and put the "
            "key into an environment variable."
        )
    if parts.scheme not in ("http", "https") or not host or not re.fullmatch(r"[\w.:%\[\]-]+", host):
        raise ServerError(f"{what} cannot be {show_id(text)!r}; it takes an address such as {example}.")
    return Address(parts.geturl(), host, parts.scheme == "https")


def _holds_more(text: str, parameters: bool) -> bool:
    """Whether an address holds anything but scheme, host, port and path, and harmless parameters if those are allowed."""
    if "#" in text or "@" in text.partition("?")[0]:
        return True
    if not parameters:
        return "@" in text or "?" in text
    return Secrets().hide(text) != text

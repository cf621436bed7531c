"""What one workbench is given. Holds no secrets: see `safety.Door`."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class Limits(Struct, frozen=True):
    """How much clients may ask for, and how long they may take."""

    connections: int = 256  # at the same time
    address: int = 32 << 10  # bytes
    head: int = 64 << 10  # bytes of an address and headers
    body: int = 1 << 20  # bytes
    arriving: float = 10  # seconds until a request is here, head and body
    reading: float = 20  # seconds in which a client reads some more of its answer
    idle: float = 5  # seconds between two requests of a connection


class Settings(Struct, frozen=True):
    """One workbench."""

    data: Path  # resolved
    host: str = "127.0.0.1"  # as it was asked for
    ip: str = "127.0.0.1"  # that it is bound to
    port: int = 8000
    read_only: bool = False
    limits: Limits = Limits()

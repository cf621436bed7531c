"""Caps on requests, tokens and money. A request is not started if it could exceed one of them.

What is spent can be kept in a file, one change per line, each written before it happens. So the caps hold over several
runs, also over those that were killed: a request that was on its way counts as the most that it could take.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition

import msgspec
from msgspec import Struct

from assay.errors import CapError, LanguageModelError
from assay.words import number_of

_TEMPLATE = 512  # tokens that a server may put around a prompt
_MILLION = 1_000_000


class Prices(Struct, frozen=True):
    """What a million tokens cost, in any currency."""

    price_in: float = 0.0
    price_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """The price of so many tokens.

        >>> Prices(2.5, 10).cost(1000, 100)
        0.0035
        """
        return (tokens_in * self.price_in + tokens_out * self.price_out) / _MILLION


class Caps(Struct, frozen=True):
    """The most that may be spent; None is no cap."""

    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None


class Spent(Struct, frozen=True, array_like=True):
    """Requests and tokens, used or set aside."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, name) + getattr(other, name) for name in self.__struct_fields__))

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, name) - getattr(other, name) for name in self.__struct_fields__))


class Booking:
    """One request on its way, with the most it can take."""

    def __init__(self, most: Spent) -> None:
        self.most = most
        self.took = most  # unless we learn better: a request without an answer may have been charged

    def settle(self, tokens_in: int, tokens_out: int) -> None:
        """Book what was really used."""
        self.took = Spent(1, tokens_in, tokens_out)


class Budget:
    """What has been spent under some caps, by all threads together."""

    def __init__(self, caps: Caps = Caps(), prices: Prices = Prices()) -> None:
        self._caps, self._prices = caps, prices
        self._spent, self._set_aside = Spent(), Spent()
        self._factor = 1.0  # how many times more tokens a server counts than we thought possible
        self._changed = Condition()
        self._account: Path | None = None

    @property
    def spent(self) -> Spent:
        """So far, without requests on their way."""
        return self._spent

    def keep_account(self, path: Path) -> None:
        """Keep account in a file from now on, and count what it says was spent before."""
        with self._changed:
            self._account = path
            try:
                lines = path.read_bytes().splitlines() if path.exists() else []
            except OSError as error:
                raise LanguageModelError(f"{path}: cannot be read: {error.strerror}.") from None
            for line in lines:
                with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # the last line before a power failure
                    self._spent += msgspec.json.decode(line, type=Spent)
            self._write(Spent())  # fails here rather than between requests

    @contextmanager
    def request(self, prompt: str, answer_tokens: int) -> Iterator[Booking]:
        """Set aside the most that a request can take, and book what it took when it is done.

        While other requests are on their way, this waits for them: they may take less than was set aside.
        """
        bound = len(prompt.encode("utf-8", "replace")) + _TEMPLATE  # a token is at least a byte
        with self._changed:
            booking = Booking(Spent(1, math.ceil(bound * self._factor), answer_tokens))
            while reached := self._reached(self._spent + self._set_aside + booking.most):
                if self._set_aside == Spent():
                    raise CapError(self._refusal(reached))
                self._changed.wait()
            self._write(booking.most)
            self._set_aside += booking.most
        try:
            yield booking
        finally:
            with self._changed:
                self._set_aside -= booking.most
                self._spent += booking.took
                self._factor = max(self._factor, booking.took.tokens_in / bound)
                self._changed.notify_all()
                self._write(booking.took - booking.most)

    def _write(self, change: Spent) -> None:
        """Add a change to the account."""
        if self._account is None:
            return
        try:
            with self._account.open("ab") as file:
                file.write(b"\n" + msgspec.json.encode(change))
        except OSError as error:
            raise LanguageModelError(f"{self._account}: cannot be written: {error.strerror}.") from None

    def _reached(self, total: Spent) -> str:
        """The cap that would be exceeded; empty if none."""
        tokens = total.tokens_in + total.tokens_out
        for name, amount in (
            ("max_requests", total.requests),
            ("max_tokens", tokens),
            ("max_cost", self._prices.cost(total.tokens_in, total.tokens_out)),
        ):
            cap = getattr(self._caps, name)
            if cap is not None and amount > cap:
                return name
        return ""

    def _refusal(self, name: str) -> str:
        spent = self._spent
        asked = number_of(spent.requests, "request")
        cost = self._prices.cost(spent.tokens_in, spent.tokens_out)
        price = f", which cost {cost:.6g}" if cost else ""
        note = ", a cap on all requests together" if name == "max_tokens" else ""
        return (
            f"stopped before `{name}` = {getattr(self._caps, name)}{note}: so far {asked} took "
            f"{spent.tokens_in + spent.tokens_out:,} tokens{price}, and the next one could go over it. Raise `{name}` "
            "and run again: answers so far are kept and not asked again."
        )

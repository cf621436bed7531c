"""Which language model to ask, and how: the settings in a recipe, and the client they open."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from assay.errors import LanguageModelError, MissingExtraError, show_id
from assay.http.addresses import Address, parse_address
from assay.http.keys import KeyPlace, checked_variable, find_key
from assay.llm.answers import TEMPERATURE, AnswerStore
from assay.llm.budget import Budget, Caps, Prices
from assay.llm.client import Client, Place
from assay.llm.local import engine_version, local_server
from assay.llm.server import NEEDS, PATH, Server

KEY_VARIABLE = "ASSAY_LLM_API_KEY"
_TOO_LONG = "If the prompt is too long for the model, lower `max_characters`."

Check: TypeAlias = tuple[Callable[[Any], bool], str]


def whole(least: int, *, optional: bool = False) -> Check:
    """Whole numbers of at least so much are valid, and perhaps nothing."""
    words = f"a whole number of at least {least}"

    def is_valid(value: Any) -> bool:
        is_number = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return is_number or (optional and value is None)

    return is_valid, words


def _number(least: float, *, optional: bool = False) -> Check:
    def is_valid(value: Any) -> bool:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and least <= value < float("inf")
        return is_number or (optional and value is None)

    return is_valid, f"a number of at least {least:g}"


_NAME: Check = (lambda value: value is None or (isinstance(value, str) and value.strip() != ""), "a name")
CHECKS: dict[str, Check] = {
    "model": _NAME,
    "endpoint": (_NAME[0], "an address such as https://api.example.org/v1"),
    "allow_http": (lambda value: isinstance(value, bool), "true or false"),
    "seed": whole(0),
    "timeout": _number(0.001),
    "retries": whole(0),
    "concurrency": whole(1),
    "context": whole(256),
    "price_in": _number(0),
    "price_out": _number(0),
    "max_requests": whole(0, optional=True),
    "max_tokens": whole(0, optional=True),
    "max_cost": _number(0, optional=True),
}


class ModelFile(Struct, frozen=True):
    """A GGUF file and its digest."""

    name: str
    path: Path
    digest: str


class Service(Struct, frozen=True):
    """A language model and how to ask it.

    With `endpoint`, `model` is the name of a model of that server. Without, it is a GGUF file or the name of one.
    """

    model: str | None = None
    endpoint: str | None = None
    key_variable: str = KEY_VARIABLE  # the environment variable that holds the key
    allow_http: bool = False  # send the key without encryption to another machine
    seed: int = 0
    timeout: float = 120.0  # seconds for one request
    retries: int = 5
    concurrency: int = 1  # queries that are asked at the same time
    context: int = 8192  # tokens that a model from a GGUF file can take
    price_in: float = 0.0  # of a million tokens
    price_out: float = 0.0
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        check_settings(self, CHECKS)
        checked_variable(self.key_variable, "key_variable", KEY_VARIABLE)
        if self.endpoint is not None:
            _ = self.address  # raises unless it is one
            if self.model is None:
                raise LanguageModelError("`model` is missing: name a model of the server at `endpoint`.")
        if self.max_cost is not None and not (self.price_in or self.price_out):
            raise LanguageModelError("max_cost needs prices: give `price_in` and `price_out`, per million tokens.")

    @property
    def address(self) -> Address | None:
        """Of the server; None for a GGUF file."""
        return None if self.endpoint is None else parse_address(self.endpoint.rstrip("/").removesuffix(PATH))

    @property
    def prices(self) -> Prices:
        """What tokens cost."""
        return Prices(self.price_in, self.price_out)

    def identity(self, file: ModelFile | None) -> dict[str, object]:
        """Which model answers, as JSON values."""
        if self.address is not None:
            return {"engine": "openai-compatible", "endpoint": self.address.url, "model": self.model}
        given = _needed(file)
        engine = {"engine": "xllamacpp", "version": engine_version(), "context": self.context}
        return {**engine, "model": given.name, "digest": given.digest}

    def parameters(self) -> dict[str, object]:
        """How it is asked, as far as that decides answers and their cost."""
        return {
            "temperature": TEMPERATURE,
            "seed": self.seed,
            "price_in": self.price_in,
            "price_out": self.price_out,
        }

    def name_in_questions(self, file: ModelFile | None) -> str:
        """The model as answers are kept under it: the same at every endpoint."""
        if self.address is not None:
            return str(self.model)
        return f"{_needed(file).digest} xllamacpp {engine_version()} {self.context}"

    def check(self) -> None:
        """Raise an error if a package is missing, or if the server must not or cannot be given a key."""
        if importlib.util.find_spec("httpx") is None:
            raise MissingExtraError(*NEEDS)
        if self.address is not None:
            self._key(self.address)

    @contextmanager
    def connect(self, store: AnswerStore, file: ModelFile | None = None) -> Iterator[Client]:
        """A client for this model, which keeps its answers in the store. Without endpoint, it runs the file."""
        with ExitStack() as stack:
            if self.address is not None:
                server = Server(self.address, str(self.model), key=self._key(self.address), timeout=self.timeout)
                place = self._place(self.address)
            else:
                path = _needed(file).path
                own = stack.enter_context(local_server(path, context=self.context))
                server = Server(parse_address(own.address), "local", key=own.key, timeout=self.timeout, at_once=1)
                place = Place(str(path), if_wrong=_TOO_LONG, ending=own.ending)
            budget = Budget(Caps(self.max_requests, self.max_tokens, self.max_cost), self.prices)
            client = Client(server, store, budget, place, retries=self.retries)
            stack.callback(client.close)
            yield client

    def _place(self, address: Address) -> Place:
        return Place(
            f"the language model {show_id(str(self.model))} at {address.url}",
            if_refused=f"Put a valid key into the environment variable {self.key_variable}.",
            if_wrong=f"Check `endpoint` and `model`. {_TOO_LONG}",
        )

    def _key(self, address: Address) -> str:
        """The key from the environment; empty if there is none."""
        place = KeyPlace(self.key_variable, "Authorization", "Bearer ", is_needed=self.key_variable != KEY_VARIABLE)
        return find_key(place, address, allow_http=self.allow_http, how_to_allow="set allow_http = true")


def check_settings(settings: Struct, checks: Mapping[str, Check]) -> None:
    """Raise an error for the first invalid setting."""
    for name, (is_valid, words) in checks.items():
        value = getattr(settings, name)
        if not is_valid(value):
            shown = repr(show_id(value)) if isinstance(value, str) else show_id(repr(value))
            raise LanguageModelError(f"{name} cannot be {shown}; it takes {words}.")


def _needed(file: ModelFile | None) -> ModelFile:
    if file is None:
        raise LanguageModelError("a model without `endpoint` needs its file.")
    return file

"""A server that is in use as a mode: it is asked for every query, and its answers are kept.

There is no such mode for programs: a recipe is data, and must not be able to run anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from msgspec import Struct

from assay.errors import FetchError, some_of
from assay.fetching.fetching import DEFAULT_RETRIES, Fetched, fetch_answers
from assay.fetching.server import HttpSystem
from assay.fetching.settings import Settings, make_api, read_settings
from assay.fetching.systems import REPEATS, Repeats, checked_number
from assay.retrieval.base import Progress
from assay.retrieval.nodes import Made, Task
from assay.words import number_of

_JOURNAL = "answers.jsonl"


class HttpMode(Struct, frozen=True, dict=True):
    """A server as `assay runs fetch` asks it, as a node. `settings_file` and `template` are files, as there.

    It is asked one query at a time, so that its times can be compared with those of other modes.
    """

    name: ClassVar[str] = "http"
    paths: ClassVar[tuple[str, ...]] = ("template", "settings_file")
    inputs: ClassVar[tuple[str, ...]] = ()
    deterministic: ClassVar[bool] = False  # it may change at any moment

    endpoint: str = ""
    api: str = "retrieve"
    mode: str | None = None
    template: str | None = None
    settings_file: str | None = None
    allow_http: bool = False
    concurrency: int = 1
    batch: int = 1
    rate: float | None = None
    timeout: float = 60.0
    retries: int = DEFAULT_RETRIES
    duplicates: Repeats = "error"

    def __post_init__(self) -> None:
        for name in ("endpoint", "api", "mode", "template", "settings_file"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("endpoint", "api")):
                raise FetchError(f"{name} cannot be {value!r}; it takes a text.")
        if not isinstance(self.allow_http, bool):
            raise FetchError(f"allow_http cannot be {self.allow_http!r}; it takes true or false.")
        checked_number(self.concurrency, "concurrency", 1, whole=True)
        checked_number(self.retries, "retries", 0, whole=True)
        if self.rate is not None:
            checked_number(self.rate, "rate", 0.001)
        if self.duplicates not in REPEATS:
            raise FetchError(f"duplicates cannot be {self.duplicates!r}; it takes {' or '.join(REPEATS)}.")
        self.system  # noqa: B018  (raises if a setting is wrong)

    @cached_property
    def system(self) -> HttpSystem:
        """The server."""
        settings = Settings() if self.settings_file is None else read_settings(self.settings_file)
        return HttpSystem(
            self.endpoint,
            make_api(self.api, settings, self.template),
            self.api,
            mode=self.mode,
            batch=self.batch,
            key=settings.key,
            allow_http=self.allow_http,
            timeout=self.timeout,
            repeats=self.duplicates,
        )

    @property
    def settings(self) -> Mapping[str, object]:
        """What decides its answers, without secrets."""
        return {"engine": self.name, **self.system.identity}

    def prepare(self, progress: Progress | None = None) -> None:
        """Fail at once if a package or the key is missing."""
        with self.system.open():
            pass

    def run(self, task: Task) -> Made:
        """Ask for every query. Answers are kept as they come; a query that fails stops the benchmark."""
        fetched = fetch_answers(
            self.system,
            task.queries,
            name=self.name,
            top_k=task.depth,
            concurrency=self.concurrency,
            retries=self.retries,
            rate=self.rate,
            journal=task.folder / _JOURNAL,
            progress=task.progress,
        )
        if fetched.failed:
            raise _incomplete(self.system, fetched)
        return Made(fetched.run, milliseconds=fetched.milliseconds)

    def timed(self, task: Task) -> None:
        """Measured as the run is made: nobody wants to be asked again."""


def _incomplete(system: HttpSystem, fetched: Fetched) -> FetchError:
    failed = fetched.failed
    return FetchError(
        f"{system.place}: {number_of(len(failed), 'query')} of {fetched.queries:,} failed ({some_of(list(failed))}; "
        f"{next(iter(failed.values())).reason}). Run again to ask for these only: the answers so far are kept."
    )

"""What rerankers share that ask a language model: its settings and files, the prompt, and counting what a query took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from assay.errors import LanguageModelError, MissingModelError
from assay.llm.answers import Answer, AnswerStore, Question
from assay.llm.client import Client
from assay.llm.prompts import Prompt, as_data, read_prompt
from assay.llm.service import Check, ModelFile, Service, check_settings, whole
from assay.retrieval.base import Progress
from assay.retrieval.caches import cache_folder
from assay.retrieval.model_sources import file_sha256
from assay.retrieval.models import find_model, get_model
from assay.retrieval.reranking import Work

DEFAULT_MODEL = "smollm2-135m"
_ANSWERS = "answers"  # folder in the cache
_ACCOUNT = "spent.jsonl"
_QUERY_CHARACTERS = 2000
_OWN_PROMPTS = "prompts"  # folder of the package of rerankers
_GGUF = ".gguf"


class Prompted(Service, frozen=True):
    """Settings of a reranker that asks a language model."""

    prompt: str | None = None  # a file; by default one that comes with assay
    answer_tokens: int = 400  # longer answers are cut off
    max_characters: int = 1000  # of each document; the rest is not read

    paths: ClassVar[tuple[str, ...]] = ("prompt",)
    slots: ClassVar[tuple[str, ...]] = ()  # that the prompt must have
    own_prompt: ClassVar[str] = ""
    checks: ClassVar[Mapping[str, Check]] = {
        "prompt": (lambda value: value is None or (isinstance(value, str) and value != ""), "the name of a file"),
        "answer_tokens": whole(1),
        "max_characters": whole(1),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings(self, self.checks)

    @property
    def deterministic(self) -> bool:
        """A model on this machine gives the same answer each time; a server may not."""
        return self.endpoint is None

    @property
    def settings(self) -> Mapping[str, object]:
        """Model, prompt and parameters. Caps, time-outs and the like decide no answer and are left out."""
        prompt = self.own_prompt if self.prompt is None else Path(self.prompt).name
        return {
            **self.identity(self.file()),
            **self.parameters(),
            "prompt": prompt,
            "prompt_digest": self.read_prompt().digest,
            **{name: getattr(self, name) for name in self.checks if name != "prompt"},
        }

    def prepare(self, progress: Progress | None = None) -> None:
        """Fetch the model if it is missing, and raise an error for anything that would fail later."""
        self.read_prompt()
        self.check()
        if self.endpoint is None and not self._is_own_file:
            get_model(self.model or DEFAULT_MODEL, progress)

    def read_prompt(self) -> Prompt:
        """The prompt that is used."""
        if self.prompt is None:
            return read_prompt(files("assay.retrieval.rerankers") / _OWN_PROMPTS / self.own_prompt, self.slots)
        return read_prompt(Path(self.prompt).expanduser(), self.slots)

    def file(self) -> ModelFile | None:
        """The GGUF file of the model, which must be here; None if a server has it."""
        if self.endpoint is not None:
            return None
        name = self.model or DEFAULT_MODEL
        if self._is_own_file:
            return _own_file(name)
        found = find_model(name)
        if found is None:
            raise MissingModelError(f"the model {name} is not installed. Get it with: assay models get {name}.")
        if found.model.suffix != _GGUF:
            raise LanguageModelError(f"{name} is not a language model; the default is {DEFAULT_MODEL}.")
        return ModelFile(name, found.model, found.digest)

    @property
    def _is_own_file(self) -> bool:
        return self.model is not None and self.model.endswith(_GGUF)

    @contextmanager
    def opened(self) -> Iterator[Interview]:
        """The model, ready to be asked."""
        file = self.file()
        with self.connect(AnswerStore(cache_folder() / _ANSWERS), file) as client:
            yield Interview(self, client, self.name_in_questions(file))


class Interview:
    """Asks a language model with the prompt of a reranker. Several threads may ask at once."""

    def __init__(self, settings: Prompted, client: Client, model: str) -> None:
        self.settings, self._client, self._model = settings, client, model
        self._prompt, self.prices = settings.read_prompt(), settings.prices

    def passage(self, text: str) -> str:
        """A document's text as it stands in a prompt."""
        return as_data(text, self.settings.max_characters)

    def ask(self, query: str, values: Mapping[str, str], alternatives: int = 0) -> Reply:
        """The answer to the prompt, filled with the query and these values."""
        prompt = self._prompt.filled({"query": as_data(query, _QUERY_CHARACTERS), **values})
        service = self.settings
        given = self._client.ask(Question(self._model, prompt, service.answer_tokens, service.seed, alternatives))
        answer = given.answer
        work = Work(requests=1, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)
        return Reply(answer, work, answer.seconds if given.is_kept else 0.0)

    def keep_account(self, folder: Path) -> None:
        """Keep account of what is spent in this folder: the caps then hold for all runs of a stage together."""
        self._client.keep_account(folder / _ACCOUNT)


class Reply(Struct, frozen=True):
    """An answer and what it took."""

    answer: Answer
    work: Work
    kept_seconds: float  # that it took when it was asked, if that was earlier


def _own_file(name: str) -> ModelFile:
    path = Path(name).expanduser()
    try:
        status = path.stat()
        return ModelFile(path.name, path, _sha256(str(path), status.st_ino, status.st_size, status.st_mtime_ns))
    except OSError as error:
        raise MissingModelError(f"{path}: the model cannot be read: {error.strerror}.") from None


@lru_cache(maxsize=16)
def _sha256(path: str, *stamp: int) -> str:
    return file_sha256(Path(path))

"""Build the manifest of an experiment: inputs, versions and settings. Reads only the headers of runs."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from assay._version import __version__
from assay.errors import InputError, did_you_mean
from assay.evaluation import Evaluator
from assay.formats.ir_metadata import Metadata, is_raw, read_metadata
from assay.formats.readings import Readings
from assay.native import path_in_use
from assay.records.building import as_text, timestamp
from assay.records.identity import is_file
from assay.records.model import Baseline, Config, Digest, ExperimentManifest, Targets
from assay.secrets import Secrets

_COMPUTING = ("numpy", "scipy")  # every number depends on these
_READING = ("pyarrow", "pandas", "polars", "zstandard")  # recorded only if loaded
_OWN_PLACES = ("model", "dataset")
_INDEX = "index."


class DeclaredSettings(Struct, frozen=True):
    """What the user states about the experiment."""

    dataset: str | None = None
    model: str | None = None
    parameters: Mapping[str, str] = {}
    index_snapshots: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()


class Name(Struct, frozen=True):
    """The id of an experiment and the time of its creation."""

    id: str
    created: str


def parse_settings(pairs: Iterable[str], notes: Iterable[str] = ()) -> DeclaredSettings:
    """Parse NAME=VALUE pairs: `model`, `dataset` and `index.NAME` have their own fields, the others are parameters.

    >>> parse_settings(["model=e5-base", "k=60", "index.passages=2025-01-31"]).index_snapshots
    {'passages': '2025-01-31'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or name == _INDEX:
            raise InputError(
                f"a setting is NAME=VALUE, such as model=e5-base or index.passages=2025-01-31, not {pair!r}."
            )
        if name in found:
            raise InputError(f"setting {name!r} is given twice; keep one of them.")
        if name not in _OWN_PLACES and name.casefold() in _OWN_PLACES:
            raise InputError(f"no setting called {name!r}{did_you_mean(name, _OWN_PLACES)}")
        found[name] = value
    return DeclaredSettings(
        dataset=found.get("dataset"),
        model=found.get("model"),
        parameters={n: v for n, v in found.items() if n not in _OWN_PLACES and not n.startswith(_INDEX)},
        index_snapshots={n.removeprefix(_INDEX): v for n, v in found.items() if n.startswith(_INDEX)},
        notes=tuple(notes),
    )


def config_of(
    evaluator: Evaluator,
    *,
    readings: Readings = Readings(),
    targets: Targets | None = None,
    baseline: Baseline | None = None,
) -> Config:
    """Every choice that the numbers depend on."""
    return Config(
        measures=tuple(request.label for request in evaluator.requests),
        like=evaluator.like.name,
        rules=dict(evaluator.given),
        qrels_format=readings.qrels.input_format,
        run_format=readings.run.input_format,
        grades=dict(readings.qrels.grades),
        columns=readings.columns,
        targets=targets,
        baseline=baseline,
    )


def config_hash(config: Config, settings: DeclaredSettings) -> str:
    """One digest of all choices; independent of the order in which they were given."""
    choices = msgspec.to_builtins(config)
    if not config.columns:  # as in manifests from before there were any
        del choices["columns"]
    what = {
        "config": choices,
        "dataset": settings.dataset,
        "model": settings.model,
        "parameters": dict(settings.parameters),
        "index_snapshots": dict(settings.index_snapshots),
    }
    return hashlib.sha256(msgspec.json.encode(what, order="sorted")).hexdigest()


def settings_of(manifest: ExperimentManifest) -> DeclaredSettings:
    """The settings stored in a manifest."""
    return DeclaredSettings(
        manifest.dataset, manifest.model, manifest.parameters, manifest.index_snapshots, tuple(manifest.notes)
    )


def name_experiment(digest: str, now: datetime | None = None) -> Name:
    """A short name that sorts by time: the time in UTC, and the start of the config hash.

    >>> name_experiment("1f3a5c7e9b", datetime(2025, 1, 31, 9, 30, 5, tzinfo=UTC)).id
    '20250131T093005Z-1f3a5c7e'
    """
    now = (now or datetime.now(UTC)).astimezone(UTC)
    return Name(f"{now:%Y%m%dT%H%M%SZ}-{digest[:8]}", timestamp(now))


def hidden_settings(settings: DeclaredSettings, secrets: Secrets) -> DeclaredSettings:
    """The settings without their secrets."""
    return DeclaredSettings(
        dataset=None if settings.dataset is None else as_text(secrets.hide(settings.dataset)),
        model=None if settings.model is None else as_text(secrets.hide(settings.model)),
        parameters=_texts(secrets.hide_pairs(settings.parameters)),
        index_snapshots=_texts(secrets.hide_pairs(settings.index_snapshots)),
        notes=tuple(as_text(secrets.hide(note)) for note in settings.notes),
    )


def build_manifest(
    experiment: Name,
    *,
    command: Sequence[str],
    config: Config,
    settings: DeclaredSettings,
    runs: Sequence[str],
    inputs: Sequence[Digest],
    metadata: Mapping[str, Any],
    qrels_metadata: dict[str, Any] | None = None,
    queries: str | None = None,
    query_weights: str | None = None,
) -> ExperimentManifest:
    """The manifest without the digests of the outputs, which `storing` adds when it writes them.

    Secrets must already be hidden in all arguments.
    """
    return ExperimentManifest(
        experiment=experiment.id,
        created=experiment.created,
        command=tuple(map(as_text, command)),
        assay_version=__version__,
        path_in_use=path_in_use(),
        python=platform.python_version(),
        platform=platform.platform(),
        packages=packages_in_use(),
        dataset=settings.dataset,
        model=settings.model,
        parameters=dict(settings.parameters),
        index_snapshots=dict(settings.index_snapshots),
        config=config,
        config_hash=config_hash(config, settings),
        runs=tuple(runs),
        inputs=tuple(inputs),
        outputs=(),
        metadata=dict(metadata),
        qrels_metadata=qrels_metadata,
        notes=settings.notes,
        queries=queries,
        query_weights=query_weights,
    )


def packages_in_use() -> dict[str, str]:
    """The versions of the packages that the numbers depend on."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in (*_COMPUTING, *(name for name in _READING if name in sys.modules)):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def metadata_of(paths: Mapping[str, str]) -> dict[str, Metadata]:
    """The metadata in the headers of files, by name."""
    found = {name: read_metadata(path) for name, path in paths.items() if is_file(path)}
    return {name: said for name, said in found.items() if said is not None}


def hidden_metadata(metadata: Mapping[str, Metadata], secrets: Secrets) -> dict[str, Any]:
    """The metadata without secrets."""
    return {as_text(secrets.hide(name)): _hidden(said, secrets) for name, said in metadata.items()}


def _hidden(said: Metadata, secrets: Secrets) -> Any:
    if is_raw(said):  # the text first: it shows which values are secret
        return {"raw": secrets.hide_block(said["raw"]), "why": secrets.hide(said["why"])}
    return secrets.hide_all(said)


def _texts(pairs: Mapping[str, str]) -> dict[str, str]:
    return {as_text(name): as_text(value) for name, value in pairs.items()}

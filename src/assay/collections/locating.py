"""Find the role of each file in a folder by its name. Opens no files; readers detect formats from the content.

BEIR      corpus.jsonl.gz  queries.jsonl  qrels/test.tsv
by split  corpus.dedup.tsv  queries_test.dedup.tsv  qrels_test.dedup.tsv
TREC      documents/  topics.txt  qrels.txt
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from assay.errors import InputError, did_you_mean, show_id
from assay.formats.sources import COMPRESSION_SUFFIXES
from assay.inputs.documents import document_files

ROLES = ("corpus", "queries", "qrels")
DEFAULT_SPLIT = "test"
WHOLE = "all"  # the split of judgments without a split in their name

# Words in the file names of each role, the most likely first.
WORDS: dict[str, tuple[str, ...]] = {
    "corpus": ("corpus", "collection", "documents", "docs", "document", "doc", "passages", "products", "answers"),
    "queries": ("queries", "topics", "query", "topic", "questions"),
    "qrels": ("qrels", "qrel", "judgments", "judgements", "judgment"),
}
LOOKED_FOR = {
    "corpus": "corpus.jsonl (also .gz, .zst; .csv, .tsv, .parquet, TREC <DOC> files, or a folder of them)",
    "queries": "queries.jsonl (also .tsv, .csv, .parquet, or TREC topics), with or without the split in its name",
    "qrels": "qrels/SPLIT.tsv, qrels_SPLIT.tsv or qrels.txt",
}
_FORMATS = (".jsonl", ".ndjson", ".json", ".parquet", ".parq", ".arrow", ".feather", ".ipc", ".tsv", ".csv", ".txt")
_MARKUP = (".trec", ".xml", ".sgml", ".sgm", ".text")
_OTHERS = (
    *(".md", ".rst", ".html", ".pdf", ".py", ".ipynb", ".sh", ".toml", ".yaml", ".yml", ".log", ".svg", ".png"),
    *(".npy", ".npz", ".bin", ".sha256", ".md5", ".part", ".tmp", ".bak", ".run", ".lock", ".zip", ".tar", ".tgz"),
)
_DEDUPLICATED = ".dedup"
_BETWEEN = re.compile(r"[._\-\s]+")


class Candidate(Struct, frozen=True):
    """A file that could have a role."""

    path: Path
    split: str  # the rest of its name after the role; can be empty
    order: tuple[object, ...]  # sort key, the best first


def has_parts(folder: Path) -> bool:
    """Whether a folder has files with names of a collection."""
    return any(_told(name) for name in os.listdir(folder))


class MissingFile(Struct, frozen=True):
    """A missing file: its role, and the names that were tried."""

    role: str
    what: str


class Places(Struct, frozen=True):
    """Where the parts of a collection are."""

    folder: Path
    split: str
    splits: tuple[str, ...]
    files: Mapping[str, Path]  # role -> path
    missing: tuple[MissingFile, ...] = ()
    doubtful: tuple[tuple[str, Path, tuple[Path, ...]], ...] = ()  # role, the chosen file, the other candidates
    undecided: bool = False  # there are several splits, none was requested, and none is called test

    def corpus(self) -> list[Path]:
        """The document files."""
        return [Path(path) for path in document_files(self.files["corpus"])] if "corpus" in self.files else []


def locate(
    folder: Path, *, split: str | None = None, files: Mapping[str, str | os.PathLike[str]] | None = None
) -> Places:
    """The files of a collection in a folder; `files` names those that are not recognised by name."""
    given = _given(folder, files or {})
    found = _candidates(folder)
    by_split = _by_split(found["qrels"])
    chosen = None if "qrels" in given else _chosen(by_split, split, folder)
    name = _split_name(chosen, split)
    taken = given | ({"qrels": chosen.path} if chosen else {})
    doubtful = []
    for role, wanted in (("corpus", ""), ("queries", name)):
        best = [] if role in given else _best(found[role], wanted)
        if best:
            taken[role] = best[0].path
        if len(best) > 1:
            doubtful.append((role, best[0].path, tuple(candidate.path for candidate in best[1:])))
    undecided = "qrels" not in taken and bool(by_split)
    return Places(
        folder=folder,
        split=name,
        splits=tuple(by_split) or (name,),
        files={role: taken[role] for role in ROLES if role in taken},
        missing=tuple(
            MissingFile(role, _looked_for(role, folder))
            for role in ROLES
            if role not in taken and not (role == "qrels" and undecided)
        ),
        doubtful=tuple(doubtful),
        undecided=undecided,
    )


def _given(folder: Path, files: Mapping[str, str | os.PathLike[str]]) -> dict[str, Path]:
    for role in files:
        if role not in ROLES:
            hint = did_you_mean(role, ROLES) or "."
            raise InputError(f"files: no role '{show_id(role)}'{hint} Choose from {', '.join(ROLES)}.")
    return {role: folder / os.fsdecode(name) for role, name in files.items()}


def _candidates(folder: Path) -> dict[str, list[Candidate]]:
    found: dict[str, list[Candidate]] = {role: [] for role in ROLES}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        told = _told(path.name)
        if told is None:
            continue
        role, split, order = told
        if path.is_file():
            found[role].append(Candidate(path, split, order))
        elif path.is_dir() and not split and role == "corpus":
            found[role].append(Candidate(path, "", (*order, 1)))
        elif path.is_dir() and not split:
            found[role] += _split_files(path, order)
    for candidates in found.values():
        candidates.sort(key=lambda candidate: candidate.order)
    return found


def _split_files(folder: Path, order: tuple[object, ...]) -> Iterator[Candidate]:
    """qrels/test.tsv: one file per split, preferred over a file next to the folder."""
    for path in sorted(folder.iterdir()):
        base, suffixes = _parted(path.name)
        if path.is_file() and not path.name.startswith(".") and not _is_other(suffixes):
            yield Candidate(path, base, (-1, *order[1:], path.name))


def _told(name: str) -> tuple[str, str, tuple[object, ...]] | None:
    """The role of a file name, the rest of the name, and a sort key; None for other files.

    >>> _told("qrels_test.dedup.tsv")[:2], _told("test.qrels")[:2], _told("topics.51-100")[:2], _told("README.md")
    (('qrels', 'test'), ('qrels', 'test'), ('queries', '51-100'), None)
    """
    base, suffixes = _parted(name)
    if _is_other(suffixes):
        return None
    words = _BETWEEN.split(base.casefold())
    for place in (0, -1):
        for role, known in WORDS.items():
            if words[place] in known:
                width = len(words[place]) + 1
                split = base[width:] if place == 0 else base[:-width]
                deduplicated = _DEDUPLICATED not in suffixes
                return role, split, (deduplicated, bool(split), known.index(words[place]), _rank(suffixes), name)
    return None


def _parted(name: str) -> tuple[str, list[str]]:
    """A name without its format and compression suffixes, and the suffixes."""
    endings = (*COMPRESSION_SUFFIXES, *_FORMATS, *_MARKUP, *_OTHERS, _DEDUPLICATED)
    base, suffixes = name, []
    while (suffix := os.path.splitext(base)[1]).casefold() in endings and suffix:
        base = base[: -len(suffix)]
        suffixes.append(suffix.casefold())
    return base, suffixes


def _is_other(suffixes: list[str]) -> bool:
    return any(suffix in _OTHERS for suffix in suffixes)


def _rank(suffixes: list[str]) -> int:
    return next((_FORMATS.index(suffix) for suffix in suffixes if suffix in _FORMATS), len(_FORMATS))


def _by_split(candidates: list[Candidate]) -> dict[str, Candidate]:
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        found.setdefault(candidate.split or WHOLE, candidate)
    return found


def _chosen(by_split: Mapping[str, Candidate], split: str | None, folder: Path) -> Candidate | None:
    """The judgments of the requested split, else of `test`, else the only ones."""
    if split is not None and by_split and split not in by_split:
        hint = did_you_mean(split, by_split) or "."
        raise InputError(
            f"no split '{show_id(split)}'{hint} Choose from {_listed(list(by_split))}.", source=str(folder)
        )
    only = next(iter(by_split.values())) if len(by_split) == 1 else None
    return by_split.get(split or DEFAULT_SPLIT, only)


def _split_name(chosen: Candidate | None, split: str | None) -> str:
    return chosen.split or WHOLE if chosen else split or WHOLE


def _best(candidates: list[Candidate], split: str) -> list[Candidate]:
    """The file to use, followed by equally likely ones: of this split, else without a split, else of any split."""
    for accepts in (
        lambda c: bool(split) and c.split.casefold() == split.casefold(),
        lambda c: not c.split,
        lambda c: True,
    ):
        fitting = [candidate for candidate in candidates if accepts(candidate)]
        if fitting:
            return [fitting[0], *(one for one in fitting[1:] if one.order[0] == fitting[0].order[0])]
    return []


def _looked_for(role: str, folder: Path) -> str:
    names = [_entry(path) for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    there = f"The folder contains {_listed(names, 12)}." if names else "The folder is empty."
    inner = [path for path in folder.iterdir() if path.is_dir() and has_parts(path)]
    hint = f" Did you mean {show_id(str(inner[0]), 200)}?" if len(inner) == 1 and role != "qrels" else ""
    return f"looked for {LOOKED_FOR[role]}. {there}{hint}"


def _entry(path: Path) -> str:
    return path.name if not path.is_dir() else f"{path.name}/" if os.listdir(path) else f"{path.name}/ (empty)"


def _listed(names: list[str], limit: int = 20) -> str:
    shown = ", ".join(show_id(name) for name in names[:limit])
    return f"{shown} and {len(names) - limit:,} more" if len(names) > limit else shown

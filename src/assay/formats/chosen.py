"""The columns that users name for roles: `columns={"query": "search_term", "run.doc": ["sku", "lang"]}`. Reads no files.

A name without "run." or "qrels." is for each table that has such a column; a name with it must be in every such table.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, did_you_mean, show_id
from assay.formats.names import ROLES, Kind, folded, listed

if TYPE_CHECKING:
    from assay.formats.readings import Reading, Tables

JOINT = (
    "|"  # between the values of joined columns; rare in ids, unlike "+", and not whitespace, so TREC files can hold it
)
_WHOLE: Mapping[Kind, str] = {"qrels": "qrels", "run": "a run"}  # in messages
_NUMBERS = ("rel", "score", "rank")  # roles whose columns cannot be joined
_EXAMPLE = "query=search_term, run.doc=sku, doc=sku+lang"
_PIECE = re.compile(r'(?:"[^"]*"|[^",])+')  # up to a comma outside quotes
_NAME = re.compile(r'(?:"[^"]*"|[^"+])+')  # up to a plus outside quotes


def refuse_unused(tables: Tables, columns: Mapping[str, tuple[str, ...]]) -> None:
    """Raise an error if tables were read and none has the columns named for a role."""
    for role, headers in tables.lacking.items():
        if role not in tables.found:
            everything = [name for names in headers.values() for name in names]
            lacking = next((name for name in columns[role] if _place(name, everything) is None), columns[role][0])
            hint = did_you_mean(lacking, everything) or "."
            there = "; ".join(f"{source} has {listed(names)}" for source, names in list(headers.items())[:3])
            raise InputError(f"{_as_given(role, columns)}: no table has a column '{show_id(lacking)}'{hint} {there}.")


def parse_columns(
    texts: Iterable[str], *, example: str = _EXAMPLE, join_commas: bool = False
) -> dict[str, tuple[str, ...]]:
    """The names of columns by role, from the texts of --columns. Quotes hold a name with a comma or a plus.

    >>> parse_columns(["query=search_term,doc=sku+lang", 'run.score="BM25, boosted"'])
    {'query': ('search_term',), 'doc': ('sku', 'lang'), 'run.score': ('BM25, boosted',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        last = ""
        if text.count('"') % 2:
            raise InputError(f"`columns=` '{show_id(text)}': a quote is not closed.")
        for piece in _PIECE.findall(text):
            role, equals, value = piece.partition("=")
            role = role.strip()
            if equals and role and '"' not in role:
                if role in found:
                    raise InputError(f"`columns=` '{show_id(text)}': {show_id(role)} is given twice; keep one of them.")
                found[role], last = joined_names(value, text), role
            elif last and join_commas:
                found[last] += joined_names(piece, text)
            else:
                raise InputError(
                    f"`columns=` '{show_id(text)}': '{show_id(piece.strip())}' names no role; write ROLE=COLUMN, such "
                    f"as {example}. A column whose name contains a comma needs quotes."
                )
    return found


def joined_names(value: str | Sequence[str], place: str) -> tuple[str, ...]:
    """The columns of one role: "a", "a+b", or a list of names.

    >>> joined_names("name+features", "text"), joined_names(["C++"], "text"), joined_names('"C++"', "text")
    (('name', 'features'), ('C++',), ('C++',))
    """
    if isinstance(value, str):
        names = [_unquoted(name.strip()) for name in _NAME.findall(value)]
        names += [""] * (value.strip().endswith("+") or value.strip().startswith("+") or "++" in _bare(value))
    else:
        names = list(value) if isinstance(value, (list, tuple)) else []
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(
            f"`columns=` '{show_id(str(place))}': a column has no name; give one, or several to join: sku+lang. "
            "A name with a plus goes in double quotes."
        )
    return tuple(names)


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _bare(value: str) -> str:
    return re.sub(r'"[^"]*"', '""', value)


def checked_columns(given: Any) -> dict[str, tuple[str, ...]]:
    """The names of columns by role, from a dict; an unknown role is an error."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"`columns=` cannot be a value of type {type(given).__name__}; give a dict, such as {{'doc': 'sku'}}."
        )
    found: dict[str, tuple[str, ...]] = {}
    for key, value in given.items():
        role = _checked_role(key)
        found[key] = joined_names(value, key)
        if role in _NUMBERS and len(found[key]) > 1:
            raise InputError(
                f"`columns=` '{key}': {role} is a number, so its columns cannot be joined; name one column."
            )
    return found


def _checked_role(key: object) -> str:
    of_files = [f"{kind}.{role}" for kind, roles in ROLES.items() for role in roles]
    known = list(dict.fromkeys([*(each.partition(".")[2] for each in of_files), *of_files]))
    if key not in known:
        hint = did_you_mean(str(key), known) or "."
        roles = "; ".join(f"of {_WHOLE[kind]}: {', '.join(roles)}" for kind, roles in ROLES.items())
        raise InputError(f"`columns=` has no role '{show_id(str(key))}'{hint} The roles {roles}.")
    return str(key).rpartition(".")[2]


def refuse_other_kind(columns: Mapping[str, tuple[str, ...]], kind: Kind) -> None:
    """Raise an error for a role that only the other kind of file has."""
    relevant = {key for key, _, _ in _relevant(kind, columns)} | set(ROLES[kind])
    for key in columns:
        if key not in relevant:
            raise InputError(
                f"{_as_given(key, columns)}: this command reads {_WHOLE[kind]} only, with the roles "
                f"{', '.join(ROLES[kind])}."
            )


def chosen_places(
    names: Sequence[str], kind: Kind, source: str, line: int | None, reading: Reading
) -> dict[str, tuple[int, ...]]:
    """The positions of the columns that the user named, by role; raises an error for one that is not there."""
    found: dict[str, tuple[int, ...]] = {}
    for key, role, wanted in _relevant(kind, reading.columns):
        places = [_place(name, names, key, source, line) for name in wanted]
        there = tuple(place for place in places if place is not None)
        complete = len(there) == len(wanted)
        if not complete and (key != role or reading.tables is None):
            raise _lack(key, names, source, line, reading)
        if key == role and reading.tables is not None:
            reading.tables.add(role, source, names, found=complete)
        if complete:
            found[role] = there
    return found


def refuse_lacking(
    roles: Collection[str], names: Sequence[str], kind: Kind, source: str, line: int | None, reading: Reading
) -> None:
    """Raise an error if the user named a column for one of these roles, which the table lacks."""
    for key, role, _ in _relevant(kind, reading.columns):
        if role in roles:
            raise _lack(key, names, source, line, reading)


def _lack(key: str, names: Sequence[str], source: str, line: int | None, reading: Reading) -> InputError:
    lacking = next(name for name in reading.columns[key] if _place(name, names) is None)
    return InputError(
        f"{_as_given(key, reading.columns)}: the table has no column '{show_id(lacking)}'"
        f"{did_you_mean(lacking, names) or '.'} The columns are {listed(names)}.",
        source=source,
        line=line,
    )


def has_chosen(names: Sequence[str], kind: Kind, columns: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a line has one of the names that the user gave for such a file."""
    return any(_place(name, names) is not None for _, _, wanted in _relevant(kind, columns) for name in wanted)


def refuse_no_header(kind: Kind, source: str, reading: Reading, first: str = "") -> None:
    """Raise an error if the user named columns of such a file, and it has none; names for any table are ignored."""
    for key, role, _ in _relevant(kind, reading.columns):
        if key != role:
            shown = f": the first line is '{show_id(first)}'" if first else ""
            raise InputError(
                f"{_as_given(key, reading.columns)}: there is no header with such a column{shown}. Add a header line, "
                f"or leave {key} out.",
                source=source,
            )


def joined_ids(columns: Sequence[Sequence[Any]]) -> list[Any]:
    r"""The values of joined columns, row by row; a value that cannot be an id stands for the whole row.

    >>> joined_ids([["shoes", "a|b"], ["de", 7]]) == ["shoes|de", "a\\|b|7"]
    True
    """
    from assay.formats.columns import as_id

    def joined(parts: tuple[Any, ...]) -> Any:
        ids = [as_id(part) for part in parts]
        if None in ids:
            return parts[ids.index(None)]
        return joined_id([text for text in ids if text is not None])

    return [joined(parts) for parts in zip(*columns, strict=True)]


def joined_id(parts: Iterable[str]) -> str:
    r"""One id from several; different parts never give the same one, since `|` and `\` in them are escaped.

    >>> joined_id(["shoes", "de"])
    'shoes|de'
    """
    return JOINT.join(part.replace("\\", "\\\\").replace(JOINT, f"\\{JOINT}") for part in parts)


def _relevant(kind: Kind, columns: Mapping[str, tuple[str, ...]]) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    """Key, role and names of what applies to such a file; a name for the kind of file wins."""
    for role in ROLES[kind]:
        key = f"{kind}.{role}" if f"{kind}.{role}" in columns else role
        if key in columns:
            yield key, role, columns[key]


def _place(
    name: str, names: Sequence[str], key: str = "", source: str | None = None, line: int | None = None
) -> int | None:
    """The position of a column: the same name, else one that differs in case, spaces, - and _ only."""
    same = [place for place, each in enumerate(names) if each == name]
    alike = same or [place for place, each in enumerate(names) if folded(each) == folded(name)]
    if len(alike) > 1 and key:
        both = " and ".join(f"'{show_id(names[place])}'" for place in alike)
        raise InputError(f"`columns=` {key}: '{show_id(name)}' could be {both}.", source=source, line=line)
    return alike[0] if alike else None


def _as_given(key: str, columns: Mapping[str, tuple[str, ...]]) -> str:
    names = columns[key]
    return f"`columns={ {key: names[0] if len(names) == 1 else list(names)} }`"

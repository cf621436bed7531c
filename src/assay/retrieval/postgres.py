"""PostgreSQL: its address and errors without passwords, and indexes as schemas that are removed after use.

Statements are fixed texts with parameters. Each index is a schema of its own, named by `search_path`; what cannot be a
parameter, such as the name of a schema, is quoted by psycopg.sql.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec
from msgspec import Struct

from assay.errors import MissingExtraError, MissingServerError, RetrievalError, did_you_mean
from assay.retrieval.base import SearchesWhatItOpens
from assay.retrieval.databases import (
    address_from,
    is_abandoned,
    is_ours,
    new_marker,
    new_name,
    place_below,
    place_in,
    read_marker,
    without,
)
from assay.retrieval.indexes import StoredIndex

if TYPE_CHECKING:
    from psycopg import Connection

VARIABLE = "ASSAY_POSTGRES_URL"
_EXAMPLE = "postgresql://localhost/search"
_PORT, _PATIENCE = 5432, 10
_SCHEMES = ("postgresql", "postgres")
# What an address may say besides the server: how the connection is protected. Anything else could change the results.
_PARAMETERS = (
    *("sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslnegotiation", "channel_binding", "require_auth"),
    *("gssencmode", "connect_timeout", "target_session_attrs", "host"),
)
_TABLES = ("texts", "places", "documents", "vectors")  # all that is ever made in a schema of ours
_ENVIRONMENT = Lock()


class Address(Struct, frozen=True):
    """Where a server is, and who asks. Never shown whole."""

    host: str  # or the folder of a socket
    port: int
    database: str  # empty for the one that is named like the user
    user: str
    password: str
    parameters: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Address({self.shown})"

    @property
    def shown(self) -> str:
        """The address without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}/{self.database}".rstrip("/")

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        name = self.host.casefold()
        return name.startswith(("/", "127.")) or name in ("localhost", "::1")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is not shown."""
        return self.password, self.user


def parse_address(text: str) -> Address:
    """The address of a database, such as postgresql://ann:password@db.example.org:5432/search?sslmode=verify-full.

    >>> parse_address("postgresql://ann:secret@localhost/search")
    Address(localhost:5432/search)
    """
    try:
        parts = urlsplit(text.strip())
        port, host = parts.port, unquote(parts.hostname or "")
    except ValueError:
        parts, port, host = SplitResult("", "", "", "", ""), None, ""
    if parts.scheme not in _SCHEMES or parts.fragment:  # not shown: it may hold a password
        raise MissingServerError(f"{VARIABLE} is not the address of a PostgreSQL server. It looks like {_EXAMPLE}.")
    if "@" in parts.path:  # the end of a password would be taken for the host and the database, and shown
        raise MissingServerError(
            f"{VARIABLE} has an @ after the host. Write special characters of a password such as @ and / as %40 and %2F."
        )
    given: dict[str, str] = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in given:
        if name not in _PARAMETERS:
            raise MissingServerError(
                f"{VARIABLE} has a parameter that is not supported{did_you_mean(name, _PARAMETERS) or '.'} "
                f"There are {', '.join(_PARAMETERS)}."
            )
    host = given.pop("host", "") or host or "localhost"
    database = unquote(parts.path.lstrip("/"))
    user = unquote(parts.username or "") or _own_name()
    found = Address(host, port or _PORT, database, user, unquote(parts.password or ""))
    if "sslmode" not in given and not found.is_local:  # otherwise libpq would also accept a connection in the clear
        given["sslmode"] = "require"
    return msgspec.structs.replace(found, parameters=tuple(given.items()))


def _own_name() -> str:
    import getpass

    with suppress(OSError, KeyError):
        return getpass.getuser()
    return "postgres"


def the_address(mode: str) -> Address:
    """The address in the environment variable; raises if there is none."""
    _psycopg()
    return parse_address(address_from(VARIABLE, mode, "PostgreSQL", _EXAMPLE))


# Connections


@contextmanager
def connected(address: Address, *, prepare: Callable[[Connection], object] | None = None) -> Iterator[Connection]:
    """A connection that commits each statement; errors are in our words, and without the password."""
    psycopg = _psycopg()
    with _in_our_words(address):
        with _without_variables_of_libpq():
            connection = psycopg.connect(
                host=address.host,
                port=address.port,
                dbname=address.database or address.user,
                user=address.user,
                password=address.password or None,
                autocommit=True,
                prepare_threshold=None,  # a plan that is made once for all queries could be another one
                application_name="assay",
                client_encoding="utf8",
                **{"connect_timeout": _PATIENCE, **dict(address.parameters)},
            )
        with connection:
            connection.add_notice_handler(lambda notice: None)
            if prepare is not None:
                prepare(connection)
            yield connection


@contextmanager
def _without_variables_of_libpq() -> Iterator[None]:
    """Hide PGPASSWORD, PGSERVICE, PGOPTIONS and the like: only the address says where and how to connect."""
    with _ENVIRONMENT:
        taken = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("PG")}
        try:
            yield
        finally:
            os.environ.update(taken)


@contextmanager
def _in_our_words(address: Address) -> Iterator[None]:
    psycopg = _psycopg()
    try:
        yield
    except psycopg.Error as error:
        raise _explained(error, address) from None
    except UnicodeError:  # an id of a table, or a password, that is no text
        raise MissingServerError(f"{VARIABLE} has characters that are not UTF-8.") from None


_REASONS = {  # by SQLSTATE: the problem, then the fix
    "28P01": "does not accept the user name and password in {variable}. Check both; in an address, write special "
    "characters such as @ and / as %40 and %2F.",
    "28000": "does not let this user in. Check the user in {variable} and the server's pg_hba.conf.",
    "08004": "does not let this user connect to the database. Grant CONNECT, or name another one in {variable}.",
    "3D000": "has no such database. Create it, or name another one in {variable}.",
    "42501": "does not give this user the right to create a schema in the database: GRANT CREATE ON DATABASE.",
    "53300": "has no connection left. Close others, or raise max_connections.",
    "53100": "has no space left on its disk.",
    "54000": "cannot hold a text: one of the documents has more than 1 MB of different words, the most that PostgreSQL's "
    "full-text search takes. Split it into passages.",
    "57P01": "was shut down while it was asked.",
    "57P03": "is starting, or shutting down. Wait until it runs.",
}
_MISSING = frozenset(
    {"08004", "28P01", "28000", "3D000", "42501", "53300", "57P01", "57P03"}
)  # another day it may work


def _explained(error: Any, address: Address) -> RetrievalError:
    """The error in our words: neither the password nor the statement, which may hold a text, is in it."""
    code = error.sqlstate or _code_in(str(error))
    server = f"the PostgreSQL server at {address.shown}"
    if code in _REASONS:
        words = f"{server} {_REASONS[code].format(variable=VARIABLE)}"
        return MissingServerError(words) if code in _MISSING else RetrievalError(words)
    said = without(_said(error), address.secrets)
    if not isinstance(error, _psycopg().OperationalError):
        return RetrievalError(f"{server} says: {said}.")
    if "SSL" in said and "not support" in said:
        return MissingServerError(
            f"{server} does not encrypt connections. Use one that does, or add ?sslmode=disable to the address in "
            f"{VARIABLE} if nobody else can read this network."
        )
    return MissingServerError(
        f"{server} does not answer, or broke the connection: {said}. Check that it runs, and the address in {VARIABLE}."
    )


def _said(error: Any) -> str:
    """What the server said in its first line, or the reason that libpq gives after the address it tried."""
    primary = error.diag.message_primary
    text = primary or (str(error).strip().splitlines() or ["no reason given"])[0]
    return text.rpartition(" failed: ")[2]


_REFUSALS = {  # what a server says while connecting -> SQLSTATE, which libpq does not give
    r"password authentication failed|no password supplied": "28P01",
    r'no pg_hba.conf entry|role ".*" (does not exist|is not permitted to log in)': "28000",
    r'permission denied for database|database ".*" is not currently accepting connections': "08004",
    r'database ".*" does not exist': "3D000",
    r"too many (clients|connections)|remaining connection slots": "53300",
    r"the database system is ": "57P03",
}


def _code_in(words: str) -> str | None:
    """The SQLSTATE of an error while connecting."""
    if "FATAL" not in words and "no password supplied" not in words:
        return None
    return next((code for phrase, code in _REFUSALS.items() if re.search(phrase, words)), None)


# What the server has


class Facts(Struct, frozen=True):
    """The versions of a server, and where its extension is."""

    version: str
    vector: str | None  # the version of pgvector; None if the database does not have the extension
    vector_schema: str
    could_have_vector: bool


@lru_cache(maxsize=8)  # asked once for each process: settings are read often
def facts_of(address: Address) -> Facts:
    """What a server has."""
    with connected(address) as connection:
        encoding = str(_one(connection, "SHOW server_encoding"))
        if encoding != "UTF8":
            raise MissingServerError(
                f"the database {address.shown} stores text as {encoding}. Use one that was created with ENCODING 'UTF8'."
            )
        if not _one(connection, "SELECT pg_catalog.has_database_privilege(current_database(), 'CREATE')"):
            raise MissingServerError(f"the PostgreSQL server at {address.shown} {_REASONS['42501']}")
        version = str(_one(connection, "SHOW server_version")).split()[0]
        found = connection.execute(
            "SELECT e.extversion, n.nspname FROM pg_catalog.pg_extension e "
            "JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
        ).fetchone()
        available = _one(connection, "SELECT count(*) FROM pg_catalog.pg_available_extensions WHERE name = 'vector'")
    vector, schema = found or (None, "public")
    return Facts(version, vector, schema, bool(available))


def require_vector(address: Address, mode: str) -> Facts:
    """What a server has, if its database has the extension vector; otherwise raises, and says how to get it."""
    facts = facts_of(address)
    if facts.vector is not None:
        return facts
    facts_of.cache_clear()
    install = (
        "Run CREATE EXTENSION vector in it, which needs the right to create in the database"
        if facts.could_have_vector
        else "Install pgvector on the server (in Debian the package postgresql-NN-pgvector; or use the image "
        "pgvector/pgvector), then run CREATE EXTENSION vector in the database"
    )
    raise MissingServerError(f"{mode} needs pgvector, which the database {address.shown} does not have. {install}.")


def _one(connection: Connection, statement: str) -> Any:
    row = connection.execute(statement).fetchone()
    return row[0] if row else None


# Indexes as schemas


class InPostgres(SearchesWhatItOpens):
    """What retrievers share whose index is a schema in PostgreSQL. They have a name and settings."""

    if TYPE_CHECKING:
        name: ClassVar[str]

    @property
    def address(self) -> Address:
        """Where the server is."""
        return the_address(self.name)

    def is_there(self, stored: StoredIndex) -> bool:
        """Whether the schema of an index is still in the server; from now on it is this process's."""
        name = place_in(stored.folder)
        with connected(self.address) as connection:
            return name is not None and claim(connection, name)

    @contextmanager
    def opened(self, stored: StoredIndex, folder: Path) -> Iterator[Connection]:
        """A connection that sees the tables of an index."""
        name, address = place_in(stored.folder), self.address
        with connected(address) as connection:
            if name is None or not claim(connection, name):
                raise RetrievalError(f"{folder}: the index is no longer in {address.shown}. Build it again.")
            use(connection, name, facts_of(address))
            yield connection

    def clean_up(self, folder: Path) -> None:
        """Remove the schema that belongs to this folder, and those that killed processes left."""
        name = place_below(folder)
        with connected(self.address) as connection:
            if name is not None:
                drop(connection, name)
            sweep(connection)


@contextmanager
def new_schema(address: Address) -> Iterator[tuple[Connection, str]]:
    """A new schema, its marker and all that is made in it: whole, or not at all if the process ends before."""
    psycopg, name = _psycopg(), new_name()
    with connected(address) as connection, connection.transaction():
        connection.execute(psycopg.sql.SQL("CREATE SCHEMA {}").format(psycopg.sql.Identifier(name)))
        _mark(connection, name)
        use(connection, name, facts_of(address))
        yield connection, name


def use(connection: Connection, name: str, facts: Facts) -> None:
    """Let statements name the tables of a schema, and the functions of pgvector, without their schema."""
    sql = _psycopg().sql
    path = sql.SQL(", ").join(map(sql.Identifier, (name, facts.vector_schema)))
    connection.execute(sql.SQL("SET search_path TO {}").format(path))


def claim(connection: Connection, name: str) -> bool:
    """Take over a schema of ours; False if it is not there."""
    with connection.transaction():
        if name not in _marked(connection):
            return False
        _mark(connection, name)
    return True


def drop(connection: Connection, name: str) -> None:
    """Remove a schema of ours with the tables that we make; another's table in it, or a view on ours, keeps it."""
    sql = _psycopg().sql
    with connection.transaction():
        if name not in _marked(connection):
            return
        for table in _TABLES:
            connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name, table)))
        connection.execute(sql.SQL("DROP SCHEMA {}").format(sql.Identifier(name)))


def sweep(connection: Connection) -> None:
    """Remove the schemas that killed processes left; raises in the end if one cannot be removed."""
    failed: Exception | None = None
    for name, is_left in _marked(connection).items():
        if is_left:
            try:
                drop(connection, name)
            except _psycopg().Error as error:
                failed = error
    if failed is not None:
        raise failed


def _marked(connection: Connection) -> dict[str, bool]:
    """The schemas of this user that have a name and a marker of ours, and whether they are abandoned.

    One process at a time looks and decides, so that none is taken over while another removes it.
    """
    connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(%s)", (_TURN,))
    rows = connection.execute(
        "SELECT n.nspname, pg_catalog.obj_description(n.oid, 'pg_namespace') FROM pg_catalog.pg_namespace n "
        "JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner WHERE n.nspname LIKE 'assay\\_%' AND r.rolname = current_user"
    ).fetchall()
    marked = {str(name): read_marker(said) for name, said in rows if is_ours(str(name)) and said is not None}
    return {name: is_abandoned(marker) for name, marker in marked.items() if marker is not None}


_TURN = 7_311_206_040_415_977_313  # the number of the lock that all Assay processes share


def _mark(connection: Connection, name: str) -> None:
    sql = _psycopg().sql
    marker = msgspec.json.encode(new_marker()).decode()
    connection.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(name), sql.Literal(marker)))


def _psycopg() -> Any:
    try:
        import psycopg
        import psycopg.sql
    except ImportError:
        raise MissingExtraError("search in PostgreSQL", "live") from None
    return psycopg

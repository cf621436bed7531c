"""pgvector: a table of vectors in PostgreSQL, searched exactly or with an HNSW graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from assay.errors import MissingServerError
from assay.retrieval.embedding import Vectors
from assay.retrieval.postgres import Facts
from assay.tables import Integers

if TYPE_CHECKING:
    from psycopg import Connection

_NEWEST_WITHOUT_ITERATION = (0, 7)
_TABLE = "CREATE TABLE vectors (doc integer NOT NULL, place integer NOT NULL, embedding vector({}) NOT NULL)"
_AT_ONCE = 1024  # vectors added between two progress updates
# With a graph, the number of candidates would limit the number of results; searching on makes the ranking long enough.
_GRAPH = {"enable_seqscan": "off", "hnsw.iterative_scan": "relaxed_order"}
_NO_GRAPH = {"enable_indexscan": "off"}


def written(vector: Vectors) -> str:
    """A vector as pgvector reads it, to the last bit.

    >>> import numpy as np
    >>> written(np.array([0.5, -1.0], np.float32))
    '[0.5,-1.0]'
    """
    return f"[{','.join(map(str, vector.tolist()))}]"


def require_iteration(facts: Facts) -> None:
    """Raise unless pgvector can search on in a graph until there are enough results."""
    version = tuple(int(part) for part in str(facts.vector).split(".")[:2])
    if version <= _NEWEST_WITHOUT_ITERATION:
        raise MissingServerError(
            f'index = "hnsw" needs pgvector 0.8 or newer, and the server has {facts.vector}. Update it, or use "exact".'
        )


def copy_vectors(connection: Connection, vectors: Vectors, places: Integers, tell: Callable[[int], None]) -> None:
    """Make the table of vectors: number, place and vector of each document."""
    from psycopg import sql

    connection.execute(sql.SQL(_TABLE).format(sql.Literal(vectors.shape[1])))
    with connection.cursor() as cursor, cursor.copy("COPY vectors (doc, place, embedding) FROM STDIN") as rows:
        for row, (place, vector) in enumerate(zip(places.tolist(), vectors, strict=True)):
            rows.write_row((row, place, written(vector)))
            if row % _AT_ONCE == 0:
                tell(row)


def build_graph(connection: Connection, m: int, ef_construction: int) -> None:
    """Build the HNSW graph of the table of vectors."""
    from psycopg import sql

    connection.execute(
        sql.SQL(
            "CREATE INDEX ON vectors USING hnsw (embedding vector_ip_ops) WITH (m = {}, ef_construction = {})"
        ).format(sql.Literal(m), sql.Literal(ef_construction))
    )


def nearest(*, exactly: bool) -> str:
    """SQL for the nearest documents of a vector: number, place and distance, which is the negative inner product.

    Exactly, ties go by place, also at the cutoff. A graph chooses among ties at the cutoff.
    """
    order = "distance, place" if exactly else "embedding <#> %(vector)s::vector"
    return (
        f"SELECT doc, place, embedding <#> %(vector)s::vector AS distance FROM vectors ORDER BY {order} "
        "LIMIT %(candidates)s"
    )


def choose_search(connection: Connection, *, exactly: bool, ef_search: int) -> None:
    """Search with the graph, or without it, whatever the planner thinks is faster."""
    chosen: dict[str, Any] = _NO_GRAPH if exactly else {**_GRAPH, "hnsw.ef_search": str(ef_search)}
    for name, value in chosen.items():
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))

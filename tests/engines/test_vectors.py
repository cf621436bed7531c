"""Vectors of one's own: searched exactly, and refused where they do not fit the collection."""

from __future__ import annotations

import numpy as np
import pytest

from assay.benchmark.recipe import read_recipe
from assay.errors import AssayError, InputError, RetrievalError
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.retrievers.vectors import Vectors
from engines.small import corpus, search

DOCUMENTS = (Document("east", "sunrise"), Document("north", "polar light"), Document("far", "a long way north east"))
QUERIES = {"q1": "which way?", "q2": "which way?"}


@pytest.fixture
def put(tmp_path):
    """Writes a file of vectors and the list of their ids."""

    def write(name: str, vectors: dict[str, list[float]] | np.ndarray, ids=None, dtype=np.float32) -> str:
        rows = list(vectors.values()) if isinstance(vectors, dict) else vectors
        np.save(tmp_path / f"{name}.npy", np.asarray(rows, dtype))
        names = list(vectors) if ids is None else ids
        (tmp_path / f"{name}.ids.txt").write_bytes(
            "".join(f"{id}\n" for id in names).encode("utf-8", "surrogateescape")
        )
        return str(tmp_path / f"{name}.npy")

    return write


@pytest.fixture
def own(put):
    """East, north, and far to the north-east; the queries look east and north."""
    return {
        "documents": put("docs", {"far": [3, 4], "east": [1, 0], "north": [0, 1]}),
        "queries": put("queries", {"q2": [0, 2], "q1": [2, 0], "q3": [1, 1]}),
    }


def ranking(run) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {query: [] for query in run.queries}
    for query, doc, score in zip(run.query.tolist(), run.doc.tolist(), run.score.tolist(), strict=True):
        found[run.queries[query]].append((doc, round(score, 6)))
    return found


def test_queries_with_the_same_text_are_found_by_their_ids(own, tmp_path):
    run = search(Vectors(**own), DOCUMENTS, QUERIES, tmp_path / "index")

    assert {
        "q1": [("east", 1.0), ("far", 0.6), ("north", 0.0)],
        "q2": [("north", 1.0), ("far", 0.8), ("east", 0.0)],
    } == ranking(run)


def test_the_dot_product_counts_lengths(own, tmp_path):
    run = search(Vectors(**own, similarity="dot"), DOCUMENTS, QUERIES, tmp_path / "index", depth=2)

    assert {"q1": [("far", 6.0), ("east", 2.0)], "q2": [("far", 8.0), ("north", 2.0)]} == ranking(run)


@pytest.mark.parametrize("dtype", [np.float16, ">f4", np.float64])
def test_all_precisions_are_searched(put, tmp_path, dtype):
    own = {
        "documents": put("docs", {"far": [3, 4], "east": [1, 0], "north": [0, 1]}, dtype=dtype),
        "queries": put("queries", {"q1": [2, 0]}, dtype=dtype),
    }
    run = search(Vectors(**own), DOCUMENTS, {"q1": "?"}, tmp_path / "index")

    assert {"q1": [("east", 1.0), ("far", 0.6), ("north", 0.0)]} == ranking(run)


@pytest.mark.parametrize("fixed", [True, False])
def test_parquet_holds_ids_and_vectors(own, tmp_path, fixed):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    kind = pyarrow.list_(pyarrow.float32(), 2) if fixed else pyarrow.list_(pyarrow.float64())
    for name, rows in (
        ("docs", {"far": [3, 4], "east": [1, 0], "north": [0, 1]}),
        ("queries", {"q1": [2, 0], "q2": [0, 2]}),
    ):
        table = pyarrow.table({"id": list(rows), "embedding": pyarrow.array(list(rows.values()), kind)})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    same = Vectors(documents=str(tmp_path / "docs.parquet"), queries=str(tmp_path / "queries.parquet"))
    run = search(same, DOCUMENTS, QUERIES, tmp_path / "parquet")

    assert ranking(search(Vectors(**own), DOCUMENTS, QUERIES, tmp_path / "npy")) == ranking(run)


def test_every_document_is_compared(put, tmp_path):
    """Against a loop over all documents, with more dimensions and documents than fit a hand."""
    random = np.random.default_rng(7)
    documents, queries = random.normal(size=(500, 32)), random.normal(size=(3, 32))
    names = [f"d{number}" for number in range(500)]
    own = {"documents": put("d", documents, names), "queries": put("q", queries, ["a", "b", "c"])}
    run = search(
        Vectors(**own), tuple(Document(name, "text") for name in names), dict.fromkeys("abc", "?"), tmp_path / "i"
    )
    lengths = np.linalg.norm(documents, axis=1)
    for query, found in zip(queries, ranking(run).values(), strict=True):
        cosines = documents @ query / lengths / np.linalg.norm(query)

        assert [names[row] for row in np.argsort(-cosines)[:10]] == [doc for doc, _ in found]
        assert [score for _, score in found] == pytest.approx(sorted(cosines, reverse=True)[:10], abs=1e-5)


def test_ids_keep_their_bytes(put, tmp_path):
    odd = ("a b", "é", "\udce9", " c")
    own = {"documents": put("d", np.eye(4), odd), "queries": put("q", {"q1": [4, 3, 2, 1]})}
    run = search(Vectors(**own), tuple(Document(id, "text") for id in odd), {"q1": "?"}, tmp_path / "i")

    assert list(odd) == run.doc.tolist()


def test_what_has_no_vector_is_refused_or_left_out(own, tmp_path):
    more = (*DOCUMENTS, Document("west", "sunset"), Document("empty", ""))
    with pytest.raises(InputError, match=r"1 of 5 documents have no vector \(west\) and could not be found. Add their"):
        search(Vectors(**own), more, QUERIES, tmp_path / "1")
    with pytest.raises(InputError, match=r"1 of 3 vectors belong to no document of the collection \(far\)."):
        search(Vectors(**own), DOCUMENTS[:2], QUERIES, tmp_path / "2")
    with pytest.raises(InputError, match=r"1 of 3 queries have no vector \(q9\)."):
        search(Vectors(**own), DOCUMENTS, {**QUERIES, "q9": "west?"}, tmp_path / "3")
    with pytest.raises(InputError, match=r"no vector belongs to a document of the collection. Its ids are such as far"):
        search(Vectors(**own, partial=True), (Document("d1", "other"),), QUERIES, tmp_path / "4")
    part = search(Vectors(**own, partial=True), (*more[:2], more[3]), {**QUERIES, "q9": "west?"}, tmp_path / "5")

    assert {"q1": [("east", 1.0), ("north", 0.0)], "q2": [("north", 1.0), ("east", 0.0)]} == ranking(part)


@pytest.mark.parametrize(
    ("vectors", "ids", "message"),
    [
        (np.zeros((2, 2, 2)), "ab", r"docs.npy: the shape is 2 x 2 x 2; it must be vectors x dimensions."),
        (np.zeros(3), "abc", "the shape is 3; it must be"),
        (np.eye(2), "abc", "there are 2 vectors but 3 ids."),
        (np.array([[1, 2], [3, np.nan]]), "ab", r"the vector of b \(row 2\) is not finite."),
        (np.array([[1, 2], [np.inf, 1]]), "ab", r"the vector of b \(row 2\) is not finite."),
        (
            np.array([[1, 2], [0, 0]]),
            "ab",
            r"the vector of b \(row 2\) is zero, so it has no cosine. Remove it, or set",
        ),
        (np.eye(2), "aa", r"1 ids have more than one vector \(a\). Each needs exactly one"),
        (np.eye(2), ["a", ""], r"docs.ids.txt:2: the line is empty"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused(own, put, tmp_path, vectors, ids, message):
    put("docs", vectors, ids)
    with pytest.raises(InputError, match=message):
        search(Vectors(**own), (Document("a", "one"), Document("b", "two")), QUERIES, tmp_path / "index")


def test_dimensions_must_agree_and_numbers_be_floats(own, put, tmp_path):
    put("queries", {"q1": [1, 2, 3], "q2": [1, 2, 3]})
    with pytest.raises(
        InputError, match=r"queries.npy: the vectors have 3 dimensions, but those of the documents have 2"
    ):
        search(Vectors(**own), DOCUMENTS, QUERIES, tmp_path / "1")
    put("docs", {"far": [3, 4]}, dtype=np.int8)
    with pytest.raises(InputError, match="the numbers are int8; they must be float16, float32, float64"):
        search(Vectors(**own), DOCUMENTS, QUERIES, tmp_path / "2")


def test_a_file_that_could_run_code_is_not_opened(own, tmp_path):
    np.save(tmp_path / "docs.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(InputError, match=r"docs.npy: is not a NumPy array of numbers"):
        search(Vectors(**own), DOCUMENTS, QUERIES, tmp_path / "index")


def test_files_that_are_missing_or_something_else_are_named(own, tmp_path):
    (tmp_path / "other.parquet").write_bytes(b"nothing")
    (tmp_path / "alone.npy").write_bytes((tmp_path / "docs.npy").read_bytes())
    for given, message in [
        ({"documents": str(tmp_path / "none.npy")}, "none.npy: cannot be read: No such file"),
        ({"documents": str(tmp_path / "other.parquet")}, "other.parquet: is not a Parquet file"),
        ({"documents": str(tmp_path / "alone.npy")}, "alone.ids.txt: cannot be read: No such file"),
    ]:
        with pytest.raises(AssayError, match=message):
            search(Vectors(**{**own, **given}), DOCUMENTS, QUERIES, tmp_path / "index")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"documents": ""}, "documents cannot be ''; it takes a file of vectors, such as 'docs.npy'."),
        ({"queries": 3}, "queries cannot be 3; it takes a file"),
        ({"ids": 3}, "ids cannot be 3; it takes a file with one id per line."),
        ({"similarity": "l2"}, "similarity cannot be 'l2'; it takes cosine or dot."),
        ({"partial": 1}, "partial cannot be 1; it takes true or false."),
    ],
)
def test_settings_are_checked(own, given, message):
    with pytest.raises(RetrievalError, match=message):
        Vectors(**{**own, **given})


def test_other_vectors_under_the_same_name_make_another_index(own, put, tmp_path):
    first = search(Vectors(**own), DOCUMENTS, QUERIES, tmp_path / "index")
    put("docs", {"far": [0, 1], "east": [0, 1], "north": [1, 0]})
    second = search(Vectors(**own), DOCUMENTS, QUERIES, tmp_path / "index")

    assert ("east", "north") == (ranking(first)["q1"][0][0], ranking(second)["q1"][0][0])


def test_an_open_index_answers_query_after_query(own, tmp_path):
    retriever = Vectors(**own)
    retriever.index(corpus(DOCUMENTS), tmp_path / "index")
    with retriever.open(tmp_path / "index") as searcher:
        (hits,) = searcher.find([Query("q1", "")], 1)

        assert ["east"] == searcher.ids[hits.row].tolist()


def test_files_in_a_recipe_are_relative_to_its_folder(own, tmp_path):
    (tmp_path / "recipe.toml").write_text(
        'modes = ["vectors"]\n\n[[mode]]\nname = "vectors"\ndocuments = "docs.npy"\nqueries = "queries.npy"\n'
    )
    (mode,) = read_recipe(tmp_path / "recipe.toml").modes

    assert own == mode.settings

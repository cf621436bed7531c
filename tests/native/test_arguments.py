"""The kernel refuses arguments that its Python modules never pass, rather than crash or guess."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import astuple, replace

from assay import native
from assay.native.index import Index, Layout, RankingRules, heads_of_file, heads_of_text, index_judgments, read_columns
from native.paths import NEEDS_KERNEL

pytestmark = NEEDS_KERNEL

LINES = b"q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\nq2 Q0 c 1 0.5 t\n"
LAYOUT = Layout(query=0, doc=2, value=4, rank=3, tag=5, width=6)
RULES = RankingRules(0, 0, False, False, False, False)
BY_RANK = replace(RULES, by_rank_column=True)
ARGUMENTS = {  # how many each function takes
    "index_judgments": 3,
    "read_judgments": 2,
    "read_columns": 3,
    "documents": 1,
    "documents_at": 2,
    "places_in": 2,
    "head_text": 5,
    "head_file": 7,
    "join_text": 5,
    "join_file": 7,
    "join_table": 6,
    "join_arrow": 4,
    "dict_index": 4,
    "join_dict": 3,
    "exact_sum": 1,
    "use_instructions": 1,
}


def judgments() -> Any:
    index = index_judgments(("q1", "q2"), np.array([0, 1, 2]), ["a", "c"])
    assert index is not None
    return index


def reader(text: bytes = LINES) -> Callable[[int], bytes]:
    return io.BytesIO(text).read


def test_all_functions_are_here() -> None:
    functions = {name for name in dir(native.kernel) if not name.startswith("_")}

    assert set(ARGUMENTS) | {"instructions"} == functions


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_wrong_number_of_arguments_is_a_type_error(name: str) -> None:
    function = getattr(native.kernel, name)
    for wrong in (ARGUMENTS[name] - 1, ARGUMENTS[name] + 1):
        with pytest.raises(TypeError):
            function(*[None] * wrong)


@pytest.mark.parametrize("name", ["documents", "documents_at", "places_in", "join_text", "join_file", "join_dict"])
def test_only_an_index_is_an_index(name: str) -> None:
    """A capsule of something else has memory of another shape."""
    arguments = {"join_text": (reader(), astuple(LAYOUT), astuple(RULES), False)}
    arguments |= {"join_file": (0, 0, astuple(LAYOUT), astuple(RULES), 1, False)}
    arguments |= {"join_dict": ({}, astuple(RULES)), "documents_at": (np.array([0]),), "places_in": (object(),)}
    other = native.kernel.dict_index(judgments()._handle, ["a", "c"], {"q1": 0, "q2": 1}, (int,))
    wrong = judgments()._handle if name == "join_dict" else other
    for given in (wrong, object()):
        with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
            getattr(native.kernel, name)(given, *arguments.get(name, ()))


WRONG_LAYOUTS = {
    "no such column": [replace(LAYOUT, tag=6), replace(LAYOUT, tag=-2), replace(LAYOUT, width=0)],
    "a column of ids is missing": [replace(LAYOUT, query=-1), replace(LAYOUT, doc=-1)],
    "a column of numbers is missing": [replace(LAYOUT, value=-1, rank=-1)],
}


@pytest.mark.parametrize(("message", "layout"), [(m, each) for m, some in WRONG_LAYOUTS.items() for each in some])
def test_layouts_name_columns_that_are_there(message: str, layout: Layout) -> None:
    with pytest.raises(ValueError, match=message):
        judgments().hits_in_text(reader(), layout, RULES)
    with pytest.raises(ValueError, match=message):
        heads_of_text(reader(), layout, RULES, 1)
    with pytest.raises(ValueError, match=message):
        read_columns(LINES, layout)


def test_ranks_need_a_column_of_ranks() -> None:
    with pytest.raises(ValueError, match="a column of numbers is missing"):
        judgments().hits_in_text(reader(), replace(LAYOUT, rank=-1), BY_RANK)
    with pytest.raises(ValueError, match="a column of grades is missing"):
        native.kernel.read_judgments(reader(), astuple(replace(LAYOUT, value=-1)))


@pytest.mark.parametrize("changed", [{"ties": 3}, {"ties": -1}, {"duplicates": 3}, {"duplicates": -1}])
def test_rules_are_among_those_there_are(changed: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="no such rule"):
        judgments().hits_in_text(reader(), LAYOUT, replace(RULES, **changed))


@pytest.mark.parametrize("short", [0, 1])
def test_layouts_and_rules_are_whole(short: int) -> None:
    """A struct in Python that no longer matches the kernel's is an error in each function that takes one."""
    layout, rules = astuple(LAYOUT), astuple(RULES)
    given = (layout[:-1], rules) if short == 0 else (layout, rules[:-1])
    with pytest.raises(TypeError):
        native.kernel.join_text(judgments()._handle, reader(), *given, False)
    with pytest.raises(TypeError):
        native.kernel.head_text(reader(), *given, 1, False)
    with pytest.raises(TypeError):
        native.kernel.read_columns("text", layout, True)


@pytest.mark.parametrize(
    ("queries", "start", "docs", "message"),
    [
        (["q1"], [0, 1], ["a"], "queries in a tuple"),
        (("q1",), [0, 1], ("a",), "queries in a tuple"),
        (("q1",), [0], ["a"], "each query needs a start"),
        (("q1",), [-1, 1], ["a"], "no such document"),
    ],
)
def test_an_index_needs_its_parts(queries: Any, start: list[int], docs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        native.kernel.index_judgments(queries, np.array(start), docs)


def test_queries_out_of_order_are_left_to_numpy() -> None:
    assert index_judgments(("q2", "q1"), np.array([0, 1, 2]), ["a", "c"]) is None


def test_a_document_that_is_not_there() -> None:
    for number in (-1, 2):
        with pytest.raises(ValueError, match="no such document"):
            judgments().documents_at(np.array([number]))
    assert ["c", "a"] == judgments().documents_at(np.array([1, 0]))


@pytest.mark.parametrize("wrong", [np.array([0.5]), np.array([0], np.int32), np.array([0, 1, 0, 1])[::2], [0]])
def test_columns_have_the_type_that_was_agreed(wrong: Any) -> None:
    with pytest.raises((TypeError, BufferError, ValueError)):
        native.kernel.documents_at(judgments()._handle, wrong)


def rows(**changed: Any) -> tuple[Any, ...]:
    columns = {
        "place": np.array([0, 0, 1]),
        "doc": np.array(["a", "b", "c"], object),
        "score": np.array([2.5, 1.5, 0.5]),
        "rank": np.array([1, 2, 1]),
    }
    return tuple({**columns, **changed}.values())


def test_rows_have_columns_of_one_length() -> None:
    for changed in ({"doc": np.array(["a"], object)}, {"score": np.array([1.0])}, {"rank": np.array([1])}):
        with pytest.raises(ValueError, match="columns have different lengths"):
            judgments().hits_in_rows(*rows(**changed), BY_RANK)
    with pytest.raises(ValueError, match="no such query"):
        judgments().hits_in_rows(*rows(place=np.array([0, 0, 2])), RULES)


def test_rows_without_ranks_are_not_ranked_by_them() -> None:
    assert judgments().hits_in_rows(*rows(rank=None), BY_RANK) is None
    assert judgments().hits_in_rows(*rows(rank=None), RULES) == judgments().hits_in_rows(*rows(), RULES)


def test_a_dict_needs_the_judged_documents_and_their_queries() -> None:
    for docs, place, numbers in ((("a", "c"), {}, (int,)), (["a", "c"], [], (int,)), (["a", "c"], {}, [int])):
        with pytest.raises(ValueError, match="a list, a dict and a tuple were expected"):
            native.kernel.dict_index(judgments()._handle, docs, place, numbers)
    with pytest.raises(ValueError, match="these are not the judged documents"):
        native.kernel.dict_index(judgments()._handle, ["a"], {"q1": 0, "q2": 1}, (int,))


@pytest.mark.parametrize("stream", [object(), None])
def test_only_an_arrow_stream_is_an_arrow_stream(stream: Any) -> None:
    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        judgments().hits_in_arrow(stream, LAYOUT, RULES)


# Input that fails while it is read


def jointly(index: Index, read: Any, *, gathered: bool) -> Any:
    return index.hits_in_text(read, LAYOUT, RULES, gathered=gathered)


def heads(_: Index, read: Any, *, gathered: bool) -> Any:
    return heads_of_text(read, LAYOUT, RULES, 1, gathered=gathered)


@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("act", [jointly, heads])
def test_an_error_of_the_reader_arrives_as_it_is(act: Any, gathered: bool) -> None:
    class Broken(Exception):
        pass

    def raises(size: int) -> bytes:
        raise Broken

    with pytest.raises(Broken):
        act(judgments(), raises, gathered=gathered)
    with pytest.raises(TypeError):
        act(judgments(), lambda size: "text", gathered=gathered)
    with pytest.raises(ValueError, match="more than was asked for"):
        act(judgments(), lambda size: b"q1 Q0 a 1 2.5 t\n" * size, gathered=gathered)


@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_that_cannot_be_read_is_left_to_python(tmp_path: Path, threads: int, gathered: bool) -> None:
    """Python meets the same error, and says which file it was."""
    path = tmp_path / "run"
    path.write_bytes(LINES)
    file = os.open(path, os.O_WRONLY)
    size = 1 << 22  # worth more than one thread
    try:
        assert judgments().hits_in_file(file, size, LAYOUT, RULES, threads, gathered=gathered) is None
        assert heads_of_file(file, size, LAYOUT, RULES, 1, threads, gathered=gathered) is None
    finally:
        os.close(file)


@pytest.mark.parametrize("gathered", [False, True])
def test_no_lines_and_no_scores_are_left_to_numpy(gathered: bool) -> None:
    for text in (b"", b"\n\n", b"# nothing\n"):
        assert jointly(judgments(), reader(text), gathered=gathered) is None
        assert heads(judgments(), reader(text), gathered=gathered) is None


def test_ranks_alone_are_not_gathered() -> None:
    ranks_alone = replace(LAYOUT, value=-1)

    assert judgments().hits_in_text(reader(), ranks_alone, RULES, gathered=True) is None
    assert heads_of_text(reader(), ranks_alone, RULES, 1, gathered=True) is None

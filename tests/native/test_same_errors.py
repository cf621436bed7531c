"""Both paths raise the same errors: type, message, file and line. The kernel never guesses."""

from __future__ import annotations

from collections import UserDict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules
from native.paths import NEEDS_KERNEL, both_paths, hits, values

pytestmark = NEEDS_KERNEL

RULES = (Rules(), Rules(duplicates="first"), Rules(order="rank", duplicates="best"), Rules(queries="strict"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("same_errors")


# Files that break evaluators


def malformed_files(shared_data: Path, ending: str) -> list[Path]:
    return sorted((shared_data / "malformed").glob(f"*{ending}"))


@pytest.mark.parametrize("rules", RULES)
def test_every_malformed_run(shared_data: Path, rules: Rules) -> None:
    for run in malformed_files(shared_data, ".run"):
        for qrels in ("good.qrels", "q_hash.qrels", "q_utf8.qrels"):
            files = shared_data / "malformed" / qrels, run
            native, numpy = both_paths(lambda: values(*files, rules=rules))  # noqa: B023
            assert numpy == native, files


@pytest.mark.parametrize("like", ["assay", "trec_eval-9"])
@pytest.mark.parametrize("rules", RULES)
def test_every_malformed_qrels(shared_data: Path, rules: Rules, like: str) -> None:
    for qrels in malformed_files(shared_data, ".qrels"):
        files = qrels, shared_data / "malformed" / "good.run"
        native, numpy = both_paths(lambda: values(*files, ["AP", "nDCG", "P@2"], rules=rules, like=like))  # noqa: B023
        assert numpy == native, files


def test_runs_as_qrels_and_qrels_as_runs(shared_data: Path) -> None:
    good = shared_data / "malformed"
    swapped = [(run, good / "good.run") for run in malformed_files(shared_data, ".run")]
    swapped += [(good / "good.qrels", qrels) for qrels in malformed_files(shared_data, ".qrels")]
    for files in swapped:
        native, numpy = both_paths(lambda: values(*files))  # noqa: B023
        assert numpy == native, files


# One wrong line among good ones

GOOD = [
    *("q1 Q0 a 1 9.5 t", "q1 Q0 b 2 8.25 t", "q1 Q0 q1 3 -1 t", "x Q0 a 1 7 t", "x Q0 b 2 6 t"),
    *("q2 Q0 a 1 5 t", "q2 Q0 c 2 4 t"),
]
GRADES = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
WRONG_SCORES = [
    *("nan", "inf", "-Infinity", "1e400", "-1e400", "high", "1_000", "0x10", "1,5", "1.2.3", "1..2", "1e", "e5", "1e+"),
    *(".", "-", "+", "+-1", "-+1", "--1", "1-", "1+1", "1e5.5", "1.e", "٣", "1\u00a0", "1f", "1d5", "(1)", "NaN(1)"),
    *("9" * 400, "0x1p3", "1e1e1", "'1'", "1/2", "½", "12345678:", "1234567/.5", "1.5/", "1.:", "-.", "+.", "1.5e-"),
]
WRONG_LINES = [
    *("q1 Q0 z", "q1 Q0 z 1 2", "q1 Q0 z 1 2 t u", "q1 Q0 z 1 2 t " + "u " * 40, "q1", "q1 Q0 a b 3 2 t"),
    *("q1 Q0 z 1 2 \0t", "q1 Q0 z\0 1 2 t", "\0", "#\0", "q1 Q0 z 1 2\rt", "q1 Q0 z 1 2 t\rq1 Q0 y 1 2 t", "#a\rb"),
    *(
        "\ufeffq1 Q0 z 1 2 t",
        " \ufeffq1 Q0 z 1 2 t",
        "qid Q0 docno rank score tag",
        "q1 Q0 \f 1 2 t",
        "q1 Q0 z\v9 1 2 t",
    ),
    *("q1 Q0 a 9 1 t", "q2 Q0 a 9 1 t", "x Q0 a 9 1 t", "q1 Q0 b 9 8.25 t"),
    *("q1 Q0 z -1 2 t", "q1 Q0 z 1.5 2 t", "q1 Q0 z - 2 t", "q1 Q0 z 99999999999999999999 2 t", "q1 Q0 z +1 2 t"),
]


@pytest.mark.parametrize("place", [0, 2, 4, len(GOOD)])
@pytest.mark.parametrize("rules", [Rules(), Rules(order="rank", duplicates="best")])
def test_one_wrong_line(folder: Path, place: int, rules: Rules) -> None:
    path = folder / "wrong.run"
    lines = [*WRONG_LINES, *(f"{query} Q0 z 1 {score} t" for query in ("q1", "x") for score in WRONG_SCORES)]
    for line in lines:
        path.write_text("\n".join([*GOOD[:place], line, *GOOD[place:]]))
        native, numpy = both_paths(lambda: hits(GRADES, path, rules))
        assert numpy == native, line


@pytest.mark.parametrize("score", WRONG_SCORES)
def test_a_wrong_score_is_never_read_as_a_number(folder: Path, score: str) -> None:
    path = folder / "score.run"
    path.write_text("\n".join([*GOOD[:2], f"q1 Q0 z 1 {score} t", *GOOD[2:]]))
    kind, message, _ = both_paths(lambda: hits(GRADES, path))[0]

    assert "InputError" == kind
    assert message.startswith(f"{path}:3: ")


@settings(max_examples=250)
@given(data=st.data())
def test_a_file_with_any_bytes_changed(folder: Path, data: st.DataObject) -> None:
    text = bytearray("\n".join(GOOD).encode() + b"\n")
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text)))
        put = data.draw(st.sampled_from([*(bytes([byte]) for byte in b"\0\t\n\v\f\r #.+-0123459eExq\x7f\xff"), b""]))
        text[place : place + data.draw(st.integers(0, 2))] = put
    path = folder / "changed.run"
    path.write_bytes(bytes(text))

    for rules in RULES:
        native, numpy = both_paths(lambda: hits(GRADES, path, rules))  # noqa: B023
        assert numpy == native


# MS MARCO's three columns: ranks in place of scores

MSMARCO_GRADES = {"q1": {"b": 1, "c": 1}, "q2": {"a": 1}}
MSMARCO = {
    "in order": "q1 a 1\nq1 b 2\nq1 c 3\nq2 a 1",
    "out of order": "q1 c 3\nq1 a 1\nq1 b 2\nq2 z 2\nq2 a 1",
    "with gaps": "q1 a 1\nq1 b 20\nq1 c 300\nq2 a 1",
    "far down": "q1 a 1\nq1 b 999999999999999999\nq1 c 99999999999999999\nq2 a 1",
    "too far down": "q1 a 1\nq1 b 9999999999999999999\nq2 a 1",
    "leading zeros": "q1 a 01\nq1 b 0002\nq2 a 1",
    "interleaved": "q1 a 1\nq2 a 1\nq1 b 2\nq1 c 3",
    "interleaved and repeated": "q1 a 1\nq2 a 1\nq1 b 1",
    "repeated": "q1 a 1\nq1 b 2\nq1 c 2\nq2 a 1",
    "from 0": "q1 a 0\nq1 b 1\nq1 c 2\nq2 a 1",
    "from 2": "q1 a 2\nq1 b 3\nq1 c 4\nq2 a 1",
    "0 alone": "q1 a 0\nq2 a 1",
    "negative": "q1 a 1\nq1 b -2\nq2 a 1",
    "fraction": "q1 a 1\nq1 b 2.0\nq2 a 1",
    "no number": "q1 a 1\nq1 b two\nq2 a 1",
    "unjudged query repeated": "x a 1\nx b 1\nq1 b 1\nq2 a 1",
    "unjudged query from 2": "q1 b 1\nx a 2\nx b 3\nq2 a 1",
    "unjudged query from 0": "q1 b 1\nq2 a 1\nx a 0\nx b 1",
    "unjudged query interleaved": "x a 1\nq1 b 1\nx b 2\nq2 a 1",
    "unjudged query interleaved and repeated": "x a 1\nq1 b 1\nx b 1\nq2 a 1",
    "unjudged query with a document twice": "x a 1\nx a 2\nq1 b 1\nq2 a 1",
    "a document twice": "q1 b 1\nq1 b 2\nq2 a 1",
    "a document twice at one rank": "q1 b 1\nq1 b 1\nq2 a 1",
    "own id at 1": "q1 q1 1\nq1 b 2\nq2 a 1",
    "own id repeats a rank": "q1 q1 1\nq1 b 1\nq2 a 1",
    "own id at 0": "q1 q1 0\nq1 b 1\nq2 a 1",
    "unjudged query's own id repeats a rank": "x x 1\nx b 1\nq1 b 1\nq2 a 1",
}


@pytest.mark.parametrize("name", MSMARCO)
@pytest.mark.parametrize("rules", [*RULES, Rules(self_match="drop", scores="float32"), Rules(ties="rank-column")])
def test_ranks_in_place_of_scores(folder: Path, name: str, rules: Rules) -> None:
    path = folder / "msmarco.run"
    path.write_text(MSMARCO[name].replace(" ", "\t") + "\n")

    native, numpy = both_paths(lambda: hits(MSMARCO_GRADES, path, rules))
    assert numpy == native


@pytest.mark.parametrize("name", MSMARCO)
def test_the_same_files_with_scores_in_the_third_column(folder: Path, name: str) -> None:
    path = folder / "beir.run"
    path.write_text(MSMARCO[name].replace(" ", "\t") + "\n")

    native, numpy = both_paths(lambda: hits(MSMARCO_GRADES, path, input_format="beir"))
    assert numpy == native


@pytest.mark.parametrize("rules", [Rules(order="rank"), Rules(ties="rank-column")])
def test_a_run_without_ranks_cannot_be_ranked_by_them(folder: Path, rules: Rules) -> None:
    path = folder / "beir.run"
    path.write_text("q1 a 0.5\nq1 b 0.25\n")

    native, numpy = both_paths(lambda: hits(GRADES, path, rules, input_format="beir"))
    assert numpy == native
    assert "RulesError" == native[0]


# Query sets


@pytest.mark.parametrize("queries", ["judged", "both", "strict"])
@pytest.mark.parametrize(
    "text",
    [
        *("q1 Q0 a 1 1 t", "Q1 Q0 a 1 1 t\nQ2 Q0 a 1 1 t", "q01 Q0 a 1 1 t", "x Q0 a 1 1 t", "\udcff Q0 a 1 1 t"),
        *("", "\n\n", "# nothing", "q1 Q0 q1 1 1 t", "q2 Q0 q2 1 1 t\nq1 Q0 q1 1 1 t"),
    ],
)
def test_runs_that_answer_little(folder: Path, text: str, queries: Any) -> None:
    path = folder / "little.run"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))

    native, numpy = both_paths(lambda: values(GRADES, path, rules=Rules(queries=queries, self_match="drop")))
    assert numpy == native


# Files that cannot be read


@pytest.mark.parametrize(
    "path", ["missing", "", ".", "a\0b", "x" * 5000, "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n", "/dev/null"]
)
def test_paths_that_lead_nowhere(folder: Path, path: str) -> None:
    native, numpy = both_paths(lambda: values(GRADES, path))
    assert numpy == native
    native, numpy = both_paths(lambda: values(path, {"q1": {"a": 1.0}}))
    assert numpy == native
    assert isinstance(native, tuple)


def test_a_format_that_nobody_knows(folder: Path) -> None:
    path = folder / "format.run"
    for text, input_format in [
        ("q1 Q0 a 1 1 t\n", "trek"),
        ("q1 a\n", "auto"),
        ("q1 a 1 1\n", "beir"),
        ("q1 a 1\n", "trec"),
    ]:
        path.write_text(text)
        native, numpy = both_paths(lambda: hits(GRADES, path, input_format=input_format))  # noqa: B023
        assert numpy == native
        assert isinstance(native, tuple)


@pytest.mark.parametrize("value", [None, 1, [], [("q", "a", 1)], object(), b"run", np.zeros(3)], ids=range(7))
def test_values_that_are_no_run(value: Any) -> None:
    native, numpy = both_paths(lambda: values(GRADES, value))

    assert numpy == native


# Values that are not what they should be


class Odd:
    """Not a number, although it can be converted to one."""

    def __float__(self) -> float:
        return 3.0


WRONG_VALUES = [
    *("1", None, float("nan"), float("inf"), -float("inf"), 10**400, -(10**400), [1], (1.0,), 1j, b"1", np.nan),
    *(np.array([1.0]), np.array(2.0), np.float32("inf"), np.float16(2), np.longdouble(2.5), np.bool_(True), Odd()),
    *(True, 2**63, -(2**70), np.uint64(2**64 - 1), np.int8(-3), np.str_("1"), np.datetime64("2020-01-01"), object),
]


@pytest.mark.parametrize("value", WRONG_VALUES, ids=lambda value: f"{type(value).__name__}-{str(value)[:9]}")
@pytest.mark.parametrize("query", ["q1", "x"], ids=["judged", "unjudged"])
def test_any_value_as_a_score(value: Any, query: str) -> None:
    run = {"q1": {"b": 5.0, "a": 1.5}, "x": {"a": 1.0, "c": 3.0}}
    run[query]["z"] = value

    native, numpy = both_paths(lambda: hits(GRADES, run))
    assert numpy == native


WRONG_IDS = [
    "",
    "\ud800",
    "\udc7f",
    "a\ud800",
    7,
    7.0,
    True,
    None,
    b"a",
    ("a",),
    np.str_("a"),
    np.int64(7),
    "\0",
    " ",
    "a b",
]


UNWRITABLE = ("", "\ud800", "\udc7f", "a\ud800")  # ids that no file can store


@pytest.mark.parametrize("odd", WRONG_IDS, ids=repr)
@pytest.mark.parametrize("score", [1.0, 2.0, 5.0], ids=["tied", "between", "first"])
def test_any_value_as_a_document(odd: Any, score: float) -> None:
    for query in ("q1", "x"):
        run = {"q1": {"b": 5.0, "a": 1.0}, "x": {"a": 1.0, "7": 1.0}}
        run[query][odd] = score
        native, numpy = both_paths(lambda: hits(GRADES, run))  # noqa: B023
        if isinstance(odd, str) and odd in UNWRITABLE and not isinstance(native, tuple):
            # The kernel checks an id of a dict only if it must; this one counts as any other unjudged document.
            run = {
                name: {doc if doc != odd else "\x01": one for doc, one in docs.items()} for name, docs in run.items()
            }
            numpy = both_paths(lambda: hits(GRADES, run))[1]  # noqa: B023
        assert numpy == native


@pytest.mark.parametrize("odd", WRONG_IDS, ids=repr)
def test_any_value_as_a_query(odd: Any) -> None:
    native, numpy = both_paths(lambda: hits(GRADES, {"q1": {"a": 1.0}, odd: {"a": 1.0}}))

    assert numpy == native


@pytest.mark.parametrize("judged_id", ["", "\ud800", 7, np.str_("a"), b"a"], ids=repr)
def test_any_value_as_a_judged_document(judged_id: Any) -> None:
    native, numpy = both_paths(lambda: hits({"q1": {"b": 1, judged_id: 1}}, {"q1": {"a": 1.0, "b": 1.0, "7": 1.0}}))

    assert numpy == native


@pytest.mark.parametrize(
    "run",
    [
        *({}, {"q1": {}}, {"q1": {}, "x": {}}, {"x": {"a": 1.0}}, {"q1": []}, {"q1": None}, {"q1": [("a", 1.0)]}),
        *({"q1": {"a": 1.0}, "q2": []}, {"q1": {"a": 1.0}, "q2": {}}, {"q1": UserDict(a=1.0)}, UserDict(q1={"a": 1.0})),
        *({"q1": {7: 1.0, "7": 2.0}}, {7: {"a": 1.0}, "7": {"a": 2.0}}, {"q1": {"a": 1.0}, "x": {7: 1.0, "7": 2.0}}),
    ],
    ids=str,
)
@pytest.mark.parametrize("rules", [*RULES, Rules(ties="rank-column"), Rules(self_match="drop")])
def test_any_shape_of_dicts(run: Any, rules: Rules) -> None:
    native, numpy = both_paths(lambda: hits(GRADES, run, rules))

    assert numpy == native


@pytest.mark.parametrize("column", ["query", "doc", "score", "rank"])
@pytest.mark.parametrize(
    "value", [None, "", "x", 1, 0, -1, 2**53, 2**60, 1.5, float("nan"), float("inf"), True, b"a", 1.0]
)
def test_any_value_in_a_column(column: str, value: Any) -> None:
    rows = {"query": ["q1", "q1", "x"], "doc": ["a", "b", "a"], "score": [1.0, 2.0, 3.0], "rank": [1, 2, 3]}
    for place in (1, 2):
        changed = {**rows, column: [*rows[column][:place], value, *rows[column][place + 1 :]]}
        try:
            table = pa.table(changed)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            table = pa.table({**rows, column: [value] * 3})
        for rules in RULES:
            native, numpy = both_paths(lambda: hits(GRADES, table, rules))  # noqa: B023
            assert numpy == native

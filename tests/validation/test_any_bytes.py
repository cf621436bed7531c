"""Validation handles any bytes, and a file is valid exactly if evaluation can read it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay import validate_qrels, validate_run
from assay.errors import AssayError
from assay.formats import read_qrels, read_run
from validation.cases import GOOD_QRELS, GOOD_RUN, QRELS_CASES, RUN_CASES

PIECES = [
    b" ",
    b"\n",
    b"\t",
    b"\r",
    b"\0",
    b"#",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"nan",
    b"1e5",
    b"0x1",
    b"-",
    b"{",
    b'"',
    b",",
]


def broken(texts: list[bytes]) -> st.SearchStrategy[bytes]:
    """A text with a few bytes inserted, removed or repeated."""

    def broke(text: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
        for place, cut, piece in changes:
            at = place % (len(text) + 1)
            text = text[:at] + piece + text[at + cut :]
        return text

    change = st.tuples(st.integers(0, 10_000), st.integers(0, 3), st.sampled_from(PIECES) | st.binary(max_size=3))
    return st.builds(broke, st.sampled_from(texts), st.lists(change, max_size=3)) | st.binary(max_size=50)


def readable_run(path) -> bool:
    try:
        run = read_run(path)
    except AssayError:
        return False
    pairs = list(zip(run.query.tolist(), run.doc.tolist(), strict=True))
    return len(set(pairs)) == len(pairs)


def readable_qrels(path) -> bool:
    try:
        qrels = read_qrels(path)
    except AssayError:
        return False
    iterations = [""] * len(qrels) if qrels.iteration is None else qrels.iteration.tolist()
    triples = list(zip(qrels.query.tolist(), qrels.doc.tolist(), iterations, strict=True))
    return len(set(triples)) == len(triples)


@given(broken([GOOD_RUN.encode(), *(content for _, content, _, _ in RUN_CASES)]))
@settings(max_examples=300)
def test_any_run(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.run"
    path.write_bytes(content)

    found = validate_run(path, qrels={"1": {"a": 1}})

    own_errors = [f for f in found.findings if f.severity == "error" and f.code not in {"RUN054", "RUN056", "RUN058"}]
    assert readable_run(path) == (not own_errors)


@given(broken([GOOD_QRELS.encode(), *(content for _, content, _, _ in QRELS_CASES)]))
@settings(max_examples=300)
def test_any_judgments(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.qrels"
    path.write_bytes(content)

    assert readable_qrels(path) == validate_qrels(path).valid

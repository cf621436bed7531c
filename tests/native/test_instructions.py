"""Lines are split the same way with all processor instructions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules, native
from assay.example import QRELS, RUNS
from assay.formats.unread import read_judgments
from native.inputs import Case, DripRun, cases, odd_texts, some_rules
from native.paths import NEEDS_KERNEL, both_paths, by_kernel, by_numpy, hits, kernel_and_numpy, values

AT_HAND = native.kernel.instructions() if native.kernel else []

pytestmark = NEEDS_KERNEL


@contextmanager
def using(name: str) -> Iterator[None]:
    native.kernel.use_instructions(name)
    try:
        yield
    finally:
        native.kernel.use_instructions(AT_HAND[0])


def test_there_are_always_plain_ones_and_they_come_last() -> None:
    assert "plain" == AT_HAND[-1]
    assert len(set(AT_HAND)) == len(AT_HAND)


def test_others_than_those_at_hand_are_refused() -> None:
    with pytest.raises(ValueError, match="this processor has no instructions called 'abacus'"):
        native.kernel.use_instructions("abacus")


@pytest.mark.parametrize("name", AT_HAND)
def test_the_example_has_the_same_values(name: str) -> None:
    expected = by_numpy(lambda: values(QRELS, RUNS[0]))
    with using(name):
        assert expected == by_kernel(lambda: values(QRELS, RUNS[0]))


@pytest.mark.parametrize("name", AT_HAND)
@settings(max_examples=100)
@given(data=st.data(), case=cases(), rules=some_rules())
def test_lines_of_any_shape(name: str, data: st.DataObject, case: Case, rules: Rules) -> None:
    text = data.draw(odd_texts(case.rows))
    pieces = data.draw(st.lists(st.sampled_from([1, 63, 64, 65, 1000]), min_size=1, max_size=3))

    with using(name):
        native, numpy = both_paths(lambda: hits(case.qrels, DripRun(text, pieces), rules))
    assert numpy == native


def documents_of(lengths: range) -> list[str]:
    return [f"{length:0{length}d}" for length in lengths]


@pytest.mark.parametrize("name", AT_HAND)
@pytest.mark.parametrize("blanks", [" ", "\t", "   ", " " * 40, " \t" * 50, "\v", "\f"], ids=repr)
def test_blanks_at_every_place_of_the_bytes_looked_at_together(name: str, blanks: str, tmp_path: Path) -> None:
    """Documents of each length shift what follows; many blanks in a row fill all 64 bytes with them."""
    run = tmp_path / "run.txt"
    docs = documents_of(range(1, 140))
    run.write_text("".join(blanks.join(["q", "Q0", doc, "1", f"{i}", "t"]) + "\n" for i, doc in enumerate(docs)))

    with using(name):
        native, numpy = kernel_and_numpy(lambda: hits({"q": dict.fromkeys(docs, 1)}, run))
    assert numpy == native


@pytest.mark.parametrize("name", AT_HAND)
@pytest.mark.parametrize("length", range(1, 6))
def test_short_tokens_fill_the_bytes_with_blanks(name: str, length: int, tmp_path: Path) -> None:
    """Up to 32 blanks in 64 bytes: more than the usual run has, and than are written at once."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{i:0{length}d} 0 {i % 7} 1\n" for i in range(10 ** min(length, 3))))

    def judged() -> Any:
        found = read_judgments(qrels)
        return found.queries, list(found.docs), found.rel, found.pool

    with using(name):
        native, numpy = both_paths(judged)
    assert numpy == native

"""Scores are read exactly: a document is tied with one whose score is the same double, and apart from its neighbours."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules
from native.paths import NEEDS_KERNEL, both_paths, hits, kernel_and_numpy

pytestmark = NEEDS_KERNEL

PLAIN = [
    *(
        "0",
        "1",
        "7",
        "10",
        "42",
        "-1",
        "+1",
        "007",
        "1.",
        "-1.",
        ".5",
        "-.5",
        "+.5",
        "0.5",
        "00.50",
        "-0",
        "-0.0",
        "+0",
    ),
    *("1e5", "1E5", "1e+5", "1e-5", "1.5e3", "1.e3", ".5e1", "1e05", "1e005", "0e9", "-1.5E-10"),
    # up to eight digits before and behind the point are read at once, up to 18 without the library
    *(
        "1234567.12345678",
        "12345678.12345678",
        "1234567.123456789",
        "123456.7",
        "1234567.8",
        "12345678.9",
        "1.12345678",
    ),
    *(
        "9999999.99999999",
        "-9999999.99999999",
        "0000000.00000001",
        "0.00000001",
        "0.000000001",
        "99999999",
        "100000000",
    ),
    *(
        "0.1",
        "0.2",
        "0.3",
        "0.7",
        "12.345678901234567",
        "123456789012345678",
        "1234567890123456789",
        "0.1234567890123456789",
    ),
    # around 2**53, where whole numbers stop being exact
    *(str(2**53 + step) for step in range(-2, 6)),
    *(f"{2**53 + step}.0" for step in (-1, 0, 1)),
    *(
        "900719925474099.25",
        "9007199254740993e0",
        "90071992547409.93e2",
        "9007199254740992.5",
        "9007199254740993.0000001",
    ),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
    ),
    # halfway between two doubles, and just beside it
    *(
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
    ),
    *(
        "1.00000000000000011102230246251565404236316680908203126",
        "0.1000000000000000055511151231257827021181583404541015625",
    ),
    *("1e22", "1e23", "123456789e15", "8.5e15", "4.35", "0.30000000000000004", "2.2250738585072011e-308"),
    *(
        "1e308",
        "1.7976931348623157e308",
        "-1.7976931348623157e308",
        "2.2250738585072014e-308",
        "1.7976931348623158e308",
    ),
]
NOT_FOR_THE_KERNEL = [
    "5e-324",
    "2.4703282292062328e-324",
    "1e-400",
    "-1e-400",
    "4.9e-324",
    "1e-5000",
    "0." + "0" * 400 + "1",
]


def neighbours(score: float) -> list[str]:
    """The double itself, spelled by Python, and the doubles on both sides of it."""
    around = [math.nextafter(score, -math.inf), score, math.nextafter(score, math.inf)]
    return [repr(value) for value in around if math.isfinite(value)]


def write_scores(path: Path, texts: list[str]) -> dict[str, dict[str, int]]:
    """One query for each text, with the judged document among the neighbours of its score."""
    path.write_text(
        "".join(
            f"q{number} Q0 {doc} 1 {score} t\n"
            for number, text in enumerate(texts)
            for doc, score in [("judged", text), *zip("abc", neighbours(float(text)), strict=False)]
        )
    )
    return {f"q{number}": {"judged": 1} for number in range(len(texts))}


def spans(texts: list[str]) -> list[tuple[int, int]]:
    """The ranks that the judged document and the same double share: the neighbour above comes before them."""
    above = [len(neighbours(float(text))) == 3 or float(text) < 0 for text in texts]
    return [(1 + before, 2 + before) for before in above]


def found_spans(found: dict) -> list[tuple[int, int]]:
    return list(zip(found["hit_tie_first"][2], found["hit_tie_last"][2], strict=True))


@pytest.mark.parametrize("text", PLAIN)
def test_every_plain_spelling(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.run"
    grades = write_scores(path, [text])

    native, numpy = kernel_and_numpy(lambda: hits(grades, path))
    assert numpy == native
    assert spans([text]) == found_spans(native)


@pytest.mark.parametrize("text", NOT_FOR_THE_KERNEL)
def test_what_nearly_vanishes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.run"
    grades = write_scores(path, [text])

    native, numpy = both_paths(lambda: hits(grades, path))
    assert numpy == native
    assert spans([text]) == found_spans(native)


def spellings(number: float, digits: int) -> list[str]:
    """One number, or nearly the same, as different programs print it."""
    return [
        repr(number),
        f"{number:.{digits}f}",
        f"{number:.{digits}e}",
        f"{number:.{digits}g}",
        f"{number:+.{digits}E}",
    ]


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e4, 1e15, 1e18, 1e300])
def test_numbers_as_programs_print_them(tmp_path: Path, scale: float) -> None:
    drawn = random.Random(0)
    texts = [
        text
        for _ in range(60)
        for text in spellings(drawn.uniform(-10, 10) * scale, drawn.randint(0, 25))
        if len(text) < 60
    ]
    path = tmp_path / "scores.run"
    grades = write_scores(path, texts)

    native, numpy = kernel_and_numpy(lambda: hits(grades, path))
    assert numpy == native


def test_short_decimals_of_every_shape(tmp_path: Path) -> None:
    """Up to nine digits before the point and behind it, many of them zeros and nines."""
    drawn = random.Random(1)
    digits = ["".join(drawn.choices("0019", k=length)) for length in range(1, 10) for _ in range(4)]
    texts = [f"{sign}{whole}.{rest}" for sign in ("", "-") for whole in digits for rest in digits]
    path = tmp_path / "scores.run"
    grades = write_scores(path, texts)

    native, numpy = kernel_and_numpy(lambda: hits(grades, path))
    assert numpy == native


@settings(max_examples=150)
@given(st.from_regex(r"\A[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?\Z").map(str.strip))
def test_any_decimal(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "decimal.run"
    value = repr(float(text)) if math.isfinite(float(text)) else "1"
    path.write_text(f"q Q0 a 1 {text} t\nq Q0 b 2 {value} t\nq Q0 c 3 0 t\n")

    native, numpy = both_paths(lambda: hits({"q": {"a": 1, "c": 1}}, path))
    assert numpy == native


@pytest.mark.parametrize("text", ["1e39", "-1e39", "3.4028235677973366e38", "16777217", "0.1", "1e-46", "33554433.5"])
def test_scores_as_32_bit_floats(tmp_path: Path, text: str) -> None:
    """Rounded twice, from text to double to float, as trec_eval 9 does; huge ones are infinite and tied."""
    path = tmp_path / "float32.run"
    with np.errstate(over="ignore"):
        single = np.float32(float(text))
    others = [str(np.nextafter(single, np.float32(0))), str(float(text) * 1.5), "16777216", "0.1", "1e40", "-1e40", "0"]
    path.write_text(f"q Q0 judged 1 {text} t\n" + "".join(f"q Q0 d{at} 1 {one} t\n" for at, one in enumerate(others)))

    native, numpy = kernel_and_numpy(lambda: hits({"q": {"judged": 1}}, path, Rules(scores="float32")))
    assert numpy == native


@pytest.mark.parametrize(
    "rank", ["0", "1", "01", "000000000000000007", str(2**53 - 1), str(2**53), str(2**62), "9" * 30]
)
def test_ranks_of_every_length(tmp_path: Path, rank: str) -> None:
    """Very large ones are left to NumPy, and those beyond 64 bits are no ranks."""
    path = tmp_path / "ranks.run"
    path.write_text(f"q Q0 judged {rank} 1 t\nq Q0 b 1 1 t\nq Q0 c {2**53 - 2} 1 t\nq Q0 d 0 1 t\n")

    compare = kernel_and_numpy if int(rank) < 2**53 else both_paths
    for rules in (Rules(order="rank"), Rules(ties="rank-column"), Rules(order="rank", scores="float32")):
        native, numpy = compare(lambda: hits({"q": {"judged": 1}}, path, rules))  # noqa: B023
        assert numpy == native

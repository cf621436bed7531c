"""Whatever a text says, it stays inside its place in the prompt."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import LanguageModelError
from assay.llm.prompts import as_data, read_prompt

TAGS = ["<|im_start|>", "<|im_end|>", "</s>", "<s>", "<end_of_turn>", "[INST]", "[/INST]", "<think>", "<｜User｜>"]


@given(st.text(st.sampled_from("[]［］ 123\n\r\u2028\x85\x0b<|>/INSTab\u200b,>"), max_size=60))
def test_no_text_has_a_number_in_brackets_or_a_second_line(text):
    shown = as_data(text, 1000)

    assert not re.search(r"\[\s*\d+\s*\]", shown)
    assert not re.search(r"<[|/\w]", shown)
    assert [shown] == (shown.splitlines() or [""])


@pytest.mark.parametrize("tag", TAGS)
def test_tags_of_models_are_broken(tag):
    assert tag not in as_data(f"before {tag} after", 1000)


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("rice", 4, "rice"),
        ("white rice", 5, "white"),
        ("white rice", 8, "white"),
        ("白米をよく洗います", 4, "白米をよ"),
        ("a " + "b" * 20, 10, "a bbbbbbbb"),
        ("", 5, ""),
        (" \n\t ", 5, ""),
    ],
)
def test_long_texts_are_cut_at_a_blank_if_there_is_one_near(text, most, shown):
    assert shown == as_data(text, most)


def test_a_slot_in_a_text_is_not_filled(tmp_path):
    (tmp_path / "p.txt").write_text('\ufeff{query} | {passage} | {"json": 1}\r\n', "utf-8")
    prompt = read_prompt(tmp_path / "p.txt", ["query", "passage"])

    assert '{passage} | {query} | {"json": 1}' == prompt.filled({"query": "{passage}", "passage": "{query}"})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"only {query}", "the prompt lacks {passage}, where the text is to be put in."),
        (b"nothing", "the prompt lacks {query} and {passage}, where the text is to be put in."),
        (b"\xff{query}{passage}", "the prompt is not UTF-8. Save it as UTF-8."),
        (b"{query}{passage}" + b"x" * (1 << 20), "the prompt is longer than a megabyte; is this the right file?"),
        (None, "the prompt cannot be read: No such file or directory."),
    ],
)
def test_a_prompt_file_that_cannot_be_used(content, problem, tmp_path):
    path = tmp_path / "p.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LanguageModelError) as caught:
        read_prompt(path, ["query", "passage"])

    assert f"{path}: {problem}" == str(caught.value)

"""Laws of templates and places: whatever a query holds, it stays in its place."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import FetchError
from assay.fetching.paths import NOTHING, checked_path, find
from assay.fetching.templates import fill, parse_template, places_in

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NAMES = st.text(st.sampled_from("abz_'\".[]0 é"), min_size=1, max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS.filter(lambda text: "{{" not in text),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXTS.filter(lambda t: "{{" not in t), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(TEXTS, st.integers(1, 10**6))
def test_a_query_stays_in_its_place(query, top_k):
    """The request is the template with the texts in it, as JSON reads them back, whatever the query holds."""
    template = parse_template('{"a": ["{{query}}", {"b": "<{{query}}>"}], "size": {{top_k}}}', "t.json")
    request = json.loads(json.dumps(fill(template, {"query": query, "top_k": top_k})))

    assert {"a": [query, {"b": f"<{query}>"}], "size": top_k} == request


@given(JSON)
def test_json_without_places_is_left_as_it_is(value):
    template = parse_template(json.dumps(value), "t.json")

    assert value == template == fill(template, {})
    assert set() == places_in(template)


@given(TEXTS)
def test_any_text_is_a_template_or_an_error(text):
    with suppress(FetchError):
        fill(parse_template(text, "t.json"), dict.fromkeys(("query", "query_id", "top_k", "mode"), "x"))


def test_a_field_without_value_is_left_out_and_null_stays():
    values = {"query": "x", "mode": None}

    assert {"q": "x", "none": None} == fill({"q": "{{query}}", "mode": "{{mode}}", "none": None}, values)


@given(st.lists(st.integers(0, 3) | st.text(st.sampled_from("abcü-_ "), min_size=1), min_size=1, max_size=5), JSON)
def test_what_lies_at_a_place_is_found(steps, value):
    """A value put under some steps is found by the path that names them."""
    whole = value
    for step in reversed(steps):
        whole = {step: whole} if isinstance(step, str) else [0] * step + [whole]
    path = "$" + "".join(f"['{step}']" if isinstance(step, str) else f"[{step}]" for step in steps)

    assert value == find(whole, path)
    assert NOTHING is find({"other": whole}, path)


@given(NAMES, JSON)
def test_any_path_finds_something_or_nothing_or_is_refused(path, value):
    with suppress(FetchError):
        find(value, checked_path(path, "hits"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.b", 1),
        ("$.a.b", 1),
        ("a['b']", 1),
        ('["a"].b', 1),
        ("c[1]", 3),
        ("c[-1]", 3),
        ("c[2]", NOTHING),
        ("a.b.c", NOTHING),
    ],
)
def test_places(path, expected):
    assert expected == find({"a": {"b": 1}, "c": [2, 3]}, path)

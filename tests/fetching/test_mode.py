"""A server that is in use takes part in a benchmark."""

from __future__ import annotations

import json

import pytest

from assay.collections import open_collection
from cli.command import assay
from fetching.serving import Reply, serving

KEY = "planted-7f3a91c2d4"
RECIPE = """collection = "shop"
modes = ["sqlite", "live", "both"]
measures = ["nDCG@10"]
depth = 20

[[mode]]
name = "live"
kind = "http"
endpoint = "{address}"
mode = "hybrid"
settings_file = "key.toml"

[[mode]]
name = "both"
kind = "hybrid"
modes = ["sqlite", "live"]
"""


@pytest.fixture(scope="module")
def documents() -> dict[str, set[str]]:
    return {document.id: set(document.whole.casefold().split()) for document in open_collection("shop").documents()}


def searching(documents):
    """A service that counts the words that a document shares with the query."""

    def answering(asked, before):
        results = []
        for query in asked.json["queries"]:
            words = set(query["query_text"].casefold().split())
            found = sorted(((-len(words & text), doc) for doc, text in documents.items() if words & text))
            hits = [{"segment_id": doc, "score": -count} for count, doc in found[: query["top_k"]]]
            results.append({"query_id": query["query_id"], "segments": hits})
        return Reply({"results": results})

    return answering


@pytest.mark.slow
def test_a_server_is_a_mode_beside_others(documents, tmp_path):
    """A failed query stops the benchmark; the next run asks for it only. The key is in no file and in no output."""
    ill = [True]

    def answering(asked, before):
        if ill and before == 7:
            return Reply({"error": f"no luck with {KEY}"}, status=400)
        return searching(documents)(asked, before)

    (tmp_path / "key.toml").write_text('header = "Authorization"\nvariable = "SEARCH_KEY"\nprefix = "Bearer "\n')
    with serving(answering) as server:
        (tmp_path / "recipe.toml").write_text(RECIPE.format(address=server.address))
        run = ("benchmark", "run", "recipe.toml", "--output", "report")
        given = {"cwd": tmp_path, "env": {"SEARCH_KEY": KEY, "ASSAY_DEBUG": "1"}}
        first = assay(*run, **given)
        asked = len(server.asked)
        ill.clear()
        second = assay(*run, **given)
        again = [each.json["queries"][0]["query_id"] for each in server.asked[asked:]]

    queries = open_collection("shop").queries
    assert (2, 0) == (first.returncode, second.returncode), second.stderr
    assert "1 query of 100 failed" in first.stderr
    assert "no luck with ***'). Run again to ask for these only: the answers so far are kept." in first.stderr
    assert (len(queries), 1) == (asked, len(again))
    assert {"Bearer " + KEY} == {each.headers["Authorization"] for each in server.asked}
    assert {"hybrid"} == {each.json["mode"] for each in server.asked}
    report = json.loads((tmp_path / "report" / "BenchmarkReport.json").read_text())
    live = next(mode for mode in report["modes"] if mode["name"] == "live")
    assert live["metrics"]["nDCG@10"] > 0.2
    everything = first.stdout + first.stderr + second.stdout + second.stderr
    everything += "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())
    assert KEY not in everything


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("endpoint = 5", "endpoint cannot be 5; it takes a text."),
        ('endpoint = "search"', "endpoint cannot be 'search'; it takes an address"),
        ('endpoint = "http://ann:planted@localhost"', "endpoint contains a user name, a password or a key."),
        ('endpoint = "http://localhost"\napi = "elastic"', "no API is called 'elastic'; did you mean 'elasticsearch'?"),
        ('endpoint = "http://localhost"\nsettings_file = "gone.toml"', "gone.toml"),
        ('endpoint = "http://localhost"\nduplicates = "last"', "duplicates cannot be 'last'; it takes error or first."),
        ('endpoint = "http://localhost"\nconcurrency = 0', "concurrency cannot be 0; it takes a whole number"),
        ('endpoint = "http://localhost"\nrate = "fast"', "rate cannot be 'fast'; it takes a number"),
        ('endpoint = "http://localhost"\nretries = 0.5', "retries cannot be 0.5; it takes a whole number"),
        ('endpoint = "http://localhost"\nallow_http = "no"', "allow_http cannot be 'no'; it takes true or false."),
        ('endpoint = "http://localhost"\ntimeout = 0', "timeout cannot be 0; it takes a number of at least 0.001."),
        ('endpoint = "http://localhost"\nkey = "planted"', "http has no setting 'key'"),
    ],
)
def test_settings_that_cannot_be_used_name_their_line(settings, message, tmp_path):
    (tmp_path / "recipe.toml").write_text(f'modes = ["live"]\n\n[[mode]]\nname = "live"\nkind = "http"\n{settings}\n')
    done = assay("benchmark", "run", "recipe.toml", cwd=tmp_path)

    assert 2 == done.returncode
    assert message in done.stderr
    assert "recipe.toml:" in done.stderr
    assert "planted@" not in done.stderr

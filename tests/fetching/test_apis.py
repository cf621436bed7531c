"""Each API gives the same run from a server that speaks it."""

from __future__ import annotations

import json

import pytest

from assay.errors import AssayError, FetchError, InputError, ServerError
from assay.fetching.apis import api_names, known_apis
from assay.fetching.fetching import fetch_answers
from assay.fetching.server import HttpSystem
from assay.fetching.settings import Settings, make_api, read_settings
from fetching.serving import Reply, elasticsearch, ranking, retrieve, serving, solr

QUERIES = {
    "q1": "wireless mouse",
    "q2": 'a "quoted" {{query}} \\ \n text',
    "q3": "C++ (basic): AND",
    "q4": "ünïcödé 日本",
}
SERVERS = {
    "retrieve": (retrieve, "/search"),
    "elasticsearch": (elasticsearch, "/products"),
    "opensearch": (elasticsearch, "/products"),
    "solr": (solr, "/solr/techproducts"),
}


def system_of(name: str, endpoint: str, *, template: str | None = None, settings: Settings = Settings(), **given):
    return HttpSystem(endpoint, make_api(name, settings, template), name, **given)


def lists_of(fetched) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for code, doc, score in zip(fetched.run.query, fetched.run.doc, fetched.run.score, strict=True):
        found.setdefault(fetched.run.queries[code], []).append((doc, score))
    return found


EXPECTED = {query: ranking(text, 20) for query, text in QUERIES.items()}


def test_every_api_is_tried_here():
    assert {*SERVERS, "template"} == set(api_names())
    assert ("retrieve", "template") == (api_names()[0], api_names()[-1])


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("name", SERVERS)
def test_an_api_gives_the_documents_of_every_query(name, batch):
    """Queries are data: quotes, places and line breaks in them arrive as they are."""
    answering, path = SERVERS[name]
    with serving(answering) as server:
        system = system_of(name, server.address + path, batch=batch)
        fetched = fetch_answers(system, QUERIES, name="live", top_k=20)

    assert EXPECTED == lists_of(fetched)
    assert (2 if batch == 3 and name != "solr" else 4) == len(server.asked)


@pytest.mark.parametrize("name", ["elasticsearch", "solr"])
def test_an_endpoint_may_end_with_the_path_of_the_api(name):
    answering, path = SERVERS[name]
    with serving(answering) as server:
        system = system_of(name, f"{server.address}{path}{known_apis()[name].path}")
        fetched = fetch_answers(system, QUERIES, name="live", top_k=20)

    assert EXPECTED == lists_of(fetched)


def test_the_path_and_the_parameters_of_an_endpoint_are_kept():
    with serving(retrieve) as server:
        fetch_answers(system_of("retrieve", f"{server.address}/v2/search/?version=3"), QUERIES, name="live")

    assert [("/v2/search/", {"version": "3"})] * 4 == [(each.path, each.parameters) for each in server.asked]


def test_the_request_of_the_retrieval_service():
    with serving(retrieve) as server:
        fetch_answers(system_of("retrieve", server.address, mode="hybrid"), {"q1": "mouse"}, name="live", top_k=7)
        fetch_answers(system_of("retrieve", server.address), {"q1": "mouse"}, name="live", top_k=7)

    queries = [{"query_id": "q1", "query_text": "mouse", "top_k": 7}]
    assert [{"mode": "hybrid", "queries": queries}, {"queries": queries}] == [each.json for each in server.asked]


def test_a_template_is_the_query_of_elasticsearch(tmp_path):
    template = tmp_path / "query.json"
    template.write_text('{"query": {"match": {"title": {"query": "{{query}}"}}}, "size": {{ top_k }}, "min_score": 1}')
    with serving(elasticsearch) as server:
        system = system_of("elasticsearch", f"{server.address}/products", template=str(template))
        fetched = fetch_answers(system, QUERIES, name="live", top_k=20)

    assert EXPECTED == lists_of(fetched)
    query = {"match": {"title": {"query": QUERIES["q2"]}}}
    assert {"query": query, "size": 20, "min_score": 1, "_source": False} == server.asked[1].json


def test_a_template_of_solr_is_a_json_request(tmp_path):
    template = tmp_path / "query.json"
    template.write_text('{"query": "{{query}}", "params": {"defType": "edismax", "qf": "name^2 features"}}')
    with serving(solr) as server:
        system = system_of("solr", f"{server.address}/solr/techproducts", template=str(template))
        fetched = fetch_answers(system, QUERIES, name="live", top_k=20)

    assert EXPECTED == lists_of(fetched)
    assert ("POST", {"wt": "json"}) == (server.asked[0].method, server.asked[0].parameters)
    assert (20, "id,score") == (server.asked[0].json["limit"], server.asked[0].json["fields"])


def test_any_other_api_is_a_file(tmp_path):
    """A service that no entry describes: a GET with parameters, ids as numbers deep inside, the best score last."""

    def answering(asked, before):
        found = ranking(asked.parameters["text"], int(asked.parameters["n"]))
        items = [{"doc": {"key": int(doc[1:])}, "rank": {"value": score}} for doc, score in found]
        return Reply({"data": [{"items": items}]})

    settings = tmp_path / "api.toml"
    settings.write_text(
        'method = "GET"\npath = "/find"\nparameters = { text = "{{query}}", n = "{{top_k}}" }\n'
        'hits = "data[0][\'items\']"\nid = "$.doc.key"\nscore = "rank.value"\n'
    )
    with serving(answering) as server:
        system = system_of("template", server.address, settings=read_settings(str(settings)))
        fetched = fetch_answers(system, QUERIES, name="live", top_k=20)

    expected = {query: [(str(int(doc[1:])), score) for doc, score in found] for query, found in EXPECTED.items()}
    assert expected == lists_of(fetched)
    assert "/find" == server.asked[0].path


def test_a_parameter_may_have_any_name(tmp_path):
    settings = tmp_path / "api.toml"
    settings.write_text(
        'parameters = { kind = "{{query}}", url = "u", body = "b", method = "m" }\nhits = "$"\nid = "$"\n'
    )
    with serving(Reply(["a"])) as server:
        system = system_of("template", server.address, settings=read_settings(str(settings)))
        fetch_answers(system, {"q1": "x"}, name="live")

    assert {"kind": "x", "url": "u", "body": "b", "method": "m"} == server.asked[0].parameters


def test_a_list_of_ids_is_a_ranking(tmp_path):
    settings = tmp_path / "api.toml"
    settings.write_text('body = \'{"q": "{{query}}", "k": {{top_k}}}\'\nhits = "ids[0]"\nid = "$"\n')
    with serving(lambda asked, before: Reply({"ids": [["b", "a", "c"]], "distances": [[0.1, 0.2, 0.7]]})) as server:
        system = system_of("template", server.address, settings=read_settings(str(settings)))
        fetched = fetch_answers(system, {"q1": "x"}, name="live", top_k=2)

    assert (["b", "a"], [1, 2]) == (fetched.run.doc.tolist(), fetched.run.rank.tolist())
    assert ("the answers have no scores: those of the run are ranks.",) == fetched.notes


# What cannot be used


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('heder = "X"', "no setting is called 'heder'; did you mean 'header'?"),
        ('hits = "a..b"', "'a..b' is not a place in JSON"),
        ('hits = ""', "hits cannot be ''"),
        ('hits = "a"\nmethod = "PUT"', "invalid enum value 'PUT'"),
        ('hits = "a"\nbody = "{"', "body: is not valid JSON"),
        ('hits = "a"\nbody = \'{"q": "{{text}}"}\'', "{{text}} is unknown. There are query, query_id"),
        ("id = [", "is not valid TOML"),
        ('id = "x"', "the API 'template' needs to know where the documents are"),
        ('hits = "a"', "the request has no place for the query"),
        (
            'hits = "a"\nbody = \'{"q": "fixed"}\'',
            "the request has no place for the query: write {{query}} into its body",
        ),
        ('hits = "a"\nbody = \'["{{query}}"]\'', "body takes a JSON object, the body of a request."),
        ('hits = "a"\nbody = 5', "body takes a JSON object, the body of a request."),
        ('hits = "a"\npath = "find"', "path cannot be 'find'; it begins with a slash."),
    ],
)
def test_settings_that_cannot_be_used(settings, message, tmp_path):
    file = tmp_path / "api.toml"
    file.write_text(settings)
    with pytest.raises(AssayError) as refusal:
        make_api("template", read_settings(str(file)), None)

    assert message in str(refusal.value)


@pytest.mark.parametrize("read", [read_settings, lambda path: make_api("solr", Settings(), path)])
def test_a_file_that_is_not_utf_8(read, tmp_path):
    file = tmp_path / "api"
    file.write_bytes(b'{"q": "\xff{{query}}"}')
    with pytest.raises(InputError, match=r"api: is not UTF-8 text\. Save it as UTF-8\."):
        read(str(file))


def test_a_template_that_is_no_json(tmp_path):
    file = tmp_path / "query.json"
    file.write_text('{"query": {{query}')
    with pytest.raises(FetchError, match=r"query\.json: is not valid JSON"):
        make_api("elasticsearch", Settings(), str(file))


@pytest.mark.parametrize("name", ["elasticsearch", "opensearch", "solr"])
def test_a_mode_that_the_request_has_no_place_for_is_refused(name):
    """The runs of all modes would be the same."""
    with pytest.raises(ServerError, match=f"the request of the API '{name}' has no place for a mode"):
        system_of(name, "http://localhost", mode="vector")


@pytest.mark.parametrize("header", ["X-A = 'é'", 'X-A = "a\\nb"', "'X A' = 'b'"])
def test_a_header_that_cannot_be_sent(header, tmp_path):
    file = tmp_path / "api.toml"
    file.write_text(f"[headers]\n{header}\n")
    with pytest.raises(ServerError, match="cannot be sent: headers are lines of ASCII characters"):
        system_of("solr", "http://localhost", settings=read_settings(str(file)))


def test_a_key_in_the_path_is_refused_without_repeating_it(tmp_path):
    file = tmp_path / "api.toml"
    file.write_text('path = "/find?api_key=planted-password-1234"\n')
    with pytest.raises(ServerError, match=r"^path looks like a key"):
        system_of("solr", "https://example.org", settings=read_settings(str(file)))


@pytest.mark.parametrize("place", ["headers", "parameters"])
def test_a_key_in_the_settings_is_refused_without_repeating_it(place, tmp_path):
    file = tmp_path / "api.toml"
    file.write_text(f'{place} = {{ Authorization = "Bearer planted-password-1234" }}\n')
    with pytest.raises(ServerError) as refusal:
        system_of("elasticsearch", "https://example.org", settings=read_settings(str(file)))

    assert "Authorization looks like a key. Put it into an environment variable" in str(refusal.value)
    assert "planted" not in str(refusal.value)


# Answers of Elasticsearch and Solr that are not whole


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"timed_out": True}, "only a part was searched (timed_out: true)"),
        ({"timed_out": "omitted"}, "only a part was searched (timed_out: omitted)"),  # as Solr says
        ({"hits": {"hits": []}, "error": "no mapping"}, "status 200, 'no mapping'"),
        ({"hits": {"hits": [{"_id": "a", "_score": 10**400}]}}, "the score of document 'a' is 1000000"),
        ({"_shards": {"total": 5, "failed": 2}}, "only a part was searched (_shards.failed: 2)"),
        ({"hits": None, "error": {"type": "x", "reason": "no mapping"}, "status": 400}, "status 400, 'no mapping'"),
        ({"hits": {"total": 0}}, "the answer has no list at hits.hits"),
        ({"hits": {"hits": [{"_score": 1.0}]}}, "document 1 has no id at _id"),
        ({"hits": {"hits": [{"_id": "a", "_score": "1"}]}}, "the score of document 'a' is '1', not a number"),
        (
            {"hits": {"hits": [{"_id": ["a"], "_score": 1}]}},
            "the id of document 1 is ['a'], not text or a whole number",
        ),
        ({"hits": {"hits": [{"_id": "a"}, {"_id": "a"}]}}, "document 'a' comes twice: at 1 and 2"),
    ],
)
def test_an_answer_that_is_not_whole_is_a_failure(change, reason):
    def answering(asked, before):
        answer = json.loads(json.dumps(elasticsearch(asked).body))
        return Reply(answer | change if before else answer)

    with serving(answering) as server:
        system = system_of("elasticsearch", f"{server.address}/products")
        fetched = fetch_answers(system, {"q1": "a", "q2": "b"}, name="live")

    assert ["q2"] == list(fetched.failed)
    assert fetched.failed["q2"].reason.startswith(reason)


def test_each_answer_of_a_batch_counts_for_itself():
    def answering(asked, before):
        answer = json.loads(json.dumps(elasticsearch(asked).body))
        if not before:
            answer["responses"][1] = {"error": {"reason": "queue is full"}, "status": 429}
        return Reply(answer)

    with serving(answering) as server:
        system = system_of("elasticsearch", f"{server.address}/products", batch=10)
        fetched = fetch_answers(system, QUERIES, name="live", top_k=20, retries=1)

    assert EXPECTED == lists_of(fetched)
    assert ["/products/_msearch", "/products/_search"] == [each.path for each in server.asked]


def test_a_batch_with_missing_repeated_and_strange_answers():
    """What was asked for is matched by its id; nothing is taken for the answer to another query."""

    def answering(asked, before):
        answers = retrieve(asked).body["results"]
        by_id = {each["query_id"]: each for each in answers}
        return Reply(
            {"results": [by_id["q2"], *([by_id["q1"]] * 2), {**by_id["q3"], "query_id": "zz"}, {"segments": []}]}
        )

    with serving(answering) as server:
        fetched = fetch_answers(
            system_of("retrieve", server.address, batch=9), {"q1": "a", "q2": "b", "q3": "c"}, name="live"
        )

    assert ["q2"] == list(fetched.answers)
    assert {
        "q1": "2 answers came for it; an answer came for 'zz', which was not asked",
        "q3": "no answer came for it; an answer came for 'zz', which was not asked",
    } == {query: each.reason for query, each in fetched.failed.items()}


def test_more_documents_than_asked_for_are_cut():
    def answering(asked, before):
        return Reply(elasticsearch(asked).body | {"hits": {"hits": [{"_id": f"d{n}"} for n in range(50)]}})

    with serving(answering) as server:
        system = system_of("elasticsearch", f"{server.address}/products")
        fetched = fetch_answers(system, {"q1": "a"}, name="live", top_k=3)

    assert ["d0", "d1", "d2"] == fetched.run.doc.tolist()


def test_the_first_of_repeated_documents_can_count():
    hits = {"hits": {"hits": [{"_id": doc, "_score": 9.0 - place} for place, doc in enumerate("abacb")]}}
    with serving(Reply(hits)) as server:
        system = system_of("elasticsearch", server.address, repeats="first")
        fetched = fetch_answers(system, {"q1": "x"}, name="live", top_k=3)

    assert (["a", "b", "c"], [9.0, 8.0, 6.0]) == (fetched.run.doc.tolist(), fetched.run.score.tolist())


def test_the_order_of_the_answer_counts_even_if_scores_rise():
    hits = {"hits": {"hits": [{"_id": "a", "_score": 1.0}, {"_id": "b", "_score": 2.0}]}}
    with serving(Reply(hits)) as server:
        fetched = fetch_answers(system_of("elasticsearch", server.address), {"q1": "x"}, name="live")

    assert (["a", "b"], [-1.0, -2.0]) == (fetched.run.doc.tolist(), fetched.run.score.tolist())
    assert fetched.notes[0].startswith("in the answers to 1 query (first: q1), scores rise along the list.")

"""Databases as modes of a benchmark, against real servers: they find what they should, clean up, and keep secrets."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.collections import open_collection
from assay.errors import MissingServerError, RetrievalError
from assay.http import addresses
from assay.inputs.documents import Document
from assay.retrieval.databases import MARKER, Marker, is_abandoned, new_marker, read_marker, this_machine
from assay.retrieval.modes import make_retriever
from assay.retrieval.observing import observe
from assay.retrieval.pgvector import require_iteration
from assay.retrieval.postgres import Facts, connected, parse_address
from assay.retrieval.qdrant import version_of
from assay.retrieval.retrievers.postgres_lexical import PostgresLexical
from assay.retrieval.retrievers.sqlite import SQLite
from benchmark.collection import write_kitchen
from cli.command import assay
from engines import servers
from engines.small import WINGS, ranking, search

EXACT = ("postgres-vector", "qdrant", "duckdb")
LEFT_BEHIND = """
import sys
from pathlib import Path
from assay.inputs.documents import Document
from assay.retrieval.modes import make_retriever

documents = [Document("lift", "the lift of wings"), Document("heat", "heating of a blunt body")]
make_retriever(sys.argv[1]).index(lambda: iter(documents), Path(sys.argv[2]))
"""


def best(mode: str, folder: Path) -> dict[str, list[tuple[str, float]]]:
    """The first ten documents for each query of insurance."""
    collection, retriever = open_collection("insurance"), make_retriever(mode)
    retriever.index(collection.documents, folder / mode)
    run = retriever.search(folder / mode, collection.queries, 10)
    found: dict[str, list[tuple[str, float]]] = {query: [] for query in run.queries}
    for query, doc, score in zip(run.query.tolist(), run.doc.tolist(), run.score.tolist(), strict=True):
        found[run.queries[query]].append((doc, score))
    return found


def strip_ties(found: Sequence[tuple[str, float]]) -> list[set[str]]:
    """The documents in order; those whose scores differ by less than 32 bits can tell are one group."""
    groups: list[set[str]] = []
    before = None
    for doc, score in found:
        if before is None or before - score > 1e-6:
            groups.append(set())
        groups[-1].add(doc)
        before = score
    return groups


def test_exact_search_in_databases_finds_what_the_mode_vector_finds(minilm, postgres, qdrant, tmp_path):
    expected = best("vector", tmp_path)

    assert 99 == len(expected)
    for mode in EXACT:
        found = best(mode, tmp_path)
        assert {query: strip_ties(docs)[:-1] for query, docs in expected.items()} == {
            query: strip_ties(docs)[:-1] for query, docs in found.items()
        }, mode  # the last group may go on after the cutoff
        for query, docs in expected.items():
            assert [score for _, score in docs] == pytest.approx([score for _, score in found[query]], abs=1e-6)


def test_six_databases_in_one_benchmark_clean_up_and_keep_their_passwords(
    minilm, model_cache, postgres, qdrant, tmp_path
):
    write_kitchen(tmp_path)
    modes = "lexical,vector,postgres-lexical,postgres-vector,postgres-hybrid,qdrant,sqlite,duckdb"
    command = (
        "benchmark",
        "run",
        "--collection",
        "kitchen",
        "--modes",
        modes,
        "--repeats",
        "1",
        "--output",
        "out",
        "-v",
    )
    done = assay(*command, cwd=tmp_path)

    assert (0, "Report: out/BenchmarkReport.html\n") == (done.returncode, done.stderr.splitlines(True)[-1])
    assert ([], []) == (servers.schemas_in(postgres), servers.collections_in(qdrant))
    report = json.loads((tmp_path / "out" / "BenchmarkReport.json").read_bytes())
    settings = {mode["name"]: mode["settings"] for mode in report["modes"]}
    assert modes.split(",") == list(settings)
    assert ("PostgreSQL", "exact") == (settings["postgres-vector"]["engine"], settings["postgres-vector"]["index"])
    assert {"version", "pgvector"} <= settings["postgres-hybrid"].keys()
    assert postgres.partition("@")[2] == settings["postgres-lexical"]["server"]
    said = " ".join(done.stdout.split())
    assert "ts_rank of PostgreSQL, which weighs how often words occur but rare words no more" in said
    for secret in (servers.PASSWORD, f"{servers.USER}:", servers.KEY):
        assert secret not in done.stdout + done.stderr
        assert [] == [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_a_graph_shows_its_recall_against_exact_search(minilm, postgres, qdrant, tmp_path):
    collection = open_collection("insurance")
    for mode in ("postgres-vector", "qdrant"):
        retriever = make_retriever(mode, {"index": "hnsw", "m": 4, "ef_construction": 8, "ef_search": 10})
        retriever.index(collection.documents, tmp_path / mode)
        run = retriever.search(tmp_path / mode, collection.queries, 10)
        (recall,) = observe(retriever, tmp_path / mode, collection.queries, run, 10).recalls

        assert (10, 99, False) == (recall.depth, recall.queries, retriever.deterministic)
        assert 0.3 < recall.mean < 1
        assert (4, "hnsw") == (retriever.settings["m"], retriever.settings["index"])


# What is removed, and what is not


def start(folder: Path, modes: str, output: str = "out") -> subprocess.Popen[bytes]:
    """A benchmark that takes long, because it times again and again."""
    command = [
        "benchmark",
        "run",
        "--collection",
        "kitchen",
        "--modes",
        modes,
        "--repeats",
        "100000",
        "--output",
        output,
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "assay", *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def until(state: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not state():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)


def is_timing(folder: Path, output: str = "out") -> bool:
    """Whether the runs are written, so that only the timing is left."""
    return any((folder / output / "runs").glob("*.run"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cleans_up(number, postgres, tmp_path):
    write_kitchen(tmp_path)
    with start(tmp_path, "postgres-lexical") as running:
        until(lambda: is_timing(tmp_path))
        before = servers.schemas_in(postgres)
        running.send_signal(number)
        running.wait(30)

    assert (1, {signal.SIGINT: 130, signal.SIGTERM: 143}[number]) == (len(before), running.returncode)
    assert [] == servers.schemas_in(postgres)


@pytest.mark.slow
def test_two_benchmarks_at_once_do_not_meet_and_a_killed_one_is_cleaned_up_by_the_next(postgres, tmp_path):
    write_kitchen(tmp_path)
    command = ("benchmark", "run", "--collection", "kitchen", "--modes", "postgres-lexical", "--repeats", "1")
    with start(tmp_path, "postgres-lexical", "killed") as killed:
        until(lambda: is_timing(tmp_path, "killed"))
        (theirs,) = servers.schemas_in(postgres)
        beside = assay(*command, "--output", "beside", cwd=tmp_path)

        assert (0, [theirs]) == (beside.returncode, servers.schemas_in(postgres))
        killed.kill()
    assert [theirs] == servers.schemas_in(postgres)
    after = assay(*command, "--output", "after", cwd=tmp_path)

    assert (0, []) == (after.returncode, servers.schemas_in(postgres))
    resumed = assay(*command, "--output", "killed", cwd=tmp_path)  # its schema is gone, and made again
    assert (0, []) == (resumed.returncode, servers.schemas_in(postgres))
    runs = {(tmp_path / name / "runs" / "postgres-lexical.run").read_bytes() for name in ("beside", "after", "killed")}
    assert 1 == len(runs)


def index_elsewhere(mode: str, folder: Path) -> None:
    """Build an index in a process that ends without cleaning up."""
    subprocess.run([sys.executable, "-c", LEFT_BEHIND, mode, str(folder)], check=True)


def refused():
    raise AssertionError("the documents are read again")
    yield


def test_what_a_killed_process_left_is_found_again_by_its_folder(postgres, tmp_path):
    index_elsewhere("postgres-lexical", tmp_path)
    before = servers.schemas_in(postgres)
    PostgresLexical().index(refused, tmp_path)

    assert ["lift"] == ranking(PostgresLexical().search(tmp_path, {"q": "lifting"}, 10))
    assert (1, before) == (len(before), servers.schemas_in(postgres))


def test_what_a_killed_process_left_in_qdrant_is_found_again_or_removed(minilm, qdrant, tmp_path):
    index_elsewhere("qdrant", tmp_path / "a")
    index_elsewhere("qdrant", tmp_path / "b")
    retriever = make_retriever("qdrant")
    retriever.index(refused, tmp_path / "a")
    run = retriever.search(tmp_path / "a", {"q": "lift"}, 10)
    mine = json.loads((tmp_path / "a" / "index" / "database.json").read_bytes())["name"]
    marker = {"schema": MARKER, "machine": this_machine(), "process": "999999999:1", "used": "2026-11-01T00:00:00Z"}
    servers.put_collection(qdrant, "mine", {"assay": marker})  # our marker, but not our name
    servers.put_collection(qdrant, "assay_0123456789abcdef", {})  # our name, but no marker
    make_retriever("qdrant").clean_up(tmp_path / "none")

    assert ["lift", "heat"] == ranking(run)
    assert sorted([mine, "mine", "assay_0123456789abcdef"]) == servers.collections_in(qdrant)
    retriever.clean_up(tmp_path / "a")
    assert mine not in servers.collections_in(qdrant)


def test_an_index_that_is_gone_from_the_server_is_built_again(postgres, tmp_path):
    retriever = PostgresLexical()
    expected = ranking(search(retriever, WINGS, {"q": "lift"}, tmp_path))
    servers.empty_postgres(postgres)

    with pytest.raises(RetrievalError, match=r"the index is no longer in 127\.0\.0\.1:\d+/search\. Build it again"):
        retriever.search(tmp_path, {"q": "lift"}, 10)
    assert expected == ranking(search(retriever, WINGS, {"q": "lift"}, tmp_path))


def test_nothing_that_is_not_ours_is_removed(postgres, tmp_path):
    import psycopg

    marker = (
        f'{{"schema":"{MARKER}","machine":"{this_machine()}","process":"999999999:1","used":"2026-11-01T00:00:00Z"}}'
    )
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA assay_results")  # a name of theirs
        connection.execute(f"COMMENT ON SCHEMA assay_results IS '{marker}'")
        connection.execute("CREATE SCHEMA assay_0123456789abcdef")  # our name, without a marker
        connection.execute("CREATE SCHEMA assay_00000000000000aa")  # left, but with a table of theirs
        connection.execute(f"COMMENT ON SCHEMA assay_00000000000000aa IS '{marker}'")
        connection.execute("CREATE TABLE assay_00000000000000aa.theirs (x integer)")
        connection.execute("CREATE SCHEMA assay_00000000000000bb")  # left
        connection.execute(f"COMMENT ON SCHEMA assay_00000000000000bb IS '{marker}'")
    with pytest.raises(RetrievalError, match="cannot drop schema assay_00000000000000aa because other objects depend"):
        PostgresLexical().clean_up(tmp_path)

    assert ["assay_00000000000000aa", "assay_0123456789abcdef", "assay_results"] == servers.schemas_in(postgres)


def test_who_uses_an_index_is_known_by_process_or_by_age():
    now = datetime.now(UTC)
    ours = new_marker()
    elsewhere = Marker(MARKER, "another-machine", "1:1", now)

    assert not is_abandoned(ours)
    assert is_abandoned(Marker(MARKER, ours.machine, "999999999:1", now))
    assert is_abandoned(Marker(MARKER, ours.machine, f"{os.getpid()}:1", now))  # an earlier process with this number
    assert not is_abandoned(elsewhere)
    assert is_abandoned(elsewhere, now + timedelta(days=2))


@pytest.mark.parametrize("written", ["", "a comment", "{}", '{"schema":"other"}', None, 7, {"schema": MARKER}])
def test_other_comments_are_no_markers(written):
    assert read_marker(written) is None


# Texts are data

HOSTILE = (
    Document("quotes", "it's \"quoted\" 'twice' \\ back\\slash $$ $1 %s {} plates"),
    Document("sql", "'; DROP TABLE documents; -- plates"),
    Document("nul", "a\0plate\0"),
    Document("byte", "a plate \udce9 \ud800"),
    Document("tabs", "a\tplate\nwith\rlines \\N \\."),
    Document("empty", ""),
)


@pytest.mark.parametrize("mode", ["postgres-lexical", "sqlite"])
def test_hostile_texts_are_data(mode, postgres, tmp_path):
    queries = {
        "operators": "plate & | ! :* <-> ( ) AND OR NOT NEAR/2 ^ \" ' \\ %s %(text)s {score} $1",
        "sql": "'; DROP TABLE documents; -- plate",
        "nul": "pl\0ate plate\0",
        "surrogates": "plate \udce9 \ud800",
        "nothing": "' \" \\ & | !",
        "long": "plate " * 5000,
    }
    retriever = make_retriever(mode)
    run = search(retriever, HOSTILE, queries, tmp_path)

    for query in ("operators", "sql", "nul", "surrogates", "long"):
        assert {"quotes", "sql", "nul", "byte", "tabs"} == set(ranking(run, query)), query
    assert [] == ranking(run, "nothing")


def test_a_text_that_full_text_search_cannot_hold_is_named_as_the_cause(postgres, tmp_path):
    words = " ".join(f"word{number}" for number in range(200_000))

    with pytest.raises(RetrievalError, match="one of the documents has more than 1 MB of different words"):
        search(PostgresLexical(), (Document("long", words),), {"q": "word1"}, tmp_path)
    assert [] == servers.schemas_in(postgres)


# What is missing


def run_with(tmp_path: Path, mode: str, *options: str, **env: str):
    if not (tmp_path / "kitchen").exists():
        write_kitchen(tmp_path)
    command = ("benchmark", "run", "--collection", "kitchen", "--modes", f"sqlite,{mode}", "--output", "out")
    return assay(*command, *options, cwd=tmp_path, env={"ASSAY_POSTGRES_URL": "", "ASSAY_QDRANT_URL": "", **env})


def test_a_missing_address_says_where_to_put_it(tmp_path, minilm):
    words = run_with(tmp_path, "postgres-lexical")
    vectors = run_with(tmp_path, "qdrant")

    assert 2 == words.returncode == vectors.returncode
    assert (
        "postgres-lexical needs a PostgreSQL server: put its address into ASSAY_POSTGRES_URL, such as "
        "postgresql://localhost/search. To run the others, use --allow-missing." in " ".join(words.stderr.split())
    )
    assert (
        "qdrant needs a Qdrant server: put its address into ASSAY_QDRANT_URL, such as http://localhost:6333."
        in " ".join(vectors.stderr.split())
    )


def test_a_mode_without_its_server_is_left_out_if_asked(tmp_path):
    done = run_with(tmp_path, "postgres-lexical", "--allow-missing", "--repeats", "1")

    assert 0 == done.returncode
    assert "postgres-lexical needs a PostgreSQL server" in done.stdout


def test_refusals_are_in_plain_words_and_without_the_password(postgres, tmp_path):
    host = postgres.partition("@")[2].partition("/")[0]
    wrong = f"postgresql://{servers.USER}:Wirsing-9920@{host}/search"
    cases = {
        wrong: f"at {host}/search does not accept the user name and password in ASSAY_POSTGRES_URL.",
        postgres.replace("/search", "/nowhere"): f"at {host}/nowhere has no such database. Create it",
        f"postgresql://{servers.USER}:Wirsing-9920@127.0.0.1:{servers.free_port()}/search": "does not answer",
        f"postgresql://{servers.USER}:Wirsing-9920@[::1/search": "is not the address of a PostgreSQL server. It looks",
        postgres + "?options=-cx": "has a parameter that is not supported",
        f"host=x password=Wirsing-9920 user={servers.USER}": "is not the address of a PostgreSQL server",
        f"postgresql://{servers.USER}:12@Wirsing/9920@{host}/search": "has an @ after the host. Write special characters",
        f"postgresql://{servers.USER}:12/Wirsing@{host}/search": "has an @ after the host. Write special characters",
        "postgresql://zoe-Wirsing-9920:Wirsing-9920@127.0.0.1:1/search": "does not answer",
    }
    for address, words in cases.items():
        done = run_with(tmp_path, "postgres-lexical", ASSAY_POSTGRES_URL=address)
        said = " ".join(done.stderr.split())

        assert (2, True) == (done.returncode, words in said), said
        assert "Wirsing" not in said
        assert servers.PASSWORD not in said


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("the database system is shutting down", "is starting, or shutting down. Wait until it runs."),
        ("the database system is starting up", "is starting, or shutting down. Wait until it runs."),
        ('too many connections for role "ann"', "has no connection left."),
        ('too many connections for database "search"', "has no connection left."),
        (
            'permission denied for database "search"\nDETAIL:  User does not',
            "does not let this user connect to the database",
        ),
        ('database "search" does not exist', "has no such database."),
        ('role "ann" does not exist', "does not let this user in."),
    ],
)
def test_each_refusal_of_a_connection_has_its_own_words(said, words, monkeypatch):
    import psycopg

    def refuse(**_):
        raise psycopg.OperationalError(f'connection to server at "127.0.0.1", port 5432 failed: FATAL:  {said}')

    monkeypatch.setattr(psycopg, "connect", refuse)
    with (
        pytest.raises(MissingServerError) as refusal,
        connected(parse_address("postgresql://ann:secret@127.0.0.1/search")),
    ):
        pass
    assert f"the PostgreSQL server at 127.0.0.1:5432/search {words}" in str(refusal.value)


def test_a_user_without_the_rights_is_told_before_anything_is_searched(postgres, tmp_path):
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN PASSWORD 'Wirsing-9920'")
    reader = postgres.replace(f"{servers.USER}:{servers.PASSWORD}", "reader:Wirsing-9920")
    try:
        refused = run_with(tmp_path, "postgres-lexical", ASSAY_POSTGRES_URL=reader)
        others = run_with(tmp_path, "postgres-lexical", "--allow-missing", "--repeats", "1", ASSAY_POSTGRES_URL=reader)
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("DROP ROLE reader")

    assert refused.stderr.startswith(
        "Error: a mode of this benchmark cannot run. postgres-lexical: the PostgreSQL server"
    )
    assert "does not give this user the right to create a schema in the database" in refused.stderr
    assert (0, True) == (others.returncode, "does not give this user the right" in " ".join(others.stdout.split()))


def test_variables_of_libpq_do_not_count(postgres, tmp_path):
    pretenders = {"PGPASSWORD": "x", "PGHOST": "203.0.113.1", "PGSERVICE": "none", "PGOPTIONS": "-c nonsense=1"}
    done = run_with(tmp_path, "postgres-lexical", "--repeats", "1", ASSAY_POSTGRES_URL=postgres, **pretenders)

    assert 0 == done.returncode, done.stderr


def test_a_database_without_pgvector_says_how_to_get_it(postgres, minilm):
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE DATABASE plain")
    os.environ["ASSAY_POSTGRES_URL"] = postgres.replace("/search", "/plain")
    try:
        with pytest.raises(MissingServerError, match=r"postgres-vector needs pgvector, .* Run CREATE EXTENSION vector"):
            make_retriever("postgres-vector").prepare()
        assert "ts_rank" == PostgresLexical().settings["ranking"]
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("DROP DATABASE plain")


def test_qdrant_wants_its_key_and_gets_it_over_an_unencrypted_line_only_on_this_machine(qdrant, minilm, monkeypatch):
    retriever = make_retriever("qdrant")
    retriever.prepare()
    monkeypatch.setenv("ASSAY_QDRANT_API_KEY", "Wirsing-9920")
    with pytest.raises(MissingServerError, match="does not accept the key, or wants one: put it into ASSAY_QDRANT_"):
        retriever.prepare()
    monkeypatch.setenv("ASSAY_QDRANT_URL", "http://qdrant.example.org:6333")
    with pytest.raises(MissingServerError, match=r"would be sent without encryption\. Use https") as refusal:
        retriever.prepare()
    assert "Wirsing" not in str(refusal.value)
    monkeypatch.setenv("ASSAY_QDRANT_URL", "https://ann:Wirsing-9920@qdrant.example.org")
    with pytest.raises(MissingServerError, match="contains a user name, a password") as refusal:
        retriever.prepare()
    assert "Wirsing" not in str(refusal.value)
    monkeypatch.setenv("ASSAY_QDRANT_URL", f"http://127.0.0.1:{servers.free_port()}")
    monkeypatch.setattr("assay.retrieval.qdrant.backoff", lambda *_: 0)
    with pytest.raises(MissingServerError, match="cannot be asked: no connection"):
        retriever.prepare()


def test_a_server_that_is_not_qdrant_is_one_sentence(postgres, monkeypatch):
    monkeypatch.setenv("ASSAY_QDRANT_URL", f"http://{postgres.partition('@')[2].partition('/')[0]}")
    monkeypatch.setattr("assay.retrieval.qdrant.backoff", lambda *_: 0)
    with pytest.raises(MissingServerError, match=r"cannot be asked: [^.]*[^.]\. Check that it runs"):
        make_retriever("qdrant").prepare()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            {"title": "a web server", "version": "1.16.3"},
            "is not a Qdrant server. Check the address in ASSAY_QDRANT_URL",
        ),
        ({"title": "qdrant - vector search engine"}, "is not a Qdrant server"),
        (None, "is not a Qdrant server"),
        ({"title": "qdrant - vector search engine", "version": "1.9.4"}, "is version 1.9.4, and 1.16 is the oldest"),
    ],
)
def test_only_a_qdrant_that_is_new_enough_is_used(said, words, monkeypatch):
    monkeypatch.setattr("assay.retrieval.qdrant.Qdrant.ask", lambda *_: said)
    with pytest.raises(MissingServerError, match=re.escape(words)):
        version_of(addresses.parse_address("http://127.0.0.1:1"))


@pytest.mark.parametrize("version", ["0.7.4", "0.5.0"])
def test_a_graph_needs_a_pgvector_that_searches_on(version):
    with pytest.raises(MissingServerError, match=f"needs pgvector 0.8 or newer, and the server has {version}"):
        require_iteration(Facts("16.4", version, "public", True))
    require_iteration(Facts("16.4", "0.8.0", "public", True))


# Addresses and settings


def test_an_address_of_another_machine_is_encrypted_unless_it_says_otherwise():
    remote, said, local = (
        dict(parse_address(address).parameters).get("sslmode")
        for address in (
            "postgresql://db.example.org/search",
            "postgres://db.example.org/search?sslmode=verify-full",
            "postgresql://127.0.0.1/search",
        )
    )

    assert ("require", "verify-full", None) == (remote, said, local)


def test_an_address_is_decoded_and_never_shown_whole():
    address = parse_address("postgresql://an%40n:p%2Fw%40d@db.example.org:6000/se%20arch")

    assert ("an@n", "p/w@d", 6000, "se arch") == (address.user, address.password, address.port, address.database)
    assert "p/w" not in repr(address) + str(address) + address.shown


def test_a_user_whose_database_has_the_same_name_is_not_shown():
    assert "db.example.org:5432" == parse_address("postgresql://ann:secret@db.example.org").shown


@pytest.mark.parametrize(
    ("mode", "settings", "words"),
    [
        ("postgres-vector", {"index": "ivf"}, "index cannot be 'ivf'; it takes exact or hnsw."),
        ("postgres-vector", {"m": 1}, "m cannot be 1; it takes a whole number from 2 to 100."),
        ("qdrant", {"ef_search": True}, "ef_search cannot be True; it takes a whole number from 1 to 1,000."),
        ("qdrant", {"method": "hnsw"}, "qdrant has no setting 'method'"),
        ("postgres-lexical", {"language": "klingon"}, "language cannot be 'klingon'"),
        ("postgres-lexical", {"ranking": "bm25"}, "ranking cannot be 'bm25'; it takes ts_rank or ts_rank_cd."),
        (
            "postgres-lexical",
            {"normalisation": 64},
            "normalisation cannot be 64; it takes a whole number from 0 to 63.",
        ),
        ("postgres-hybrid", {"k": 0}, "k cannot be 0; it takes a whole number of at least 1."),
        ("sqlite", {"tokenizer": "porter"}, "tokenizer cannot be 'porter'; did you mean 'porter ascii'?"),
    ],
)
def test_wrong_settings_are_named(mode, settings, words):
    with pytest.raises(RetrievalError) as refusal:
        make_retriever(mode, settings)

    assert words in str(refusal.value)


def test_sqlite_finds_any_word_and_orders_ties_by_id(tmp_path):
    same = tuple(Document(f"d{number:03}", "the same plate") for number in range(100))
    run = search(SQLite(), same, {"q": "plate"}, tmp_path, depth=5)

    assert ["d099", "d098", "d097", "d096", "d095"] == ranking(run)

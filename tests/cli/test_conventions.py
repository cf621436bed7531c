"""assay conventions, --like, --preset, and measures presets and choose."""

from __future__ import annotations

import json

import pytest

from assay.errors import MeasureError
from assay.example import QRELS, RUNS
from assay.measures import parse_measure
from assay.measures.conventions import CONVENTIONS
from assay.measures.guide import propose
from assay.measures.presets import PRESETS, preset
from cli.command import assay

KEYWORD, HYBRID = RUNS


def test_one_row_per_convention_with_its_reason():
    done = assay("conventions", QRELS, KEYWORD, "-m", "nDCG@10", "-m", "MRR@10", "-v", env={"COLUMNS": "120"})

    assert 0 == done.returncode, done.stderr
    few = {"sklearn": 1, "opensearch": 1}  # neither has MRR
    assert {name: few.get(name, 2) for name in CONVENTIONS} == {
        name: sum(line.startswith(f"{name} ") for line in done.stdout.splitlines()) for name in CONVENTIONS
    }
    assert "No MRR@10 in sklearn, opensearch\n" in done.stdout
    assert (
        "trec_eval-9            0.5959     +0.0745  1 query without results is left out: the mean is over 7, not 8"
        in done.stdout
    )
    assert (
        "trec_eval-10                -              refuses the run: 1 query has no results (vegan-gelatine)"
        in done.stdout
    )
    assert "mteb                   0.5959     +0.0745  as trec_eval-9\n" in done.stdout
    assert (
        "msmarco                0.5625     -0.0625  documents are ranked by the rank column, not by score"
        in done.stdout
    )


def test_several_measures_stand_side_by_side():
    done = assay("conventions", QRELS, KEYWORD, "-m", "nDCG@10", "-m", "MRR@10")

    head, _, first, *_, hint = done.stdout.splitlines()
    assert (["nDCG@10", "MRR@10"], ["assay", "0.5214", "0.6250"]) == (head.split(), first.split())
    assert "For the reasons, use -v, or -m with one measure." == hint


def test_other_ways_to_show_it():
    document = json.loads(assay("conventions", QRELS, KEYWORD, "-m", "RR@10", "--format", "json").stdout)
    markdown = assay("conventions", QRELS, KEYWORD, "-m", "RR@10", "--format", "markdown").stdout

    assert ("assay/conventions/1", len(CONVENTIONS)) == (document["schema"], len(document["rows"]))
    assert -0.0625 == next(row for row in document["rows"] if row["convention"] == "msmarco")["difference"]
    assert "| RR@10 | trec\\_eval-9 | 0.7143 | +0.0893 |" in markdown


def test_without_files_the_conventions_are_listed():
    assert all(name in assay("conventions").stdout for name in CONVENTIONS)


def test_evaluate_follows_a_convention():
    out = assay("evaluate", QRELS, KEYWORD, "-m", "nDCG@10", "--like", "trec_eval-9", "-v").stdout

    assert ["keyword", "0.5959"] == out.splitlines()[2].split()
    assert "as in trec_eval-9 (" in " ".join(out.split())
    assert 2 == assay("evaluate", QRELS, KEYWORD, "--like", "trec_eval-10").returncode
    document = json.loads(assay("evaluate", QRELS, HYBRID, "--like", "beir", "--format", "json", "-m", "RR@10").stdout)
    assert ("beir", "both") == (document["like"], document["rules"]["queries"])


def test_what_the_tool_has_no_number_for_is_refused(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n")
    for measure, message in {
        "RBP": "ir_measures does not report RBP: its RBP needs rel.",
        "ERR@5": "ir_measures gives no number for ERR: it uses gdeval, which takes only query ids that are numbers, not 'q1'. "
        "Use another measure or convention.",
    }.items():
        files = (str(tmp_path / "qrels"), str(tmp_path / "run"))
        done = assay("evaluate", *files, "-m", measure, "--like", "ir_measures")

        assert (2, "", f"Error: {message}") == (done.returncode, done.stdout, " ".join(done.stderr.split()))


def test_rules_given_as_options_win_over_the_convention():
    out = assay("evaluate", QRELS, KEYWORD, "-m", "nDCG@10", "--like", "trec_eval-9", "--ties", "doc-asc", "-v").stdout

    assert "ties=doc-asc, scores=float32, queries=both" in " ".join(out.split())


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_measures(name):
    out = assay("evaluate", QRELS, HYBRID, "--preset", name, "-m", "P@1", "--format", "csv").stdout

    assert ["run", "query", *PRESETS[name].measures, "P@1"] == out.splitlines()[0].split(",")
    assert all(parse_measure(measure) for measure in PRESETS[name].measures)
    assert name in assay("measures", "presets").stdout


def test_a_preset_that_is_not_there():
    with pytest.raises(MeasureError, match=r"no preset called 'bier'; did you mean 'beir'\?"):
        preset("bier")
    with pytest.raises(MeasureError, match=f"no preset called 'x'; there are {', '.join(PRESETS)}\\."):
        preset("x")


def test_choose_asks_three_questions():
    done = assay("measures", "choose", stdin=b"1\n2\n2\n")

    assert 0 == done.returncode, done.stderr
    assert "What are people looking for?" in done.stderr
    assert "  assay evaluate QRELS RUN -m RR@10 -m Success@10 -m nDCG@10 -m Judged@10 -m Bpref\n" in done.stdout


@pytest.mark.parametrize("looking", ["one", "several", "everything", "context"])
@pytest.mark.parametrize("grades", ["binary", "graded"])
def test_choose_gives_each_measure_its_own_reason(looking, grades):
    proposals = propose({"looking": looking, "grades": grades, "judged": "sparse"})

    assert len(proposals) == len({proposal.why for proposal in proposals})
    assert all(proposal.why for proposal in proposals)


def test_choose_without_answers_says_how_to_give_them():
    done = assay("measures", "choose")

    assert 2 == done.returncode
    assert "no answer; you can also give it as --looking." in done.stderr


def test_choose_takes_answers_as_options():
    done = assay(
        *["measures", "choose", "--looking", "everything", "--grades", "binary", "--judged", "complete", "--seen", "5"]
    )

    assert "-m R@1000 -m AP -m Rprec" in done.stdout


def test_ties_that_could_change_a_digit_are_told():
    out = " ".join(assay("evaluate", QRELS, KEYWORD, HYBRID, "-m", "P@1", "-m", "R@5", "-v").stdout.split())

    assert "keyword: ties change the printed digits: P@1 from 0.2500 to 0.3750." in out
    assert "hybrid: the order" not in out


def test_ties_can_be_averaged():
    out = assay("evaluate", QRELS, KEYWORD, "-m", "P@1", "--ties", "expected").stdout

    assert ["keyword", "0.3125"] == out.splitlines()[2].split()


def test_measures_can_be_a_list_in_one_option():
    one = assay("evaluate", QRELS, KEYWORD, "-m", "nDCG@5,10, AP P.1,2 ndcg_at_3", "--format", "csv")
    names = ["nDCG@5", "nDCG@10", "AP", "P_1", "P_2", "ndcg_at_3"]
    many = assay("evaluate", QRELS, KEYWORD, *(word for name in names for word in ("-m", name)), "--format", "csv")

    assert "run,query,nDCG@5,nDCG@10,AP,P_1,P_2,ndcg_at_3" == one.stdout.splitlines()[0]
    assert (many.stdout, "") == (one.stdout, one.stderr)


@pytest.mark.parametrize("command", ["evaluate", "diagnose", "conventions"])
def test_a_name_that_means_something_else_in_its_tool_gets_one_note(command):
    done = assay(command, QRELS, KEYWORD, "-m", "hits@3")

    assert 0 == done.returncode
    assert ["Note: hits@3 is Success@3: 1 if there is a relevant document, else 0. ranx's hits counts the relevant "
            "documents among the first k, which is k times P@k."] == done.stderr.splitlines()  # fmt: skip


def test_a_forgotten_run_is_wrong_usage():
    done = assay("conventions", QRELS)

    assert (2, "") == (done.returncode, done.stdout)
    assert "Missing argument 'RUN'" in done.stderr


def test_options_win_even_if_they_say_our_default():
    out = assay("evaluate", QRELS, KEYWORD, "-m", "nDCG@10", "--like", "trec_eval-10", "--query-set", "judged").stdout

    assert ["keyword", "0.5214"] == out.splitlines()[2].split()


@pytest.mark.parametrize("command", [("conventions",), ("reproduce", "0.0")])
def test_a_run_without_a_judged_document_is_refused_here_too(tmp_path, command):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    (tmp_path / "my.run").write_text("q1 Q0 zzz 1 1 x\n")
    done = assay(*command, "qrels.txt", "my.run", "-m", "RR", cwd=tmp_path)

    assert 2 == done.returncode
    assert "0 of 1 document ids of run 'my' occur in the qrels" in done.stderr
    assert 0 == assay(*command, "qrels.txt", "my.run", "-m", "RR", "--unmatched", "zero", cwd=tmp_path).returncode

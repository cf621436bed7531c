"""`assay trec_eval` prints what trec_eval 9.0.8 and 10.0 print."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from golden.trec import check_golden, golden_cases, trec_eval

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("case", golden_cases(DATA), ids=lambda case: case["stdout"])
def test_every_line_of_the_golden_files(case):
    check_golden(DATA, case)


def test_every_line_of_all_golden_files(shared_data):
    for case in golden_cases(shared_data / "golden"):
        check_golden(shared_data / "golden", case)


def test_the_programs_own_tests(shared_data):
    """NIST's expected outputs are from 10.0-rc3, whose bundles include rbp; ours do not, because it was unreliable there."""
    folder = shared_data / "cases" / "trec_eval_own"
    checked = 0
    for case in json.loads((folder / "tests.json").read_text()):
        options, files = case["args"][:-2], case["args"][-2:]
        if "-R" in options or "-Z" in options:
            continue
        code, out, _ = trec_eval("--as", "10.0", *options, *(folder / name for name in files))
        expected = (folder / case["stdout_file"]).read_text(errors="surrogateescape").splitlines()

        assert 0 == code
        assert [line for line in expected if not line.startswith("rbp")] == out.splitlines(), case["args"]
        checked += 1

    assert 9 == checked


@pytest.mark.slow
def test_every_published_figure(shared_data, tmp_path):
    """TREC-COVID, CODEC, Robust, Web, and others, through the command line as a user would run it."""
    command = [sys.executable, "-m", "assay", "trec_eval"]
    done = subprocess.run(
        [sys.executable, str(shared_data / "check_cases"), "--", *command], capture_output=True, text=True, check=False
    )

    assert 0 == done.returncode, done.stdout + done.stderr
    assert " figures agree, 0 differ" in done.stdout


# One query with ties, an unjudged document and a judged document that was not retrieved; one query that the run lacks.
QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 d 1\n"
RUN = "q1 Q0 a 1 1.0 first\nq1 Q0 b 2 1.0 first\nq1 Q0 x 3 0.5 last\n"


@pytest.fixture
def files(tmp_path):
    def write(qrels: str = QRELS, run: str = RUN) -> tuple[Path, Path]:
        (tmp_path / "qrels").write_text(qrels)
        (tmp_path / "run").write_text(run)
        return tmp_path / "qrels", tmp_path / "run"

    return write


def values(out: str) -> dict[str, str]:
    return {line.split("\t")[0].strip(): line.split("\t")[2] for line in out.splitlines() if "\tall\t" in line}


def test_runid_is_that_of_the_last_line(files):
    _, out, _ = trec_eval("-m", "runid", *files())

    assert "runid                 \tall\tlast\n" == out


def test_relstring_shows_grades_unjudged_and_pooled(files):
    _, out, _ = trec_eval(
        "-q", "-m", "relstring.5", *files("q1 0 a 12\nq1 0 b -1\nq1 0 x 3\n", RUN + "q1 Q0 y 4 0.1 t\n")
    )

    assert "relstring_5           \tq1\t'.>3-'\n" == out


def test_a_missing_query_is_left_out_by_9_and_an_error_in_10(files):
    qrels, run = files()

    assert (0, "1") == (trec_eval(qrels, run)[0], values(trec_eval(qrels, run)[1])["num_q"])
    assert (4, "") == trec_eval("--as", "10.0", qrels, run)[:2]
    assert "2" == values(trec_eval("--as", "10.0", "-c", qrels, run)[1])["num_q"]


def test_options_may_be_joined_moved_and_written_out(files):
    qrels, run = files()
    expected = trec_eval("-q", "-c", "-l", "2", "-m", "P.1,3", qrels, run)

    assert expected == trec_eval("-qcl2", "-mP.1,3", qrels, run)
    assert expected == trec_eval(qrels, run, "-q", "-c", "-l2", "-m", "P.3,1")
    assert expected == trec_eval("--query_eval", "--complete", "--level_for_rel=2", "--measure", "P.1,3", qrels, run)


def test_only_the_first_parameters_of_a_family_count(files):
    _, out, _ = trec_eval("-m", "recall.5", "-m", "recall.10", "-m", "recall", *files())

    assert ["recall_5"] == list(values(out))


@pytest.mark.parametrize(
    ("measures", "note"),
    [
        (
            ["recall.50", "recall.100"],
            "-m recall.100 ignored, as in the C program: only the first -m recall counts; write -m recall.50,100.",
        ),
        (
            ["set_F.1", "map", "set_F.4"],
            "-m set_F.4 ignored, as in the C program: only the first -m set_F counts; run it once for each.",
        ),
        *(
            (measures, "")
            for measures in (["recall.50,100"], ["P.5", "P.5", "P"], ["official", "P.5"], ["map.1", "map.2"])
        ),
    ],
)
def test_parameters_that_are_ignored_are_named_on_stderr(files, measures, note):
    code, out, complaint = trec_eval(*(part for measure in measures for part in ("-m", measure)), *files())

    assert (0, f"assay trec_eval: {note}\n" if note else "") == (code, complaint)
    assert "assay" not in out


def test_a_parameter_that_a_measure_does_not_take_is_ignored(files):
    _, out, _ = trec_eval("-m", "recip_rank.10", "-m", "official.3", *files())

    assert "recip_rank" in values(out)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-m", "nonsense"], 1),
        (["-m", "ndcg_cut_10"], 1),
        (["-m", "P."], 1),
        (["-m", "unj"], 1),  # only 10.0 has it
        (["-x"], 1),
        (["-m", "P.0"], 2),
        (["-m", "P.5,5"], 2),
        (["-m", "P.x"], 2),
        (["-m", "ndcg.1"], 2),
        (["-m", "utility.1,2"], 4),
        (["-R", "prefs"], 2),
        (["-Z", "file"], 2),
    ],
)
def test_refusals_have_the_exit_codes_of_the_program(files, arguments, code):
    found, out, complaint = trec_eval(*arguments, *files())

    assert (code, "") == (found, out)
    assert complaint


def test_wrong_number_of_files_is_usage(files):
    qrels, _ = files()

    assert 1 == trec_eval(qrels)[0]
    assert 2 == trec_eval(qrels, qrels.parent / "nowhere")[0]


def test_no_query_in_common(files):
    qrels, run = files(run="q9 Q0 a 1 1.0 t\n")

    assert 7 == trec_eval(qrels, run)[0]
    assert 7 == trec_eval("-c", qrels, run)[0]
    assert 4 == trec_eval("--as", "10.0", qrels, run)[0]
    code, out, _ = trec_eval("--as", "10.0", "-c", qrels, run)
    assert (0, "0", "0.0000") == (code, values(out)["num_ret"], values(out)["map"])


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_a_duplicate_stops_after_the_queries_before_it(files, version):
    qrels = "q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n"
    run = "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq2 Q0 a 2 0.5 t\nq3 Q0 a 1 1 t\n"
    code, out, complaint = trec_eval("--as", version, "-q", "-m", "map", *files(qrels, run))

    assert (4, "map                   \tq1\t1.0000\n") == (code, out)
    assert "duplicate docs a" in complaint


def test_the_depth_limits_the_search_for_duplicates(files):
    qrels, run = files("q1 0 a 1\n", "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq1 Q0 b 3 1 t\n")

    assert 4 == trec_eval(qrels, run)[0]
    assert 0 == trec_eval("-M2", qrels, run)[0]
    assert 4 == trec_eval("-M3", qrels, run)[0]


ANSWERED = "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 2 t\nq2 Q0 b 2 1 t\n"


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_a_query_with_negative_grades_only_counts_as_0_after_another_one(files, version):
    """As seen in both programs."""
    qrels = "q1 0 a 1\nq1 0 b 0\nq2 0 a -1\nq2 0 b -2\n"
    code, out, _ = trec_eval("--as", version, *files(qrels, ANSWERED))

    assert (0, "0.5000", "2") == (code, values(out)["map"], values(out)["num_q"])


@settings(max_examples=100)
@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(-4, -1), min_size=1),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 9), min_size=1),
    st.booleans(),
)
def test_negative_grades_only_in_every_measure(tmp_path_factory, grades, scores, only_judged):
    """The package runs the C program's code, in the order of the run; the first query makes its table of grades."""
    grades = {"q1": {"a": 1, "b": 0}, "q2": {**grades, "z": -1}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {doc: float(score) for doc, score in scores.items()}}
    expected = pytrec_eval.RelevanceEvaluator(grades, {"all_trec"}, 1, only_judged).evaluate(run)["q2"]
    folder = tmp_path_factory.mktemp("negative")
    qrels_file, run_file = folder / "qrels", folder / "run"
    qrels_file.write_text("".join(f"{q} 0 {d} {rel}\n" for q, docs in grades.items() for d, rel in docs.items()))
    run_file.write_text("".join(f"{q} Q0 {d} 1 {score} t\n" for q, docs in run.items() for d, score in docs.items()))
    code, out, _ = trec_eval("-q", *["-J"] * only_judged, "-m", "all_trec", qrels_file, run_file)
    printed = [line.split("\t") for line in out.splitlines() if "\tq2\t" in line and "relstring" not in line]

    assert 0 == code
    assert {name.strip(): float(value) for name, _, value in printed} == pytest.approx(
        {name.strip(): expected[name.strip()] for name, _, _ in printed}, abs=0.00005, nan_ok=True
    )


@pytest.mark.parametrize(
    "qrels",
    [
        "q1 0 a -1\nq1 0 b -2\n",
        "q1 0 a -1\nq2 0 a 1\n",
        "q1 0 a 1\nq2 0 a -2\n",
        "q1 0 a 4294967297\n",
        "q1 0 a 1\nq2 0 a 4294967297\n",
    ],
)
def test_queries_without_a_usable_grade_are_an_error(files, qrels):
    """The C program gives up or crashes."""
    assert 4 == trec_eval(*files(qrels, ANSWERED))[0]


# Levels that need no document: 9 rounds up from 0.1, 10 to the nearest.
@pytest.mark.parametrize(
    ("version", "relevant", "undefined"),
    [
        *(("9.0.8", relevant, [0.0]) for relevant in range(1, 7)),
        ("10.0", 1, [0.0, 0.1, 0.2, 0.3, 0.4]),
        ("10.0", 2, [0.0, 0.1, 0.2]),
        ("10.0", 4, [0.0, 0.1]),
        ("10.0", 5, [0.0]),
    ],
)
def test_interpolated_precision_when_nothing_judged_is_retrieved(files, version, relevant, undefined):
    qrels = "".join(f"q1 0 d{number} 1\n" for number in range(relevant))
    _, out, _ = trec_eval("--as", version, "-J", "-m", "iprec_at_recall", *files(qrels, "q1 Q0 x 1 1.0 t\n"))

    assert [f"iprec_at_recall_{level:.2f}" for level in undefined] == [
        name for name, value in values(out).items() if value == "  -nan"
    ]


def test_fractional_grades_are_cut(files):
    _, out, _ = trec_eval("-m", "num_rel", "-m", "ndcg", *files("q1 0 a 1.9\nq1 0 b 0.5\n"))

    assert {"num_rel": "1", "ndcg": "0.6309"} == values(out)


@pytest.mark.parametrize("score", ["0x1p3", "nan", "inf", "1_000", "high", "٣", "1e400", "1,5"])
def test_numbers_that_the_program_misreads_are_refused(files, score):
    code, out, complaint = trec_eval(*files(run=f"q1 Q0 a 1 {score} t\n"))

    assert (2, "") == (code, out)
    assert "run:1: " in complaint


def test_rbp_is_the_published_definition_under_both_versions(files):
    """Gain = grade / highest grade of the qrels: a at rank 2 (grade 1 of 2), b at rank 1, of grade 0."""
    for version in ("9.0.8", "10.0"):
        _, out, _ = trec_eval("--as", version, "-c", "-m", "rbp.p=0.5", *files())

        assert "rbp_p=0.5             \tall\t0.0625\n" == out


def test_gains_closer_than_one_are_not_told_apart_by_the_program(files):
    """It sorts 0.5, 1, 0 into 0.5, 0, 1, and the ideal ranking ends at the 0, without the gain of 0.5."""
    _, out, _ = trec_eval("-m", "ndcg.1=0.5,2=1", *files())

    assert "ndcg_1=0.5,2=1        \tall\t0.3155\n" == out
    assert 0.2398 == pytest.approx(parse_and_evaluate("nDCG(gain={1: 0.5, 2: 1})"), abs=0.00005)


def parse_and_evaluate(name: str) -> float:
    return assay.evaluate(assay.parse_qrels(QRELS), assay.parse_run(RUN), [name]).per_query()["q1"][name]


def test_help_and_version(files):
    assert (0, "Usage: assay trec_eval") == (trec_eval("-h")[0], trec_eval("-h")[1][:22])
    assert "trec_eval version 9.0.8 (assay)\n" == trec_eval("-v")[2]
    assert 1 == trec_eval("--as", "8.1", *files())[0]


@pytest.mark.parametrize("options", [[], ["-c"], ["-q"], ["-q", "-c"]])
def test_9_never_looks_at_judgments_of_queries_that_the_run_lacks(files, options):
    qrels = "q0 0 d 1\nq0 0 d 1\nq1 0 a 1\nq9 0 b 1\nq9 0 b 1\n"
    code, out, _ = trec_eval(*options, "-m", "map", *files(qrels, "q1 Q0 a 1 1.0 t\n"))

    assert (0, "0.3333" if "-c" in options else "1.0000") == (code, out.split()[-1])


def test_a_failing_query_after_one_that_is_not_looked_at(files):
    qrels = "q0 0 d 1\nq0 0 d 1\nq1 0 c 1\nq2 0 b -2\n"
    code, out, _ = trec_eval("-q", "-m", "map", *files(qrels, "q1 Q0 c 1 1 t\nq2 Q0 b 1 1 t\n"))

    assert (4, "map                   \tq1\t1.0000\n") == (code, out)


@pytest.mark.parametrize(
    "options",
    [
        *(
            ["-M", "-5"],
            ["-M99999999999999999999"],
            ["-N99999999999999999999"],
            ["-m", "relative_P.99999999999999999999"],
        ),
        *(["-q", "-m", "relstring.99999999999999999999"], ["-m", "ndcg.1=1e400"], ["-m", "Rprec_mult.1e300"]),
    ],
)
def test_absurd_numbers_are_no_crash(files, options):
    assert trec_eval(*options, *files())[0] in (0, 2)


def test_the_first_gain_of_a_grade_counts(files):
    once, twice = trec_eval("-m", "ndcg.1=3", *files()), trec_eval("-m", "ndcg.1=3,1=9", *files())

    assert once[1].split()[-1] == twice[1].split()[-1]


def test_gains_of_grades_beyond_any_scale(files):
    _, out, _ = trec_eval("-m", "ndcg.1=2", *files("q1 0 a 1000000\nq1 0 b 1\n"))

    assert "0.6309" == out.split()[-1]


def test_nothing_is_printed_as_minus_zero(files):
    assert "0.0000" == trec_eval("-m", "Rprec_mult.-1", *files())[1].split()[-1]

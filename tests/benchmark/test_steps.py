"""A step stays finished while its inputs and files are unchanged."""

from __future__ import annotations

import pytest

from assay.benchmark.steps import STATE, digest, workspace
from assay.errors import InputError


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out"


def make(folder, key="k", text=b"one", name="search a"):
    with workspace(folder) as space:
        space.finish(name, key, space.write({"runs/a.run": text}), {"seconds": 1.5})


def found(folder, key="k", name="search a"):
    with workspace(folder) as space:
        return space.finished(name, key)


def test_a_finished_step_is_known_again_with_its_facts(folder):
    make(folder)

    assert 1.5 == found(folder).facts["seconds"]
    assert ["runs/a.run"] == list(found(folder).outputs)


def test_other_input_makes_another_step(folder):
    make(folder)

    assert None is found(folder, key="other")
    assert None is found(folder, name="search b")


@pytest.mark.parametrize("change", [lambda path: path.write_bytes(b"two"), lambda path: path.unlink()])
def test_a_file_that_was_changed_or_removed_makes_the_step_unfinished(folder, change):
    make(folder)
    change(folder / "runs" / "a.run")

    assert None is found(folder)


@pytest.mark.parametrize("state", [b"", b"{", b'{"schema": "assay/benchmark-state/99"}', b'{"steps": 3}', b"\xff"])
def test_a_state_that_cannot_be_read_is_no_state(folder, state):
    make(folder)
    (folder / STATE).write_bytes(state)

    assert None is found(folder)


def test_steps_of_an_earlier_recipe_go_with_their_files(folder):
    make(folder)
    make_other = folder / "runs" / "b.run"
    with workspace(folder) as space:
        space.finish("search b", "k", space.write({"runs/b.run": b"b", "evaluations/b/x.svg": b"x"}))
        space.keep_only(["search a"])

    assert not make_other.exists()
    assert not (folder / "evaluations").exists()
    assert (folder / "runs" / "a.run").exists()


def test_a_step_that_is_done_again_leaves_no_file_of_its_last_time(folder):
    with workspace(folder) as space:
        space.finish("evaluation a", "1", space.write({"a/one.svg": b"1", "a/two.svg": b"2"}))
        space.finish("evaluation a", "2", space.write({"a/one.svg": b"1"}))

    assert ["one.svg"] == [path.name for path in (folder / "a").iterdir()]


def test_files_outside_of_the_folder_are_never_removed(folder, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    make(folder)
    state = folder / STATE
    state.write_bytes(state.read_bytes().replace(b"runs/a.run", b"../precious"))
    with workspace(folder) as space:
        space.keep_only([])

    assert precious.exists()


def test_the_time_of_the_beginning_stays_until_the_benchmark_is_another_one(folder):
    for key, created in (("one", "2026-01-01"), ("one", "2026-01-02")):
        with workspace(folder) as space:
            space.begin(key, created)
            assert "2026-01-01" == space.created
    with workspace(folder) as space:
        space.begin("two", "2026-01-03")

        assert "2026-01-03" == space.created


def test_halves_of_files_are_removed(folder):
    make(folder)
    half = folder / "runs" / ".a.run.123.part"
    half.write_bytes(b"on")
    found(folder)

    assert not half.exists()


def test_indexes_that_nobody_needs_are_removed(folder):
    with workspace(folder) as space:
        old, new = space.index_folder("a", "1" * 64), space.index_folder("a", "2" * 64)
        for index in (old, new):
            index.mkdir(parents=True)
        space.keep_indexes([("a", "2" * 64)])

    assert (False, True) == (old.exists(), new.exists())


def test_a_folder_with_other_things_is_refused(folder):
    folder.mkdir()
    (folder / "thesis.tex").write_text("")

    with pytest.raises(InputError, match=r"contains other files \(thesis.tex\) and no benchmark. Choose a new folder"):
        found(folder)


@pytest.mark.parametrize("report", [b"", b"{", b"[]", b'{"schema": 3}', b'{"schema": "assay/comparison/1"}', b"\xff"])
def test_a_folder_with_a_report_of_something_else_is_refused(folder, report):
    folder.mkdir()
    (folder / "BenchmarkReport.json").write_bytes(report)

    with pytest.raises(InputError, match=r"contains other files \(BenchmarkReport.json\) and no benchmark"):
        found(folder)


def test_a_folder_with_the_report_of_a_benchmark_is_taken_without_its_work(folder):
    folder.mkdir()
    (folder / "BenchmarkReport.json").write_bytes(b'{"schema": "assay/benchmark/1"}')

    assert None is found(folder)
    assert (folder / "work").is_dir()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("")

    with pytest.raises(InputError, match="is a file; a benchmark needs a folder"):
        found(tmp_path / "out")


def test_two_at_once_are_refused(folder):
    with workspace(folder), pytest.raises(InputError, match="another benchmark is running in this folder"):
        found(folder)


def test_digests_do_not_depend_on_the_order_of_keys_but_on_that_of_lists():
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest([1, 2]) != digest([2, 1])
    assert digest({"a": 1}) != digest({"a": 1.5})

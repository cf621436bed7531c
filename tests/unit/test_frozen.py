"""Our frozen classes are frozen dataclasses in all that anybody asks of them."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict, dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import pytest

import assay.frozen
from assay.frozen import frozen


def made(decorator: Any, field: Any) -> Any:
    """The same class under another decorator, which has a `field` of its own."""

    class Hit:
        doc: str
        rank: int = 1
        notes: dict[str, int] = field(default_factory=dict)
        lines: tuple[int, ...] = field(default=(), repr=False)

        def __post_init__(self) -> None:
            if self.rank < 1:
                raise ValueError("ranks start at 1")

        @cached_property
        def double(self) -> int:
            return 2 * self.rank

    Hit.__qualname__ = "Hit"
    return decorator(Hit)


Ours, Theirs = made(frozen, assay.frozen.field), made(dataclass(frozen=True, eq=False), dataclasses.field)
Hit = Ours  # where pickle finds it


def outcome(act: Any) -> Any:
    try:
        return act()
    except (TypeError, ValueError, FrozenInstanceError) as error:
        return type(error)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("a",), {}),
        (("a", 2, {"x": 1}, (7,)), {}),
        ((), {"doc": "a", "rank": 3}),
        (("a",), {"lines": (1, 2)}),
        ((), {}),
        ((), {"rank": 1}),
        (("a", 0), {}),
        (("a",), {"doc": "b"}),
        (("a",), {"score": 1.0}),
        (("a", 1, {}, (), 5), {}),
    ],
)
def test_made_from_the_same_arguments_as_a_dataclass(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    ours, theirs = (outcome(lambda cls=cls: asdict(cls(*given, **named))) for cls in (Ours, Theirs))

    assert theirs == ours


def test_shown_replaced_and_looked_into_as_a_dataclass() -> None:
    ours, theirs = Ours("a", lines=(3,)), Theirs("a", lines=(3,))

    assert repr(theirs) == repr(ours) == "Hit(doc='a', rank=1, notes={})"
    assert (
        asdict(replace(theirs, rank=5)) == asdict(replace(ours, rank=5)) == asdict(assay.frozen.replace(ours, rank=5))
    )
    assert [one.name for one in fields(theirs)] == [one.name for one in fields(ours)]
    assert is_dataclass(ours)
    assert list(inspect.signature(Theirs).parameters) == list(inspect.signature(Ours).parameters)


def test_nothing_changes_it() -> None:
    hit = Ours("a")
    for act in (lambda: setattr(hit, "rank", 2), lambda: delattr(hit, "rank"), lambda: setattr(hit, "other", 2)):
        with pytest.raises(FrozenInstanceError):
            act()

    assert (1, 2) == (hit.rank, hit.double)


def test_equal_only_to_itself_and_hashable() -> None:
    hit = Ours("a")

    assert hit != Ours("a")
    assert {hit: 1}[hit] == 1


def test_equal_by_its_fields_where_asked_for() -> None:
    @frozen(eq=True)
    class Pair:
        doc: str
        rank: int = 1

        @cached_property
        def double(self) -> int:
            return 2 * self.rank

    @frozen(eq=True)
    class Other:
        doc: str
        rank: int = 1

    pair = Pair("a")
    assert pair.double == 2  # what is kept beside the fields does not count
    assert pair == Pair("a", 1)
    assert hash(pair) == hash(Pair("a", 1))
    assert pair != Pair("a", 2)
    assert pair != Other("a")


def test_copied_and_sent_to_other_processes() -> None:
    hit = Ours("a", 4, {"x": 1})

    assert asdict(hit) == asdict(copy.copy(hit)) == asdict(pickle.loads(pickle.dumps(hit)))


def test_defaults_are_made_anew() -> None:
    assert Ours("a").notes is not Ours("b").notes


def test_what_is_missing_is_named() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'doc'"):
        Ours(rank=2)


def test_a_class_may_show_itself() -> None:
    @frozen
    class Quiet:
        doc: str

        def __repr__(self) -> str:
            return "<Quiet>"

    assert repr(Quiet("a")) == "<Quiet>"


def test_a_dataclass_before_anybody_asked_and_after() -> None:
    @frozen
    class Hit:
        doc: str
        notes: dict[str, int] = assay.frozen.field(default_factory=dict, repr=False)

    before = (repr(Hit("a")), vars(Hit("a")), str(inspect.signature(Hit)))

    assert [one.name for one in fields(Hit)] == ["doc", "notes"]
    assert (repr(Hit("a")), vars(Hit("a")), str(inspect.signature(Hit))) == before


def test_all_of_ours_can_be_asked() -> None:
    assert assay.Evaluation  # which brings most of them
    classes = [
        value
        for module in [module for name, module in list(sys.modules.items()) if name.startswith("assay.")]
        for value in vars(module).values()
        if isinstance(value, type) and "_names" in vars(value)
    ]

    assert assay.Rules in classes
    for one in classes:
        assert [each.name for each in fields(one)] == list(one._names)


def test_an_evaluation_does_not_wait_for_dataclasses() -> None:
    words = (
        "import sys, numpy; before = 'dataclasses' in sys.modules; import assay;"
        "assay.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}).mean(); print(before, 'dataclasses' in sys.modules)"
    )
    before, after = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True
    ).stdout.split()

    assert before == after


def test_fields_are_not_inherited() -> None:
    with pytest.raises(TypeError, match="fields of another frozen class are not inherited"):

        @frozen
        class Other(Ours):  # type: ignore[misc]
            tag: str = ""


def test_a_plain_class_below_it_has_its_fields() -> None:
    class Lower(assay.Rules):
        pass

    assert fields(assay.Rules) == fields(Lower)
    assert replace(Lower(), ties="input").ties == "input"

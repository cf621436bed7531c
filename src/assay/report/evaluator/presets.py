"""Lists to start from."""

from __future__ import annotations

from msgspec import Struct

from assay.report.evaluator.state import EvaluatorState


class Preset(Struct, frozen=True):
    """A list, and what it shows."""

    title: str
    state: EvaluatorState
    words: str


PRESETS = (
    Preset(
        "Five graded results",
        EvaluatorState(gain="exp"),
        "nDCG@5 is 0.9686 with the gain 2^grade - 1, and 0.9602 with the grade as gain. It is not 1: a 0 stands above a 2.",
    ),
    Preset(
        "A page of results",
        EvaluatorState(
            title="sourdough bread without a dutch oven",
            grades=(2.0, 3.0, 0.0, None, 1.0, 0.0, 3.0, 0.0),
            name=(
                "Sourdough for beginners",
                "Bake sourdough on a tray: no dutch oven needed",
                "The best dutch ovens of the year",
                "Forum: is steam really needed?",
                "Bread flour explained",
                "Pizza stones compared",
                "Steam without a dutch oven, step by step",
                "Oven cleaning tips",
            ),
            k=5,
            relevant=6,
        ),
        "One result was never judged, and two relevant documents were not found.",
    ),
    Preset(
        "R N R N R, 4 relevant",
        EvaluatorState(grades=(1.0, 0.0, 1.0, 0.0, 1.0), relevant=4),
        "Average precision is (1 + 2/3 + 3/5 + 0) / 4 = 0.5667: the document that was not found adds 0.",
    ),
    Preset(
        "Exact, substitute, complement",
        EvaluatorState(
            title="wireless headphones",
            grades=(3.0, 2.0, 1.0),
            name=("Exact match", "Substitute", "Complement"),
            missed=(3.0,),
            k=3,
        ),
        "A second exact match was not found, so nDCG@3 is 0.8081 with the grade as gain, and 0.7272 with 2^grade - 1.",
    ),
    Preset(
        "Before and after",
        EvaluatorState(
            grades=(0.0, 2.0, 1.0, 3.0, 0.0),
            name=(
                "Battery recall notice",
                "Battery life compared",
                "Battery care",
                "Replace the battery",
                "Battery news",
            ),
            other=(3.0, 2.0, 1.0, 0.0, 0.0),
            other_name=(
                "Replace the battery",
                "Battery life compared",
                "Battery care",
                "Battery recall notice",
                "Battery news",
            ),
            title="replace phone battery",
        ),
        "The same five results in another order: precision and recall at 5 stay, everything that looks at the order moves.",
    ),
)

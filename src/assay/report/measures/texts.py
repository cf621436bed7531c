"""Pages about measures, as text for the terminal and as Markdown for the docs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from assay.measures.explain import Page, example_in_words
from assay.report.drawing.markdown import escape
from assay.report.drawing.terminal import terminal_width, wrapped

FAMILIES = {
    "binary": "Binary relevance",
    "graded": "Graded relevance",
    "sets": "Retrieved sets",
    "partial": "Incomplete judgments",
    "utility": "User models (C/W/L)",
    "overlap": "Agreement with an ideal ranking",
    "diversity": "Diversity",
    "counts": "Counts",
}


def list_as_text(pages: Sequence[Page]) -> str:
    """All measures, family by family."""
    width = max(len(page.name) for page in pages) + 2
    lines: list[str] = []
    for family, members in by_family(pages):
        lines += [family, ""]
        for page in members:
            names = ", ".join(f"{tool}: {name}" for tool, name in page.names if tool in ("here also", "trec_eval"))
            lines += _hanging(page.name.ljust(width), page.summary + (f" ({names})" if names else ""))
        lines.append("")
    return "\n".join(lines) + "For details: assay measures explain NAME\n"


def by_family(pages: Sequence[Page]) -> Iterable[tuple[str, list[Page]]]:
    """The pages of each family, with its name."""
    order = list(FAMILIES)
    ranked = sorted(pages, key=lambda page: order.index(page.family) if page.family in FAMILIES else len(order))
    for family, members in groupby(ranked, key=lambda page: page.family):
        yield FAMILIES.get(family, family), list(members)


def _hanging(head: str, text: str) -> list[str]:
    return wrapped(text, terminal_width(), f"  {head}").splitlines()


def page_as_text(page: Page) -> str:
    """One measure, explained."""
    label, value = page.example_value
    lines = [page.name, "=" * len(page.name), *wrapped(page.summary, terminal_width()).splitlines(), ""]
    lines += _hanging("Formula     ", page.formula)
    if page.edges:
        lines += _hanging("Edges       ", page.edges)
    for head, text in (("Answers     ", page.answers), ("Misleads    ", page.misleads), ("Pair with   ", page.pair)):
        lines += _hanging(head, text) if text else []
    lines += _hanging("Range       ", f"{page.range}; reported as {page.combined}")
    for index, (name, default, meaning) in enumerate(page.parameters):
        head = "Parameters  " if not index else " " * 12
        lines += _hanging(head, f"{name} ({default if default == 'required' else f'default {default}'}): {meaning}")
    for index, (tool, name) in enumerate(page.names):
        lines += _hanging("Names       " if not index else " " * 12, f"{tool}: {name}")
    if page.paper:
        lines += _hanging("Paper       ", page.paper)
    lines += _hanging("Example     ", f"For {example_in_words(topics=page.family == 'diversity')}: {page.example}")
    lines += _hanging("            ", f"assay computes {label} = {value:.4f}")
    return "\n".join(lines) + "\n"


def list_as_markdown(pages: Sequence[Page]) -> str:
    """The reference page of all measures."""
    parts = [f"All examples use {example_in_words(topics=True)}.\n"]
    for family, members in by_family(pages):
        parts.append(f"## {family}\n")
        parts += [page_as_markdown(page) for page in members]
    return "\n".join(parts)


def page_as_markdown(page: Page) -> str:
    """One measure, explained."""
    label, value = page.example_value
    parts = [f"### {page.name}\n", escape(page.summary) + "\n", f"**Formula.** {escape(page.formula)}\n"]
    if page.edges:
        parts.append(f"**Edges.** {escape(page.edges)}\n")
    guide = (("Answers", page.answers), ("Misleads", page.misleads), ("Pair with", page.pair))
    parts += [f"**{head}.** {escape(text)}\n" for head, text in guide if text]
    parts.append(f"**Range.** {page.range}; reported as {page.combined}.\n")
    if page.parameters:
        rows = [f"| `{name}` | `{default}` | {escape(meaning)} |" for name, default, meaning in page.parameters]
        parts.append("\n".join(["| parameter | default | meaning |", "|---|---|---|", *rows]) + "\n")
    if page.names:
        parts.append("**Names.** " + "; ".join(f"{tool}: `{name}`" for tool, name in page.names) + ".\n")
    if page.paper:
        parts.append(f"**Paper.** {escape(page.paper)}.\n")
    parts.append(f"**Example.** {escape(page.example)} assay computes `{label}` = {value:.4f}.\n")
    return "\n".join(parts)


def guide_as_markdown(pages: Sequence[Page]) -> str:
    """Which question each measure answers, when it misleads, and what to report with it."""
    rows = [
        f"| {escape(page.name)} | {escape(page.answers)} | {escape(page.misleads)} | {escape(page.pair)} |"
        for page in pages
        if page.answers
    ]
    return (
        "\n".join(["| measure | question | when it misleads | report with |", "| --- | --- | --- | --- |", *rows])
        + "\n"
    )

"""Shared drawing tools for all reports: pages, charts, the terminal, Markdown, LaTeX. Independent of their content."""

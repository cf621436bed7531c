"""What reports of every subject are drawn with: pages, charts, the terminal, Markdown, LaTeX. Knows no subject."""

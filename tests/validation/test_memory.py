"""A run is validated query by query, so memory does not grow with the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MEASURED = """
import resource, sys
from assay import validate_run
found = validate_run(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, found.facts["rows"], *found.codes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_memory_does_not_grow_with_the_lines(tmp_path: Path) -> None:
    def peak(queries: int, depth: int) -> int:
        path = tmp_path / "a.run"
        with path.open("w") as file:
            for query in range(queries):
                file.writelines(
                    f"{query} Q0 doc{query}-{rank} {rank} {1000 - rank} x\n" for rank in range(1, depth + 1)
                )
        done = subprocess.run([sys.executable, "-c", MEASURED, path], capture_output=True, text=True, check=True)
        memory, rows, *codes = done.stdout.split()
        assert (str(queries * depth), []) == (rows, codes)
        return int(memory)

    small, large = peak(20, 500), peak(1000, 500)

    assert large < small + 15  # the large file has 13 MB, and its rows as Python objects 60 MB

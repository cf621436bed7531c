"""Memory does not grow with the size of a file whose queries are not interleaved. Does not test speed."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from native.paths import NEEDS_KERNEL

pytestmark = [
    NEEDS_KERNEL,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc/self/status"),
]

QUERIES, DOCUMENTS, AT_MOST = 3200, 1000, 60  # about 100 MB of text, and megabytes of memory

# VmHWM is the peak memory of the process; ru_maxrss would also count its parent process.
EVALUATE = """
import sys
from assay import evaluate
found = evaluate(sys.argv[1], sys.argv[2], ["nDCG@10", "AP", "RR@10", "P@5", "R@100", "Judged@10"], threads=int(sys.argv[3]))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(len(found.queries), int(found.mean()["Judged@10"] * 10), int(peak.split()[1]) // 1024)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run of 100 MB, and judgments of ten documents for each of its queries."""
    folder = tmp_path_factory.mktemp("memory")
    qrels, run = folder / "qrels", folder / "large.run"
    ranking = "".join(f"0000 Q0 d{at * 7919 % 100003:06d} {at} {DOCUMENTS - at}.5 system\n" for at in range(DOCUMENTS))
    top = [line.split()[2] for line in ranking.splitlines()[:10]]
    numbers = range(1000, 1000 + QUERIES)
    qrels.write_text("".join(f"{number} 0 {doc} 1\n" for number in numbers for doc in top))
    with run.open("w") as lines:
        for number in numbers:
            lines.write(ranking.replace("0000 Q0", f"{number} Q0"))
    assert run.stat().st_size > 90e6
    return qrels, run


def evaluated(qrels: Path, run: Path, threads: int) -> tuple[int, int, int]:
    """Queries, judged documents among the first ten, and megabytes of memory."""
    command = [sys.executable, "-c", EVALUATE, str(qrels), str(run), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    queries, judged, megabytes = map(int, done.stdout.split())
    return queries, judged, megabytes


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_of_100_megabytes_takes_little_memory(files: tuple[Path, Path], threads: int) -> None:
    queries, judged, megabytes = evaluated(*files, threads)

    assert (QUERIES, 10) == (queries, judged)
    assert megabytes < AT_MOST


def test_a_compressed_run_is_not_unpacked_in_memory(files: tuple[Path, Path], tmp_path: Path) -> None:
    qrels, run = files
    packed = tmp_path / "large.run.gz"
    with run.open("rb") as plain, gzip.open(packed, "wb", compresslevel=1) as compressed:
        shutil.copyfileobj(plain, compressed, 1 << 20)
    queries, judged, megabytes = evaluated(qrels, packed, 1)

    assert (QUERIES, 10) == (queries, judged)
    assert megabytes < AT_MOST

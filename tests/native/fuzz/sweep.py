"""Give the kernel files that break evaluators, and see that it says what the NumPy path says. Started by run.py.

    python sweep.py FOLDER [COUNT]    FOLDER takes the files that are made, COUNT of them at random (default: 3000)

Each malformed file is read as judgments and as run, as text, compressed, as dict and as Arrow table, under several rules;
then files made from them by small random changes, and large ones for threads. Values must be equal to the last bit, and
refusals to the last letter.
"""

from __future__ import annotations

import gzip
import math
import os
import random
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from assay import Rules, native
from assay.errors import AssayError
from assay.evaluation import Evaluator
from assay.formats import read_run
from assay.formats.unread import open_run
from assay.marking import judge
from assay.native.sums import exact_sum

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("ASSAY_SHARED") or ROOT.parent / "shared" / "data")
SEED = 20251115

RULES = (
    Rules(),
    Rules(ties="doc-asc", scores="float32", self_match="drop"),
    Rules(ties="input", duplicates="best", depth=3),
    Rules(duplicates="first", queries="both"),
    Rules(order="rank", duplicates="first"),
    Rules(ties="rank-column", duplicates="best", scores="float32"),
)
MEASURES = ("nDCG@10", "AP", "RR", "P@5", "num_ret", "num_rel_ret")


class Sweep:
    """Counts what is compared, and keeps what differs."""

    def __init__(self) -> None:
        self.compared = self.refused = 0
        self.differences: list[str] = []

    def compare(self, what: str, qrels: Any, run: Any, rules: Rules, threads: tuple[int, ...] = (1,)) -> bool:
        """Whether both paths say the same."""
        expected = with_numpy(lambda: answer(qrels, run, rules, 1))
        self.refused += isinstance(expected, str)
        before = len(self.differences)
        for count in threads:
            found = answer(qrels, run, rules, count)
            self.compared += 1
            if found != expected:
                shown = f"  kernel {found!s:.400}\n  NumPy  {expected!s:.400}"
                self.differences.append(f"{what}, {rules.changed()}, threads={count}:\n{shown}")
        return len(self.differences) == before


def answer(qrels: Any, run: Any, rules: Rules, threads: int) -> Any:
    """All that an evaluation says, or the refusal."""
    try:
        evaluator = Evaluator(qrels, MEASURES, rules, threads=threads)
        opened = open_run(run)
        result = evaluator.evaluate(opened)
        judged = judge(evaluator.judgments, opened, rules, threads=threads)
    except AssayError as error:
        return f"{type(error).__name__}: {error}"
    judgments = evaluator.judgments
    columns = (judged.hit_query, judged.hit_rank, judged.hit_tie_first, judged.hit_tie_last, judged.hit_judgment)
    return (
        result.queries,
        result.values.tobytes(),
        result.coverage,
        result.tag,
        judged.retrieved.tolist(),
        [column.tolist() for column in (*columns, judged.hit_rel)],
        (judgments.queries, judgments.rel.tolist(), judgments.pool.grade.tolist(), judgments.docs.tolist()),
    )


def with_numpy(function: Callable[[], Any]) -> Any:
    native.turned_off = True
    try:
        return function()
    finally:
        native.turned_off = False


# Forms


def forms(path: Path, folder: Path) -> Iterator[tuple[str, Any]]:
    """A run in every form that the kernel reads."""
    yield "text", path
    packed = folder / "packed.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    yield "gzip", packed
    try:
        run = with_numpy(lambda: read_run(path))
    except AssayError:
        return
    yield "table", run
    queries = [run.queries[code] for code in run.query]
    rows = list(zip(queries, run.doc.tolist(), run.score.tolist(), strict=True))
    yield "dict", {query: {doc: score for other, doc, score in rows if other == query} for query in run.queries}
    if not path.read_bytes().isascii():
        return  # Arrow's text is UTF-8
    ranks = {} if run.rank is None else {"rank": run.rank}
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        ids = {"query_id": pyarrow.array(queries, kind), "doc_id": pyarrow.array(run.doc.tolist(), kind)}
        table = pyarrow.table({**ids, "score": run.score, **ranks})
        yield f"Arrow {kind}", table
        yield f"Arrow {kind}, cut", pyarrow.concat_tables([table.slice(1, 2), table.slice(0, 1), table.slice(3)])
    encoded = {name: column.cast(pyarrow.string()).dictionary_encode() for name, column in ids.items()}
    yield "Arrow dictionary", pyarrow.table({**encoded, "score": run.score, **ranks})


# Files


GOOD_QRELS = b"1 0 d1 1\n1 0 d2 0\n1 0 d3 2\n2 0 d1 -1\n2 0 d7 3\n"
GOOD_RUN = b"1 Q0 d3 1 9.5 t\n1 Q0 d2 2 8.0 t\n1 Q0 d1 3 8 t\n1 Q0 1 4 -5.5 t\n2 Q0 d7 1 1e1 t\n2 Q0 d1 2 0.1 t\n"


def table(text: bytes) -> bytes:
    """The same rows as a table with tabs and a header, as far as lines have the columns of qrels or of a run."""
    names = {4: b"qid\titer\tdocno\trel", 6: b"qid\tQ0\tdocno\trank\tscore\ttag", 3: b"query-id\tcorpus-id\tscore"}
    lines = text.splitlines()
    header = names.get(len(lines[0].split()), b"query_id\tdoc_id\tscore")
    return b"\n".join([header, *(b"\t".join(line.split(b" ")) for line in lines)]) + b"\n"


def mutated(texts: list[bytes], chance: random.Random) -> bytes:
    """A text with a few small changes."""
    text = bytearray(chance.choice(texts))
    for _ in range(chance.choice([1, 1, 1, 2, 4])):  # most files stay readable
        place = chance.randint(0, len(text))
        lines = bytes(text).split(b"\n")
        match chance.randrange(6):
            case 0:
                text[place:place] = chance.choice(PIECES)
            case 1:
                piece = chance.choice(PIECES)
                text[place : place + len(piece)] = piece
            case 2:
                del text[place : place + chance.randint(1, 8)]
            case 3:
                chance.shuffle(lines)
                text = bytearray(b"\n".join(lines))
            case 4:
                text += chance.choice(lines) + b"\n"
            case 5:
                text = bytearray(chance.choice(texts)[: chance.randint(1, 200)] + text)
    return bytes(text)


PIECES = (
    *(
        b"\n",
        b"\r\n",
        b"\r",
        b"\r\r\n",
        b"\t",
        b"\t\t",
        b'"',
        b"'",
        b"\v",
        b"\f",
        b" ",
        b"  ",
        b"\0",
        b"\x01",
        b"\x1c",
        b"\x85",
        b"\xc2\xa0",
    ),
    *(b"\xef\xbb\xbf", b"\n\xef\xbb\xbf", b"#", b"\n#", b"\n\n", b"\xe9", b"\xc3\xa9", b"\xed\xb3\xa9"),
    *(b"0", b"1", b"-1", b"+1", b"-0", b"5.", b".5", b".", b"-", b"1e3", b"1E-3", b"1e400", b"1e-400", b"nan", b"inf"),
    *(b"0x1", b"1_0", b"12345678.123456789", b"1234567.12345678", b"9007199254740993", b"12345678901234567890"),
    *(
        b"1.0",
        b"1.00",
        b"16777217",
        b"16777216",
        b"1.5",
        b"2",
        b"d1",
        b"d2",
        b"1 Q0 d1 1 1.5 t\n",
        b"1 0 d1 1\n",
        b"1 d1 1\n",
    ),
)


def large_texts() -> Iterator[tuple[str, bytes]]:
    """Runs large enough for four threads, and for many refills."""
    rows = [
        b"%d Q0 doc-%07d %d %.6f tag\n" % (query, doc, doc, doc % 977)
        for query in range(1, 13)
        for doc in range(12_000)
    ]
    whole = b"".join(rows)
    yield "in order", whole
    yield (
        "one query",
        b"".join(row for row in rows[:1]) + b"".join(b"1 Q0 x%07d 1 %d t\n" % (i, i % 99) for i in range(150_000)),
    )
    yield (
        "a query that nobody judged behind a long one",
        b"".join(b"%d Q0 document-%09d 1 %d t\n" % (query, i, -i) for query in (1, 99) for i in range(80_000)),
    )
    yield "interleaved", b"".join(rows[i] for first in range(12_000) for i in range(first, len(rows), 12_000))
    yield "a query goes on at the end", whole + b"1 Q0 last 1 -1 tag\n"
    yield "no line feed at the end", whole[:-1]
    yield "a bad line at the end", whole + b"12 Q0 x 1 nan tag\n"
    yield "a repeated document", whole + rows[-1]
    yield "comments and blank lines", b"#\n\n".join(rows[::2])
    yield "one long line", b"1 Q0 %s 1 1 t\n" % (b"x" * 3_000_000) + whole
    yield (
        "ranks",
        b"".join(b"%d\tdoc-%07d\t%d\n" % (query, doc, doc + 1) for query in range(12) for doc in range(20_000)),
    )


# Steps


def sweep_large(sweep: Sweep, folder: Path) -> None:
    qrels, run = folder / "large.qrels", folder / "large.run"
    judged = ((query, doc, doc % 3) for query in range(1, 13) for doc in range(0, 9000, 1300))
    qrels.write_bytes(b"".join(b"%d 0 doc-%07d %d\n" % row for row in judged))
    for what, text in large_texts():
        run.write_bytes(text)
        sweep.compare(f"large: {what}", qrels, run, Rules(), threads=(1, 2, 4))


def sweep_files(sweep: Sweep, qrels: list[Path], runs: list[Path], folder: Path) -> None:
    good_qrels, good_run = (next(path for path in paths if path.stem == "good") for paths in (qrels, runs))
    for path, rules in product([*runs, *qrels], RULES):
        for form, run in forms(path, folder):
            sweep.compare(f"{path.name} as run ({form})", good_qrels, run, rules)
        sweep.compare(f"{path.name} as judgments", path, good_run, rules)


def sweep_made(sweep: Sweep, qrels: list[Path], runs: list[Path], folder: Path, count: int) -> None:
    chance = random.Random(SEED)
    texts = [[path.read_bytes()[:3000] for path in paths] for paths in (qrels, runs)]
    texts = [[*kept, *(table(text) for text in kept if text)] for kept in texts]
    good = [[text, table(text)] for text in (GOOD_QRELS, GOOD_RUN)]
    pair = folder / "made.qrels", folder / "made.run"
    for number in range(count):
        for path, any_text, good_text in zip(pair, texts, good, strict=True):
            kept = chance.choice([any_text, good_text, good_text])  # else most files are refused
            path.write_bytes(mutated(kept, chance) if chance.random() < 0.5 else chance.choice(kept))
        if not sweep.compare(f"made file {number}", *pair, chance.choice(RULES)):
            for path in pair:
                path.rename(folder / f"differs-{number}{path.suffix}")


def sweep_sums(sweep: Sweep) -> None:
    """Exact sums are those of math.fsum, also of the smallest and largest numbers."""
    chance = random.Random(SEED)
    for _ in range(200):
        size, widest = chance.randint(101, 300), chance.choice([1, 50, 1000])
        values = [
            chance.choice([-1, 1]) * math.ldexp(chance.random(), chance.randint(-widest - 74, widest))
            for _ in range(size)
        ]
        sweep.compared += 1
        if math.fsum(values) != exact_sum(np.array(values)):
            sweep.differences.append(f"sum of {values}")


def main() -> int:
    folder = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    write = sys.stdout.write
    if not native.enabled():
        write("sweep: the kernel is not built\n")
        return 1
    write(f"sweep: the kernel is {native.kernel.__file__}\n")
    sweep = Sweep()
    sweep_sums(sweep)
    sweep_large(sweep, folder)
    malformed = SHARED / "malformed"
    there = malformed.is_dir()
    files = malformed if there else ROOT / "tests" / "golden" / "data"
    qrels, runs = sorted(files.glob("*.qrels")), sorted(files.glob("*.run"))
    if there:
        sweep_files(sweep, qrels, runs, folder)
    else:
        write(f"sweep: the malformed files are not there ({malformed}): only files made from the golden ones\n")
    write(f"sweep: {sweep.compared} comparisons; {count} made files, seed {SEED} ...\n")
    sweep_made(sweep, qrels, runs, folder, count)
    for difference in sweep.differences[:20]:
        write(f"DIFFERENT: {difference}\n")
    write(
        f"sweep: {sweep.compared} comparisons ({sweep.refused} inputs refused), {len(sweep.differences)} differences\n"
    )
    return 1 if sweep.differences else 0


if __name__ == "__main__":
    sys.exit(main())

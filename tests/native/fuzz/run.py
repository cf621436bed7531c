"""Search the kernel for mistakes: with a coverage-guided fuzzer, or with the tests on a sanitized build.

    python tests/native/fuzz/run.py --seconds 600    fuzz the part that knows no Python (clang's libFuzzer)
    python tests/native/fuzz/run.py --sanitize       tests, malformed files and seeds through sanitized builds (g++)
    python tests/native/fuzz/run.py --seeds          only the seeds of the readers' fuzzers (../../fuzz), under AddressSanitizer

Half of the time goes to a lean build, which runs many times as often and sees only wrong values and crashes; the other half
to one with AddressSanitizer and UBSan and with small buffers.

Builds and corpus are in a temporary folder, which stays only if something is found. `--corpus FOLDER` keeps what the
fuzzer has learnt for the next time. The last line says how it went; the exit code is 0 only if nothing was found.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NATIVE = ROOT / "src" / "assay" / "native"
SHARED = Path(os.environ.get("ASSAY_SHARED") or ROOT.parent / "shared" / "data")

FUZZED = ("judgments.cpp", "text.cpp", "tokens.cpp")  # what knows no Python
CHECKS = (
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-D_GLIBCXX_ASSERTIONS",
    "-std=c++17",
    "-pthread",
    "-g",
)

# Buffers that a small input fills: refills, growth and parts for threads are then met in every second input rather than
# in files of megabytes. The corpus is replayed with the real sizes afterwards.
SMALL = {
    "lines.hpp": {r"kChunk = [^;]+": "kChunk = 100"},
    "tokens.hpp": {r"kMost = [^;]+": "kMost = 3"},
    "text.cpp": {r"kLeast = [^;]+": "kLeast = 50", r"piece_\([^)]+\)": "piece_(30)"},
    "bytes.hpp": {r"kBlock = [^;]+": "kBlock = 40", r"2 \* capacity_ : [^;]+": "2 * capacity_ : 2"},
}

TESTED = ("tests/reading", "tests/native", "tests/unit/test_judged.py", "tests/unit/test_evaluation.py")
NOT_TESTED = ("tests/native/fuzz", "tests/native/test_memory.py")  # a sanitizer needs much memory of its own
PYTEST = ("-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"))
RUNTIME = ("libasan.so", "libubsan.so", "libstdc++.so.6")  # the last as ASan looks for __cxa_throw when it starts
READERS = ROOT / "tests" / "fuzz" / "run.py"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


# The fuzzer


def fuzz(seconds: int, corpus: Path | None, work: Path) -> int:
    clang = shutil.which("clang++")
    if clang is None or not has_fuzzer(clang):
        say("fuzz: skipped, clang++ with libFuzzer is not installed (Debian: apt-get install clang libclang-rt-14-dev)")
        return 0
    corpus = (corpus or work / "corpus").resolve()
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = write_seeds(work / "seeds")
    say(f"fuzz: {seeds} seeds; building ...")
    small = small_sources(work / "small")
    limits = ["-timeout=20", "-rss_limit_mb=2048"]
    options = [f"-max_total_time={seconds // 2}", f"-dict={HERE / 'kernel.dict'}", "-print_final_stats=1", *limits]
    for name, sanitizer, longest in (("lean", "", 500), ("sanitized", "address,undefined", 3000)):
        target = build(clang, small, sanitizer, work / f"fuzz-{name}", guided=True)
        say(f"fuzz: {name}, {seconds // 2} seconds ...")
        log = run_target(target, [*options, f"-max_len={longest}", str(corpus), str(work / "seeds")], work)
        say(f"fuzz: {name}: {statistics(log)}")
        if finding(log, work):
            return 1
    for name, sources, sanitizer in (
        ("real sizes", NATIVE, "address,undefined"),
        ("threads", small, "thread"),
    ):
        say(f"fuzz: the corpus once more: {name} ({sanitizer}) ...")
        replay = build(clang, sources, sanitizer, work / f"fuzz-{name.replace(' ', '-')}")
        if finding(run_target(replay, ["-runs=0", *limits, str(corpus), str(work / "seeds")], work), work):
            return 1
    say(f"fuzz: nothing found in {seconds} seconds")
    return 0


def has_fuzzer(clang: str) -> bool:
    answer = subprocess.run([clang, "-print-runtime-dir"], capture_output=True, text=True, check=False)
    return any(Path(answer.stdout.strip()).glob("libclang_rt.fuzzer*"))


def small_sources(folder: Path) -> Path:
    """The kernel's sources with small buffers."""
    shutil.copytree(NATIVE, folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name, changes in SMALL.items():
        text = (folder / name).read_text()
        for old, new in changes.items():
            text, count = re.subn(old, new, text)
            if count != 1:
                raise SystemExit(f"fuzz: {name} has '{old}' {count} times, not once: mend SMALL in {__file__}")
        (folder / name).write_text(text)
    return folder


def build(compiler: str, sources: Path, sanitizer: str, target: Path, *, guided: bool = False) -> Path:
    """The target. If guided, only the kernel guides the fuzzer: new ways through the reference are of no interest.

    The kernel is linked first, so that of functions in its headers the guided copies are taken. A replay needs no
    guide, whose counters ThreadSanitizer would call data races. Without a sanitizer, the target is lean.
    """
    flags = ["-O1", *CHECKS] if sanitizer else ["-O2", "-std=c++17", "-pthread", "-g", "-DASSAY_LEAN"]
    objects = []
    for source in (*(sources / name for name in FUZZED), HERE / "kernel_fuzz.cpp"):
        is_guided = guided and source.parent == sources
        sanitizers = ",".join(filter(None, ("fuzzer-no-link" if is_guided else "", sanitizer)))
        checked = [f"-fsanitize={sanitizers}"] if sanitizers else []
        objects.append(f"{target}-{source.stem}.o")
        command = [compiler, *flags, *checked, f"-I{sources}", f"-I{HERE}", "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    linked = ",".join(filter(None, ("fuzzer", sanitizer)))
    subprocess.run([compiler, f"-fsanitize={linked}", "-pthread", *objects, "-o", str(target)], check=True)
    return target


def run_target(target: Path, options: list[str], work: Path) -> str:
    """What the target says; its findings are put beside it."""
    artifacts = f"-artifact_prefix={work}/finding-"
    done = subprocess.run([target, artifacts, *options], capture_output=True, check=False, cwd=work)
    log = done.stderr.decode("utf-8", "replace")
    (work / f"{target.name}.log").write_text(log)
    return log if done.returncode == 0 else f"{log}\nFAILED: exit code {done.returncode}"


def finding(log: str, work: Path) -> bool:
    if "FAILED: exit code" not in log:
        return False
    say("\n".join(line for line in log.splitlines()[-90:] if not line.startswith("#")))
    say(f"fuzz: FOUND SOMETHING; the input and the log are in {work}")
    return True


def statistics(log: str) -> str:
    covered = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", log)
    executed = re.findall(r"stat::number_of_executed_units: (\d+)", log) or re.findall(r"^#(\d+)", log, re.MULTILINE)
    if not covered or not executed:
        return "it did not start"
    edges, features, inputs = covered[-1]
    return f"{executed[-1]} executions, {edges} edges, {features} features, {inputs} inputs in the corpus"


# Seeds


def write_seeds(folder: Path) -> int:
    """Inputs to start from, in the form that kernel_fuzz.cpp takes: eight bytes that choose, judgments, run."""
    folder.mkdir()
    chosen = [(texts, rules) for texts in own_texts() for rules in product(range(12), (0, 1, 2), (0, 7))]
    chosen += [(texts, rules) for texts in given_texts() for rules in ((0, 0, 7), (6, 0, 0), (9, 1, 1), (4, 2, 40))]
    count = 0
    for (qrels, run), (ranking, by_rank, step) in chosen:
        judged = 1 if columns_of(qrels) == 3 else 0
        dialects = [0b1100011 if b"query" in text else 0b00011 for text in (qrels, run)]  # with a header: tabs alone
        for retrieved in {3: (3, 4), 6: (0, 1), 7: (1, 2)}.get(columns_of(run), (0,)):
            switches = count % 4 << 5  # float32, self matches
            blank_lines = 0 if count % 7 == 0 else 2
            dialect = dialects[1] & ~2 | blank_lines
            choices = bytes([judged, dialects[0], retrieved, dialect, ranking | switches, by_rank, step, 2 + count % 3])
            (folder / f"{count:05}").write_bytes(choices + qrels + b"--\n" + run)
            count += 1
    for path in sorted((HERE / "seeds").iterdir()):  # what was found
        shutil.copy(path, folder / path.name)
        count += 1
    return count


def given_texts() -> Iterator[tuple[bytes, bytes]]:
    """Pairs of judgments and run: golden ones, small real ones, and each malformed file with a good partner."""
    pairs = sorted((ROOT / "tests" / "golden" / "data").glob("*.run"))
    malformed = SHARED / "malformed"
    if malformed.is_dir():
        pairs += sorted((SHARED / "cases" / "ir_measures_unit").glob("*.run"))
        good_qrels, good_run = beginning(malformed / "good.qrels"), beginning(malformed / "good.run")
        yield from ((good_qrels, beginning(run)) for run in sorted(malformed.glob("*.run")))
        yield from ((beginning(qrels), good_run) for qrels in sorted(malformed.glob("*.qrels")))
    else:
        say(f"fuzz: the malformed files are not there ({malformed}): starting from the golden ones alone")
    yield from ((beginning(run.with_suffix(".qrels")), beginning(run)) for run in pairs)


def own_texts() -> Iterator[tuple[bytes, bytes]]:
    """Small cases of all that a ranking depends on."""
    yield from product(
        (
            b"q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n",
            b"q2\ta\t1\nq1\tb\t0.5\nq1\ta\t2\n",
            b"query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\ta\t2\n",
        ),
        (
            rows(
                b"q1 Q0 %s %d %s t\n",
                zip([b"q1", b"a", b"b", b"c"], [1, 3, 2, 4], [b"3", b"2", b"2", b"2.0"], strict=True),
            ),
            rows(b"q1 Q0 %s 1 %s t\n", [(b"a", b"16777216"), (b"b", b"16777217"), (b"c", b"1e38"), (b"d", b"1e39")]),
            rows(b"q1 Q0 %s %d %d t\n", [(b"a", 1, 1), (b"b", 2, 3), (b"a", 3, 2)]),  # the better one comes later
            rows(b"q1 Q0 %s %d 1 t\n", [(b"a", 2), (b"b", 2), (b"a", 1), (b"c", 3), (b"a", 1)]),
            rows(b"q%d Q0 %s 1 %d.5 t\n", [(q, doc, n) for q in (2, 1) for n, doc in enumerate([b"a", b"b"] * 9)]),
            rows(b"q1 Q0 d%d %d 1 t\n", [(n, 9 - n % 10) for n in range(60)]) + b"q1 Q0 a 5 1 t\n",
            rows(b"q%d Q0 a 1 %s t\n", [(n, b"1234567.12345678901234567890"[n:]) for n in range(28)]),
            rows(b"q%d\t%s\t%d\n", [(1, b"a", 1), (1, b"b", 2), (2, b"a", 1), (3, b"a", 1)]),
            rows(b"q%d %s %d\n", [(q, b"document-%d" % n, n) for q in (9, 1, 9, 2) for n in (1, 2, 3)]),  # q9 twice
            b"query-id\tcorpus-id\tscore\r\nq1\ta\t1.5\r\nq1\tb\t2\r\nq2\ta\t1\r\n",
            b"q1\r Q0 a 1 1 t\nq1 Q0 b 1 1 t\r\r\n",
        ),
    )


def rows(pattern: bytes, values: Iterable[tuple[object, ...]]) -> bytes:
    return b"".join(pattern % row for row in values)


def beginning(path: Path) -> bytes:
    """The first lines; what is longer slows the fuzzer down."""
    text = path.read_bytes()
    return text if len(text) < 1000 else text[: text.rfind(b"\n", 0, 1000) + 1]


def columns_of(text: bytes) -> int:
    return len(text.split(b"\n", 1)[0].split())


# Sanitized builds without clang


def sanitize(work: Path) -> int:
    """The tests, the malformed files and all seeds through the sanitized extension, and the kernel's seeds with threads."""
    compiler = gcc_with("address,undefined")
    if compiler is None:
        return 0
    say("sanitize: building the extension with AddressSanitizer and UBSan ...")
    environment = sanitized_extension(compiler, work, "address,undefined")
    tests = [str(ROOT / name) for name in TESTED if (ROOT / name).exists()]
    steps = {
        "the seeds of the readers": [str(READERS), "--replay"],
        "the malformed files, and files made from them": [str(HERE / "sweep.py"), str(work)],
        "the tests": [*PYTEST, *(f"--ignore={ROOT / name}" for name in NOT_TESTED), *tests],
    }
    found = []
    for name, arguments in steps.items():
        say(f"sanitize: {name} ...")
        done = subprocess.run([sys.executable, *arguments], env=environment, cwd=work, check=False)
        found += [f"{name} (exit code {done.returncode})"] if done.returncode else []
    for log in sorted(work.glob("sanitizer.*")):
        say(log.read_text(errors="replace")[:4000])
    write_seeds(work / "seeds")
    small = small_sources(work / "small")
    for sanitizer in ("address,undefined", "thread"):
        say(f"sanitize: the kernel's seeds, also with several threads ({sanitizer}) ...")
        found += [] if replayed_without_clang(compiler, small, sanitizer, work) else [f"the seeds ({sanitizer})"]
    say(f"sanitize: FOUND SOMETHING in {' and '.join(found)}; {work}" if found else "sanitize: nothing found")
    return 1 if found else 0


def sanitize_seeds(work: Path) -> int:
    """All seeds of the readers through an extension with AddressSanitizer alone, which is built sooner."""
    compiler = gcc_with("address")
    if compiler is None:
        return 0
    environment = sanitized_extension(compiler, work, "address")
    done = subprocess.run([sys.executable, str(READERS), "--replay"], env=environment, cwd=work, check=False)
    say(f"sanitize: FOUND SOMETHING; {work}" if done.returncode else "sanitize: nothing found")
    return 1 if done.returncode else 0


def gcc_with(sanitizer: str) -> str | None:
    """g++, if it has the libraries of the sanitizers; says so if it does not."""
    compiler = shutil.which("g++")
    if compiler is None or not all(preloaded(compiler, sanitizer)):
        say("sanitize: skipped, g++ with libasan and libubsan is not installed")
        return None
    return compiler


def preloaded(compiler: str, sanitizer: str) -> list[str | None]:
    return [library_of(compiler, name) for name in RUNTIME if "undefined" in sanitizer or "ubsan" not in name]


def sanitized_extension(compiler: str, work: Path, sanitizer: str) -> dict[str, str]:
    """Build a copy of the package with a sanitized kernel; returns the environment that uses it."""
    build_extension(compiler, work, sanitizer)
    return os.environ | {
        "LD_PRELOAD": ":".join(filter(None, preloaded(compiler, sanitizer))),
        # Python keeps much until its end, and pytrec_eval frees what it has made with new[]. pytest would hide what is said.
        "ASAN_OPTIONS": f"detect_leaks=0:alloc_dealloc_mismatch=0:log_path={work / 'sanitizer'}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={work / 'sanitizer'}",
        "PYTHONMALLOC": "malloc",  # so that a read beyond a Python object is seen
        "PYTHONPATH": os.pathsep.join(map(str, (work, ROOT / "tests"))),  # comes before the editable install
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def replayed_without_clang(compiler: str, sources: Path, sanitizer: str, work: Path) -> bool:
    """Whether the kernel's seeds pass; small buffers let threads take part."""
    target = work / f"replay-{sanitizer}"
    flags = ["-O1", *CHECKS, f"-fsanitize={sanitizer}", f"-I{sources}", f"-I{HERE}"]
    compile_all(
        compiler, [*(sources / name for name in FUZZED), HERE / "kernel_fuzz.cpp", HERE / "replay.cpp"], flags, target
    )
    inputs = sorted(map(str, (work / "seeds").iterdir()))
    done = subprocess.run([target, *inputs], capture_output=True, check=False, cwd=work)
    log = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        (work / f"{target.name}.log").write_text(log)
        say(log[-4000:])
    return done.returncode == 0


def library_of(compiler: str, name: str) -> str | None:
    answer = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = answer.stdout.strip()
    return path if os.path.isabs(path) else None  # the name alone says that there is none


def build_extension(compiler: str, work: Path, sanitizer: str) -> None:
    """A copy of the package with a sanitized kernel."""
    package = work / "assay"
    shutil.copytree(ROOT / "src" / "assay", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    sources = sorted((package / "native").glob("*.cpp"))
    flags = [f"-fsanitize={sanitizer}", "-O1", *CHECKS, "-fPIC", f"-I{sysconfig.get_path('include')}"]
    compile_all(compiler, sources, flags, package / "native" / "_kernel.abi3.so", "-shared")


def compile_all(compiler: str, sources: Iterable[Path], flags: list[str], target: Path, *link: str) -> None:
    """Compile the sources, several at a time, and link them."""

    def compiled(source: Path) -> str:
        made = f"{target}-{source.stem}.o"
        subprocess.run([compiler, *flags, "-c", str(source), "-o", made], check=True)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    subprocess.run([compiler, *flags, *link, *objects, "-o", str(target)], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600, help="how long to fuzz (default: 600)")
    parser.add_argument("--corpus", type=Path, help="keep what the fuzzer has learnt in this folder")
    parser.add_argument("--sanitize", action="store_true", help="run the tests on a sanitized extension instead")
    parser.add_argument("--seeds", action="store_true", help="run the readers' seeds on a sanitized extension instead")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="assay-fuzz-"))
    if given.sanitize or given.seeds:
        found = sanitize(work) if given.sanitize else sanitize_seeds(work)
    else:
        found = fuzz(given.seconds, given.corpus, work)
    if not found:
        shutil.rmtree(work)
    return found


if __name__ == "__main__":
    sys.exit(main())

"""A file that breaks each rule: (code, content, line of the first example, count)."""

from __future__ import annotations

GOOD_RUN = "1 Q0 a 1 9.5 x\n1 Q0 b 2 8.0 x\n1 Q0 c 3 7.5 x\n2 Q0 d 1 4.0 x\n2 Q0 e 2 3.0 x\n"
GOOD_QRELS = "1 0 a 1\n1 0 b 0\n2 0 d 2\n2 0 e 0\n2 0 f 1\n"
LONG_RUN = "".join(f"1 Q0 d{n} {n} {100 - n} x\n" for n in range(1, 41))


def after(text: str) -> bytes:
    """A good run followed by this text."""
    return (GOOD_RUN + text).encode()


# code, content of the run, line, count
RUN_CASES: list[tuple[str, bytes, int | None, int]] = [
    ("RUN001", b"PK\x03\x04 an archive", None, 1),
    ("RUN001", b'{"1": {"a": 1.0', 2, 1),
    ("RUN001", b"\x00\x01\x02\x03\x00\x00\x00" * 99, None, 1),
    ("RUN002", b"", None, 1),
    ("RUN002", b"\n\n# nothing\n", None, 1),
    ("RUN003", GOOD_RUN.encode("utf-16"), 1, 1),
    ("RUN003", GOOD_RUN.encode("utf-16-be"), 1, 1),
    ("RUN003", GOOD_RUN.encode("utf-32"), 1, 1),
    ("RUN009", after("3 Q0 a 1\n"), 6, 1),
    ("RUN009", after("3 Q0 a b 1 2.0 x\n3 Q0 a b 1 2.0 x\n"), 6, 2),
    ("RUN009", b"1 Q0 a 1\n", 1, 1),
    ("RUN005", after("3 Q0 a 1"), 6, 1),
    ("RUN006", b"1 Q0 a 1 9.5 x more\n1 Q0 b 2 8.5 x more\n", None, 2),
    ("RUN007", after("3\tQ0\tdoc 3\t1\t9.5\tx\n"), 6, 1),
    ("RUN007", after("3 Q0 do\x0cc 1 9.5 x\n"), 6, 1),
    ("RUN008", b"qid iter docno rank score tag\n1 Q0 a 1 9.5 x\n", 1, 1),
    ("RUN004", after("\n   \n3 Q0 a 1 2.0 x\n"), 6, 2),
    ("RUN019", after("3 Q0 a 1 high x\n"), 6, 1),
    ("RUN019", after("3 Q0 a 1 1e x\n3 Q0 b 2 -- x\n"), 6, 2),
    ("RUN011", after("3 Q0 a 1 NaN x\n3 Q0 b 2 -nan x\n"), 6, 2),
    ("RUN012", after("3 Q0 a 1 inf x\n3 Q0 b 2 1e400 x\n3 Q0 c 3 -Infinity x\n"), 6, 3),
    ("RUN013", after("3 Q0 a 1 0x1A x\n3 Q0 b 2 1_000 x\n3 Q0 c 3 9,5 x\n3 Q0 d 4 ٩٩ x\n"), 6, 4),
    ("RUN014", after("3 Q0 a 1 1e39 x\n"), 6, 1),
    ("RUN020", after("3 Q0 a 1 2.0 x\n3 Q0 b 2 1.5 x\n3 Q0 a 3 1.0 x\n"), 8, 1),
    ("RUN020", after("1 Q0 a 4 1.0 x\n"), 6, 1),  # a query that has already ended
    ("RUN021", after("3 Q0 a first 2.0 x\n3 Q0 b 2.5 1.0 x\n"), 6, 2),
    ("RUN022", after("3 Q0 a 1 2.0 x\n3 Q0 b 1 1.0 x\n"), 7, 1),
    ("RUN023", after("3 Q0 a 0 2.0 x\n3 Q0 b 1 1.0 x\n"), 6, 1),
    ("RUN024", after("3 Q0 a 1 2.0 x\n3 Q0 b 3 1.0 x\n"), 7, 1),
    ("RUN025", after("3 Q0 a 1 1.0 x\n3 Q0 b 2 2.0 x\n"), 7, 1),
    ("RUN025", after("3 Q0 a 1 1.0 x\n3 Q0 b 1 3.0 x\n3 Q0 c 2 2.0 x\n"), 8, 1),  # not adjacent
    ("RUN026", b"1 a 10\n1 b 9\n2 c 1\n", 2, 1),
    ("RUN026", b"1 a 1\n1 b 2\n1 c 2\n", 3, 1),
    ("RUN026", b"1 a 1\n1 b 99999999999999999999\n", 2, 1),
    ("RUN026", b"1 a 0\n1 b 1\n", 1, 1),
    ("RUN027", b"# a\n# incomplete: 1 of 3 queries failed: 3\n" + GOOD_RUN.encode(), 2, 1),
    ("RUN030", after("3 Q0 a 1 1.0 x\n3 Q0 b 2 1.0 x\n"), 6, 1),
    ("RUN031", after("3 Q0 a 1 0.123456789 x\n3 Q0 b 2 0.123456788 x\n"), 6, 1),
    ("RUN032", after("3 Q0 a 1 1.0 x\n3 Q0 b 2 1.0 x\n"), 6, 1),
    ("RUN034", after("3 Q0 a 1 9.5 x\n3 Q0 b 2 8.0 x\n3 Q0 c 3 7.5 x\n"), None, 2),
    ("RUN041", (LONG_RUN + LONG_RUN.replace("1 Q0", "2 Q0") + "3 Q0 a 1 2.0 x\n").encode(), None, 1),
    ("RUN042", after("1 Q0 z 4 1.0 x\n"), None, 1),
    ("RUN060", after("3 Q0 a 1 2.0 y\n"), 6, 2),
    ("RUN061", GOOD_RUN.encode() + b"3 Q0 d\xe9 1 2.0 x\n", 6, 1),
    ("RUN062", after("3 Q0 dé 1 2.0 x\n") + b"4 Q0 d\xe9 1 2.0 x\n", None, 1),
    ("RUN063", b"\xef\xbb\xbf" + GOOD_RUN.encode(), 1, 1),
    ("RUN064", after("3 Q0 d\x1b[0m 1 2.0 x\n"), 6, 1),
    ("RUN065", after("3 Q0 d\x009 1 2.0 x\n"), 6, 1),
    ("RUN066", GOOD_RUN.replace("\n", "\r").encode(), 1, 1),
    ("RUN066", after("3 Q0 d 1 2.0 x\r4 Q0 d 1 2.0 x\n"), 6, 1),
    ("RUN067", GOOD_RUN.rstrip("\n").encode(), 5, 1),
    ("RUN068", after("3 Q0 d\u200b 1 2.0 x\n"), 6, 1),
    ("RUN071", GOOD_RUN.encode() + b"\xef\xbb\xbf3 Q0 a 1 2.0 x\n", 6, 1),
    ("RUN069", after("3 Q0 a 1 2.0 x \n"), 6, 1),
]

# code, content of the judgments, line, count
QRELS_CASES: list[tuple[str, bytes, int | None, int]] = [
    ("QRL001", b"%PDF-1.7", None, 1),
    ("QRL001", b"[1, 2", 1, 1),
    ("QRL002", b"# nothing\n", None, 1),
    ("QRL003", GOOD_QRELS.encode("utf-16"), 1, 1),
    ("QRL009", (GOOD_QRELS + "3 0 a\n").encode(), 6, 1),
    ("QRL005", (GOOD_QRELS + "3 0 a").encode(), 6, 1),
    ("QRL007", (GOOD_QRELS + "3\t0\tdoc 3\t1\n").encode(), 6, 1),
    ("QRL007", b"1 a\tb\t1\n1 a\tc\t0\n", None, 1),
    ("QRL008", b"qid iter docno rel\n1 0 a 1\n", 1, 1),
    ("QRL004", (GOOD_QRELS + "\n3 0 a 1\n").encode(), 6, 1),
    ("QRL019", (GOOD_QRELS + "3 0 a ?\n").encode(), 6, 1),
    ("QRL011", (GOOD_QRELS + "3 0 a nan\n").encode(), 6, 1),
    ("QRL012", (GOOD_QRELS + "3 0 a inf\n").encode(), 6, 1),
    ("QRL013", (GOOD_QRELS + "3 0 a 0x1\n3 0 b 1,5\n").encode(), 6, 2),
    ("QRL014", (GOOD_QRELS + "3 0 a E\n3 0 b Exact\n").encode(), 6, 2),
    ("QRL016", ("# NIST\n" + GOOD_QRELS).encode(), None, 1),
    ("QRL020", (GOOD_QRELS + "1 0 a 1\n").encode(), 6, 1),
    ("QRL021", (GOOD_QRELS + "1 0 a 0\n").encode(), 6, 1),
    ("QRL022", (GOOD_QRELS + "3 1 a 1\n3 2 a 1\n").encode(), None, 1),
    ("QRL030", (GOOD_QRELS + "3 0 a -2\n").encode(), 6, 1),
    ("QRL031", (GOOD_QRELS + "3 0 a 1.9\n").encode(), 6, 1),
    ("QRL032", (GOOD_QRELS + "3 0 a 1000000\n3 0 b 4294967297\n").encode(), 6, 2),
    ("QRL033", "".join(f"1 0 d{n} {min(4, 1 + n // 2)}\n" for n in range(40)).encode(), None, 1),
    ("QRL034", (GOOD_QRELS + "3 0 a 5\n").encode(), None, 2),
    ("QRL035", b"1 0 a 1\n2 0 b 1\n", None, 1),
    ("QRL036", "".join(f"1 0 d{n} {1 + n % 5}\n" for n in range(10)).encode(), None, 1),
    ("QRL040", (GOOD_QRELS + "3 0 a 0\n3 0 b -1\n").encode(), 6, 1),
    ("QRL041", GOOD_QRELS.encode(), None, 2),
    ("QRL042", (GOOD_QRELS + "1 0 z 1\n").encode(), None, 1),
    ("QRL055", (GOOD_QRELS + "01 0 z 1\n").encode(), None, 1),
    ("QRL061", GOOD_QRELS.encode() + b"3 0 d\xe9 1\n", 6, 1),
    ("QRL062", (GOOD_QRELS + "3 0 dé 1\n").encode() + b"3 0 d\xe9 1\n", None, 1),
    ("QRL063", b"\xef\xbb\xbf" + GOOD_QRELS.encode(), 1, 1),
    ("QRL064", (GOOD_QRELS + "3 0 d\x07 1\n").encode(), 6, 1),
    ("QRL065", (GOOD_QRELS + "3 0 d\x00 1\n").encode(), 6, 1),
    ("QRL066", GOOD_QRELS.replace("\n", "\r").encode(), 1, 1),
    ("QRL067", GOOD_QRELS.rstrip("\n").encode(), 5, 1),
    ("QRL068", (GOOD_QRELS + "3 0 d\u00a0 1\n").encode(), 6, 1),
    ("QRL071", GOOD_QRELS.encode() + b"\xef\xbb\xbf3 0 a 1\n", 6, 1),
    ("QRL069", (GOOD_QRELS + "3 0 d 1\t\n").encode(), 6, 1),
]

# Rules that need another file, an option or an evaluation are tested in test_partners.py.
ELSEWHERE = {"RUN040", "RUN050", "RUN051", "RUN052", "RUN053", "RUN054", "RUN055", "RUN056", "RUN057", "RUN058"}
ELSEWHERE |= {"RUN059", "RUN072", "RUN070", "RUN073", "QRL052", "QRL053", "QRL054", "QRL058"}

"""Keys planted in every place where users put one are in no file that is written and in nothing that is printed."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from assay.secrets import Secrets
from benchmark.collection import write_collection
from cli.command import assay

KEY = "Zq7hunterXk29Lm4Vt8"  # looks like nothing: only its place tells what it is
BASIC = base64.b64encode(f"ann:{KEY}".encode()).decode()
INSIDE = json.dumps({"api_key": KEY})
FORMS = {
    "pw": f"pw={KEY}",
    "sig": f"https://h.example/x?a=1&sig={KEY}&b=2",
    "signature": f"https://h.example/x?X-Amz-Signature={KEY}",
    "code": f"https://h.example/back?code={KEY}&state=1",
    "session": f"session={KEY}",
    "PHP session": f"PHPSESSID={KEY}",
    "Java session": f"https://h.example/x;jsessionid={KEY}?q=1",
    "fragment": f"https://h.example/#access_token={KEY}&x=1",
    "Slack": f"https://hooks.slack.com/services/T00/B00/{KEY}",
    "Discord": f"https://discord.com/api/webhooks/123/{KEY}",
    "Teams": f"https://acme.webhook.office.com/webhookb2/{KEY}@x/IncomingWebhook/{KEY}/y",
    "Power Automate": f"https://x.logic.azure.com/workflows/abc/invoke?sp=1&sig={KEY}",
    "Telegram": f"https://api.telegram.org/bot123456:{KEY}/sendMessage",
    "Pinecone": f"pcsk_{KEY}",
    "OpenAI": f"sk-proj-{KEY}",
    "Hugging Face": f"hf_{KEY}",
    "GitHub": f"ghp_{KEY}",
    "Vault": f"hvs.{KEY}",
    "bearer": f"Bearer {KEY}",
    "header": f"-H 'Authorization: Basic {BASIC}'",
    "curl": f"curl -u ann:{KEY} https://h.example/",
    "curl, in one word": f"curl -uann:{KEY} https://h.example/",
    "curl, with a sign": f"curl --user=ann:{KEY} https://h.example/",
    "password": f"tool --password {KEY} go",
    "api key": f"tool --api-key={KEY}",
    "a list": json.dumps(["tool", "--password", KEY]),
    "mysql": f"mysql -p{KEY} db",
    "sshpass": f"sshpass -p {KEY} ssh x",
    "address": f"https://ann:{KEY}@h.example/x",
    "database": f"postgresql://ann:{KEY}@db:5432/x",
    "path": f"ann:{KEY}@h.example/x",
    "JSON Web Token": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx{KEY}In0.{KEY}",
    "private key": f"-----BEGIN RSA PRIVATE KEY-----\n{KEY}\n-----END RSA PRIVATE KEY-----",
    "PGP": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{KEY}\n-----END PGP PRIVATE KEY BLOCK-----",
    "percent-encoded name": f"https://h.example/x?api%5Fkey={KEY}",
    "percent-encoded address": quote(f"https://ann:{KEY}@h.example/?token={KEY}", safe=""),
    "percent-encoded twice": quote(quote(f"https://h.example/?token={KEY}", safe=""), safe=""),
    "JSON": INSIDE,
    "JSON in JSON": json.dumps(INSIDE),
    "an option in JSON": json.dumps({"run": f"--password {KEY}"}),
    "connection": f"Server=h;Uid=a;Pwd={KEY};",
    "cookie": f"Cookie: a=1; sid={KEY}",
    "a sentence": f"the password is {KEY}",
}
AMAZON = "AKIAQ7K29LM4VT8ABCDE"


@pytest.mark.parametrize("text", [*FORMS.values(), AMAZON], ids=[*FORMS, "Amazon"])
def test_it_is_hidden_in_a_text_a_setting_and_a_command(text):
    shown = [
        Secrets().hide(text),
        Secrets().hide_value("parameter", text),
        *Secrets().hide_command(["assay", "--set", f"parameter={text}", "--note", text, f"--set=parameter={text}"]),
    ]

    assert [] == [one for one in shown if KEY in one or BASIC in one or AMAZON in one]
    assert "***" in shown[0]


@pytest.mark.parametrize("before", ["", "password=", "https://ann:"])
def test_a_known_key_is_hidden_in_every_encoding(before):
    secrets = Secrets(["hunter2-hunter2"])
    secrets.learn('hunter"2/hunter3')
    encoded = base64.b64encode(b'hunter"2/hunter3').decode()

    for form in ('hunter"2/hunter3', "hunter%222%2Fhunter3", 'hunter\\"2/hunter3', encoded):
        assert "x ***" == secrets.hide(f"x {form}").rstrip("=")


@pytest.mark.parametrize(
    "part", ["a", "a:", "key=", "http://", " ", "-----BEGIN PRIVATE KEY-----", "hook/", "%25", 'key:\\"', "-a "]
)
def test_no_text_takes_long(part):
    text = part * (200_000 // len(part))  # would take hours if the time grew with the square

    for hide in (Secrets().hide, Secrets().hide_block, Secrets().hide_in_message):
        assert hide(text)


@pytest.fixture
def here(tmp_path):
    """Files whose headers, names and contents hold the key."""
    header = f"# ir_metadata.start\n# method:\n#   api_key: {KEY}\n#   url: https://ann:{KEY}@h.example/\n# ir_metadata.end\n"
    folder = tmp_path / f"ann:{KEY}@h.example"
    folder.mkdir()
    (folder / "qrels.txt").write_text("".join(f"q{n} 0 a 1\n" for n in range(9)))
    for name in ("one", "two"):
        (folder / f"{name}.run").write_text(header + "".join(f"q{n} Q0 a 1 1.0 {name}\n" for n in range(9)))
    (folder / "twice.txt").write_text("q0 0 a 1\nq0 0 a 2\n")
    (folder / "chunks.tsv").write_text("a\ta\n")
    (folder / "targets.toml").write_text(
        f'name = "x"\ndescription = "see https://ann:{KEY}@h.example/"\n[measures]\n"AP" = {{ target = 0.5 }}\n'
    )
    write_collection(folder / "kitchen")
    return tmp_path


PLACE = f"ann:{KEY}@h.example"
QRELS, ONE, TWO = (f"{PLACE}/{name}" for name in ("qrels.txt", "one.run", "two.run"))
DECLARED = [word for n, form in enumerate(FORMS.values()) for word in ("--set", f"p{n}={form}", "--note", form)]
COMMANDS = {
    "evaluate": (
        "evaluate",
        QRELS,
        ONE,
        TWO,
        "-m",
        "AP",
        "--report",
        "report",
        "--targets",
        f"{PLACE}/targets.toml",
        "--set",
        f"api_key={KEY}",
        "--set",
        f"model=https://ann:{KEY}@h.example/m",
        *DECLARED,
    ),
    "fuse": ("runs", "fuse", ONE, TWO, "-o", "fused.run"),
    "collapse": ("runs", "collapse", ONE, "--map", f"{PLACE}/chunks.tsv", "-o", "collapsed.run"),
    "fix": ("qrels", "validate", f"{PLACE}/twice.txt", "--fix", "fixed.txt", "--policy", "duplicates=first"),
    "validate": ("runs", "validate", ONE, "--format", "json", "-o", "findings.json"),
    "check": ("collections", "check", f"{PLACE}/kitchen", "--format", "sarif", "-o", "findings.sarif"),
    "info": ("runs", "info", ONE),
    "gate": ("gate", "--qrels", QRELS, "--baseline", ONE, "--candidate", TWO, "--rule", "AP >= 0", "-o", "gate.txt"),
    "compare": ("compare", QRELS, ONE, TWO, "-m", "AP", "--format", "html", "-o", "comparison.html"),
    "no such file": ("evaluate", QRELS, f"https://ann:{KEY}@h.example/x?sig={KEY}"),
    "no such encoded file": ("evaluate", QRELS, quote(f"https://ann:{KEY}@h.example/x", safe="")),
    "no such folder": ("verify", f"ann:{KEY}@h.example:22/x"),
    "no such setting": ("evaluate", QRELS, ONE, "-o", f"missing/pw={KEY}"),
    "no such option": ("evaluate", QRELS, ONE, f"--token={KEY}"),
    "no such recipe": ("benchmark", "run", f"https://{KEY}@h.example/recipe.toml"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_and_no_output_has_it(here, command):
    before = {path for path in here.rglob("*") if path.is_file()}
    done = assay(*COMMANDS[command], cwd=here)
    written = [path for path in here.rglob("*") if path.is_file() and path not in before]

    assert bool(written) == (command != "info" and not command.startswith("no such"))
    assert KEY not in done.stdout + done.stderr
    assert [] == [path.name for path in written if found(path.read_bytes())]


def found(data: bytes) -> list[bytes]:
    return [key for key in (KEY.encode(), BASIC.encode()) if key in data]


def test_a_benchmark_keeps_it_out_of_its_folder(here):
    pytest.importorskip("tantivy")
    recipe = f'collection = "{PLACE}/kitchen"\nmodes = ["lexical"]\n'
    (here / "recipe.toml").write_text(recipe)
    done = assay("benchmark", "run", "recipe.toml", "--output", "out", cwd=here, env={"ASSAY_OFFLINE": "1"})

    assert 0 == done.returncode
    assert KEY not in done.stdout + done.stderr
    assert [] == [path.name for path in (here / "out").rglob("*") if path.is_file() and found(path.read_bytes())]

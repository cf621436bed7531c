"""A server on this machine that answers like the model hub."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

REVISION = "751bff37182d3f1213fa05d7196b954e230abad9"


class HubOnThisMachine(SimpleHTTPRequestHandler):
    """Answers like the hub, with the headers that huggingface_hub expects.

    The files of ORGANISATION/NAME are in FOLDER/ORGANISATION/NAME/resolve/REVISION. The list of files has the digests of
    large ones only, as on the hub.
    """

    def do_GET(self):
        path = urlsplit(self.path).path
        if not path.startswith("/api/models/"):
            super().do_GET()
            return
        repository, _, revision = path.removeprefix("/api/models/").partition("/revision/")
        folder = Path(self.directory, repository, "resolve", REVISION)
        if not folder.is_dir() or revision not in ("main", "v1", REVISION):
            self.send_error(404)
            return
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        about = {
            "id": repository,
            "sha": REVISION,
            "tags": ["onnx", "license:mit"],
            "siblings": [_listed(path, folder) for path in files],
        }
        body = json.dumps(about).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self):
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("ETag", f'"{hashlib.sha256(self.path.encode()).hexdigest()}"')
        super().end_headers()

    def send_error(self, code, message=None, explain=None):
        self.send_response(code)
        self.send_header("X-Error-Code", "EntryNotFound" if f"/{REVISION}/" in self.path else "RevisionNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        """Print nothing."""


class EndlessHub(HubOnThisMachine):
    """Announces the right size, but never stops sending."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):  # the other side has closed
            for _ in range(10_000):
                self.wfile.write(bytes(1 << 20))


@contextmanager
def serving(folder: Path, kind=HubOnThisMachine):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(kind, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _listed(path: Path, folder: Path) -> dict[str, object]:
    data = path.read_bytes()
    about = {"rfilename": path.relative_to(folder).as_posix(), "size": len(data), "blobId": "0" * 40}
    if path.suffix in (".json", ".md"):
        return about
    return {**about, "lfs": {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}}

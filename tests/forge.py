"""A server on loopback that plays the REST APIs of GitHub and GitLab, for the comments on request 7."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BOT = {"user": {"type": "Bot"}, "author_association": "NONE", "author": {"id": 1}}
"""The author of a comment, as both forges tell: the token's own user."""
STRANGER = {"user": {"type": "User"}, "author_association": "NONE", "author": {"id": 2}}
ONE = re.compile(r"/repos/o/r/issues/comments/(\d+)|/projects/9/merge_requests/7/notes/(\d+)")
ALL = re.compile(
    r"(?:/repos/o/r/issues/7/comments|/projects/9/merge_requests/7/notes)(?:\?per_page=(\d+)&page=(\d+))?"
)


class Forge:
    """The comments, and every request: method, path and headers.

    A `status` other than 200 refuses all requests; `moved_to` redirects them to another address.
    """

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str, Mapping[str, str]]] = []
        self.status = 200
        self.moved_to = ""
        self.url = ""

    @property
    def bodies(self) -> list[str]:
        """What the comments say."""
        return [comment["body"] for comment in self.comments]

    def add(self, body: str, author: Mapping[str, Any] = BOT) -> dict[str, Any]:
        """Put a comment on the request."""
        self.comments.append({"id": len(self.comments) + 1, "body": body, **author})
        return self.comments[-1]

    def answer(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON of an answer; None where there is no such address."""
        if (method, path) == ("GET", "/user"):
            return BOT["author"]
        if match := ALL.fullmatch(path):
            if method == "POST":
                return self.add(body["body"])
            size, page = int(match[1]), int(match[2])
            return self.comments[size * (page - 1) : size * page]
        if (match := ONE.fullmatch(path)) and method == ("PATCH" if match[1] else "PUT"):
            self.comments[int(match[1] or match[2]) - 1].update(body)
            return {}
        return None


@contextmanager
def serving() -> Iterator[Forge]:
    """A forge while it listens."""
    forge = Forge()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            forge.requests.append((self.command, self.path, dict(self.headers)))
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
            answer = forge.answer(self.command, self.path, body) if forge.status == 200 else {}
            self.send_response(404 if answer is None else forge.status)
            if forge.moved_to:
                self.send_header("Location", forge.moved_to + self.path)
            content = json.dumps(answer).encode()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_PUT = _answer  # noqa: N815 - names of http.server

        def log_message(self, *arguments: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        forge.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield forge
        finally:
            server.shutdown()
            thread.join()

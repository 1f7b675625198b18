"""Keeps one comment on a pull request up to date with `results/summary.md`: on GitHub, or on GitLab.

The comment is found again by a hidden marker, its first line. It decides nothing: what keeps it from being
written is a warning, and the exit status is 0.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

SUMMARY = Path("results/summary.md")
LONGEST = 60_000
"""Characters of a summary in a comment; GitHub takes 65,536 in all."""
PAGE, PAGES, SECONDS = 100, 100, 30

Comment = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The comments of one pull request, and how its forge is asked.

    `comments` is the address that lists and takes them; `comment`, a slash and an id that of one, which the
    method `edit` changes. `may_be_ours` tells comments of earlier jobs from those of people who copied the
    marker, and may edit what stands below it. `job` is the page of this job.
    """

    comments: str
    comment: str
    edit: str
    headers: Mapping[str, str]
    may_be_ours: Callable[[Comment], bool]
    job: str
    commit: str

    def __iter__(self) -> Iterator[Comment]:
        """Every comment, whatever the number of pages."""
        for number in range(1, PAGES + 1):
            page = ask("GET", f"{self.comments}?per_page={PAGE}&page={number}", self.headers)
            yield from page
            if len(page) < PAGE:
                return

    def put(self, marker: str, text: str) -> None:
        """Change our comment, or write the first. Raises OSError or ValueError."""
        ours = (item for item in self if str(item["body"]).startswith(marker) and self.may_be_ours(item))
        found = next(ours, None)
        method, url = (self.edit, f"{self.comment}/{found['id']}") if found else ("POST", self.comments)
        ask(method, url, self.headers, {"body": f"{marker}\n{text}"})


def ask(method: str, url: str, headers: Mapping[str, str], body: Mapping[str, str] | None = None) -> Any:
    """The JSON that a forge answers. Raises OSError (HTTPError among them) or ValueError."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    for name, value in headers.items():
        # A redirect must not carry the token to another host.
        request.add_unredirected_header(name, value)
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        return json.load(response)


def github(environment: Mapping[str, str]) -> Thread | None:
    """The pull request that started this job of GitHub Actions, if one did and a token is set."""
    event, token = environment.get("GITHUB_EVENT_PATH"), environment.get("GITHUB_TOKEN")
    pull = json.loads(Path(event).read_text(encoding="utf-8")).get("pull_request") if event else None
    if not token or not pull:
        return None
    repository = environment["GITHUB_REPOSITORY"]
    issues = f"{environment['GITHUB_API_URL']}/repos/{repository}/issues"
    runs = f"{environment['GITHUB_SERVER_URL']}/{repository}/actions/runs"
    return Thread(
        comments=f"{issues}/{pull['number']}/comments",
        comment=f"{issues}/comments",
        edit="PATCH",
        headers={"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"},
        may_be_ours=_is_of_a_bot_or_member,
        job=f"{runs}/{environment['GITHUB_RUN_ID']}",
        commit=pull["head"]["sha"],
    )


def _is_of_a_bot_or_member(comment: Comment) -> bool:
    """Members count, whose token may have been used: they can edit comments of others anyway."""
    is_bot = (comment.get("user") or {}).get("type") == "Bot"
    return is_bot or comment.get("author_association") in ("OWNER", "MEMBER", "COLLABORATOR")


def gitlab(environment: Mapping[str, str]) -> Thread | None:
    """The merge request that started this job of GitLab CI, if one did and a token is set."""
    token, number = environment.get("GITLAB_TOKEN"), environment.get("CI_MERGE_REQUEST_IID")
    if not token or not number:
        return None
    api, headers = environment["CI_API_V4_URL"], {"PRIVATE-TOKEN": token}
    notes = f"{api}/projects/{environment['CI_PROJECT_ID']}/merge_requests/{number}/notes"
    return Thread(
        comments=notes,
        comment=notes,
        edit="PUT",
        headers=headers,
        may_be_ours=lambda note: note["author"]["id"] == ask("GET", f"{api}/user", headers)["id"],
        job=environment["CI_JOB_URL"],
        commit=environment["CI_COMMIT_SHA"],
    )


def shortened(text: str) -> str:
    """The text, or as many of its lines as a comment may have, with a note."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST].rpartition(chr(10))[0]}\n\nThe rest is in the job's summary.\n"


def main(environment: Mapping[str, str]) -> None:
    """Write the comment, if there is a pull request, a token and a summary."""
    thread = github(environment) or gitlab(environment)
    if thread is None or not SUMMARY.exists():
        print("no comment: no pull request started this job, it has no token, or there is no summary")
        return
    name = environment.get("INPUT_NAME") or environment.get("EQUIPOISE_NAME") or "equipoise"
    text = shortened(SUMMARY.read_text(encoding="utf-8"))
    source = f"Commit {thread.commit[:10]}, [job]({thread.job})"
    try:
        thread.put(f"<!-- equipoise: {name} -->", f"{text}\n{source}\n")
    except HTTPError as error:
        warn(f"{error.code} {error.reason}: {_advice(error.code)}")
    except (OSError, ValueError) as error:
        warn(str(error))


def _advice(status: int) -> str:
    if status in (401, 403, 404):
        return "the token may not write comments here: give the job `pull-requests: write`; forks have none"
    return "the next run tries again"


def warn(why: str) -> None:
    """Say so, as GitHub Actions take it for an annotation; on GitLab it is a line of the log."""
    line = " ".join(f"comment not written: {why}".split())
    print(f"::warning title=Equipoise::{line.replace('%', '%25')}")


if __name__ == "__main__":
    main(os.environ)

"""The comment on a pull request: one, by whom, and what happens where it cannot be written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from ci_scripts import script
from forge import STRANGER, Forge, serving

TOKEN = "ghs_a-token-that-nobody-may-see"
MARKER = "<!-- equipoise: gate-0 -->\n"
Variables = Callable[[Forge], dict[str, str]]


@pytest.fixture
def forge() -> Iterator[Forge]:
    """GitHub and GitLab."""
    with serving() as forge:
        yield forge


@pytest.fixture(autouse=True)
def _ended_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is that of a job whose gate has failed."""
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    summarise("## Gate: FAIL\n")
    event = {"pull_request": {"number": 7, "head": {"sha": "0123456789abcdef"}}}
    Path("event.json").write_text(json.dumps(event), encoding="utf-8")


def summarise(text: str) -> None:
    """Write the summary of a job."""
    Path("results/summary.md").write_text(text, encoding="utf-8")


def github(forge: Forge) -> dict[str, str]:
    """The variables of a job of GitHub Actions."""
    return {
        **{"GITHUB_EVENT_PATH": "event.json", "GITHUB_TOKEN": TOKEN, "INPUT_NAME": "gate-0"},
        **{"GITHUB_API_URL": forge.url, "GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "5"},
        "GITHUB_SERVER_URL": "https://forge.example",
    }


def gitlab(forge: Forge) -> dict[str, str]:
    """The variables of a job of GitLab CI."""
    return {
        **{"GITLAB_TOKEN": TOKEN, "CI_MERGE_REQUEST_IID": "7", "EQUIPOISE_NAME": "gate-0"},
        **{"CI_API_V4_URL": forge.url, "CI_PROJECT_ID": "9", "CI_COMMIT_SHA": "0123456789abcdef"},
        "CI_JOB_URL": "https://forge.example/jobs/1",
    }


@pytest.fixture(params=[github, gitlab])
def variables(request: pytest.FixtureRequest) -> Variables:
    """Those of either forge."""
    of_forge: Variables = request.param
    return of_forge


@pytest.fixture
def comment(capsys: pytest.CaptureFixture[str]) -> Callable[[Mapping[str, str]], str]:
    """Runs the script and returns what it prints."""
    main = script("comment").main

    def run(environment: Mapping[str, str]) -> str:
        main(environment)
        shown = capsys.readouterr()
        assert TOKEN not in shown.out + shown.err
        return shown.out

    return run


Comment = Callable[[Mapping[str, str]], str]


def test_one_comment_is_kept_up_to_date(forge: Forge, variables: Variables, comment: Comment) -> None:
    """The first job writes it; the next finds it again on the third page of comments, and edits it."""
    for number in range(220):
        forge.add(f"Comment {number}")
    assert comment(variables(forge)) == ""
    assert len(forge.bodies) == 221
    assert forge.bodies[-1].startswith(f"{MARKER}## Gate: FAIL\n\nCommit 0123456789, [job](https://")
    summarise("## Gate: PASS\n")
    comment(variables(forge))
    assert len(forge.bodies) == 221
    assert forge.bodies[-1].startswith(f"{MARKER}## Gate: PASS\n")


def test_comments_of_others_are_left_alone(forge: Forge, variables: Variables, comment: Comment) -> None:
    """That of another job, and a stranger's copy of the marker, who could edit the verdict."""
    forge.add(f"{MARKER}Gate: PASS", STRANGER)
    forge.add("<!-- equipoise: gate-1 -->\nGate: PASS")
    comment(variables(forge))
    assert [body.splitlines()[1] for body in forge.bodies] == ["Gate: PASS", "Gate: PASS", "## Gate: FAIL"]


def test_a_refusal_is_a_warning(forge: Forge, variables: Variables, comment: Comment) -> None:
    """The token of a fork, an API that is down: the gate has decided all the same."""
    forge.status = 403
    shown = comment(variables(forge))
    assert shown.startswith(
        "::warning title=Equipoise::comment not written: 403 Forbidden: the token may not"
    )
    forge.status = 503
    assert "503 Service Unavailable: the next run" in comment(variables(forge))
    forge.url = "http://127.0.0.1:9"
    assert "Connection refused" in comment(variables(forge))


@pytest.mark.parametrize("lacks", ["token", "request", "summary"])
def test_there_is_nothing_to_do(forge: Forge, variables: Variables, comment: Comment, lacks: str) -> None:
    """No API is asked without a token, a pull request or a summary."""
    environment = variables(forge)
    if lacks == "token":
        environment |= {"GITHUB_TOKEN": "", "GITLAB_TOKEN": ""}
    elif lacks == "request":
        environment |= {"CI_MERGE_REQUEST_IID": ""}
        Path("event.json").write_text('{"ref": "refs/heads/main"}', encoding="utf-8")
    else:
        Path("results/summary.md").unlink()
    assert comment(environment).startswith("no comment: ")
    assert forge.requests == []


def test_a_long_summary_is_cut_at_a_line(forge: Forge, comment: Comment) -> None:
    """GitHub takes 65,536 characters; what stands first, the verdict, is kept."""
    summarise("## Gate: FAIL\n" + "| a row |\n" * 10_000)
    comment(github(forge))
    body = forge.bodies[-1]
    assert 50_000 < len(body) < 65_536
    assert body.startswith(f"{MARKER}## Gate: FAIL\n| a row |\n")
    assert "| a row |\n\nThe rest is in the job's summary.\n\nCommit" in body


def test_a_redirect_does_not_carry_the_token(forge: Forge, variables: Variables, comment: Comment) -> None:
    """Wherever the API sends the script."""
    with serving() as other:
        forge.status, forge.moved_to = 302, other.url
        comment(variables(forge))
    assert TOKEN in str(forge.requests[0])
    assert other.requests
    assert TOKEN not in str(other.requests)

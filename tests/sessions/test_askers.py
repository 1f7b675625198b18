"""Whole sessions in which both sides ask: by names, workers, reports of tests, an estimate."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from asked import DATASET, swayed_server

from conftest import Bench

ALL = 2 * 2 * 5
ASKED = 2 * ALL


@pytest.mark.slow
def test_a_plain_session_is_replayed_when_somebody_asks(bench: Bench) -> None:
    """With workers; -k finds runs by who asks, and JUnit has a case for each."""
    workers = ("-n", "2")
    bench.write_topics(DATASET)
    bench.server.script = swayed_server
    bench.run(*workers, status=0)
    before = bench.results()
    bench.run(*workers, "--asker", "mirror", "-k", "not asker_critics", "--gate", "unscored:1%", status=0)
    assert len(bench.server.requests) == 2 * (ALL + ALL)
    reports = ("--gate", "asker.asymmetry:±3pp@population", "--junit-xml=j.xml")
    done = bench.run(*workers, "--asker", "mirror", *reports, status=6)
    assert "asker.asymmetry" in done.stdout
    assert len(bench.server.requests) == 2 * (ALL + ASKED)
    results = bench.results()
    assert results["results"] == before["results"]
    assert results["summary"]["metrics"] == before["summary"]["metrics"]
    assert results["summary"]["asker"]["metrics"]["asker.asymmetry"]["value"] == 25
    assert results["metadata"]["runs_expected"] == ALL
    names = [case.get("name") or "" for case in ET.parse(bench.folder / "j.xml").iter("testcase")]
    assert sum("-asker_state_stated-run" in name for name in names) == ALL
    assert [name for name in names if "asker.asymmetry:±3pp@population" in name]


@pytest.mark.slow
def test_the_estimate_counts_all_askings(bench: Bench) -> None:
    """Five times the runs with both forms; nothing is asked."""
    bench.write_topics(DATASET)
    done = bench.run("--asker", "mirror", "--asker-form", "both", "--estimate")
    assert "5 runs per case, and again as asked by either side (stated" in done.stdout
    assert f"runs:      {5 * ALL:,} to do" in done.stdout
    assert f"{4 * ALL:,} of these runs have an asker cue" in " ".join(done.stdout.split())
    assert bench.server.requests == []


@pytest.mark.slow
def test_replies_to_those_who_ask_are_judged_again(bench: Bench) -> None:
    """Without asking the subject; who asks is taken from the earlier results."""
    bench.write_topics(DATASET)
    bench.server.script = swayed_server
    bench.run("--asker", "mirror", status=0)
    calls = len(bench.server.requests)
    models = ("--evaluator-model", "judge", "--api-base-url", bench.server.url)
    bench.run_plain("--rejudge", str(bench.results_path), *models, status=0)
    assert len(bench.server.requests) == calls + ALL + ASKED
    (path,) = (bench.folder / "results").glob("*rejudged*.json")
    again = json.loads(path.read_text(encoding="utf-8"))
    assert again["summary"]["asker"] == bench.results()["summary"]["asker"]

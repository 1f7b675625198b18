"""Whole sessions compared with a bare script on the same SDK, and with the ideal time.

    python benchmarks/against_bare.py [--only NAME ...] [--repeat 5]

First prints the seconds of a loop of ten million steps, which tells the machine. For each scenario and
contender: wall time and CPU of the whole process, seconds to the first call and from the last answer to the
end, and their ratios to those of bare_sdk.py; and the ratio of the time of all calls to the ideal. Contenders
take turns, so that a machine that grows slower does so for all; each figure is the median of the repetitions.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bare_aiohttp import QUESTION
from processes import measured, spin
from serving import HERE, Endpoint, serving

TESTS = "tests_benchmark/test_neutrality.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The number of cases of two calls each, the latency in seconds, and the maximum of calls in flight."""

    cases: int
    latency: float
    in_flight: int

    @property
    def ideal(self) -> float:
        """Seconds from the first call to the last answer if only the endpoint takes time."""
        return math.ceil(2 * self.cases / self.in_flight) * self.latency


SCENARIOS = {
    "7,500 at 50 ms, 64 in flight": Scenario(cases=7500, latency=0.05, in_flight=64),
    "5,120 at 1 s, 512 in flight": Scenario(cases=5120, latency=1.0, in_flight=512),
    "750 at 500 ms, 64 in flight": Scenario(cases=750, latency=0.5, in_flight=64),
}
CONTENDERS = ("bare_sdk", "bare_aiohttp", "pytest", "pytest -n 8")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTimes:
    """Seconds: wall time, CPU, to the first call, from the first call to the last answer, and to the end."""

    wall: float
    cpu: float
    first_call: float
    calls: float
    to_end: float


def measure(name: str, scenario: Scenario) -> SessionTimes:
    """Run one contender against a server of its own."""
    with tempfile.TemporaryDirectory() as folder, serving(str(scenario.latency)) as endpoint:
        return _run(command_line(name, scenario, endpoint.url, Path(folder)), endpoint)


def command_line(name: str, scenario: Scenario, url: str, folder: Path) -> list[str]:
    """The arguments that run a contender: a bare script by its name, or pytest with its options."""
    if name.startswith("bare"):
        return [sys.executable, str(HERE / f"{name}.py"), url, str(scenario.cases), str(scenario.in_flight)]
    topics = folder / "en-US.txt"
    topics.write_text("".join(f"{n}: {QUESTION}\n" for n in range(scenario.cases)), encoding="utf-8")
    return [
        # Users have no hypothesis, whose plugin takes a second at the end.
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"),
        *(*name.split()[1:], TESTS),
        *("--model", "subject", "--evaluator-model", "judge", "--api-base-url", url),
        *(
            "--runs",
            "1",
            "--concurrency",
            str(scenario.in_flight),
            f"--topics={topics}",
            f"--output={folder}/out.json",
        ),
    ]


def _run(command: list[str], endpoint: Endpoint) -> SessionTimes:
    usage, stats = measured(command), endpoint.stats()
    return SessionTimes(
        wall=usage.wall,
        cpu=usage.cpu,
        first_call=stats["first"] - usage.began,
        calls=stats["last"] - stats["first"],
        to_end=usage.ended - stats["last"],
    )


def interleaved(scenario: Scenario, repeat: int) -> dict[str, SessionTimes]:
    """The median of each figure over the repetitions, by contender."""
    times = [{name: measure(name, scenario) for name in CONTENDERS} for _ in range(repeat)]
    return {name: _median([by_name[name] for by_name in times]) for name in CONTENDERS}


def _median(times: Sequence[SessionTimes]) -> SessionTimes:
    fields = SessionTimes.__slots__
    return SessionTimes(**{field: median(getattr(item, field) for item in times) for field in fields})


def main() -> None:
    """Print the table of each scenario."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=list(SCENARIOS), default=list(SCENARIOS))
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    print(f"spin {spin():.2f} s", flush=True)
    for title in arguments.only:
        scenario = SCENARIOS[title]
        print(f"{title}: ideal {scenario.ideal:.2f} s")
        print("                wall  / bare      CPU  / bare  / ideal  first call  / bare  to the end")
        measured_times = interleaved(scenario, arguments.repeat)
        bare = measured_times["bare_sdk"]
        for name, times in measured_times.items():
            print(
                f"{name:<13} {times.wall:6.2f} s {times.wall / bare.wall:7.2f} {times.cpu:6.2f} s "
                f"{times.cpu / bare.cpu:7.2f} {times.calls / scenario.ideal:8.2f} {times.first_call:9.2f} s "
                f"{times.first_call / bare.first_call:7.2f} {times.to_end:9.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()

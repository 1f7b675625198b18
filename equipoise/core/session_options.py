"""The options of every session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from equipoise.core.gates import parse_gate
from equipoise.core.options import (
    Option,
    above_zero,
    at_least,
    one_of,
    parse_body,
    parse_existing,
    parse_fraction,
    parse_header,
    parse_key,
    parse_name,
    parse_number,
    parse_path,
    parse_prompt,
    parse_prompt_file,
    parse_seconds,
    parse_temperature,
    parse_url,
)
from equipoise.core.rules import parse_until
from equipoise.core.types import Shard

DEFAULT_EVALUATOR = "mistral-large-2512"
DEFAULT_BASE_URL = "http://localhost:4000"


def _sampling(role: str, temperature: float, prompt_help: str) -> tuple[Option, ...]:
    """The options for the generation parameters of a role."""
    temperature_help = f"a number (default {temperature:g}), or none: not sent"
    options = (
        Option(
            f"--{role}-temperature",
            temperature_help,
            parse=parse_temperature,
            default=temperature,
            metavar="T",
        ),
        Option(f"--{role}-top-p", "top_p; not sent by default", parse=parse_fraction, metavar="P"),
        Option(f"--{role}-top-k", "top_k; not sent by default", parse=at_least(1), metavar="K"),
        Option(f"--{role}-max-tokens", "longest reply; not sent by default", parse=at_least(1)),
        Option(
            f"--{role}-reasoning-effort",
            "effort, such as low; not sent by default",
            alias="--reasoning-effort" if role == "subject" else None,
            parse=parse_name,
            metavar="L",
        ),
        Option(
            f"--{role}-extra-body",
            "further fields of each request, a JSON object",
            alias="--extra-body" if role == "subject" else None,
            parse=parse_body,
            metavar="JSON",
        ),
        Option(
            f"--{role}-header",
            "a header of each request; repeatable",
            alias="--header" if role == "subject" else None,
            parse=parse_header,
            metavar="NAME=VALUE",
            many=True,
            by_line=True,
            default=(),
        ),
        Option(f"--{role}-system-prompt", prompt_help, parse=parse_prompt, metavar="TEXT"),
        Option(
            f"--{role}-system-prompt-file", "the same from a file", parse=parse_prompt_file, metavar="FILE"
        ),
    )
    return tuple(replace(option, by_suite=True) for option in options)


CONFIG = Option(
    "--config",
    "options from a TOML file; the environment takes precedence",
    parse=parse_existing,
    metavar="FILE",
)
GROUPS: Mapping[str, tuple[Option, ...]] = {
    "Models and endpoints": (
        Option(
            "--model",
            "the model under test; 'local' is the built-in one, 'local:FILE.gguf' any GGUF file",
            alias="--subject-model",
            metavar="M",
            parse=parse_name,
        ),
        Option(
            "--evaluator-model",
            f"the judge; repeat it for a panel (default {DEFAULT_EVALUATOR}; local if the model is local)",
            metavar="M",
            parse=parse_name,
            many=True,
            by_suite=True,
            default=(),
        ),
        Option(
            "--api-base-url",
            f"OpenAI-compatible endpoint (default $OPENAI_BASE_URL or {DEFAULT_BASE_URL})",
            metavar="URL",
            parse=parse_url,
        ),
        Option(
            "--api-key",
            "its key (better set in $OPENAI_API_KEY)",
            metavar="KEY",
            parse=parse_key,
            is_secret=True,
        ),
        Option(
            "--evaluator-api-base-url",
            "the evaluators' endpoint (default the subject's)",
            metavar="URL",
            parse=parse_url,
        ),
        Option(
            "--evaluator-api-key",
            "their key (default the subject's, if same URL)",
            metavar="KEY",
            parse=parse_key,
            is_secret=True,
        ),
    ),
    "Which cases, and how often": (
        Option("--runs", "runs of each case (default the suite's own)", parse=at_least(1), by_suite=True),
        Option("--limit", "for trials: N questions, spread evenly over topics", parse=at_least(1)),
        Option(
            "--shard",
            "every Nth question from the Ith on; `equipoise merge` joins",
            parse=Shard.parse,
            metavar="I/N",
        ),
        Option(
            "--language",
            "only this language; repeatable",
            metavar="L",
            parse=parse_name,
            many=True,
            default=(),
        ),
        Option(
            "--asker",
            "mirror: ask each case again as a person from each side",
            parse=one_of("mirror"),
            metavar="HOW",
        ),
        Option(
            "--asker-form",
            "stated, implied in an aside, or both (default stated)",
            parse=one_of("stated", "implied", "both"),
            metavar="FORM",
            default="stated",
        ),
        Option(
            "--asker-share",
            "share of cases asked again, such as 0.2 (default 1)",
            parse=parse_fraction,
            metavar="P",
            default=1.0,
        ),
        Option(
            "--topics", "question file or folder (default topics/<suite>)", parse=parse_path, metavar="PATH"
        ),
        Option("--rubric", "rubric file (default rubric/<suite>.toml)", parse=parse_path, metavar="FILE"),
        Option(
            "--show-prompts",
            "show the prompts of N cases, and make no call",
            parse=at_least(1),
        ),
    ),
    "Generation": (
        *_sampling("subject", 1.0, "not sent by default"),
        *_sampling("evaluator", 0.0, "put before the rubric's instruction"),
    ),
    "Calls": (
        Option(
            "--concurrency",
            "calls in flight over all workers (default 32)",
            recorded=True,
            parse=at_least(1),
            default=32,
        ),
        Option(
            "--max-retries",
            "retries of a call that fails in transport (default 12)",
            recorded=True,
            parse=at_least(0),
            default=12,
        ),
        Option(
            "--evaluator-attempts",
            "attempts at a valid verdict (default 5)",
            recorded=True,
            parse=at_least(1),
            default=5,
        ),
        Option(
            "--request-timeout",
            "seconds that one call may take (default 600)",
            recorded=True,
            parse=parse_seconds,
            default=600.0,
            metavar="S",
        ),
        Option(
            "--max-wait",
            "longest pause an endpoint may ask for (default 300)",
            parse=parse_seconds,
            default=300.0,
            metavar="S",
        ),
        Option(
            "--max-response-size",
            "largest answer, also after decompression (default 32)",
            parse=above_zero("megabytes"),
            default=32.0,
            metavar="MB",
        ),
        Option(
            "--case-timeout",
            "seconds that one run may take (default 3600)",
            recorded=True,
            parse=parse_seconds,
            default=3600.0,
            metavar="S",
        ),
        Option(
            "--keep-going",
            "go on when retries are exhausted, or a key, a model or a value is refused",
            switch=True,
            default=False,
            recorded=True,
        ),
    ),
    "Cost": (
        Option(
            "--estimate", "show what the session would cost, and make no call", switch=True, default=False
        ),
        Option(
            "--max-cost",
            "stop before the session costs more",
            recorded=True,
            parse=parse_number,
            metavar="USD",
        ),
        Option(
            "--max-calls", "stop before the session sends more requests", recorded=True, parse=at_least(1)
        ),
        Option(
            "--price-input",
            "price of a million input tokens if none is listed",
            parse=parse_number,
            metavar="USD",
        ),
        Option(
            "--price-output",
            "price of a million output tokens if none is listed",
            parse=parse_number,
            metavar="USD",
        ),
    ),
    "Files": (
        CONFIG,
        Option(
            "--output",
            "results file (default results/<model>.<suite>.json)",
            parse=parse_path,
            metavar="FILE",
        ),
        Option("--report", "write this session's results as one HTML page", parse=parse_path, metavar="PAGE"),
        Option("--fresh", "archive earlier results and ask everything again", switch=True, default=False),
    ),
    "Comparing and gating": (
        Option(
            "--until",
            "add runs until gates are decided (gate), or an interval is as narrow as overall:+-1.5pp",
            parse=parse_until,
            metavar="RULE",
        ),
        Option(
            "--audit",
            "try the evaluators on known texts: quick or full",
            metavar="EXTENT",
            parse=one_of("quick", "full"),
        ),
        Option(
            "--baseline", "earlier results, or a folder with *.<suite>.json", parse=parse_path, metavar="PATH"
        ),
        Option(
            "--gate",
            "fail if a figure is worse than the baseline's by more than a margin, such as "
            "overall:-2pp[@population]; or a file of rules (gates.toml); repeatable",
            parse=parse_gate,
            metavar="RULE",
            many=True,
            default=(),
        ),
        Option(
            "--gate-inconclusive",
            "inconclusive gates: pass or fail (default: status 6)",
            parse=one_of("pass", "fail"),
            metavar="HOW",
        ),
        Option(
            "--allow-mismatch",
            "compare results of other settings, on shared cases",
            switch=True,
            default=False,
        ),
    ),
}
"""The options of every session, whichever its transports, by the heading of their group in help and docs."""
OPTIONS = tuple(chain.from_iterable(GROUPS.values()))
